/** Workbooks of Excel and LibreOffice on the page. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import type { CellObject, WorkBook } from "@e965/xlsx";
import type { Page } from "playwright-core";
import { unpackedSize } from "../../src/web/import/read/workbook/archive.ts";
import { textOfCell } from "../../src/web/import/read/workbook/cells.ts";
import {
  CFB,
  read,
  utils,
  write,
} from "../../src/web/import/read/workbook/xlsx.ts";
import { boot, type BootOptions } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { browserTest, type OpenTab } from "./browser.ts";
import { pageTests } from "./opened_page.ts";
import { signIn } from "./page.ts";

type Cell = string | number | CellObject | null;

const HEADER = [
  "SKU",
  "Titel",
  "Preis in EUR",
  "Bestand",
  "EAN",
  "Verfügbar ab",
];

/** A workbook in the form that Excel writes. */
function book(
  sheets: Readonly<Record<string, readonly (readonly Cell[])[]>>,
  bookType: "xlsx" | "ods" = "xlsx",
): ArrayBuffer {
  const made = utils.book_new();
  for (const [name, rows] of Object.entries(sheets)) {
    const cells = rows.map((row) => [...row]);
    utils.book_append_sheet(made, utils.aoa_to_sheet(cells), name);
  }
  // The first file of an OpenDocument archive is never compressed.
  const compression = bookType === "xlsx";
  return write(made, { type: "array", bookType, compression });
}

const number = (v: number, z: string): CellObject => ({ t: "n", v, z });
const text = (v: string): CellObject => ({ t: "s", v });

function choose(
  page: Page,
  bytes: ArrayBuffer,
  name: string,
): Promise<void> {
  return page.getByLabel("File with products").setInputFiles({
    name,
    mimeType: "application/octet-stream",
    buffer: Buffer.from(bytes),
  });
}

function click(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole("button", { name }).click();
}

function test(name: string, fn: (openTab: OpenTab) => Promise<void>): void {
  browserTest(`a workbook: ${name}`, fn);
}

const bootPage = () => boot(OPTIONS);
const OPTIONS: BootOptions = { config: { roles: ["api"] } };
const pageTest = pageTests("a workbook", OPTIONS);

for (
  const [cell, expected] of [
    [text(" Mug "), "Mug"],
    [number(149.9, "General"), "149.9"],
    [number(0.1 + 0.2, "General"), "0.3"],
    // A comma elsewhere in the column does not make it a thousands separator.
    [number(2.125, "0.000"), "2.1250"],
    [number(4006381333931, "0.00E+00"), "4006381333931"],
    [number(42, "00000"), "00042"],
    [number(0.25, "0%"), "25%"],
    // Only the format says what Excel shows beside a number.
    [number(12.9, '#,##0.00\\ "€"'), "12.9 €"],
    [number(1299, "#,##0 [$€-407]"), "1299 €"],
    [number(12.9, "[$$-409]#,##0.00"), "$12.9"],
    [number(12.9, '_-* #,##0.00\\ "kr"_-;\\-* #,##0.00\\ "kr"_-'), "12.9 kr"],
    [number(0.5, '0.0 "kg"'), "0.5 kg"],
    [number(12, '"A-"0000'), "A-0012"],
    [number(5, "[Red]0;[Blue]-0"), "5"],
    [number(123456789, "000-00-0000"), "123-45-6789"],
    [number(12345, "00\\-000"), "12-345"],
    [number(1234567, "# ##0"), "1234567"],
    [number(46143, "dd/mm/yyyy"), "2026-05-01"],
    [number(46143.5, "yyyy-mm-dd hh:mm"), "2026-05-01T12:00:00"],
    [number(123456789012345678, "0"), "1.2345678901234568E+17"],
    [{ t: "b", v: true }, "true"],
    [{ t: "e", v: 0x2a }, null],
    [undefined, ""],
  ] as const
) {
  Deno.test(`the cell ${JSON.stringify(cell)} is read as ${expected}`, () => {
    const dates = { date1904: false };
    assertEquals(textOfCell(cell as CellObject | undefined, dates), expected);
  });
}

