/**
 * What an undo needs to know of a transaction, as it is stored: of a product
 * that was changed only the fields that changed, each with its former value and
 * what tells whether it was changed since; of one that was created a checksum;
 * of one that was deleted all that it was. Products are named by their place
 * among the transaction's results.
 */
import { crc32 } from "node:zlib";
import {
  LIST_NAMES,
  type ListField,
  type ProductFields,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  type StoredUnit,
} from "./fields.ts";
import { INITIAL, type ProductChange } from "./product.ts";

/** A field with its unit, as one thing: a price is its amount and currency. */
export type UndoField = ScalarField | ListField;

/** A field's value in JSON; `[value, unit]` if it has a unit. */
export type FieldValue =
  | string
  | number
  | null
  | readonly (string | null)[]
  | readonly Readonly<Record<string, string | null>>[];

/** Replaces a long value that only has to be recognized. */
interface Checksum {
  sum: string;
}

export interface FormerField {
  field: UndoField;
  former: FieldValue;
  /** Whether this is the value that the transaction set. */
  isAsLeft: (value: FieldValue) => boolean;
}

/** What a transaction did to one product. */
export type UndoStep =
  & {
    /** Index in the transaction's results, from 0. */
    index: number;
  }
  & (
    | { did: "create"; isAsLeft: (product: ProductFields) => boolean }
    | { did: "update"; fields: readonly FormerField[] }
    | { did: "delete"; former: ProductFields }
  );

/** Longer values (in characters) are stored as a checksum if it suffices. */
const SHORT = 64;

/** 32 bits and the length, which are cheap to compute. */
function checksum(text: string): string {
  return `${text.length.toString(36)} ${crc32(text).toString(36)}`;
}

/** The value of a field, with its unit. */
export function valueOf(product: ProductFields, field: UndoField): FieldValue {
  const unit = UNITS.get(field);
  const value = product[field] as FieldValue;
  return unit === undefined ? value : [value as string, product[unit]];
}

/** The same as columns. */
export function columnsOf(
  field: UndoField,
  value: FieldValue,
): Partial<ProductFields> {
  const unit = UNITS.get(field);
  if (unit === undefined) return { [field]: value };
  const [amount, code] = value as readonly string[];
  return { [field]: amount, [unit]: code };
}

const UNITS: ReadonlyMap<UndoField, StoredUnit> = new Map(
  SCALAR_NAMES.flatMap((name) => {
    const column = SCALAR_RULES[name].unit?.column;
    return column === undefined ? [] : [[name, column] as const];
  }),
);

