/**
 * A product: its fields, the rule of each, and the rules between them. Bulk,
 * the attribute update and the published schema all read this one table.
 */
import type { FieldProblem } from "../lib/errors.ts";
import {
  compareDecimals,
  type Form,
  GTIN_LENGTHS,
  integerReader,
  lineReader,
  PRICE_DIGITS,
  RATE_DIGITS,
  type Read,
  readCurrency,
  readDate,
  type Reader,
  readGtin,
  readPrice,
  readSku,
  readVatRate,
  SKU_MAX,
  wordReader,
} from "../lib/values.ts";

export const AVAILABILITIES = [
  "in_stock",
  "out_of_stock",
  "preorder",
  "backorder",
] as const;
export type Availability = typeof AVAILABILITIES[number];

export const CONDITIONS = ["new", "refurbished", "used"] as const;
export type Condition = typeof CONDITIONS[number];

export const STATUSES = ["active", "paused"] as const;
export type Status = typeof STATUSES[number];

export interface ProductAttribute {
  name: string;
  value: string;
}

export interface ProductImage {
  url: string;
  alt: string | null;
}

/** What a seller says about a product. Decimals are canonical text. */
export interface ProductFields {
  sku: string;
  title: string;
  description: string | null;
  /** In `currency`. */
  price: string;
  /** ISO 4217. */
  currency: string;
  /** In `currency`, at least `price`. */
  compare_at_price: string | null;
  /** Percent. */
  vat_rate: string | null;
  /** null: not tracked. */
  quantity: number | null;
  availability: Availability;
  /** `YYYY-MM-DD`. */
  available_at: string | null;
  gtin: string | null;
  brand: string | null;
  mpn: string | null;
  condition: Condition;
  status: Status;
  parent_sku: string | null;
  categories: string[];
  attributes: ProductAttribute[];
  /** In the seller's order; the first is the main one. */
  images: ProductImage[];
}

/** A product as it is to be stored; the write sets its times. */
export interface ProductContent extends ProductFields {
  /** UUID, version 7. */
  id: string;
}

/** A stored product. Times in Unix milliseconds. */
export interface Product extends ProductContent {
  created_at: number;
  updated_at: number;
}

/** A change: what is left out keeps its value, null clears it. */
export type ProductPatch = {
  [F in keyof ProductFields]?: ProductFields[F] | null;
};

/** The fields that are one text in XML and in an attribute update. */
export type ScalarField = Exclude<
  keyof ProductFields,
  "currency" | "categories" | "attributes" | "images"
>;

export interface ScalarRule {
  /** Reads trimmed text that is not empty (`description`: as sent). */
  read: Reader<string | number>;
  /** What `read` takes, in the terms of a schema; it may take less. */
  form: Form;
  /** An empty value clears the field, or falls back to its default. */
  clears: boolean;
  /** `PUT …/attribute/:attribute/:value` may change it. */
  attribute: boolean;
  /** Kept as sent, not trimmed. */
  verbatim?: boolean;
}

const DESCRIPTION_MAX = 5_000;
const QUANTITY_MAX = 10_000_000;
export const LIST_LIMITS = { categories: 5, attributes: 100, images: 10 };

const readDescription: Reader<string> = (text) => {
  const length = text.length <= DESCRIPTION_MAX ? 0 : [...text].length;
  return length > DESCRIPTION_MAX
    ? {
      problem: {
        code: "too_long",
        message:
          `has ${length} characters; at most ${DESCRIPTION_MAX} are allowed.`,
      },
    }
    : { value: text };
};

type ValueRule = Pick<ScalarRule, "read" | "form">;

const SKU: ValueRule = {
  read: readSku,
  form: { kind: "line", max: SKU_MAX },
};
const PRICE: ValueRule = {
  read: readPrice,
  form: { kind: "decimal", ...PRICE_DIGITS },
};

