/** The checksums by which an undo recognises what a transaction created. */
import { NO_FORMER_PRICE } from "../../src/catalogue/price_changes.ts";
import { assert, assertEquals } from "@std/assert";
import type { ProductFields } from "../../src/catalogue/fields.ts";
import { INITIAL } from "../../src/catalogue/product.ts";
import { NO_REVIEW } from "../../src/catalogue/review.ts";
import { rowChange } from "../../src/catalogue/product_rows.ts";
import { columnValues } from "../../src/catalogue/product_values.ts";
import {
  fieldsOf,
  fieldValues,
  packUndo,
  type UndoStep,
  unpackUndo,
} from "../../src/catalogue/undo_record.ts";

/** The steps of a record. */
function unpacked(record: string): UndoStep[] {
  const work = unpackUndo(record);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

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

/** Whether the record of a created product accepts another product. */
function isAsLeft(record: string, product: ProductFields): boolean {
  const [step] = unpacked(record);
  assert(step.effect === "create");
  return step.isAsLeft(columnValues(product));
}

Deno.test("an undo detects a created product and any change to one", () => {
  const after = { ...PRODUCT, id: "018f0000-0000-7000-8000-000000000000" };
  const record = packUndo([rowChange({ before: null, after })]);
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

Deno.test("a record has the former values of changed fields and recognizes the new ones", () => {
  const id = "018f0000-0000-7000-8000-000000000000";
  const before = {
    ...{ ...PRODUCT, ...NO_REVIEW, ...NO_FORMER_PRICE },
    ...{ id, created_at: 1, updated_at: 1 },
  };
  const after = {
    ...before,
    currency: "EUR",
    description: "long ".repeat(40),
    quantity: null,
    categories: [],
  };
  const record = packUndo([null, rowChange({ before, after })]);
  assert(!record.includes(after.description), "a checksum is enough");
  const [step] = unpacked(record);
  assert(step.index === 1 && step.effect === "update");
  const former = step.fields.map(({ field, former }) =>
    fieldsOf(field, former)
  );
  assertEquals(former, [
    { description: null },
    { price: "199", currency: "SEK" },
    { quantity: 4 },
    { categories: ["Home > Chairs", "Oak"] },
  ]);
  for (const { field, former, isAsLeft } of step.fields) {
    assert(isAsLeft(fieldValues(columnValues(after), field)), field);
    assertEquals(isAsLeft(former), false, field);
  }
});
