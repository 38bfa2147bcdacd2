/** Products that the page holds back, in a document of either format. */
import { assertEquals } from "@std/assert";
import {
  isOtherTitle,
  skuObjections,
} from "../../../../src/web/import/check/objections.ts";
import { productsIn } from "../../../../src/web/import/read/xml.ts";
import { boot, product } from "../../../support/app.ts";

Deno.test("corrected products replace no others unasked", async () => {
  await using app = await boot();
  await app.upload(product("B") + product("D"));
  const client = app.client();
  const { import_id } = await client.imports.create({
    products: `<products>${
      ["A", "B", "C", "D"].map((sku) => `<product><sku>${sku}</sku></product>`)
        .join("")
    }</products>`,
    dry_run: true,
    accept: "valid",
    show: "former",
  });
  for await (const _ of client.imports.follow({ import_id })) continue;
  const { results } = await client.imports.results({ import_id });
  const held = skuObjections({
    skusInFile: new Set(["C", "D"]),
    stored: new Map([["A", "row 7"]]),
    confirmed: new Set<string>(),
  }, results);
  assertEquals(
    held.map(({ product, sku, code }) => [product, sku, code]),
    [[1, "A", "duplicate_sku"], [2, "B", "sku_taken"]],
  );
});

Deno.test("a text that is no document of products has no products", () => {
  for (const text of ["{", "{}", '{"products":{}}', "<products>", "a"]) {
    assertEquals(productsIn(text), []);
  }
  assertEquals(productsIn('{"products":[null]}').length, 1);
});

Deno.test("titles that share too few words count as different", () => {
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