function line(max: number): ValueRule {
  return { read: lineReader(max), form: { kind: "line", max } };
}

function word(words: readonly string[]): ValueRule {
  return { read: wordReader(words), form: { kind: "word", words } };
}

/** The scalar fields in the order in which documents list them. */
export const SCALARS: Record<ScalarField, ScalarRule> = {
  sku: { ...SKU, clears: false, attribute: true },
  title: { ...line(150), clears: false, attribute: true },
  description: {
    read: readDescription,
    form: { kind: "text", max: DESCRIPTION_MAX },
    clears: true,
    attribute: false,
    verbatim: true,
  },
  price: { ...PRICE, clears: false, attribute: true },
  compare_at_price: { ...PRICE, clears: true, attribute: true },
  vat_rate: {
    read: readVatRate,
    form: { kind: "decimal", ...RATE_DIGITS },
    clears: true,
    attribute: true,
  },
  quantity: {
    read: integerReader(QUANTITY_MAX),
    form: { kind: "integer", max: QUANTITY_MAX },
    clears: true,
    attribute: true,
  },
  availability: { ...word(AVAILABILITIES), clears: false, attribute: true },
  available_at: {
    read: readDate,
    form: { kind: "date" },
    clears: true,
    attribute: true,
  },
  gtin: {
    read: readGtin,
    form: { kind: "digits", lengths: GTIN_LENGTHS },
    clears: true,
    attribute: true,
  },
  brand: { ...line(100), clears: true, attribute: true },
  mpn: { ...line(70), clears: true, attribute: true },
  condition: { ...word(CONDITIONS), clears: true, attribute: true },
  status: { ...word(STATUSES), clears: true, attribute: true },
  parent_sku: { ...SKU, clears: true, attribute: false },
};

/** Attribute names of the attribute update. */
export const ATTRIBUTE_NAMES = (Object.keys(SCALARS) as ScalarField[])
  .filter((field) => SCALARS[field].attribute);

/** Characters that the texts of the lists may have. */
export const TEXT_LIMITS = {
  category: 255,
  attributeName: 50,
  attributeValue: 255,
  alt: 250,
};

export const readCategory = lineReader(TEXT_LIMITS.category);
export const readAttributeName = lineReader(TEXT_LIMITS.attributeName);
export const readAttributeValue = lineReader(TEXT_LIMITS.attributeValue);
export const readAlt = lineReader(TEXT_LIMITS.alt);
export { readCurrency };

/**
 * Reads one scalar's text: its value, null where it clears the field, or the
 * problem.
 */
