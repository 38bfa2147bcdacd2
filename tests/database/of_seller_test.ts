import { assertEquals } from "@std/assert";
import { type Db, MAINTENANCE } from "../../src/database/db.ts";
import { ofSeller } from "../../src/database/of_seller.ts";

Deno.test("each call of a seller's database names the seller, and each write a queue of the seller", async () => {
  const asked: unknown[] = [];
  const ask = (_: unknown, options: unknown) => {
    asked.push(options);
    return Promise.resolve();
  };
  const engine = { read: ask, write: ask } as unknown as Db;
  const own = ofSeller(engine, 7);
  const nothing = () => Promise.resolve();
  const shared = { kind: "events", key: "one" };
  await own.read(nothing);
  await own.read(nothing, { single: true });
  await own.write(nothing);
  await own.write(nothing, { order: "undo", heavy: true, changes: true });
  await own.write(nothing, { shared });
  await own.write(nothing, { queue: "leases" });
  await own.write(nothing, MAINTENANCE);
  assertEquals(asked, [
    { seller: 7 },
    { seller: 7, single: true },
    { seller: 7, owner: "7" },
    { seller: 7, owner: "7", order: "undo", heavy: true, changes: true },
    { seller: 7, owner: "7", shared },
    { seller: 7, owner: "leases of 7" },
    {
      seller: 7,
      owner: "maintenance of 7",
      order: "maintenance",
      heavy: true,
    },
  ]);
});
