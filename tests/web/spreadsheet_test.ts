/** Tables become documents that the service accepts. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { csvOf, readTable } from "../../src/web/csv.ts";
import { kindOf } from "../../src/web/kinds.ts";
import type { Work } from "../../src/web/slices.ts";
import {
  makeDocuments,
  type Mapping,
  mappingFor,
  templateCsv,
  valuesOf,
} from "../../src/web/spreadsheet.ts";
import { checkRows, missing, repeated } from "../../src/web/table_checks.ts";
import { boot } from "../support/app.ts";

/** What all of the work comes to. */
function finish<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

const tableOf = (text: string) => finish(readTable(text));
const documentsOf = (...given: Parameters<typeof makeDocuments>) =>
  finish(makeDocuments(...given));

function mapped(csv: string, changes: Partial<Mapping> = {}) {
  const table = tableOf(csv);
  return { table, mapping: { ...mappingFor(table), ...changes } };
}

function problemsOf(csv: string) {
  const { table, mapping } = mapped(csv);
  return finish(checkRows(table, mapping.targets));
}

Deno.test("columns are told by their names", () => {
  const { mapping } = mapped(
    "Article number,Name,Price,Currency,EAN,Stock,Image 1,Image 2,attribute: color,Shelf\n1,2,3,4,5,6,7,8,9,10\n",
  );
  assertEquals(mapping.targets, [
    "sku",
    "title",
    "price",
    "currency",
    "gtin",
    "quantity",
    "images",
    "images",
    "attribute",
    "",
  ]);
  assertEquals(missing(mapping), []);
  assertEquals(missing(mapped("sku;price\n1;2\n").mapping), [
    "Title",
    "Quantity",
    "Currency",
  ]);
});

Deno.test("long numbers that were rounded are found before anything is sent", () => {
  assertEquals(
    problemsOf("sku;EAN;price\n1;4,00638E+12;1\n").rounded,
    "4,00638E+12",
  );
  assertEquals(problemsOf("sku;EAN\nA-1;40063813\n").rounded, null);
});

Deno.test("prices that may be of thousands are told", () => {
  const of = (price: string) =>
    problemsOf(`sku;price\nA-1;5.5\nA-2;${price}\n`).thousands;
  assertEquals(of("1.299"), "1.299");
  for (const clear of ["1.29", "1299", "0.125", "1.299,50", "1.2999"]) {
    assertEquals(of(clear), null, clear);
  }
});

Deno.test("a SKU in two documents of a table is a problem", () => {
  const of = (...skus: string[]) =>
    problemsOf(`title,sku\n,${skus.join("\n,")}\n`).repeatedSku;
  const skus = Array.from({ length: 250 }, (_, i) => `S-${i}`);
  assertEquals(of(...skus, "S-250"), null);
  const expected = { sku: "S-7", first: 9, second: 253 };
  assertEquals(of(...skus, "S-250", "S-7"), expected);
  assertEquals(of("A", "A"), null, "the service tells");
});

Deno.test("columns may have the names of what every object has", () => {
  const { mapping, table } = mapped(
    "sku,constructor,toString,__proto__\nA-1,2,3,4\n",
  );
  assertEquals(mapping.targets, ["sku", "", "", ""]);
  assertStringIncludes(
    documentsOf("a.csv", table, mapping)[0].text,
    "<sku>A-1</sku>",
  );
});

Deno.test("a first line that names the separator is not the header", () => {
  const plain = tableOf("sku;title\nA-1;Mug, red\n");
  for (
    const first of [
      "sep=;\n",
      "SEP=;\r\n",
      '"sep=;"\r',
      "\ufeffsep=;\n",
    ]
  ) {
    assertEquals(tableOf(`${first}sku;title\nA-1;Mug, red\n`), plain, first);
  }
  const odd = "sep=|\nsku|title\nA-1|Mug, red\n";
  assertEquals(tableOf(odd), plain);
  const bytes = new TextEncoder().encode(odd);
  assertEquals(kindOf("a.csv", bytes.buffer).name, "table");
  assertEquals(tableOf("sep=;x\n1;2\n").header, ["sep=", "x"]);
});

Deno.test("a field that two columns hold is a problem", () => {
  const { mapping } = mapped("sku,title,Namn,a,b,image 1,image 2\n1,2,3,4,5\n");
  assertEquals(repeated(mapping), []);
  const targets = mapping.targets.with(2, "title");
  assertEquals(repeated({ ...mapping, targets }), ["Title"]);
});

const FLAWS: readonly (readonly [string, string | null])[] = [
  ["sku,price\nA-1,5,,\n\nA-2\n", null],
  ['sku,title\nA-1,"5"" screen, black"\n', null],
  ["sku,price,quantity\nA-1,5,1\nA-2,149,00,12\n", "Row 3 has more values"],
  ['sku,title\nA-1,"Mug\nA-2,Cup\n', "A quotation mark in row 2 has no"],
  ['sku,title\nA-1,"Big" mug\n', "A quotation mark in row 2 has no"],
];

