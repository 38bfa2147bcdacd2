/** Positions in documents that are being edited. */
import { assertEquals } from "@std/assert";
import { indentLongLines, ProblemFinder } from "../../../src/web/lib/markup.ts";
import type { Detail } from "../../../src/client/mod.ts";
import { assertLinear } from "../../support/linear.ts";

function problem(changes: Partial<Detail>): Detail {
  return { code: "required", message: "", ...changes };
}

const DOCUMENT = `<?xml version="1.0"?>
<products>
  <!-- <product> -->
  <product><sku>A</sku></product>
  <product>
    <sku> B </sku>
    <price currency='SEK'>1,5</price>
    <images><image>x</image><image alt="a > b">y</image></images>
    <brand/><titel>T</titel>
    <sku>C</sku>
  </product>
  <produkt>é&</produkt>
</products>
`;

const FOUND: readonly (readonly [Partial<Detail>, string])[] = [
  [{ product: 1, field: "sku" }, "A"],
  [{ product: 2, field: "sku", line: 6 }, "B"],
  [{ product: 2, field: "sku", line: 10 }, "C"],
  [{ product: 2, field: "price" }, "1,5"],
  [{ product: 2, field: "price/@currency" }, "SEK"],
  [{ product: 2, field: "images/image[2]" }, "y"],
  [{ product: 2, field: "images/image[2]/@alt" }, "a > b"],
  [{ product: 2, field: "brand" }, ""],
  [{ product: 2, field: "titel", code: "unknown_element" }, "titel"],
  [{ product: 2, field: "quantity", code: "required" }, ""],
  [{ field: "produkt", code: "unknown_element", line: 12 }, "produkt"],
  [{ line: 12, column: 13 }, "&"],
  [{ line: 2 }, "<products>"],
];

for (const [changes, expected] of FOUND) {
  Deno.test(`the text of ${JSON.stringify(changes)} is ${expected}`, () => {
    const range = new ProblemFinder(DOCUMENT).find(problem(changes))!;
    assertEquals(DOCUMENT.slice(range.start, range.end), expected);
  });
}

Deno.test("a document on one line gets a line for each element", () => {
  const text = "<p>" +
    "<a><b>x &amp; y</b><c></c><d/><e> <![CDATA[ <f> ]]> </e></a>".repeat(6) +
    "</p>";
  const lines = indentLongLines(text).split("\n");
  assertEquals(lines.slice(0, 7), [
    "<p>",
    "  <a>",
    "    <b>x &amp; y</b>",
    "    <c></c>",
    "    <d/>",
    "    <e> <![CDATA[ <f> ]]> </e>",
    "  </a>",
  ]);
  assertEquals(lines.map((line) => line.trimStart()).join(""), text);
  assertEquals(indentLongLines(DOCUMENT), DOCUMENT, "short lines stay");
});

const BROKEN: readonly ((count: number) => string)[] = [
  ...["<!--", "<a b='", "<", "</x>", "<a>", '<a b="<']
    .map((piece) => (count: number) => piece.repeat(count)),
  (count) => "<a>".repeat(count) + "</x>".repeat(count),
];

Deno.test("broken documents are read in one pass", () => {
  for (const made of BROKEN) {
    const name = made(1);
    assertLinear(name, 16_000, (count) => {
      new ProblemFinder(made(count)).find(problem({ product: 1, line: 1 }));
    });
  }
});
