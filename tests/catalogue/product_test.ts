import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ProductFields, ScalarField } from "../../src/catalogue/fields.ts";
import {
  applyPatch,
  type ProductPatch,
  readAlt,
  readAttributeName,
  readAttributeValue,
  readCategory,
  readScalar,
  sameFields,
} from "../../src/catalogue/product.ts";
import { firstStep, type StoredSale } from "../../src/catalogue/sale.ts";
import type { Reader } from "../../src/lib/values.ts";

const NEW: ProductPatch = {
  sku: "A-1",
  title: "Title",
  price: "199",
  currency: "SEK",
  quantity: 5,
};

/** The time of all changes. */
const NOW = Date.UTC(2026, 10, 28);

function stored(patch: ProductPatch = {}): ProductFields & StoredSale {
  const { fields } = applyPatch(null, { ...NEW, ...patch }, NOW);
  return { ...fields, sale_at: firstStep(fields.sale, NOW) };
}

/** `field code` of every problem. */
function problemsOf(
  current: (ProductFields & StoredSale) | null,
  patch: ProductPatch,
  unread?: string[],
): string[] {
  return applyPatch(current, patch, NOW, new Set(unread)).problems
    .map(({ field, code }) => `${field} ${code}`);
}

Deno.test("a new product needs sku, title, price, and quantity or availability", () => {
  assertEquals(problemsOf(null, {}), [
    "sku required",
    "title required",
    "price required",
    "quantity required",
  ]);
  assertEquals(problemsOf(null, NEW), []);
  const { quantity: _, ...rest } = NEW;
  assertEquals(problemsOf(null, { ...rest, availability: "in_stock" }), []);
});

Deno.test("a field that was sent but could not be parsed is not reported missing", () => {
  assertEquals(
    problemsOf(null, { sku: "A", currency: "SEK" }, [
      "title",
      "price",
      "quantity",
    ]),
    [],
  );
});

Deno.test("a quantity without an availability sets it", () => {
  const rows: [ReturnType<typeof stored> | null, ProductPatch, string][] = [
    [null, { ...NEW, quantity: 0 }, "out_of_stock"],
    [null, { ...NEW, quantity: 1 }, "in_stock"],
    [null, { ...NEW, quantity: 0, availability: "in_stock" }, "in_stock"],
    [stored(), { quantity: 0 }, "out_of_stock"],
    [stored({ quantity: 0 }), { quantity: 3 }, "in_stock"],
    [stored(), { quantity: null }, "in_stock"],
    [stored(), { title: "x" }, "in_stock"],
    [
      stored({ availability: "preorder", available_at: "2030-01-01" }),
      { quantity: 0 },
      "preorder",
    ],
    [
      stored({ availability: "backorder", available_at: "2030-01-01" }),
      { quantity: 7 },
      "backorder",
    ],
  ];
  for (const [current, patch, expected] of rows) {
    const { fields } = applyPatch(current, patch, NOW);
    assertEquals(fields.availability, expected, JSON.stringify(patch));
  }
});

Deno.test("an update keeps missing fields and clears those that are null", () => {
  const current = stored({
    brand: "B",
    condition: "used",
    status: "paused",
    categories: ["c"],
    attributes: [{ name: "color", value: "blue" }],
  });
  const patch = { brand: null, condition: null, status: null, categories: [] };
  const { fields, problems } = applyPatch(current, patch, NOW);
  assertEquals(problems, []);
  assertEquals(fields, {
    ...current,
    brand: null,
    condition: "new",
    status: "active",
    categories: [],
  });
});

Deno.test("rules between fields are checked against the updated product", () => {
  const compared = stored({ compare_at_price: "249" });
  const rows: [ReturnType<typeof stored> | null, ProductPatch, string[]][] = [
    [compared, { price: "249", currency: "SEK" }, []],
    [compared, { price: "250", currency: "SEK" }, [
      "compare_at_price out_of_range",
    ]],
    [stored(), { compare_at_price: "198.99" }, [
      "compare_at_price out_of_range",
    ]],
    [compared, { price: "10", currency: "EUR" }, [
      "compare_at_price not_allowed",
    ]],
    [compared, { price: "10", currency: "EUR", compare_at_price: "11" }, []],
    [compared, { price: "10", currency: "EUR", compare_at_price: null }, []],
    [stored(), { availability: "preorder" }, ["available_at required"]],
    [
      stored(),
      { availability: "preorder", available_at: "2030-01-01" },
      [],
    ],
    [
      stored({ availability: "backorder", available_at: "2030-01-01" }),
      { available_at: null },
      ["available_at required"],
    ],
    [stored(), { parent_sku: "A-1" }, ["parent_sku not_allowed"]],
    [stored({ parent_sku: "P" }), { sku: "P" }, ["parent_sku not_allowed"]],
  ];
  for (const [current, patch, expected] of rows) {
    assertEquals(problemsOf(current, patch), expected, JSON.stringify(patch));
  }
});