export function readScalar(
  field: ScalarField,
  text: string,
): Read<string | number | null> {
  const rule = SCALARS[field];
  const trimmed = text.trim();
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

const REQUIRED: readonly (keyof ProductFields)[] = ["sku", "title", "price"];

const NONE: ReadonlySet<string> = new Set();

/**
 * The product as it would be after the change, and what is wrong with it.
 * `current` is null for a new product. `unread` names the fields that were
 * sent but could not be read: they have been complained of already. The fields
 * are only of use where nothing is wrong.
 */
export function applyPatch(
  current: ProductFields | null,
  patch: ProductPatch,
  unread: ReadonlySet<string> = NONE,
): { fields: ProductFields; problems: FieldProblem[] } {
  const missing = current === null ? missingFields(patch, unread) : [];
  const fields = merge(current, patch);
  if (patch.availability === undefined) followQuantity(fields, patch);
  const unsure = missing.length === 0
    ? unread
    : new Set([...unread, ...missing.map(({ field }) => field)]);
  const conflicts = fieldConflicts(current, patch, fields, unsure);
  return { fields, problems: [...missing, ...conflicts] };
}

function missingFields(
  patch: ProductPatch,
  unread: ReadonlySet<string>,
): FieldProblem[] {
  const problems: FieldProblem[] = REQUIRED
    .filter((field) => patch[field] === undefined && !unread.has(field))
    .map((field) => ({
      field,
      code: "required",
      message: `is missing; a new product needs <${field}>.`,
    }));
  if (
    patch.availability === undefined && (patch.quantity ?? null) === null &&
    !unread.has("availability") && !unread.has("quantity")
  ) {
    problems.push({
      field: "availability",
      code: "required",
      message: "is missing; a new product needs <quantity> or <availability>.",
    });
  }
  return problems;
}

const EMPTY: ProductFields = {
  sku: "",
  title: "",
  description: null,
  price: "",
  currency: "",
  compare_at_price: null,
  vat_rate: null,
  quantity: null,
  availability: "in_stock",
  available_at: null,
  gtin: null,
  brand: null,
  mpn: null,
  condition: "new",
  status: "active",
  parent_sku: null,
  categories: [],
  attributes: [],
  images: [],
};

/** What a cleared field falls back to. */
const CLEARED: Partial<ProductFields> = {
  condition: "new",
  status: "active",
  categories: [],
  attributes: [],
  images: [],
};

function merge(
  current: ProductFields | null,
  patch: ProductPatch,
): ProductFields {
  const fields: ProductFields = { ...(current ?? EMPTY) };
  const values = fields as unknown as Record<string, unknown>;
  for (const name in patch) {
    const field = name as keyof ProductFields;
    const value = patch[field];
    if (value !== undefined) values[field] = value ?? CLEARED[field] ?? null;
  }
  return fields;
}

/** A quantity without availability moves `in_stock`/`out_of_stock` with it. */
function followQuantity(fields: ProductFields, patch: ProductPatch): void {
  if (typeof patch.quantity !== "number") return;
  if (
    fields.availability === "in_stock" || fields.availability === "out_of_stock"
  ) {
    fields.availability = patch.quantity === 0 ? "out_of_stock" : "in_stock";
  }
}

/** The rules between fields; those about an `unsure` field are left out. */
function fieldConflicts(
  current: ProductFields | null,
  patch: ProductPatch,
  fields: ProductFields,
  unsure: ReadonlySet<string>,
): FieldProblem[] {
  const sure = (...names: string[]) => !names.some((name) => unsure.has(name));
  const problems: FieldProblem[] = [];
  if (sure("price", "price/@currency", "compare_at_price")) {
    problems.push(...comparePriceConflicts(current, patch, fields));
  }
  if (
    sure("availability", "available_at") && fields.available_at === null &&
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
    sure("sku", "parent_sku") && fields.parent_sku !== null &&
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

function comparePriceConflicts(
  current: ProductFields | null,
  patch: ProductPatch,
  fields: ProductFields,
): FieldProblem[] {
  const { price, currency, compare_at_price } = fields;
  if (compare_at_price === null) return [];
  const stays = patch.compare_at_price === undefined;
  if (current !== null && stays && currency !== current.currency) {
    return [{
      field: "compare_at_price",
      code: "not_allowed",
      message: `is stored as ${compare_at_price} ${current.currency} and ` +
        `would be left behind by a price in ${currency}; send both, or clear ` +
        "it with an empty <compare_at_price/>.",
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

/** Whether two products say the same, field for field. */
export function sameFields(a: ProductFields, b: ProductFields): boolean {
  for (const field in SCALARS) {
    if (a[field as ScalarField] !== b[field as ScalarField]) return false;
  }
  return a.currency === b.currency &&
    sameList(a.categories, b.categories, (x, y) => x === y) &&
    sameList(
      a.attributes,
      b.attributes,
      (x, y) => x.name === y.name && x.value === y.value,
    ) &&
    sameList(a.images, b.images, (x, y) => x.url === y.url && x.alt === y.alt);
}

function sameList<T>(
  a: readonly T[],
  b: readonly T[],
  same: (x: T, y: T) => boolean,
): boolean {
  return a.length === b.length && a.every((item, i) => same(item, b[i]));
}
