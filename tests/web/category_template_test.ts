/** Templates for the products of one category. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { countKnownNames } from "../../src/web/import/columns/headers.ts";
import { mappingFor } from "../../src/web/import/columns/spreadsheet.ts";
import { templateColumns } from "../../src/web/import/columns/category_columns.ts";
import {
  readSheet,
  templateBook,
} from "../../src/web/import/read/workbook/book.ts";
import { CFB } from "../../src/web/import/read/workbook/xlsx.ts";
import { boot } from "../support/app.ts";
import { browserTest } from "./browser.ts";
import { signIn } from "./page.ts";

const MUGS = {
  name: "Home/Mugs",
  rule: [
    { field: "gtin", required: true, from: "2999-01-01" },
    { attribute: "material", required: true, value: ["steel", "porcelain"] },
    { attribute: "glaze & co", value: ["<matt>"] },
    { field: "price", required: true },
  ],
} as const;

/** The text of a file in a workbook. */
function fileIn(bytes: ArrayBuffer, name: string): string {
  const archive = CFB.read(new Uint8Array(bytes), { type: "array" });
  const { content } = CFB.find(archive, name)!;
  return new TextDecoder().decode(Uint8Array.from(content));
}

Deno.test("a template has the columns and lists of a category, and the page recognizes them", () => {
  const bytes = templateBook(templateColumns(MUGS as never, ["acme", "b"]));
  const wanted = { sheet: "Products", hidden: false };
  const { table, sheets } = readSheet(bytes, wanted, countKnownNames);
  assertEquals(sheets, ["Products", "Lists"]);
  assertEquals(table.header, [
    ...["sku", "title", "description", "price", "currency", "quantity"],
    ...["categories", "images", "gtin"],
    ...["attribute: material", "attribute: glaze & co"],
    ...["manufacturer_contact", "responsible_person", "safety_text"],
  ]);
  const { targets } = mappingFor(table);
  assertEquals(targets.includes(""), false);
  assertEquals(targets.slice(-3), [
    "manufacturer",
    "responsible_person",
    "safety_text",
  ]);
  const lists = readSheet(bytes, { sheet: "Lists", hidden: false }, () => 0);
  assertEquals(lists.table.header, [
    "Home/Mugs",
    "steel",
    "<matt>",
    "acme",
    "acme",
  ]);
  assertEquals(lists.table.rows, [["", "porcelain", "", "b", "b"]]);
  const sheet = fileIn(bytes, "sheet1.xml");
  assertStringIncludes(sheet, '<dataValidations count="5">');
  assertStringIncludes(
    sheet,
    'sqref="J2:J50001"><formula1>Lists!$B$1:$B$2</formula1>',
  );
  // GTINs and values of lists are text; prices are numbers.
  const [, text] = /<c r="A1" s="(\d+)"/.exec(sheet)!;
  const formats = [...sheet.matchAll(/<col [^>]*/g)].map(([col]) => col);
  const isText = (name: string) =>
    formats[table.header.indexOf(name)].includes(`style="${text}"`);
  assertEquals(["gtin", "attribute: material", "price"].map(isText), [
    ...[true, true, false],
  ]);
  // Where the schema of worksheets has them.
  assertEquals(/<\/sheetData>(<\w+)/.exec(sheet)?.[1], "<dataValidations");
});

browserTest(
  "the page: a template for a category is downloaded",
  async (openTab) => {
    await using app = await boot({ config: { operatorKey: "operator" } });
    await using tab = await openTab();
    const { page } = tab;
    const choose = page.getByRole("button", {
      name: "Template for a category",
    });
    const read = page.waitForResponse(/seller_api\/categories/);
    await signIn(tab, app.url, app.key);
    await (await read).finished();
    assertEquals(await choose.count(), 0, "without a list");
    const { status, text } = await app.call("/operator_api/categories", {
      method: "PUT",
      key: "operator",
      body:
        '<categories><category name="Home/Mugs"><rule attribute="material"' +
        "><value>steel</value></rule></category></categories>",
    });
    assertEquals(status, 200, text);
    await page.reload();
    await choose.click();
    const field = page.getByLabel("Category");
    await field.fill("Home/Cups");
    const save = page.getByRole("button", { name: "Download", exact: true });
    await save.click();
    await page.getByText("has no category Home/Cups").waitFor();
    await field.fill("Home/Mugs");
    const download = page.waitForEvent("download");
    await save.click();
    const file = await download;
    assertEquals(file.suggestedFilename(), "products-Home-Mugs.xlsx");
    const bytes = await Deno.readFile(await file.path());
    assertStringIncludes(
      fileIn(bytes.buffer as ArrayBuffer, "sheet1.xml"),
      "<dataValidation ",
    );
    // The browser notes the refused request.
    assertEquals(tab.faults.filter((fault) => !fault.includes("404")), []);
  },
);