Deno.test("a rule about a field that could not be parsed is skipped", () => {
  assertEquals(
    problemsOf(stored(), { compare_at_price: "1" }, ["price"]),
    [],
  );
});

Deno.test("readScalar() trims, but keeps a description as sent", () => {
  assertEquals(readScalar("title", "  a b \n"), { value: "a b" });
  assertEquals(readScalar("description", " a\n\nb "), { value: " a\n\nb " });
  assertEquals(readScalar("description", " \n "), { value: null });
  assertEquals(readScalar("brand", ""), { value: null });
  const title = readScalar("title", " ");
  assertEquals("problem" in title && title.problem.code, "required");
});

Deno.test("a description of 5,000 code points fits, one more does not", () => {
  assertEquals("value" in readScalar("description", "😀".repeat(5_000)), true);
  const long = readScalar("description", "😀".repeat(5_001));
  assertStringIncludes(
    "problem" in long ? long.problem.message : "",
    "5001 characters",
  );
});

Deno.test("a text of the most characters fits, one more character does not", () => {
  const scalar = (field: ScalarField) => (text: string) =>
    readScalar(field, text);
  const rows: [what: string, most: number, read: Reader<unknown>][] = [
    ["sku", 64, scalar("sku")],
    ["title", 150, scalar("title")],
    ["description", 5_000, scalar("description")],
    ["brand", 100, scalar("brand")],
    ["mpn", 70, scalar("mpn")],
    ["parent_sku", 64, scalar("parent_sku")],
    ["manufacturer", 64, scalar("manufacturer")],
    ["responsible_person", 64, scalar("responsible_person")],
    ["safety_text", 5_000, scalar("safety_text")],
    ["category", 255, readCategory],
    ["name of an attribute", 50, readAttributeName],
    ["value of an attribute", 255, readAttributeValue],
    ["alt", 250, readAlt],
  ];
  for (const [what, most, read] of rows) {
    assertEquals(read("é".repeat(most)), { value: "é".repeat(most) }, what);
    const long = read("é".repeat(most + 1));
    assertEquals("problem" in long && long.problem.code, "too_long", what);
  }
});

Deno.test("a number at a limit fits, the next one does not", () => {
  const rows: [ScalarField, fits: string[], beyond: string[]][] = [
    ["quantity", ["0", "10000000"], ["-1", "10000001"]],
    ["weight", ["1", "1000000"], ["0", "1000001"]],
    ["handling_days", ["0", "365"], ["-1", "366"]],
    ["vat_rate", ["0", "100", "99.99"], ["-0.01", "100.01", "9.999"]],
    ["price", ["0.0001", "9999999999.9999"], ["0", "10000000000", "0.00001"]],
  ];
  for (const [field, fits, beyond] of rows) {
    for (const text of fits) {
      assertEquals("value" in readScalar(field, text), true, field + text);
    }
    for (const text of beyond) {
      const read = readScalar(field, text);
      const code = "problem" in read && read.problem.code;
      assertEquals(code, "out_of_range", `${field} ${text}`);
    }
  }
});

Deno.test("sameFields() detects a change of any single field", () => {
  const base = stored({
    attributes: [{ name: "a", value: "1" }],
    images: [{ url: "https://x.example/1", alt: null }],
  });
  const changes: ProductPatch[] = [
    { title: "other" },
    { quantity: null },
    { currency: "EUR" },
    { categories: ["c"] },
    { attributes: [{ name: "a", value: "2" }] },
    { attributes: [] },
    { images: [{ url: "https://x.example/1", alt: "front" }] },
    { images: [{ url: "https://x.example/2", alt: null }] },
  ];
  assertEquals(sameFields(base, { ...base }), true);
  for (const change of changes) {
    const changed = { ...base, ...change } as ProductFields;
    assertEquals(sameFields(base, changed), false, JSON.stringify(change));
  }
});
