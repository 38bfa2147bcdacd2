/** Rows of products, as they are written. */
import { assert, assertEquals } from "@std/assert";
import { INITIAL, type Product } from "../../src/catalogue/product.ts";
import type { Tx } from "../../src/database/db.ts";
import { COLUMNS, updateProducts } from "../../src/catalogue/product_rows.ts";

const BEFORE: Product = {
  ...INITIAL,
  id: "01890000-0000-7000-8000-000000000000",
  sku: "A",
  title: "A",
  price: "1",
  currency: "SEK",
  quantity: 1,
  created_at: 1,
  updated_at: 1,
};

/** Another value for each column that can change. */
const AFTER: Partial<Product> = {
  sku: "B",
  title: "B",
  description: "B",
  price: "2",
  currency: "EUR",
  compare_at_price: "3",
  vat_rate: "25",
  quantity: 2,
  availability: "preorder",
  available_at: "2026-12-01",
  gtin: "4006381333931",
  brand: "B",
  mpn: "B",
  condition: "used",
  status: "paused",
  parent_sku: "C",
  weight: 2,
  categories: ["B"],
  attributes: [{ name: "B", value: "B" }],
  images: [{ url: "https://images.example/a.png", alt: null }],
  updated_at: 2,
};

/** The statements that write this change, with their first row's parameters. */
async function written(after: Product): Promise<Map<string, unknown[]>> {
  const statements = new Map<string, unknown[]>();
  const tx = {
    once: () => Promise.resolve({ number: 7, at: 2 }),
    runMany: (sql, [row]) => {
      statements.set(sql, [...row]);
      return Promise.resolve();
    },
  } as Partial<Tx> as Tx;
  await updateProducts(tx, [{ before: BEFORE, after }]);
  return statements;
}

Deno.test("every column that changed is written", async () => {
  for (const column of COLUMNS) {
    if (column === "id" || column === "created_at") continue;
    const after = { ...BEFORE, [column]: AFTER[column] };
    const [[sql, values]] = await written(after);
    const columns = [...sql.matchAll(/(\w+) = \?/g)].map(([, name]) => name);
    const value = AFTER[column];
    assertEquals(
      values[columns.indexOf(column)],
      Array.isArray(value) ? JSON.stringify(value) : value,
    );
  }
});

Deno.test("there are few statements, whatever changes together", async () => {
  const fields = Object.keys(AFTER) as (keyof Product)[];
  const statements = new Set<string>();
  for (let n = 1; n < 2_000; n++) {
    // Multiplied so that every field comes with many others.
    const changed = fields.filter((_, bit) => (n * 40_503) >> bit & 1);
    const after = changed.map((field) => [field, AFTER[field]]);
    const update = { ...BEFORE, ...Object.fromEntries(after) };
    for (const sql of (await written(update)).keys()) statements.add(sql);
  }
  assert(statements.size <= 64, `${statements.size} statements`);
});
