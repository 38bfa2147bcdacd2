/**
 * A product and its changes: the rules of each field (see `fields.ts`), and
 * those between fields.
 */
import type { FieldProblem } from "../lib/errors.ts";
import { templateOf } from "../lib/template.ts";
import {
  compareDecimals,
  lineReader,
  quote,
  type ReadResult,
  trimSpace,
} from "../lib/values.ts";
import {
  type Availability,
  LIST_NAMES,
  type ProductFields,
  SALE,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  STORED_UNITS,
  TEXT_LIMITS,
} from "./fields.ts";
import type { FormerPrices } from "./price_changes.ts";
import type { ReviewColumns } from "./review.ts";
import {
  receiveSale,
  saleConflicts,
  sameSale,
  type SentSale,
  type StoredSale,
} from "./sale.ts";

/** A product to be stored; the write sets its times. */
export interface ProductContent extends ProductFields {
  /** UUID, version 7. */
  id: string;
}

/** A stored product. Times in Unix milliseconds. */
export interface Product extends ProductContent, ReviewColumns, FormerPrices {
  created_at: number;
  updated_at: number;
}

export interface ProductChange {
  /** null for a new product. */
  before: Product | null;
  /** null if it is deleted. */
  after: ProductContent | null;
}

/** A change: missing fields keep their values, null clears a field. */
export type ProductPatch =
  & {
    [F in Exclude<keyof ProductFields, "sale">]?: ProductFields[F] | null;
  }
  & { sale?: SentSale | null };

/** The fields of a stored product, with the next step of its sale. */
type StoredFields = ProductFields & StoredSale;

export const readCategory = lineReader(TEXT_LIMITS.category);
export const readAttributeName = lineReader(TEXT_LIMITS.attributeName);
export const readAttributeValue = lineReader(TEXT_LIMITS.attributeValue);
export const readAlt = lineReader(TEXT_LIMITS.alt);

/**
 * Reads one scalar's text; returns its value, null if it clears the field, or
 * the problem.
 */
export function readScalar(
  field: ScalarField,
  text: string,
): ReadResult<string | number | null> {
  const rule = SCALAR_RULES[field];
  const trimmed = trimSpace(text);
  if (trimmed === "") {
    return rule.clears ? { value: null } : {
      problem: {
        code: "required",
        message: "is empty, and this field cannot be cleared.",
      },
    };
  }
  return rule.read(rule.verbatim ? text : trimmed);
}

const REQUIRED = SCALAR_NAMES.filter((field) => SCALAR_RULES[field].required);

const NONE: ReadonlySet<string> = new Set();

/**
 * Applies a patch at `now` (Unix milliseconds); returns the changed fields and
 * their problems. `current` is null for a new product. `unread` has the fields
 * that were sent but could not be read; their problems are already reported.
 * The product is valid only if there are no problems.
 */
export function applyPatch(
  current: StoredFields | null,
  patch: ProductPatch,
  now: number,
  unread: ReadonlySet<string> = NONE,
): { fields: ProductFields; problems: FieldProblem[] } {
  const missing = current === null ? missingFields(patch, unread) : [];
  const fields = mergePatch(current ?? INITIAL, patch);
  if (patch.availability === undefined) followQuantity(fields, patch);
  const unknown = missing.length === 0
    ? unread
    : new Set([...unread, ...missing.map(({ field }) => field)]);
  const problems = [
    ...missing,
    ...setSale(fields, current, patch, now),
    ...fieldConflicts(current, patch, fields, now, unknown),
  ];
  return { fields, problems };
}

function missingFields(
  patch: ProductPatch,
  unread: ReadonlySet<string>,
): FieldProblem[] {
  const needs = patch.sku === undefined
    ? "a new product needs"
    : "no product has this SKU, and a new one needs";
  const problems: FieldProblem[] = REQUIRED
    .filter((field) => patch[field] === undefined && !unread.has(field))
    .map((field) => ({
      field,
      code: "required",
      message: `is missing; ${needs} <${field}>.`,
    }));
  if (
    patch.availability === undefined && (patch.quantity ?? null) === null &&
    !unread.has("availability") && !unread.has("quantity")
  ) {
    problems.push({
      field: "quantity",
      code: "required",
      message: `is missing; ${needs} <quantity> or <availability>.`,
    });
  }
  return problems;
}

/** The value of each field before it is first sent, and after it is cleared. */
export const INITIAL = templateOf(
  Object.fromEntries([
    ...SCALAR_NAMES.map((field) => [field, SCALAR_RULES[field].initial]),
    ...STORED_UNITS.map((unit) => [unit, ""]),
    [SALE, null],
    ...LIST_NAMES.map((list) => [list, Object.freeze([])]),
  ]) as ProductFields,
);

function mergePatch(
  current: ProductFields,
  patch: ProductPatch,
): ProductFields {
  const fields: Record<string, unknown> = { ...current };
  for (const name in patch) {
    const value = patch[name as keyof ProductPatch];
    if (value === undefined) continue;
    fields[name] = value ?? INITIAL[name as keyof ProductFields];
  }
  return fields as unknown as ProductFields;
}

