/** One product of a document, and the elements that it may have. */
import type { Difference } from "./difference.ts";
import type { Expectation } from "./expected.ts";
import {
  ATTRIBUTE_NAMES,
  isList,
  LIST_NAMES,
  type ListField,
  type ListRule,
  LISTS,
  SALE,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "./fields.ts";
import type { Tally } from "./document_problems.ts";
import type { ProductPatch } from "./product.ts";

/** One image reference with a valid URL. */
export interface ImageUse {
  url: string;
  line: number;
  field: string;
}

/** Part of a document, as indices of the reader (see `TagPosition`). */
export interface Span {
  start: number;
  end: number;
}

/** One `<product>` as sent. */
export interface DecodedProduct {
  /** Position in the document, from 1. */
  product: number;
  line: number;
  id: string | null;
  /** The `<sku>`; null if it is missing or cannot be read. */
  sku: string | null;
  patch: ProductPatch;
  /**
   * Values that its fields must currently have; otherwise the product is
   * refused.
   */
  expected: readonly Expectation[];
  /** Numbers to change by a difference. */
  differences: readonly Difference[];
  /** Fields that were sent but could not be read. */
  unread: ReadonlySet<string>;
  /** The line of each field by its `place`; 0: the field was not sent. */
  lines: number[];
  images: ImageUse[];
  problems: Tally;
  /** The product with its tags. */
  span: Span;
}

/** An element that a product may have. */
export interface FieldElement {
  name: ScalarField | ListField | typeof SALE | "id";
  /** Its index, from 0. */
  place: number;
  /** null for an element without entries. */
  list: ListRule | null;
}

export type FieldName = FieldElement["name"];
export const FIELD_NAMES: readonly FieldName[] = [
  "id",
  ...SCALAR_NAMES,
  SALE,
  ...LIST_NAMES,
];
export const ATTRIBUTE_FIELD_NAMES: readonly FieldName[] = [
  "id",
  ...ATTRIBUTE_NAMES,
  SALE,
];
export const FIELDS: ReadonlyMap<string, FieldElement> = new Map(
  FIELD_NAMES.map((name, place) => [
    name,
    { name, place, list: isList(name) ? LISTS[name] : null },
  ]),
);
export const ATTRIBUTE_FIELDS: typeof FIELDS = new Map(
  ATTRIBUTE_FIELD_NAMES.map((name) => [name, FIELDS.get(name)!]),
);
const NO_LINES: readonly number[] = FIELD_NAMES.map(() => 0);

const NO_EXPECTATIONS: readonly Expectation[] = [];
const NO_DIFFERENCES: readonly Difference[] = [];
const NONE_UNREAD: ReadonlySet<string> = new Set();
export const ALL_UNREAD: ReadonlySet<string> = new Set(FIELD_NAMES);

/** The line of a field, or of its product if the field was not sent. */
export function lineOfField(row: DecodedProduct, field: string): number {
  return row.lines[FIELDS.get(field)?.place ?? -1] || row.line;
}

/** A product before its fields are read. */
export function newDecodedProduct(
  product: number,
  line: number,
  span: Span,
): DecodedProduct {
  return {
    product,
    line,
    id: null,
    sku: null,
    patch: {},
    expected: NO_EXPECTATIONS,
    differences: NO_DIFFERENCES,
    unread: NONE_UNREAD,
    lines: NO_LINES.slice(),
    images: [],
    problems: { listed: 0, unlisted: 0 },
    span,
  };
}

/** Records that a field was sent but cannot be read. */
export function leaveUnread(row: DecodedProduct, field: string): void {
  if (row.unread === NONE_UNREAD) row.unread = new Set();
  (row.unread as Set<string>).add(field);
}

/**
 * The end of a message about a field that was sent only under another name. The
 * field is then not also reported as missing.
 */
export function requiredNote(row: DecodedProduct, field: string): string {
  if (row.lines[FIELDS.get(field)!.place] > 0) return "";
  leaveUnread(row, field);
  return SCALAR_RULES[field as ScalarField]?.required
    ? ", which a new product needs"
    : "";
}
