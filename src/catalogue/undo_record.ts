/**
 * The stored form of the data for an undo. For a changed product: only the
 * changed columns, each with its former value, and its new value or checksum to
 * detect later changes. For a created product: a checksum. For a deleted
 * product: the values that differ from those of an empty product. The record is
 * parsed only for an undo.
 *
 * The text begins with the names of all columns. An entry for each product
 * follows: `PRODUCT`, a letter, the product's index in the transaction's
 * results, and values, each after a `VALUE`. The value of a created product is
 * its checksum. Each column of another product has three values: its index, its
 * former value and its new value. The control characters occur in no value.
 */
import { crc32 } from "node:zlib";
import type { Param } from "../database/db.ts";
import type { RowWork } from "../lib/steps.ts";
import {
  type ListField,
  type ProductFields,
  type SALE,
  SCALAR_RULES,
  type ScalarField,
} from "./fields.ts";
import { INITIAL } from "./product.ts";
import type { RowChange } from "./product_rows.ts";
import {
  type Column,
  columnValue,
  CONTENT,
  type ContentColumn,
  FIELD_OF_UNIT,
  fieldFromColumn,
  NO_VALUES,
  type Values,
} from "./product_values.ts";

const VALUE = "\u0001";
const PRODUCT = "\u0002";
const NULL = "\u0003";
/** Marks the checksum of a long value. */
const SUM = "\u0004";

/** Fields whose amounts are in the currency of the price. */
export const IN_CURRENCY_OF_PRICE = ["compare_at_price", "sale"] as const;

/** A field together with its unit: a price is its amount and currency. */
export type UndoField = ScalarField | ListField | typeof SALE;

/** The stored value of a field, and of its unit. */
export type FieldValues = readonly Param[];

export interface FormerField {
  field: UndoField;
  former: FieldValues;
  /** Whether these are the values that the transaction set. */
  isAsLeft: (values: FieldValues) => boolean;
}

/** The effect of a transaction on one product. */
export type UndoStep =
  & {
    /** Index in the transaction's results, from 0. */
    index: number;
  }
  & (
    | { effect: "create"; isAsLeft: (product: Values) => boolean }
    | { effect: "update"; fields: readonly FormerField[] }
    | { effect: "delete"; former: ProductFields }
  );

/** Longer values (in characters) are stored as a checksum, if that suffices. */
const SHORT = 64;

/** A checksum that is cheap to compute: 32 bits and the length. */
function checksum(text: string): string {
  return `${text.length.toString(36)} ${crc32(text).toString(36)}`;
}

/**
 * The indexes of each field's columns: the column of the field and the column
 * of its unit.
 */
const PLACES: ReadonlyMap<UndoField, readonly number[]> = Map.groupBy(
  CONTENT.keys(),
  (place) => fieldAt(CONTENT[place]),
);

function fieldAt(column: Column): UndoField {
  return FIELD_OF_UNIT.get(column) ?? column as UndoField;
}
const FIELDS = [...PLACES.values()];

export function fieldValues(product: Values, field: UndoField): FieldValues {
  return PLACES.get(field)!.map((place) => product[place]);
}

export function fieldsOf(
  field: UndoField,
  values: FieldValues,
): Partial<ProductFields> {
  const columns = PLACES.get(field)!.map((place, i) => {
    const column = CONTENT[place];
    return [column, fieldFromColumn(column, values[i])];
  });
  return Object.fromEntries(columns);
}

export function sameValues(a: FieldValues, b: FieldValues): boolean {
  return a.every((value, i) => value === b[i]);
}

function contentSum(product: Values): string {
  return checksum(product.join(VALUE));
}

/**
 * Whether a product still has the recorded content. `columns` are the columns
 * of the record; a later release may have more.
 */
function isContent(
  product: Values,
  columns: readonly ContentColumn[],
  sum: string,
): boolean {
  const known = columns.map((column) => product[CONTENT.indexOf(column)]);
  const isUnrecordedEmpty = CONTENT.every((column, place) =>
    columns.includes(column) || product[place] === NO_VALUES[place]
  );
  return isUnrecordedEmpty && contentSum(known) === sum;
}

/** The places of the fields that are in the currency of the price. */
const IN_CURRENCY = IN_CURRENCY_OF_PRICE
  .flatMap((field) => PLACES.get(field)!);

