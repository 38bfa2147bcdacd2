/** The findings of category rules for one product. */
import { assertEquals } from "@std/assert";
import {
  Category,
  type CategoryList,
  type CategoryRule,
  ruleFindings,
  Suggestions,
} from "../../src/catalogue/category_rules.ts";
import { toCategory, ValueSets } from "../../src/catalogue/category_rows.ts";
import { SYNTAX } from "../../src/catalogue/document_syntax.ts";
import type { ProductFields } from "../../src/catalogue/fields.ts";
import { INITIAL } from "../../src/catalogue/product.ts";

const TODAY = "2026-11-28";

function rule(more: Partial<CategoryRule>): CategoryRule {
  return {
    field: null,
    attribute: null,
    required: false,
    values: new Set(),
    from: null,
    ...more,
  };
}

const MUGS = new Category("Mugs", [
  rule({ field: "gtin", required: true }),
  rule({
    attribute: "material",
    required: true,
    values: new Set(["steel", "porcelain"]),
  }),
  rule({ field: "brand", values: new Set(["Acme", "Other"]) }),
  rule({ field: "images", required: true }),
  rule({ field: "weight", required: true, from: "2027-01-01" }),
  rule({ field: "mpn", required: true, from: TODAY }),
  rule({ field: "quantity", required: true }),
]);

function listOf(closed: boolean, ...categories: Category[]): CategoryList {
  return {
    closed,
    today: TODAY,
    names: categories.map(({ name }) => name),
    find: (name) => categories.find((each) => each.name === name) ?? null,
  };
}

const FINE: ProductFields = {
  ...INITIAL,
  sku: "A",
  gtin: "4006381333931",
  brand: "Acme",
  mpn: "1",
  weight: 5,
  quantity: 1,
  categories: ["Mugs"],
  attributes: [{ name: "material", value: "steel" }],
  images: [{ url: "https://cdn.example/a.png", alt: null }],
};

/** `field code` of each problem; of each warning with a "~" before it. */
function findings(
  after: ProductFields,
  before: ProductFields | null = null,
  list = listOf(true, MUGS),
  unread: readonly string[] = [],
): string[] {
  const found = ruleFindings({
    before,
    after,
    unread: new Set(unread),
  }, { list, syntax: SYNTAX.xml, suggestions: new Suggestions() });
  return [
    ...(found?.problems ?? []).map(({ field, code }) => `${field} ${code}`),
    ...(found?.warnings ?? []).map(({ field, code, from }) =>
      `~${field} ${code} ${from}`
    ),
  ];
}

const CASES: Record<string, [more: Partial<ProductFields>, found: string[]]> = {
  "nothing is wrong": [{}, []],
  "a field is missing": [{ gtin: null }, ["gtin attribute_required"]],
  "an attribute is missing": [
    { attributes: [] },
    ["attributes attribute_required"],
  ],
  "an attribute of another name, whose case differs": [
    { attributes: [{ name: "Material", value: "steel" }] },
    ["attributes attribute_required"],
  ],
  "an attribute has another value": [
    {
      attributes: [{ name: "a", value: "b" }, { name: "material", value: "x" }],
    },
    ["attributes/attribute[2] not_in_list"],
  ],
  "a field has another value": [{ brand: "Acm" }, ["brand not_in_list"]],
  "a field with values that is not required": [{ brand: null }, []],
  "no images": [{ images: [] }, ["images attribute_required"]],
  "a future rule warns": [
    { weight: null },
    ["~weight attribute_required 2027-01-01"],
  ],
  "a rule from today on": [{ mpn: null }, ["mpn attribute_required"]],
  "a stock that is not tracked": [
    { quantity: null },
    ["quantity attribute_required"],
  ],
  "an unknown category": [
    { categories: ["Mugs", "Mug"] },
    ["categories/category[2] unknown_category"],
  ],
};

for (const [name, [more, found]] of Object.entries(CASES)) {
  Deno.test(`rules of categories: ${name}`, () => {
    assertEquals(findings({ ...FINE, ...more }), found);
  });
}