Deno.test("the unpacked size of an archive is known before unpacking", () => {
  const bytes = book({ A: [["a", "b"], ["c", "d"]] });
  const size = unpackedSize(bytes)!;
  assert(size > bytes.byteLength && size < 100_000, `${size}`);
  assertEquals(unpackedSize(bytes.slice(0, 500)), null);
  assertEquals(unpackedSize(new ArrayBuffer(0)), null);
  // Files that do not tell theirs.
  assertEquals(unpackedSize(declaring(bytes, 0)), null);
});

/** An archive that declares this many unpacked bytes for each of its files. */
function declaring(archive: ArrayBuffer, size: number): ArrayBuffer {
  const view = new DataView(archive.slice(0));
  for (let at = 0; at < view.byteLength - 46; at++) {
    if (view.getUint32(at, true) === 0x02014b50) {
      view.setUint32(at + 24, size, true);
    }
  }
  return view.buffer;
}

test("a file saved by Excel is stored as Excel shows it, in three clicks", async (openTab) => {
  await using app = await bootPage();
  for (const type of ["xlsx", "ods"] as const) {
    await using tab = await openTab();
    const { page } = tab;
    await signIn(tab, app.url, app.key);
    const sku = type.toUpperCase();
    await choose(
      page,
      book({
        Info: [["Our shop"]],
        Preise: [
          ["Preisliste 2026"],
          [],
          HEADER,
          [
            sku,
            "Becher",
            number(149.9, "0.00"),
            12,
            4006381333931,
            number(46143, "dd/mm/yyyy"),
          ],
          [],
          [`${sku}-2`, "Tasse", "1.299,00 €", 0, "4006381333948", null],
        ],
      }, type),
      `preise.${type}`,
    );
    await page.getByLabel("Sheet").waitFor();
    assertEquals(await page.getByLabel("Sheet").inputValue(), "Preise");
    await click(page, "Check 2 products");
    await click(page, "Upload 2 products");
    await page.getByText("complete", { exact: true }).waitFor();
    const first = (await app.call(`/seller_api/products/${sku}`)).text;
    assertStringIncludes(first, "<title>Becher</title>");
    assertStringIncludes(first, '<price currency="EUR">149.9</price>');
    assertStringIncludes(first, "<quantity>12</quantity>");
    assertStringIncludes(first, "<gtin>4006381333931</gtin>");
    assertStringIncludes(first, "<available_at>2026-05-01");
    const second = (await app.call(`/seller_api/products/${sku}-2`)).text;
    assertStringIncludes(second, '<price currency="EUR">1299</price>');
    assertEquals(tab.faults, []);
  }
});

