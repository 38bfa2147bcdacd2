import { assertEquals } from "@std/assert";
import { MIGRATIONS } from "../../src/database/migrations.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { eventsAfter } from "../../src/webhooks/event_feed.ts";
import { fastParent } from "../support/data_dir.ts";

Deno.test("a migration orders stored rows, and gives former secrets their time", async () => {
  const folder = await Deno.makeTempDir({ dir: fastParent });
  const file = `${folder}/seller.db`;
  const before = MIGRATIONS.findIndex(({ name }) =>
    name.startsWith("webhooks: secrets")
  );
  const migrations = MIGRATIONS.slice(0, before);
  const old = await openSqlite(file, { migrations });
  await old.write(async (tx) => {
    await tx.runMany(
      `INSERT INTO sellers (id, name, webhook_secret, old_webhook_secret,
         old_webhook_secret_until, created_at) VALUES (?, ?, 'new', ?, ?, 0)`,
      [["a", "a", "old", 7], ["b", "b", null, null]],
    );
    await tx.runMany(
      `INSERT INTO events (id, seller_id, trigger_name, reference, body,
         created_at) VALUES (?, ?, 'order_paid', ?, ?, 0)`,
      [
        ["3", "a", "y", new Uint8Array([3])],
        ["1", "a", "x", new Uint8Array([1])],
        ["2", "a", null, new Uint8Array([2])],
        ["4", "b", "x", new Uint8Array([4])],
      ],
    );
  });
  await old.close();
  const db = await openSqlite(file);
  const found = await db.read(async (sql) => ({
    events: await eventsAfter(sql, 1, { after: 0, trigger: null, limit: 9 }),
    sellers: await sql.all(
      `SELECT last_event_no AS last, former_webhook_secrets AS former
       FROM sellers ORDER BY id`,
    ),
  }));
  await db.close();
  await Deno.remove(folder, { recursive: true });
  assertEquals(found.events.map(({ number, body }) => [number, ...body]), [
    [1, 1],
    [2, 3],
  ]);
  assertEquals(found.sellers, [
    { last: 2, former: '[["old",7]]' },
    { last: 1, former: "[]" },
  ]);
});