for (const [text, expected] of FLAWS) {
  Deno.test(`the flaw of ${JSON.stringify(text)} is ${expected}`, () => {
    const { flaw } = tableOf(text);
    if (expected === null) assertEquals(flaw, null);
    else assertStringIncludes(flaw ?? "", expected);
  });
}

const VALUES: readonly (readonly [string, string, string])[] = [
  ["price", "149,00", "149.00"],
  ["price", "1 299,50", "1299.50"],
  ["price", "1.299,50", "1299.50"],
  ["price", "1,299.50", "1299.50"],
  ["price", "1,299", "1,299"],
  ["price", "about 5", "about 5"],
  ["price", "1 299,00 kr", "1299.00"],
  ["price", "149:-", "149"],
  ["price", "SEK 149", "149"],
  ["price", "€ 149", "€ 149"],
  ["quantity", "10 st", "10"],
  ["available_at", "2026-12-24 00:00:00", "2026-12-24"],
  ["quantity", "12.0", "12"],
  ["quantity", "1.000", "1.000"],
  ["gtin", "4006381 333931", "4006381333931"],
  ["availability", "In stock", "in_stock"],
  ["availability", "soon", "soon"],
  ["available_at", "1.12.2026", "2026-12-01"],
  ["categories", "Home > Kitchen; Gifts", "Home > Kitchen|Gifts"],
  [
    "images",
    "https://a.example/1,2.png https://a.example/3.png",
    "https://a.example/1,2.png|https://a.example/3.png",
  ],
];

for (const [field, cell, expected] of VALUES) {
  Deno.test(`${field} "${cell}" is sent as ${expected}`, () => {
    const { table, mapping } = mapped(`${field}\t\n"${cell}"\t\n`, {
      currency: "SEK",
    });
    const values = valuesOf(table.rows[0], mapping);
    assertEquals([...values.values()].flat().join("|"), expected);
  });
}

Deno.test("a table is split, and its documents are accepted", async () => {
  await using app = await boot();
  const rows = Array.from(
    { length: 251 },
    (_, i) => `S-${i};"Mug; ""big"" & <new>";1 299,00;5;Blue`,
  );
  const { table, mapping } = mapped(
    `sku;title;price;quantity;attribute: color\n\n${rows.join("\r\n")}`,
    { currency: "SEK" },
  );
  const documents = documentsOf("stock.csv", table, mapping);
  assertEquals(documents.map(({ name }) => name), [
    "stock.csv, rows 3–252",
    "stock.csv, rows 253–253",
  ]);
  for (const { text } of documents) {
    const { status, text: answer } = await app.call(
      "/seller_api/bulk_products",
      { method: "POST", body: text },
    );
    assertEquals(status, 200, answer);
  }
  const { text } = await app.call("/seller_api/products/S-250");
  assertStringIncludes(
    text,
    "<title>Mug; &quot;big&quot; &amp; &lt;new&gt;</title>",
  );
  assertStringIncludes(text, '<price currency="SEK">1299</price>');
  assertStringIncludes(text, '<attribute name="color">Blue</attribute>');

  const template = mapped(templateCsv());
  const [document] = documentsOf("t", template.table, template.mapping);
  const answer = await app.call("/seller_api/bulk_products", {
    method: "POST",
    body: document.text,
  });
  assertEquals(answer.status, 200, answer.text);
});

Deno.test("what is saved as CSV holds no formula", () => {
  assertEquals(
    csvOf([["a", 1, null], ["=1+1", 'x"y', ","]]),
    '\ufeffa,1,\r\n"\'=1+1","x""y",","\r\n',
  );
});

const KINDS: readonly (readonly [string, string])[] = [
  ["<products/>", "xml"],
  ["\ufeff  <products/>", "xml"],
  ["sku,price\n1,2", "table"],
  ["", "an empty file"],
  ["PK\x03\x04....xl/workbook.xml", "an Excel workbook"],
  ["PK\x03\x04....", "a ZIP archive"],
  ["%PDF-1.7", "a PDF"],
  ['[{"sku": 1}]', "JSON"],
  ["<!DOCTYPE HTML><p>", "a web page"],
  ["sku,price\n", "table"],
  ["hello", "text without columns"],
];

for (const [text, expected] of KINDS) {
  Deno.test(`${JSON.stringify(text)} is taken for ${expected}`, () => {
    const bytes = new TextEncoder().encode(text).buffer;
    const kind = kindOf("file", bytes);
    assertEquals(
      kind.name === "refused" ? kind.refused.what : kind.name,
      expected,
    );
  });
}

Deno.test("a table in the code page of Windows is read", () => {
  const bytes =
    Uint8Array.from("sku;title\n1;\xe5\xe4\xf6", (char) => char.charCodeAt(0))
      .buffer;
  const kind = kindOf("a.csv", bytes);
  assertEquals(kind.name === "table" && kind.text, "sku;title\n1;åäö");
});
