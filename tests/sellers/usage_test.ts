import { assertEquals } from "@std/assert";
import { MIGRATIONS } from "../../src/database/migrations.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { quotaOf } from "../../src/sellers/usage_rows.ts";
import { fastParent } from "../support/data_dir.ts";

Deno.test("a migration counts stored rows against the quotas", async () => {
  const folder = await Deno.makeTempDir({ dir: fastParent });
  const file = `${folder}/seller.db`;
  const before = MIGRATIONS.findIndex(({ name }) => name.startsWith("quotas"));
  {
    const old = await openSqlite(file, {
      migrations: MIGRATIONS.slice(0, before),
    });
    await old.write(async (tx) => {
      for (const seller of ["a", "b"]) {
        await tx.run(
          "INSERT INTO sellers (id, name, webhook_secret, created_at) VALUES (?, ?, '', 0)",
          [seller, seller],
        );
      }
      await tx.runMany(
        `INSERT INTO products (id, seller_id, sku, title, price, currency,
           availability, condition, status, categories, attributes, images,
           created_at, updated_at)
         VALUES (?, ?, ?, '', '1', 'SEK', '', '', '', '[]', '[]', '[]', 0, 0)`,
        [["1", "a", "1"], ["2", "a", "2"], ["3", "b", "1"]],
      );
      await tx.runMany(
        `INSERT INTO images (id, url, origin, seller_id, state, attempts,
           crashes, sha256, bytes, created_at) VALUES (?, ?, '', ?, ?, 0, 0, ?, ?, 0)`,
        [
          ["1", "u1", "a", "stored", "00", 10],
          ["2", "u2", "a", "stored", "01", 5],
          ["3", "u3", "a", "pending", null, null],
        ],
      );
    });
    await old.close();
  }
  const db = await openSqlite(file);
  const quotas = await db.read(async (sql) => [
    await quotaOf(sql, "a", "products", 9),
    await quotaOf(sql, "b", "products", 9),
    await quotaOf(sql, "a", "image_bytes", 99),
    await quotaOf(sql, "b", "image_bytes", 99),
  ]);
  assertEquals(quotas.map((quota) => ({ ...quota })), [
    { limit: 9, used: 2 },
    { limit: 9, used: 1 },
    { limit: 99, used: 15 },
    { limit: 99, used: 0 },
  ]);
  await db.close();
  await Deno.remove(folder, { recursive: true });
});