/** Whether two values of a field are equal. */
export function sameValue(a: FieldValue, b: FieldValue): boolean {
  return a === b ||
    (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/** Each column that an upload sets, and its field. */
const FIELD_OF: ReadonlyMap<keyof ProductFields, UndoField> = new Map([
  ...SCALAR_NAMES.map((name) => [name, name] as const),
  ...UNITS.entries().map(([name, unit]) => [unit, name] as const),
  ...LIST_NAMES.map((name) => [name, name] as const),
]);
/**
 * The columns that differ. Generated without a loop over the names, which would
 * take several times as long.
 */
const unlikeColumns = new Function(
  "a",
  "b",
  `const unlike = [];
  ${
    [...FIELD_OF.keys()]
      .map((name) => `if (a.${name} !== b.${name}) unlike.push("${name}");`)
      .join("\n")
  }
  return unlike;`,
) as (a: ProductFields, b: ProductFields) => (keyof ProductFields)[];

function changedFields(
  before: ProductFields,
  after: ProductFields,
): UndoField[] {
  const fields: UndoField[] = [];
  for (const column of unlikeColumns(before, after)) {
    const field = FIELD_OF.get(column)!;
    const isSame = sameValue(valueOf(before, field), valueOf(after, field));
    if (!isSame && !fields.includes(field)) fields.push(field);
  }
  return fields;
}

/** The values of a list, each after a NUL, which no value holds. */
function listText(list: readonly (string | object)[]): string {
  let text = "";
  for (const entry of list) {
    if (typeof entry === "string") text += `\0${entry}`;
    else for (const value of Object.values(entry)) text += `\0${value ?? ""}`;
  }
  return text;
}

/**
 * The fields of a product as one text, without those that are as in a new one.
 * Generated, because JSON of the fields takes twice as long.
 */
const contentOf = new Function(
  "initial",
  "listText",
  `return (product) => {
    let text = "";
    ${
    [...FIELD_OF.keys()].map((name) =>
      Array.isArray(INITIAL[name])
        ? `if (product.${name}.length > 0) ` +
          `text += "\\0${name}" + listText(product.${name});`
        : `if (product.${name} !== initial.${name}) ` +
          `text += "\\0${name}\\0" + product.${name};`
    ).join("\n")
  }
    return text;
  }`,
)(INITIAL, listText) as (product: ProductFields) => string;

/** The checksum of a product, without the fields that are as in a new one. */
function contentSum(product: ProductFields): string {
  return checksum(contentOf(product));
}

/** The checksum that older versions stored; undo records are kept for days. */
function formerContentSum(product: ProductFields): string {
  const content: unknown[] = [];
  for (const column of unlikeColumns(INITIAL, product)) {
    const value = product[column];
    if (Array.isArray(value) && value.length === 0) continue;
    content.push(column, value);
  }
  return checksum(JSON.stringify(content));
}

function marked(value: FieldValue): FieldValue | Checksum {
  if (typeof value === "number" || value === null) return value;
  if (typeof value === "string" && value.length < SHORT) return value;
  const text = JSON.stringify(value);
  return text.length <= SHORT ? value : { sum: checksum(text) };
}

function matches(value: FieldValue, mark: FieldValue | Checksum): boolean {
  return mark !== null && typeof mark === "object" && "sum" in mark
    ? checksum(JSON.stringify(value)) === mark.sum
    : sameValue(value, mark);
}

/** As stored; numbers are places among the results. */
interface Packed {
  /** Places and checksums in turn. */
  created?: (number | string)[];
  /**
   * By the names of the fields that changed: the place, the former values, and
   * what they became.
   */
  updated?: Record<string, [number, ...(FieldValue | Checksum)[]][]>;
  /** The content of a product, without values that a new product has. */
  deleted?: [number, Partial<Record<UndoField, FieldValue>>][];
}

/**
 * The record of the changes of a transaction, by their places among its
 * results; null when there are none.
 */
export function packUndo(
  changes: ReadonlyMap<number, ProductChange>,
): string | null {
  if (changes.size === 0) return null;
  const packed: Packed = {};
  for (const [index, { before, after }] of changes) {
    if (before === null) {
      (packed.created ??= []).push(index, contentSum(after!));
    } else if (after === null) {
      const fields = changedFields(INITIAL, before)
        .map((field) => [field, valueOf(before, field)]);
      (packed.deleted ??= []).push([index, Object.fromEntries(fields)]);
    } else {
      const fields = changedFields(before, after);
      const former = fields.map((field) => valueOf(before, field));
      const left = fields.map((field) => marked(valueOf(after, field)));
      const rows = (packed.updated ??= {})[fields.join()] ??= [];
      rows.push([index, ...former, ...left]);
    }
  }
  return JSON.stringify(packed);
}

/** Reads what `packUndo` wrote, in the order of the results. */
export function unpackUndo(text: string): UndoStep[] {
  const { created = [], updated = {}, deleted = [] }: Packed = JSON.parse(text);
  const steps: UndoStep[] = [];
  for (let i = 0; i < created.length; i += 2) {
    const sum = created[i + 1];
    steps.push({
      index: created[i] as number,
      did: "create",
      isAsLeft: (product) =>
        contentSum(product) === sum || formerContentSum(product) === sum,
    });
  }
  for (const [names, rows] of Object.entries(updated)) {
    const fields = names.split(",") as UndoField[];
    for (const [index, ...values] of rows) {
      steps.push({
        index,
        did: "update",
        fields: fields.map((field, i) => ({
          field,
          former: values[i] as FieldValue,
          isAsLeft: (value) => matches(value, values[fields.length + i]),
        })),
      });
    }
  }
  for (const [index, fields] of deleted) {
    const columns = Object.entries(fields)
      .map(([field, value]) => columnsOf(field as UndoField, value));
    const former = Object.assign({}, INITIAL, ...columns);
    steps.push({ index, did: "delete", former });
  }
  return steps.sort((a, b) => a.index - b.index);
}

/** URLs of images that products may show again after the undo. */
export function formerImages(steps: readonly UndoStep[]): string[] {
  return steps.flatMap((step) => {
    if (step.did === "create") return [];
    if (step.did === "delete") return step.former.images.map(({ url }) => url);
    const images = step.fields.find(({ field }) => field === "images")?.former;
    return (images as ProductFields["images"] | undefined ?? [])
      .map(({ url }) => url);
  });
}