Deno.test("rules of categories: an open list allows other names", () => {
  const after = { ...FINE, gtin: null, categories: ["Toys"] };
  assertEquals(findings(after, null, listOf(false, MUGS)), []);
});

Deno.test("rules of categories: a field that was not read is not missing", () => {
  const after = { ...FINE, gtin: null };
  assertEquals(findings(after, null, undefined, ["gtin"]), []);
});

Deno.test("rules of categories: only a change of a field they concern must satisfy them", () => {
  const before = { ...FINE, gtin: null, quantity: null };
  const changes: [Partial<ProductFields>, isChecked: boolean][] = [
    [{ price: "9" }, false],
    [{ quantity: 3 }, false],
    [{ availability: "out_of_stock" }, false],
    [{ status: "paused" }, false],
    [{ title: "Other" }, false],
    [{ compare_at_price: "99" }, false], // no rule
    [{ brand: "Other" }, true],
    [{ weight: 7 }, true],
    [{ attributes: [...FINE.attributes, { name: "a", value: "b" }] }, true],
    [{ categories: ["Mugs", "Mugs/Large"] }, true],
    [{ images: [...FINE.images, ...FINE.images] }, true],
  ];
  for (const [change, isChecked] of changes) {
    const found = findings({ ...before, ...change }, before);
    assertEquals(found.length > 0, isChecked, JSON.stringify(change));
  }
});

Deno.test("rules of categories: the message for a missing field shows what to write", () => {
  const after = { ...FINE, gtin: null, images: [], attributes: [] };
  const found = ruleFindings({
    before: null,
    after,
    unread: new Set(),
  }, {
    list: listOf(true, MUGS),
    syntax: SYNTAX.xml,
    suggestions: new Suggestions(),
  });
  assertEquals(
    found?.problems.map(({ message }) => /write (<[^ ]*>)/.exec(message)?.[1]),
    [
      "<gtin>",
      "<images><image>…</image></images>",
      "<attributes>",
    ],
  );
});

Deno.test("rules of categories: two equal rules report one problem", () => {
  const twice = ["A", "B"].map((name) => new Category(name, MUGS.rules));
  const after = { ...FINE, gtin: null, categories: ["A", "B"] };
  assertEquals(findings(after, null, listOf(true, ...twice)), [
    "gtin attribute_required",
  ]);
});

Deno.test("rules of categories: findings and comparisons are bounded", () => {
  const values = new Set(Array.from({ length: 1_000 }, (_, n) => `value ${n}`));
  const rules = Array.from(
    { length: 100 },
    (_, n) => rule({ attribute: `a${n}`, values }),
  );
  const list = listOf(true, new Category("Mugs", rules));
  /** How many messages of 250 products have a suggestion. */
  const suggested = (valueOf: (product: number, rule: number) => string) => {
    const suggestions = new Suggestions();
    let named = 0;
    for (let product = 0; product < 250; product++) {
      const attributes = rules.map(({ attribute }, n) => ({
        name: attribute!,
        value: valueOf(product, n),
      }));
      const { problems } = ruleFindings({
        before: null,
        after: { ...FINE, attributes },
        unread: new Set(),
      }, { list, syntax: SYNTAX.xml, suggestions })!;
      assertEquals(problems.length, 25);
      named += problems.filter(({ message }) => message.includes("the nearest"))
        .length;
    }
    return named;
  };
  assertEquals(suggested((product, n) => `valu ${product} ${n}`), 50);
  // What was suggested once is known.
  assertEquals(suggested(() => "valu 7"), 250 * 25);
});

Deno.test("rules of categories: equal lists of values are one set", () => {
  const rules = JSON.stringify([
    { attribute: "a", values: ["x", "y"] },
    { attribute: "b", values: ["x", "y"] },
    { attribute: "c", values: ["y"] },
  ]);
  const sets = new ValueSets();
  const [one, other] = ["A", "B"].map((name) =>
    toCategory(name, rules, sets).rules.map(({ values }) => values)
  );
  assertEquals(new Set([...one, ...other]).size, 2);
  assertEquals([...one[2]], ["y"]);
});