/** Sets the sale that is sent; returns its problems. */
function setSale(
  fields: ProductFields,
  current: ProductFields | null,
  { sale: sent }: ProductPatch,
  now: number,
): FieldProblem[] {
  if (!sent) return [];
  const { sale, problems } = receiveSale(current?.sale ?? null, sent, now);
  fields.sale = sale;
  return problems;
}

/**
 * Sets the availability that follows from a sent quantity, for a patch without
 * an availability.
 */
function followQuantity(fields: ProductFields, patch: ProductPatch): void {
  if (typeof patch.quantity !== "number") return;
  fields.availability = availabilityAt(fields.availability, patch.quantity);
}

/**
 * The availability at this quantity: `in_stock` and `out_of_stock` follow the
 * quantity; `preorder` and `backorder` stay.
 */
export function availabilityAt(
  availability: Availability,
  quantity: number,
): Availability {
  if (availability !== "in_stock" && availability !== "out_of_stock") {
    return availability;
  }
  return quantity === 0 ? "out_of_stock" : "in_stock";
}

/** Fields that depend on each other: a rule compares the fields of a group. */
export const TIED_FIELDS: readonly (readonly (keyof ProductFields)[])[] = [
  ["price", "compare_at_price", "sale"],
  ["availability", "available_at"],
  ["sku", "parent_sku"],
];

/**
 * Violations of rules between fields, after `patch` changed `current` to
 * `fields`; skips rules about a field in `unknown`.
 */
export function fieldConflicts(
  current: StoredFields | null,
  patch: ProductPatch,
  fields: ProductFields,
  now: number,
  unknown: ReadonlySet<string> = NONE,
): FieldProblem[] {
  const areKnown = (...names: string[]) =>
    unknown.size === 0 || !names.some((name) => unknown.has(name));
  const problems: FieldProblem[] = [];
  if (areKnown("price", "price/@currency", "compare_at_price")) {
    // bounded: two at most
    problems.push(...comparePriceConflicts(current, patch, fields));
  }
  if (fields.sale !== null && areKnown("price", "price/@currency", "sale")) {
    // bounded: one
    problems.push(...saleConflicts(current, patch, fields, now));
  }
  if (
    areKnown("availability", "available_at") && fields.available_at === null &&
    (fields.availability === "preorder" || fields.availability === "backorder")
  ) {
    problems.push({
      field: "available_at",
      code: "required",
      message:
        `is needed while the availability is ${fields.availability}, as in ` +
        '"2026-12-01".',
    });
  }
  if (
    areKnown("sku", "parent_sku") && fields.parent_sku !== null &&
    fields.parent_sku === fields.sku
  ) {
    problems.push({
      field: "parent_sku",
      code: "not_allowed",
      message: "is the product's own SKU; it must name another product.",
    });
  }
  return problems;
}

/**
 * The problem of a SKU that another product of the seller has, with the id
 * `owner`.
 */
export function skuTaken(sku: string, owner: string): FieldProblem {
  return {
    field: "sku",
    code: "sku_taken",
    message: `${quote(sku)} belongs to another product of yours, with the id ` +
      `${owner}.`,
  };
}

function comparePriceConflicts(
  current: ProductFields | null,
  patch: ProductPatch,
  fields: ProductFields,
): FieldProblem[] {
  const { price, currency, compare_at_price } = fields;
  if (compare_at_price === null) return [];
  const isUnchanged = patch.compare_at_price === undefined;
  if (current !== null && isUnchanged && currency !== current.currency) {
    return [{
      field: "compare_at_price",
      code: "not_allowed",
      message:
        `is stored as ${compare_at_price} ${current.currency}, but the ` +
        `new price is in ${currency}; send both, or clear it with an empty ` +
        "<compare_at_price/>.",
    }];
  }
  if (compareDecimals(compare_at_price, price) >= 0) return [];
  return [{
    field: "compare_at_price",
    code: "out_of_range",
    message:
      `is ${compare_at_price}, below the price of ${price}; it must be ` +
      "at least the price.",
  }];
}

/** Whether two products are equal in every field. */
export function sameFields(a: ProductFields, b: ProductFields): boolean {
  for (const field of SCALAR_NAMES) if (a[field] !== b[field]) return false;
  for (const unit of STORED_UNITS) if (a[unit] !== b[unit]) return false;
  if (!sameSale(a.sale, b.sale)) return false;
  return sameCategories(a, b) && sameAttributes(a, b) &&
    sameList(a.images, b.images, (x, y) => x.url === y.url && x.alt === y.alt);
}

/** Whether two products have the same categories in the same order. */
export function sameCategories(
  a: Pick<ProductFields, "categories">,
  b: Pick<ProductFields, "categories">,
): boolean {
  return sameList(a.categories, b.categories, (x, y) => x === y);
}

/** Whether two products have the same attributes in the same order. */
export function sameAttributes(
  a: Pick<ProductFields, "attributes">,
  b: Pick<ProductFields, "attributes">,
): boolean {
  return sameList(
    a.attributes,
    b.attributes,
    (x, y) => x.name === y.name && x.value === y.value,
  );
}

function sameList<T>(
  a: readonly T[],
  b: readonly T[],
  same: (x: T, y: T) => boolean,
): boolean {
  return a.length === b.length && a.every((item, i) => same(item, b[i]));
}
