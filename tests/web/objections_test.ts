/** What the page holds back, in a document of either form. */
import { assertEquals } from "@std/assert";
import {
  isOtherTitle,
  skuObjections,
  skusInDocument,
} from "../../src/web/import/check/objections.ts";
import { withoutProducts } from "../../src/web/lib/markup.ts";
import { productsIn } from "../../src/web/import/read/xml.ts";
import { boot, product } from "../support/app.ts";

const TEXTS = {
  XML: "<products><product><sku>A</sku></product>" +
    "<product><sku>B</sku></product><product><sku>C</sku></product></products>",
  JSON: '{"products":[{"sku":"A"},{"sku":"B"},{"sku":"C"}]}',
};

for (const [form, text] of Object.entries(TEXTS)) {
  Deno.test(`corrected products in ${form} replace no others unasked`, async () => {
    await using app = await boot();
    await app.upload(product("B"));
    const known = {
      skusInFile: new Set(["C"]),
      stored: new Map([["A", "row 7"]]),
      confirmed: new Set<string>(),
    };
    const held = await skuObjections(
      app.client(),
      known,
      skusInDocument(text),
      new AbortController().signal,
    );
    assertEquals(
      held.map(({ product, sku, code }) => [product, sku, code]),
      [[1, "A", "duplicate_sku"], [2, "B", "sku_taken"]],
    );
    const numbers = held.map(({ product }) => product!);
    const skus = productsIn(withoutProducts(text, numbers))
      .map(({ children: [sku] }) => sku.text);
    assertEquals(skus, ["C"]);
  });
}

Deno.test("what is no document of products has none", () => {
  for (const text of ["{", "{}", '{"products":{}}', "<products>", "a"]) {
    assertEquals(productsIn(text), []);
  }
  assertEquals(productsIn('{"products":[null]}').length, 1);
});

Deno.test("a title is another one without half of the words", () => {
  const cases: [string, string, boolean][] = [
    ["Bettwäsche blau 135 x 200", "Tasse blau 0,3 l", true],
    ["Blue mug with a handle", "Mug blue", false],
    ["Mug", "Mug, 0.3 l", false],
    ["Mug", "Spoon", true],
    ["Mug", "", false],
  ];
  for (const [title, stored, expected] of cases) {
    assertEquals(isOtherTitle(title, stored), expected, title);
  }
});
