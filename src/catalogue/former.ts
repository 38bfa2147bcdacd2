/**
 * The former version of each product that a dry run stores: the values to
 * compare with the document, and a hash of all values, which shows whether the
 * product changed after the check.
 */
import { createHash } from "node:crypto";
import type { FieldProblem } from "../lib/errors.ts";
import type { ProductFields, ScalarField } from "./fields.ts";
import { columnValues } from "./product_values.ts";

/** The fields that are shown. */
export const FORMER_FIELDS = [
  "title",
  "price",
  "quantity",
  "gtin",
  "weight",
] as const satisfies readonly ScalarField[];

/** The shown fields and units, in the order in which they are stored. */
const SHOWN = [...FORMER_FIELDS, "currency"] as const;

export type ShownFields = Pick<ProductFields, typeof SHOWN[number]>;

/** A product at the time of the check. */
export interface Former extends ShownFields {
  hash: string;
}

/**
 * Characters of a hash; enough that two versions of a product never have the
 * same hash.
 */
const HASH_LENGTH = 16;

function formerOf(product: ProductFields): Former {
  const shown = SHOWN.map((field) => [field, product[field]]);
  return { hash: hashOf(product), ...Object.fromEntries(shown) };
}

function hashOf(product: ProductFields): string {
  return createHash("sha256").update(JSON.stringify(columnValues(product)))
    .digest("base64").slice(0, HASH_LENGTH);
}

/** The product that a row of a document addresses; null for a new one. */
export function formerIn(
  { byId, bySku }: {
    byId: ReadonlyMap<string, ProductFields>;
    bySku: ReadonlyMap<string, ProductFields>;
  },
  { id, sku }: { id: string | null; sku: string | null },
): Former | null {
  const product = id !== null
    ? byId.get(id)
    : sku !== null
    ? bySku.get(sku)
    : undefined;
  return product === undefined ? null : formerOf(product);
}

/** A stored product that a new one probably duplicates. */
export interface SimilarProduct {
  sku: string;
  title: string;
}

/** The findings of a dry run for a product. */
export interface Checked {
  /** null for a new product. */
  former: Former | null;
  /**
   * For a new product: a stored one with a similar SKU; null if there is none.
   */
  similar: SimilarProduct | null;
}

const NOTHING: Checked = { former: null, similar: null };

/** The findings as JSON: a few characters for a new product. */
export function packChecked(products: readonly Checked[]): string {
  return JSON.stringify(
    products.map(({ former, similar }) =>
      former === null
        ? similar
        : [former.hash, ...SHOWN.map((field) => former[field])]
    ),
  );
}

/** Reads the text of `packChecked`. */
export function unpackChecked(text: string): Checked[] {
  const packed: (unknown[] | SimilarProduct | null)[] = JSON.parse(text);
  return packed.map((one) => {
    if (one === null) return NOTHING;
    if (!Array.isArray(one)) return { former: null, similar: one };
    const former = Object.fromEntries(
      ["hash", ...SHOWN].map((name, n) => [name, one[n]]),
    ) as unknown as Former;
    return { former, similar: null };
  });
}

/**
 * The problem if a product has changed since its check; otherwise null. Both
 * arguments are null if there is no such product.
 */
export function changedSinceCheck(
  current: ProductFields | null,
  former: Former | null,
): FieldProblem | null {
  if (current === null && former === null) return null;
  if (current === null) {
    return changeOf("sku", "is that of a product that was deleted");
  }
  if (former === null) {
    return changeOf("sku", "is that of a product that was created");
  }
  if (hashOf(current) === former.hash) return null;
  const field = SHOWN.find((field) => current[field] !== former[field]);
  if (field === undefined) {
    return changeOf("sku", "is that of a product that was changed");
  }
  // A price is shown with its currency.
  const shown = field === "currency" ? "price" : field;
  return changeOf(
    shown,
    `is ${textOf(current, shown)}, and was ${textOf(former, shown)}`,
    "at",
  );
}

function textOf(of: ShownFields, field: keyof ShownFields): string {
  const value = of[field] ?? "empty";
  return field === "price" ? `${value} ${of.currency}` : `${value}`;
}

function changeOf(
  field: string,
  what: string,
  when: "at" | "after" = "after",
): FieldProblem {
  const message = `${what} ${when} the check; check the document again.`;
  return { field, code: "changed_since", message };
}
