/** The checksums by which an undo knows what a transaction created. */
import { assert, assertEquals } from "@std/assert";
import { crc32 } from "node:zlib";
import type { ProductFields } from "../../src/catalogue/fields.ts";
import { INITIAL } from "../../src/catalogue/product.ts";
import { packUndo, unpackUndo } from "../../src/catalogue/undo_record.ts";

const PRODUCT: ProductFields = {
  ...INITIAL,
  sku: "chair-1",
  title: "Chair",
  price: "199",
  currency: "SEK",
  quantity: 4,
  categories: ["Home > Chairs", "Oak"],
  attributes: [{ name: "color", value: "Oak" }],
  images: [{ url: "https://images.example/1.png", alt: null }],
};

/** Whether the record of a created product takes another one for it. */
function isAsLeft(record: string, product: ProductFields): boolean {
  const [step] = unpackUndo(record);
  assert(step.did === "create");
  return step.isAsLeft(product);
}

Deno.test("an undo recognizes a created product, and any change of one", () => {
  const after = { ...PRODUCT, id: "018f0000-0000-7000-8000-000000000000" };
  const record = packUndo(new Map([[0, { before: null, after }]]))!;
  assert(isAsLeft(record, structuredClone(PRODUCT)));
  const changes: Partial<ProductFields>[] = [
    { title: "chair" },
    { currency: "EUR" },
    { quantity: null },
    { quantity: 5 },
    { brand: "Chairs & Co" },
    { status: "paused" },
    { categories: ["Home > Chairs"] },
    { categories: ["Oak", "Home > Chairs"] },
    { attributes: [{ name: "color", value: "Ash" }] },
    { attributes: [{ name: "Oak", value: "color" }] },
    { attributes: [] },
    { images: [{ url: "https://images.example/1.png", alt: "A chair" }] },
  ];
  for (const change of changes) {
    const is = isAsLeft(record, { ...PRODUCT, ...change });
    assertEquals(is, false, JSON.stringify(change));
  }
});

Deno.test("a record of an older version, with checksums of JSON, still counts", () => {
  const content = JSON.stringify(
    Object.entries(PRODUCT)
      .filter(([name, value]) =>
        JSON.stringify(value) !==
          JSON.stringify(INITIAL[name as keyof ProductFields])
      )
      .toSorted(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b))
      .flat(1),
  );
  const sum = `${content.length.toString(36)} ${crc32(content).toString(36)}`;
  const record = JSON.stringify({ created: [0, sum] });
  assert(isAsLeft(record, PRODUCT));
  assertEquals(isAsLeft(record, { ...PRODUCT, title: "chair" }), false);
});

/** The order in which the older version took the fields. */
const ORDER = [
  "sku",
  "title",
  "price",
  "quantity",
  "currency",
  "categories",
  "attributes",
  "images",
];
