/** How rows of products are written. */
import { NO_FORMER_PRICE } from "../../src/catalogue/price_changes.ts";
import { assert, assertEquals } from "@std/assert";
import { INITIAL, type Product } from "../../src/catalogue/product.ts";
import { queryText, type Tx } from "../../src/database/db.ts";
import {
  findBySkuOrId,
  rowChange,
  writeProducts,
} from "../../src/catalogue/product_rows.ts";
import { CONTENT } from "../../src/catalogue/product_values.ts";
import { NO_REVIEW } from "../../src/catalogue/review.ts";
import { systemClock, systemIds } from "../../src/deps.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { fastParent } from "../support/data_dir.ts";
import { bothEngines, openStore } from "../support/engine.ts";

const BEFORE: Product = {
  ...INITIAL,
  ...NO_REVIEW,
  id: "01890000-0000-7000-8000-000000000000",
  sku: "A",
  title: "A",
  price: "1",
  currency: "SEK",
  quantity: 1,
  created_at: 1,
  updated_at: 1,
  ...NO_FORMER_PRICE,
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
  handling_days: 2,
  sale: { price: "1", from: 1, until: 2 },
  manufacturer: "01a1f8a9-48dd-7dda-af68-77c9d5d897a7 B",
  responsible_person: "01a1f8a9-48dd-7dda-af68-77c9d5d897a7 B",
  safety_text: "B",
  categories: ["B"],
  attributes: [{ name: "B", value: "B" }],
  images: [{ url: "https://images.example/a.png", alt: null }],
};

/**
 * A database with one seller and `BEFORE`; `statements` are those of updates.
 */
async function filled() {
  const folder = await Deno.makeTempDir({ dir: fastParent });
  const db = openStore(folder);
  const seller = await db.write(async (tx) => {
    const deps = { clock: systemClock, ids: systemIds };
    const { seller } = await addSeller(tx, deps, "acme");
    const created = rowChange({ before: null, after: BEFORE });
    await writeProducts(tx, seller, [created], null);
    return seller;
  });
  const statements = new Set<string>();
  const find = () => db.read((sql) => findBySkuOrId(sql, seller.no, BEFORE.id));
  return {
    statements,
    find,
    update: async (change: Partial<Product>) => {
      const before = (await find())!;
      await db.write((tx) => {
        const noted = new Proxy(tx, {
          get: (target, name: keyof Tx) => {
            const member = target[name];
            if (typeof member !== "function") return member;
            if (name !== "runMany") return member.bind(target);
            return (...args: Parameters<Tx["runMany"]>) => {
              const [query] = args;
              statements.add(
                queryText(query, "sqlite"),
              );
              return target.runMany(...args);
            };
          },
        });
        const after = { ...before, ...change };
        const changes = [rowChange({ before, after })];
        const by = { what: "attribute", keyId: null };
        return writeProducts(noted, seller, changes, by);
      });
    },
    [Symbol.asyncDispose]: async () => {
      await db.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

bothEngines.test("every column that changed is written", async () => {
  await using table = await filled();
  for (const column of CONTENT) {
    await table.update({ [column]: AFTER[column] });
    assertEquals((await table.find())![column], AFTER[column], column);
  }
  const product = (await table.find())!;
  const content = CONTENT.map((column) => [column, product[column]]);
  assertEquals<Partial<Product>>(Object.fromEntries(content), AFTER);
});

Deno.test("the statements stay few whatever columns change together", async () => {
  await using table = await filled();
  const fields = Object.keys(AFTER) as (keyof Product)[];
  for (let n = 1; n < 500; n++) {
    // The multiplication combines every field with many others.
    const changed = fields.filter((_, bit) => (n * 40_503) >> bit & 1);
    const from = n % 2 === 0 ? BEFORE : AFTER;
    await table.update(
      Object.fromEntries(changed.map((field) => [field, from[field]])),
    );
  }
  const { size } = table.statements;
  assert(size > 10 && size <= 64, `${size} statements`);
});
