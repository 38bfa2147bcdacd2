/** What the categories of a table need, in its columns and at its cells. */
import { assertEquals } from "@std/assert";
import type { Category } from "../../src/client/mod.ts";
import {
  categoriesIn,
  needFindings,
} from "../../src/web/import/check/category_needs.ts";
import { countKnownNames } from "../../src/web/import/columns/headers.ts";
import { columnOfProblem } from "../../src/web/import/columns/sheet.ts";
import { mappingFor } from "../../src/web/import/columns/spreadsheet.ts";
import { readTable } from "../../src/web/import/read/csv.ts";
import { boot } from "../support/app.ts";
import { finish } from "../support/work.ts";

const TABLE =
  "SKU,Title,Price,Currency,Quantity,Category,attribute: material\n" +
  "A,Mug,5,SEK,1,Mugs,\n" +
  "B,Cup,5,SEK,1,Cups,steel\n";

const LIST: Category[] = [
  {
    name: "Mugs",
    rule: [
      { attribute: "material", required: true },
      { attribute: "glaze", required: true, from: "2999-01-01" },
      { field: "gtin", required: true },
      { field: "brand", value: ["Acme"] },
    ],
  },
  { name: "Cups", rule: [{ field: "gtin", required: true }] },
];

function mapped(text: string) {
  const table = finish(readTable(text, countKnownNames));
  return { table, mapping: mappingFor(table) };
}

Deno.test("a table shows which columns its categories need, and can add them", () => {
  const before = mapped(TABLE);
  assertEquals(categoriesIn(before), ["Mugs", "Cups"]);
  const [glaze, gtin, ...others] = needFindings(before, LIST);
  assertEquals(others, []);
  assertEquals(
    [glaze.text, gtin.text],
    [
      "No column holds glaze, which new products in Mugs need from " +
      "2999-01-01 on.",
      "No column holds GTIN, which new products in Mugs, Cups need.",
    ],
  );
  const [one] = glaze.answers;
  assertEquals(one.label, "Add a column glaze");
  const [other] = gtin.answers;
  const after = other.apply(one.apply(before)!)!;
  assertEquals(after.table.header.slice(-2), ["attribute: glaze", "GTIN"]);
  assertEquals(after.table.rows[0].slice(-2), ["", ""]);
  assertEquals(after.mapping.targets.slice(-2), ["attribute", "gtin"]);
  assertEquals(needFindings(after, LIST), []);
});

Deno.test("a missing attribute is reported at its cell", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const operator = { key: "op", method: "PUT" };
  const put = await app.call("/operator_api/categories", {
    ...operator,
    body: '<categories><category name="Mugs">' +
      '<rule attribute="material" required="true"/>' +
      '<rule attribute="size" required="true"/></category></categories>',
  });
  assertEquals(put.status, 200, put.text);
  const client = app.client();
  const error = await client.uploadProducts({
    products: [{
      sku: "A",
      title: "Mug",
      price: { amount: "5", currency: "SEK" },
      quantity: 1,
      categories: ["Mugs"],
    }],
  }).then(() => null, (error) => error);
  const { table, mapping } = mapped(TABLE);
  const sheet = { name: "", book: null, table, mapping };
  assertEquals(
    error.details.map((detail: never) => columnOfProblem(sheet, 0, detail)),
    // It has no column for the size.
    [6, null],
  );
});
