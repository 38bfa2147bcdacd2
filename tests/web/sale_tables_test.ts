/** Sales with dates in tables and in exports of shops. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Product, SentProduct } from "../../src/client/mod.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { checkRows } from "../../src/web/import/check/table_checks.ts";
import { countKnownNames } from "../../src/web/import/columns/headers.ts";
import {
  columnOfProblem,
  tableOfDocument,
} from "../../src/web/import/columns/sheet.ts";
import {
  makeDocument,
  mappingFor,
} from "../../src/web/import/columns/spreadsheet.ts";
import { gatherTable } from "../../src/web/import/gather.ts";
import { readTable } from "../../src/web/import/read/csv.ts";
import { normaliseSaleTime } from "../../src/web/lib/sale_times.ts";
import {
  catalogueFile,
  deletedProductsFile,
} from "../../src/web/products/catalogue_file.ts";
import { boot, product } from "../support/app.ts";
import { finish } from "../support/work.ts";

/** The date so many days from now. */
function day(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

function read(csv: string) {
  const { table, note } = finish(
    gatherTable(finish(readTable(csv, countKnownNames))),
  );
  return { table, note, mapping: mappingFor(table) };
}

async function productsOf(csv: string): Promise<SentProduct[]> {
  const { table, mapping } = read(csv);
  const rows = [...table.rows.keys()];
  const blob = finish(makeDocument(table, mapping, rows));
  return JSON.parse(await blob.text()).products;
}

/** The prices and the sale of each product. */
async function sales(csv: string): Promise<unknown[]> {
  return (await productsOf(csv)).map(({ price, compare_at_price, sale }) => [
    price?.amount,
    compare_at_price,
    sale,
  ]);
}

Deno.test("dated sale prices of WooCommerce are sent as sales", async () => {
  const rows = [
    ["A", "18", "25", `${day(1)}T00:00:00+01:00`, `${day(9)}T23:59:59+01:00`],
    ["B", "18", "25", "", `${day(9)} 00:00:00`],
    ["C", "18", "25", day(-9), day(-2)],
    ["D", "18", "25", "", ""],
    ["E", "", "25", "", ""],
    ["F", "18", "25", day(3), ""],
    ["G", "18", "25", day(-3), ""],
    ["H", "25", "25", "", day(9)],
  ];
  const csv = [
    "ID,Type,SKU,Name,Published,Is featured?,Date sale price starts,Date sale price ends,Sale price,Regular price,Parent",
    ...rows.map(([sku, sale, price, from, until]) =>
      `1,simple,${sku},Mug,1,0,${from},${until},${sale},${price},`
    ),
  ].join("\n");
  assertEquals(await sales(csv), [
    ["25", null, {
      price: "18",
      from: `${day(1)}T00:00:00+01:00`,
      until: `${day(9)}T23:59:59+01:00`,
    }],
    ["25", null, { price: "18", until: day(9) }],
    ["25", null, null],
    ["18", "25", null],
    ["25", null, null],
    ["25", null, null],
    ["18", "25", null],
    ["25", null, null],
  ]);
  assertStringIncludes(
    read(csv).note,
    "1 sale price that begins later, without an end, is left out.",
  );
});

Deno.test("the dates of a sale in Google's feeds and in Magento's exports are sent", async () => {
  const google = "id\ttitle\tprice\timage_link\tsale_price\t" +
    `sale_price_effective_date\nA\tMug\t25.00 EUR\thttps://x.example/a.jpg\t` +
    `18.00 EUR\t${day(1)}T13:00-0800/${day(5)}T15:30-0800\n`;
  assertEquals(await sales(google), [["25.00", null, {
    price: "18.00",
    from: `${day(1)}T13:00-08:00`,
    until: `${day(5)}T15:30-08:00`,
  }]]);
  const magento = "sku,product_type,product_online,name,price,special_price," +
    "special_price_from_date,special_price_to_date,additional_attributes\n" +
    `A,simple,1,Mug,25.00,18.00,${day(1)} 00:00:00,${day(5)} 00:00:00,\n`;
  assertEquals(await sales(magento), [["25.00", null, {
    price: "18.00",
    from: day(1),
    until: day(5),
  }]]);
});

Deno.test("a table of sales alone leaves prices as they are", async () => {
  const csv = `SKU;Sale price;Sale from;Sale until\nA;9,90;${day(1)};${day(5)}`;
  assertEquals(await sales(csv), [
    [undefined, undefined, { price: "9.90", from: day(1), until: day(5) }],
  ]);
  const { table, mapping } = read(csv);
  const { timedSales, unpricedSales } = finish(checkRows(table, mapping));
  assertEquals([timedSales, unpricedSales], [[], []]);
});

Deno.test("times of sales are read as programs write them", () => {
  const rows: [text: string, expected: string][] = [
    ["2026-12-01", "2026-12-01"],
    ["2026-12-01 00:00:00", "2026-12-01"],
    ["1.12.2026", "2026-12-01"],
    ["2026-12-01T08:00-0800", "2026-12-01T08:00-08:00"],
    ["2026-12-01T08:00:00Z", "2026-12-01T08:00:00Z"],
    ["2026-12-01 08:00", new Date("2026-12-01T08:00").toISOString()],
    // It differs between countries.
    ["12/01/2026", "12/01/2026"],
    ["2026-99-01 08:00", "2026-99-01 08:00"],
  ];
  for (const [text, expected] of rows) {
    assertEquals(normaliseSaleTime(text), expected);
  }
});

Deno.test("a saved table has the sales, and is accepted unchanged", async () => {
  await using app = await boot();
  const sale = (from: string, until: string) =>
    `<sale><price>99</price>${from}<until>${until}</until></sale>`;
  await app.upload(
    product("A", sale(`<from>${day(1)}</from>`, day(5))) +
      product("B", sale("", day(5))) + product("C"),
  );
  const { products } = await app.client().products.list();
  const csv = await (await catalogueFile(products, "csv")).text();
  const answer = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/xml" },
    body: JSON.stringify({ products: await productsOf(csv) }),
  });
  const record = await app.status(answer);
  assertStringIncludes(record.source, "<unchanged>3</unchanged>");
  const [ended, kept] = await productsOf(csv.replace(/,99,.*?,.*?Z,/, ",-,,,"));
  assertEquals(ended.sale, null);
  assertEquals(kept.sale?.price, "99");
});