pageTest(
  "another sheet can be chosen, and the corrected file is a workbook again",
  async ({ page, signIn, tab }) => {
    await signIn();
    await choose(
      page,
      book({
        Alt: [HEADER, ["OLD", "Alt", 1, 1]],
        Neu: [
          HEADER,
          [
            "A",
            "Becher",
            number(9.5, "0.00"),
            3,
            4006381333931,
            number(46143, "dd/mm/yyyy"),
          ],
          ["B", "Tasse", { t: "e", v: 0x2a }, 4, "=1+1", null],
        ],
      }),
      "preise.xlsx",
    );
    const other = page.getByText(
      "Only the sheet Alt is read; you can choose another above: Neu.",
    );
    await other.waitFor();
    await page.getByLabel("Sheet").selectOption("Neu");
    await other.waitFor({ state: "detached" });
    await page.getByText("1 cell without a value").waitFor();
    await click(page, "Check 2 products");
    await page.getByText("2 problems in 1 row.").waitFor();
    const grid = page.getByRole("grid", { name: "Rows with problems" });
    await grid.getByRole("gridcell", { name: "Price is missing" }).click();
    await page.keyboard.type("12,50");
    await page.keyboard.press("Enter");
    const download = page.waitForEvent("download");
    await click(page, "Download the corrected file");
    const saved = await download;
    assertEquals(saved.suggestedFilename(), "preise-corrected.xlsx");
    const corrected = read(await Deno.readFile(await saved.path()), {
      cellNF: true,
    });
    assertEquals(corrected.SheetNames, ["Alt", "Neu"]);
    assertEquals(corrected.Sheets.Alt.A2.v, "OLD");
    const { Neu } = corrected.Sheets;
    // Untouched parts are unchanged, including formats.
    assertEquals([Neu.C2.t, Neu.C2.v, Neu.C2.z], ["n", 9.5, "0.00"]);
    assertEquals([Neu.F2.t, Neu.F2.v, Neu.F2.z], ["n", 46143, "dd/mm/yyyy"]);
    assertEquals([Neu.C3.t, Neu.C3.v], ["s", "12,50"]);
    assertEquals([Neu.E3.t, Neu.E3.v, Neu.E3.f], ["s", "=1+1", undefined]);
    assertEquals(Neu.G1.v, "Problems");
    assertStringIncludes(`${Neu.G3.v}`, "=1+1");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a currency in a cell's format applies only to its own price",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const priced = (sku: string, format: string) => [
      ...[sku, "Becher", number(12.9, format), 3],
    ];
    const header = ["SKU", "Titel", "Preis", "Bestand"];
    const euro = '#,##0.00\\ "€"';
    await choose(page, book({ A: [header, priced("A", euro)] }), "preise.xlsx");
    await click(page, "Check 1 product");
    await click(page, "Upload 1 product");
    await page.getByText("complete", { exact: true }).waitFor();
    const { text: stored } = await app.call("/seller_api/products/A");
    assertStringIncludes(stored, '<price currency="EUR">12.9</price>');

    await page.getByRole("link", { name: "Upload", exact: true }).click();
    const mixed = [header, priced("B", euro), priced("C", "[$$-409]#,##0.00")];
    await choose(page, book({ A: mixed }), "gemischt.xlsx");
    await page.getByLabel("Currency of all prices").fill("EUR");
    await click(page, "Check 2 products");
    await page.getByText("1 problem in 1 row.").waitFor();
    await page.getByRole("gridcell", { name: "$12.9" }).waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a cell that spans several rows is the value of each",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const made = utils.book_new();
    const sheet = utils.aoa_to_sheet([
      ["Frühjahr", null, null, null, null],
      ["SKU", "Titel", "Preis in EUR", "Bestand", "Marke"],
      ["A", "Becher", 5, 3, "Kockums"],
      ["B", "Tasse", 6, 4],
      ["C", "Teller", 7, 5],
    ]);
    const range = (s: string, e: string) => ({
      s: utils.decode_cell(s),
      e: utils.decode_cell(e),
    });
    sheet["!merges"] = [range("A1", "E1"), range("E3", "E4")];
    utils.book_append_sheet(made, sheet, "A");
    const bytes = write(made, { type: "array", bookType: "xlsx" });
    await choose(page, bytes, "marken.xlsx");
    await click(page, "Check 3 products");
    await click(page, "Upload 3 products");
    await page.getByText("complete", { exact: true }).waitFor();
    const { products } = await app.client().products.list();
    assertEquals(
      products.map(({ sku, brand }) => [sku, brand]),
      [["A", "Kockums"], ["B", "Kockums"], ["C", undefined]],
    );
    assertEquals(tab.faults, []);
  },
);

/** Hidden rows, columns and sheets, in the form of each program. */
const HIDING = {
  xlsx(): ArrayBuffer {
    const made = books();
    made.Sheets.Neu["!rows"] = [{}, {}, { hidden: true }];
    made.Sheets.Neu["!cols"] = [{}, {}, {}, {}, { hidden: true }];
    made.Workbook = { Sheets: [{ Hidden: 1 }, {}] };
    return write(made, { type: "array", bookType: "xlsx" });
  },
  ods(): ArrayBuffer {
    const bytes = write(books(), { type: "array", bookType: "ods" });
    const archive = CFB.read(new Uint8Array(bytes), { type: "array" });
    const file = CFB.find(archive, "content.xml")!;
    const hidden = 'table:visibility="collapse"';
    const xml = new TextDecoder().decode(Uint8Array.from(file.content))
      .replace(
        "<office:automatic-styles>",
        `$&<style:style style:name="hides" style:family="table">
           <style:table-properties table:display="false"/></style:style>`,
      )
      .replace('"Alt" table:style-name="ta1"', '"Alt" table:style-name="hides"')
      .replace(
        /(table:name="Neu"[^>]*>)[^]*?(<table:table-row>[^]*?)<table:table-row>([^]*?)<table:table-row>/,
        `$1<table:table-column table:number-columns-repeated="4"/>
         <table:table-column ${hidden}/>$2<table:table-row>$3<table:table-row
           ${hidden.replace("collapse", "filter")}>`,
      );
    file.content = new TextEncoder().encode(xml) as unknown as number[];
    file.size = file.content.length;
    return new Uint8Array(
      CFB.write(archive, { type: "array", fileType: "zip" }) as Uint8Array,
    ).buffer;
  },
};