/**
 * The changed columns in the form of the record. A former amount in the
 * currency of the price is recorded with the price, even if the price is
 * unchanged.
 */
function formerValues(
  was: ProductFields,
  is: ProductFields,
  changes: number,
): string {
  let text = "";
  let changed = changes;
  const hasAmount = IN_CURRENCY.some((place) =>
    changes & 1 << place && columnValue(was, CONTENT[place]) !== null
  );
  if (hasAmount) {
    for (const place of PLACES.get("price")!) changed |= 1 << place;
  }
  for (const places of FIELDS) {
    if (!places.some((place) => changed & 1 << place)) continue;
    for (const place of places) {
      const former = columnValue(was, CONTENT[place]) ?? NULL;
      const left = marked(columnValue(is, CONTENT[place]));
      text += `${VALUE}${place}${VALUE}${former}${VALUE}${left}`;
    }
  }
  return text;
}

function marked(value: Param): string {
  const text = `${value ?? NULL}`;
  return text.length <= SHORT ? text : SUM + checksum(text);
}

/**
 * The record of a transaction's effect on each of its products, in the order of
 * its results; `null` for a product without a change.
 */
export function packUndo(changes: readonly (RowChange | null)[]): string {
  let text = CONTENT.join();
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index];
    if (change === null) continue;
    const { before, after, created, changed } = change;
    text += before === null
      ? `${PRODUCT}c${index}${VALUE}${contentSum(created!)}`
      : after === null
      ? `${PRODUCT}d${index}${formerValues(before, INITIAL, changed)}`
      : `${PRODUCT}u${index}${formerValues(before, after, changed)}`;
  }
  return text;
}

/** Reads the text of `packUndo`, in the order of the results. */
export function* unpackUndo(text: string): RowWork<UndoStep[]> {
  const [names, ...products] = text.split(PRODUCT);
  const columns = names.split(",") as ContentColumn[];
  const steps: UndoStep[] = [];
  for (const product of products) {
    const [head, ...values] = product.split(VALUE);
    steps.push(stepOf(head[0], Number(head.slice(1)), values, columns));
    yield;
  }
  return steps;
}

function stepOf(
  letter: string,
  index: number,
  values: readonly string[],
  columns: readonly ContentColumn[],
): UndoStep {
  if (letter === "c") {
    const isAsLeft = (is: Values) => isContent(is, columns, values[0]);
    return { index, effect: "create", isAsLeft };
  }
  const fields = formerFields(values, columns);
  if (letter === "u") return { index, effect: "update", fields };
  const former = fields.map(({ field, former }) => fieldsOf(field, former));
  return {
    index,
    effect: "delete",
    former: Object.assign({}, INITIAL, ...former),
  };
}

function formerFields(
  values: readonly string[],
  columns: readonly ContentColumn[],
): FormerField[] {
  const kept: { column: Column; former: Param; left: string }[] = [];
  for (let i = 0; i < values.length; i += 3) {
    const column = columns[Number(values[i])];
    const former = readValue(column, values[i + 1]);
    kept.push({ column, former, left: values[i + 2] });
  }
  const byField = Map.groupBy(kept, ({ column }) => fieldAt(column));
  return Array.from(byField, ([field, kept]) => ({
    field,
    former: kept.map(({ former }) => former),
    isAsLeft: (values) =>
      values.every((value, i) => marked(value) === kept[i].left),
  }));
}

function readValue(column: Column, text: string): Param {
  if (text === NULL) return null;
  const isNumber = SCALAR_RULES[column as ScalarField]?.form.kind === "integer";
  return isNumber ? Number(text) : text;
}

/** The SKU that the undo may restore to a product: none or one. */
export function formerSkus(step: UndoStep): string[] {
  if (step.effect === "create") return [];
  if (step.effect === "delete") return [step.former.sku];
  const sku = step.fields.find(({ field }) => field === "sku");
  return sku === undefined ? [] : [`${sku.former[0]}`];
}

/** URLs of images that products may show again after the undo. */
export function formerImages(steps: readonly UndoStep[]): string[] {
  return steps.flatMap((step) => {
    if (step.effect === "create") return [];
    if (step.effect === "delete") return step.former.images;
    const images = step.fields.find(({ field }) => field === "images");
    return images === undefined
      ? []
      : fieldsOf("images", images.former).images!;
  }).map(({ url }) => url);
}
