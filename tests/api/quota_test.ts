/** How many products a seller may have. */
import { assertEquals } from "@std/assert";
import { codeOf, detailsOf, product, type TestApp } from "../support/app.ts";
import { boot } from "../support/app.ts";

/** What is counted, beside what there is. */
async function counted(app: TestApp): Promise<{ used: number; rows: number }> {
  return await app.app.db.read(async (sql) => {
    const used = await sql.get<{ used: number }>(
      "SELECT used FROM seller_usage WHERE seller_id = ? AND resource = 'products'",
      [app.sellerId],
    );
    const rows = await sql.get<{ n: number }>(
      "SELECT COUNT(*) AS n FROM products WHERE seller_id = ?",
      [app.sellerId],
    );
    return { used: used?.used ?? 0, rows: rows!.n };
  });
}

async function setLimit(app: TestApp, limit: number | null): Promise<void> {
  await app.app.db.write((tx) =>
    tx.run("UPDATE sellers SET product_limit = ? WHERE id = ?", [
      limit,
      app.sellerId,
    ])
  );
}

const products = (...skus: string[]) =>
  skus.map((sku) => product(sku)).join("\n");

Deno.test("beyond its product limit a seller can update, and add nothing", async () => {
  await using app = await boot({ config: { productLimit: 3 } });
  assertEquals((await app.upload(products("A", "B"))).status, 200);

  const refused = await app.upload(
    `${products("A")}\n${products("C", "D")}`,
  );
  assertEquals([refused.status, codeOf(refused)], [422, "record_invalid"]);
  assertEquals(
    detailsOf(refused).map(({ product, sku, line, field, code }) => ({
      product,
      sku,
      line,
      field,
      code,
    })),
    ["C", "D"].map((sku, n) => ({
      product: `${n + 2}`,
      sku,
      line: `${n + 2}`,
      field: "sku",
      code: "quota_exceeded",
    })),
  );
  assertEquals(
    detailsOf(refused)[0].message,
    "The product would be new. You have 2 products, this upload has 2 new " +
      "ones, and your limit is 3; ask the operator for a higher one.",
  );
  assertEquals(
    (await app.upload(products("C", "D"), "&dry_run=true")).status,
    422,
  );
  assertEquals((await app.upload(products("A", "C"))).status, 200);
  assertEquals((await app.upload(products("D"))).status, 422);
  const price = "/seller_api/products/A/attribute/price/5";
  assertEquals((await app.call(price, { method: "PUT" })).status, 204);
  assertEquals((await app.upload(products("A", "B", "C"))).status, 200);
  assertEquals(await counted(app), { used: 3, rows: 3 });
});

Deno.test("a seller's own product limit comes before the default", async () => {
  await using app = await boot({ config: { productLimit: 1 } });
  await setLimit(app, 2);
  assertEquals((await app.upload(products("A", "B"))).status, 200);
  await setLimit(app, 0);
  assertEquals((await app.upload(products("C"))).status, 422);
  assertEquals((await app.upload(products("A"))).status, 200);
  await setLimit(app, null);
  assertEquals((await app.upload(products("C"))).status, 422);
});

Deno.test("uploads at the same time stay within the limit together", async () => {
  await using app = await boot({ config: { productLimit: 10 } });
  const answers = await Promise.all(
    Array.from(
      { length: 8 },
      (_, n) => app.upload(products(`${n}-1`, `${n}-2`, `${n}-3`)),
    ),
  );
  const stored = answers.filter(({ status }) => status === 200).length;
  assertEquals(stored, 3);
  assertEquals(await counted(app), { used: 9, rows: 9 });
});