/** An old sheet, and one with three products. */
function books(): WorkBook {
  const made = utils.book_new();
  const old = [["SKU", "Titel"], ["Z", "Alt"]];
  utils.book_append_sheet(made, utils.aoa_to_sheet(old), "Alt");
  const rows = [
    ["SKU", "Titel", "Preis in EUR", "Bestand", "Marke"],
    ["A", "Becher", 5, 3, "Kockums"],
    ["B", "Tasse", 6, 4, "Kockums"],
    ["C", "Teller", 7, 5, "Kockums"],
  ];
  utils.book_append_sheet(made, utils.aoa_to_sheet(rows), "Neu");
  return made;
}

for (const [kind, made] of Object.entries(HIDING)) {
  pageTest(
    `the page asks about what an ${kind} hides`,
    async ({ app, page, signIn, tab }) => {
      await signIn();
      await choose(page, made(), `preise.${kind}`);
      await page.getByText(
        "A hidden sheet is not read unless you choose it above: Alt",
      ).waitFor();
      const check = page.getByRole("button", { name: "Check 3 products" });
      assert(await check.isDisabled());
      await page.getByText("The workbook hides 1 column: Marke").waitFor();
      await page.getByText("The workbook hides row 3").waitFor();
      await click(page, "Leave 1 row out");
      await click(page, "Leave them out");
      await click(page, "Check 2 products");
      await click(page, "Upload 2 products");
      await page.getByText("complete", { exact: true }).waitFor();
      const { products } = await app.client().products.list();
      assertEquals(
        products.map(({ sku, brand }) => [sku, brand]),
        [["A", undefined], ["C", undefined]],
      );
      assertEquals(tab.faults, []);
    },
  );
}

pageTest(
  "numbers rounded by a spreadsheet program are reported",
  async ({ page, signIn, tab }) => {
    await signIn();
    await choose(
      page,
      book({ A: [HEADER, ["A", "Becher", 5, 3, "7,3123E+12", null]] }),
      "preise.xlsx",
    );
    await page.getByText("as in 7,3123E+12: their last digits").waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a workbook that is damaged, unpacks to too much or takes too long is refused",
  async ({ page, signIn, tab }) => {
    const good = book({ A: [HEADER, ["A", "Becher", 5, 3]] });
    await signIn();
    await choose(page, declaring(good, 2 ** 30), "bomb.xlsx");
    await page.getByText("The workbook has more than 256 MiB").waitFor();
    // No more than the declared size is unpacked, so this file counts as damaged.
    await choose(page, declaring(good, 1), "liar.xlsx");
    await page.getByText("liar.xlsx is a workbook that cannot be read")
      .waitFor();
    await choose(page, good.slice(0, -40), "cut.xlsx");
    await page.getByText("The file is damaged").waitFor();

    await page.route(
      /workbook\.[0-9a-f]+\.js/,
      (route) =>
        route.fulfill({ contentType: "text/javascript", body: "for (;;);" }),
    );
    await page.clock.install();
    await choose(page, good, "slow.xlsx");
    // The limit begins a moment after the file is chosen.
    await until(async () => {
      await page.clock.fastForward(60_000);
      return await page.getByText("Reading the workbook takes too long")
        .isVisible();
    }, "the end of a slow workbook");
    assertEquals(tab.faults, []);
  },
);
