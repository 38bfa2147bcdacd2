/** What the categories of a table need, in its columns and at its cells. */
import { assertEquals } from "@std/assert";
import type { Category } from "../../../../src/client/mod.ts";
import {
  categoriesIn,
  needFindings,
} from "../../../../src/web/import/check/category_needs.ts";
import { countKnownNames } from "../../../../src/web/import/columns/headers.ts";
import { columnOfProblem } from "../../../../src/web/import/columns/sheet.ts";
import { mappingFor } from "../../../../src/web/import/columns/spreadsheet.ts";
import { readTable } from "../../../../src/web/import/read/csv.ts";
import { boot } from "../../../support/app.ts";
import { finish } from "../../../support/work.ts";
import { browserTest } from "../../browser.ts";
import { choose, signIn } from "../../page.ts";

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
  const error = await client.uploads.create({
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

browserTest(
  "the page: a table gets the columns that its categories need, and marks cells",
  async (openTab) => {
    await using app = await boot({
      config: { roles: ["api"], operatorKey: "op" },
    });
    const put = await app.call("/operator_api/categories", {
      key: "op",
      method: "PUT",
      body: '<categories><category name="Mugs">' +
        '<rule attribute="material" required="true"/>' +
        '<rule field="brand" required="true"/>' +
        '<rule field="gtin" required="true" from="2999-01-01"/>' +
        "</category></categories>",
    });
    assertEquals(put.status, 200, put.text);
    await using tab = await openTab();
    const { page } = tab;
    const click = (name: string) => page.getByRole("button", { name }).click();
    await signIn(tab, app.url, app.key);
    await choose(
      page,
      "SKU;Title;Price (SEK);Stock;Category;attribute: material\r\n" +
        "A;Mug;9,00;1;Mugs;\r\nB;Cup;9,00;1;Mugs;steel\r\n",
      "mugs.csv",
    );
    const offer = page.getByText("No column holds Brand");
    await offer.waitFor();
    await click("Add a column Brand");
    await offer.waitFor({ state: "detached" });
    const field = page.getByLabel("Field of Brand");
    assertEquals(await field.inputValue(), "brand");
    await page.getByText("which new products in Mugs need from 2999-01-01 on")
      .waitFor();

    await click("Check 2 products");
    await page.getByText("3 problems in 2 rows.").waitFor();
    const grid = page.getByRole("grid", { name: "Rows with problems" });
    const marked = await grid.locator(".wrong").evaluateAll((cells) =>
      cells.map(({ id, textContent }) => [id, textContent])
    );
    assertEquals(marked, [
      ["cell-0-5", "material is missing; its category needs it"],
      ["cell-0-6", "Brand is missing; its category needs it"],
      ["cell-1-6", "Brand is missing; its category needs it"],
    ]);

    for (const cell of ["cell-0-5", "cell-0-6", "cell-1-6"]) {
      await page.locator(`#${cell}`).click();
      await page.keyboard.type("steel");
      await page.keyboard.press("Enter");
    }
    await click("Check again");
    await page.getByText("2 warnings: these products can be stored")
      .waitFor();
    await page.getByText("row 3: gtin is missing").waitFor();
    await click("Upload 2 products");
    await page.getByText("2 warnings: these products are stored").waitFor();
    assertEquals(tab.faults, []);
  },
);
