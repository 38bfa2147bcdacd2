/** Everything that causes a notice is found, however much happens at once. */
import { assertEquals } from "@std/assert";
import { insertInto, type Param } from "../../src/database/db.ts";
import { systemDeps } from "../../src/deps.ts";
import { newSignals } from "../../src/jobs/signals.ts";
import { SEARCH_LIMIT } from "../../src/notices/kinds.ts";
import { NoticeSearch } from "../../src/notices/search.ts";
import { boot, product } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";

bothEngines.test("a notice comes also for events beyond what one read finds", async () => {
  await using app = await boot();
  const { db } = app.app;
  await app.upload(product("A"));
  await app.addSeller("globex");
  const deps = systemDeps("error");
  await db.write(async (tx) => {
    await tx.run(
      "UPDATE sellers SET email = 'a@acme.example', email_since = 0",
      [],
      "any",
    );
    const row = await tx.get<Record<string, Param>>("SELECT * FROM products");
    const rejected = Array.from({ length: SEARCH_LIMIT + 2 }, (_, n) => ({
      ...row,
      id: deps.ids.uuid(),
      sku: `B-${n}`,
      // The last one belongs to another seller.
      seller_no: n > SEARCH_LIMIT ? 2 : 1,
      review_state: "rejected",
      review_at: n + deps.clock.now() - 2 * SEARCH_LIMIT,
      review: "{}",
    }));
    await tx.runMany(
      insertInto("products", Object.keys(rejected[0])),
      rejected.map((each) => Object.values(each)),
      "any",
    );
  });
  const looks = new NoticeSearch({
    config: app.config,
    db,
    deps,
    mailer: { send: () => Promise.reject(new Error("not by a look")) },
    signals: newSignals(),
  });
  for (let n = 0; n < 2; n++) await Array.fromAsync(looks.run());
  const found = await db.read((sql) =>
    sql.all("SELECT id FROM notices WHERE seller_no = 2")
  );
  assertEquals(found.length, 1);
});