Deno.test("a document of deleted products has only sales that are not over", async () => {
  const make = (state: "on" | "over"): Product => ({
    ...{ id: "1", sku: state, title: "T", created_at: "", updated_at: "" },
    price: { amount: "9", currency: "SEK" },
    sale: { state, price: "8", from: day(-9), until: day(9) },
  } as Product);
  const text = await deletedProductsFile([make("on"), make("over")]).text();
  assertEquals(text.match(/<sale>/g)?.length, 1);
});

Deno.test("a problem of a sale is shown at its cell", () => {
  const { table, mapping } = read(
    `SKU;Price;Sale price;Sale from;Sale until\nA;12,90;9,90;${day(1)};soon`,
  );
  const sheet = { name: "", table, mapping, book: null };
  const columnOf = (field: string) =>
    columnOfProblem(sheet, 0, { field, code: "out_of_range", message: "" });
  assertEquals(
    ["sale/price", "sale/from", "sale/until", "price"].map(columnOf),
    [2, 3, 4, 1],
  );
});

Deno.test("a document with a sale is shown as a table, one that ends a sale is not", () => {
  const document = (sale: string) =>
    tableOfDocument(
      "a.xml",
      `<products><product><sku>A</sku>${sale}</product></products>`,
    );
  const shown = document(
    `<sale><price>9</price><until>${day(5)}</until></sale>`,
  );
  assertEquals(shown?.table.header, ["SKU", "Sale price", "Sale until"]);
  assertEquals(document("<sale/>"), null);
});
