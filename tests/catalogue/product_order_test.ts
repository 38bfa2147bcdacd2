/** `GET …/products?sort=&order=`: orders of products, page after page. */
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../src/deps.ts";
import { RANKED_PRODUCTS } from "../../src/catalogue/ranked_products.ts";
import { boot, codeOf, detailsOf, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { contract } from "../support/forms.ts";
import { nextOf, readAll, valueOf } from "../support/read_out.ts";

const PRODUCTS = "/seller_api/products";

/** The SKUs of all pages. */
async function listed(app: TestApp, query: string): Promise<string> {
  const { entries } = await readAll(app, `${PRODUCTS}?${query}`, "products");
  return entries.map((entry) => valueOf(entry, "sku")).join(" ");
}

function titled(
  sku: string,
  title: string,
  price: string,
  quantity: string,
): string {
  return `<product><sku>${sku}</sku><title>${title}</title>` +
    `<price currency="SEK">${price}</price>${quantity}</product>`;
}

const CATALOGUE = [
  titled("b", "Mug 10", "9.5", "<quantity>3</quantity>"),
  titled("B", "mug 9", "100", "<availability>in_stock</availability>"),
  titled("a2", "Äpple", "20", "<quantity>0</quantity>"),
  titled("a10", "Zebra", "9.50", "<quantity>3</quantity>"),
  titled("ü &amp;/?", "Mug 10", "0.0001", "<quantity>1000</quantity>"),
];

contract.test("products: each order, ascending and descending, in pages of every size", async () => {
  let now = Date.parse("2096-11-20T08:00:00Z");
  await using app = await boot({
    deps: { clock: { ...systemClock, now: () => now += 60_000 } },
  });
  for (const one of CATALOGUE) await app.upload(one);
  const change = `${PRODUCTS}/B/attribute/brand/Norr`;
  assertEquals((await app.call(change, { method: "PUT" })).status, 204);
  const orders: Record<string, string> = {
    "sort=created_at": "b B a2 a10 ü &/?",
    "sort=created_at&order=desc": "ü &/? a10 a2 B b",
    "order=desc": "ü &/? a10 a2 B b",
    "sort=sku": "B a10 a2 b ü &/?",
    "sort=sku&order=desc": "ü &/? b a2 a10 B",
    "sort=title": "a2 B b ü &/? a10",
    "sort=title&order=desc": "a10 ü &/? b B a2",
    "sort=price": "ü &/? b a10 a2 B",
    "sort=price&order=desc": "B a2 a10 b ü &/?",
    // Untracked quantities come last in both directions.
    "sort=quantity": "a2 b a10 ü &/? B",
    "sort=quantity&order=desc": "ü &/? a10 b a2 B",
    "sort=updated_at&order=desc": "B ü &/? a10 a2 b",
  };
  for (const [query, skus] of Object.entries(orders)) {
    for (const limit of [1, 2, 3, 5, 250]) {
      const asked = `${query}&limit=${limit}`;
      assertEquals(await listed(app, asked), skus, asked);
    }
  }
});

contract.test("products: an order combines with filters and bounds the rows read for a page", async () => {
  await using app = await boot();
  await app.upload(CATALOGUE.join(""));
  await app.call(`${PRODUCTS}/a10/attribute/status/paused`, { method: "PUT" });
  const found = {
    "sort=price&q=MUG&limit=1": "ü &/? b B",
    "sort=sku&order=desc&q=mug&limit=1": "ü &/? b B",
    "sort=title&status=active&limit=2": "a2 B b ü &/?",
    "sort=sku&status=paused": "a10",
    "sort=price&updated_since=2100-01-01": "",
    "sort=price&gtin=4006381333931": "",
    "sort=price&images=failed": "",
  };
  for (const [query, skus] of Object.entries(found)) {
    assertEquals(await listed(app, query), skus, query);
  }
});

contract.test("products: a sorted list has every product of a GTIN", async () => {
  await using app = await boot();
  const skus: string[] = [];
  for (let part = 0; part < 3; part++) {
    const some = Array.from({ length: 250 }, (_, n) => `S-${part * 250 + n}`);
    skus.push(...some);
    const gtin = "<quantity>1</quantity><gtin>4006381333931</gtin>";
    await app.upload(
      some.map((sku) => titled(sku, `Mug ${sku.slice(2)}`, "1", gtin)).join(""),
    );
  }
  const asked = "sort=title&order=desc&gtin=4006381333931&limit=250";
  assertEquals(await listed(app, asked), skus.toReversed().join(" "));
});

contract.test("products: a sorted page begins where the last one ended, even if products changed", async () => {
  await using app = await boot();
  await app.upload(
    ["10", "20", "30", "40"].map((price) => titled(price, "T", price, ""))
      .join("").replaceAll("</price>", "</price><quantity>1</quantity>"),
  );
  const page = async (after: string | null) => {
    const more = after === null ? "" : `&after=${after}`;
    const answer = await app.call(`${PRODUCTS}?sort=price&limit=2${more}`);
    const { entries } = await readAll(
      app,
      `${PRODUCTS}?sort=price&limit=2`,
      "products",
      { after },
    );
    return { next: nextOf(answer.xml), entries };
  };
  const { next } = await page(null);
  assert(next !== null && /^[\w-]+$/.test(next), `${next}`);
  for (const path of ["20/attribute/price/50", "10/attribute/price/25"]) {
    const { status } = await app.call(`${PRODUCTS}/${path}`, { method: "PUT" });
    assertEquals(status, 204);
  }
  await app.call(`${PRODUCTS}/30`, { method: "DELETE" });
  const { entries } = await page(next);
  assertEquals(entries.map((one) => valueOf(one, "sku")), ["10", "40", "20"]);
});

contract.test("products: a cursor is valid for one order, and deletions have their own cursors", async () => {
  await using app = await boot();
  await app.upload(CATALOGUE.join(""));
  const nextBy = async (query: string) =>
    nextOf((await app.call(`${PRODUCTS}?${query}&limit=1`)).xml)!;
  const cursors = await Promise.all(
    ["sort=title", "sort=price", "sort=quantity&order=desc", "sort=sku"]
      .map(nextBy),
  );
  const wrong: [string, string][] = [
    ...cursors.map((after): [string, string] => [
      `sort=quantity&after=${after}`,
      "after not_allowed",
    ]),
    [`sort=sku&after=${cursors[0]}`, "after not_allowed"],
    // A control character, which no SKU contains.
    ["sort=sku&after=Ilx1MDAwMCI", "after not_allowed"],
    ["sort=sku&after=%22", "after not_allowed"],
    [`after=${cursors[3]}`, "after not_allowed"],
    ["sort=brand", "sort not_in_list"],
    ["order=up", "order not_in_list"],
    ["status=deleted&sort=sku", "sort not_allowed"],
    ["status=deleted&order=desc", "order not_allowed"],
  ];
  for (const [query, detail] of wrong) {
    const answer = await app.call(`${PRODUCTS}?${query}`);
    assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
    assertEquals(
      detailsOf(answer).map(({ field, code }) => `${field} ${code}`),
      [detail],
      query,
    );
  }
});

bothEngines.test("products: orders with an index take any number of products, others a bounded one", async () => {
  await using app = await boot();
  const quantityOf = (n: number) => n * 7919 % 65537;
  const add = (from: number, to: number) =>
    app.app.db.of(app.sellerNo).write((tx) =>
      tx.runMany(
        `INSERT INTO products (seller_no, id, sku, change_no, status,
           created_at, updated_at, quantity, availability, price, currency,
           condition, title, categories, images, attributes)
         VALUES (?, ?, ?, ?, 'active', 1, 1, ?, 'in_stock', '1', 'SEK', 'new',
           'T', '[]', '[]', '[]')`,
        Array.from({ length: to - from }, (_, i) => 10_000 + from + i).map((
          n,
        ) => [
          app.sellerNo,
          `01a1f8b7-0000-7000-8000-0000000${n}`,
          `S-${n}`,
          n,
          quantityOf(n),
        ]),
        1,
      )
    );
  await add(0, RANKED_PRODUCTS);
  const first = (query: string) => app.call(`${PRODUCTS}?limit=1&${query}`);
  const least = await first("sort=quantity");
  assertEquals(least.status, 200);
  const quantities = Array.from(
    { length: RANKED_PRODUCTS },
    (_, i) => quantityOf(10_000 + i),
  );
  const [product] = least.xml.children[0].children;
  assertEquals(valueOf(product, "quantity"), `${Math.min(...quantities)}`);
  await add(RANKED_PRODUCTS, RANKED_PRODUCTS + 1);
  const refused = await first("sort=quantity");
  assertEquals([refused.status, codeOf(refused)], [422, "record_invalid"]);
  const [detail] = detailsOf(refused);
  assertEquals(
    detail.message,
    `sort is quantity, which orders at most ${RANKED_PRODUCTS} products, ` +
      "and you have more; use created_at or sku.",
  );
  const last = await first("sort=sku&order=desc");
  const [product2] = last.xml.children[0].children;
  assertEquals(valueOf(product2, "sku"), `S-${10_000 + RANKED_PRODUCTS}`);
  // A page examines a bounded number of products for a filter, and continues
  // from there.
  const { entries, pages } = await readAll(
    app,
    `${PRODUCTS}?sort=sku&order=desc&q=s-10000`,
    "products",
  );
  assertEquals(entries.map((one) => valueOf(one, "sku")), ["S-10000"]);
  assertEquals(pages, 5);
});
