/**
 * What an undo needs to know of a transaction, as it is stored: of a product
 * that was changed only the fields that changed, each with its former value and
 * what tells whether it was changed since; of one that was created a hash; of
 * one that was deleted all that it was. Products are named by their place among
 * the transaction's results.
 */
import { hash } from "node:crypto";
import {
  LIST_NAMES,
  type ListField,
  type ProductFields,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "./fields.ts";
import { INITIAL, type ProductChange } from "./product.ts";

/** A field with its unit, as one thing: a price is its amount and currency. */
export type UndoField = ScalarField | ListField;

/** What a field holds, as JSON writes it; `[value, unit]` where it has one. */
export type FieldValue =
  | string
  | number
  | null
  | readonly (string | null)[]
  | readonly Readonly<Record<string, string | null>>[];

/** Stands for a long value that is only to be recognized. */
interface Hashed {
  hash: string;
}

export interface FormerField {
  field: UndoField;
  former: FieldValue;
  /** Whether this is what the transaction made of it. */
  isAsLeft: (value: FieldValue) => boolean;
}

/** What a transaction did to one product. */
export type UndoStep =
  & {
    /** Place among the transaction's results, from 0. */
    index: number;
  }
  & (
    | { did: "create"; isAsLeft: (product: ProductFields) => boolean }
    | { did: "update"; fields: readonly FormerField[] }
    | { did: "delete"; former: ProductFields }
  );

/** Texts of more characters are stored as a hash where that will do. */
const SHORT = 64;

function hashOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 16);
}

/** The value of a field, with its unit. */
export function valueOf(product: ProductFields, field: UndoField): FieldValue {
  const unit = unitOf(field);
  const value = product[field] as FieldValue;
  return unit === undefined ? value : [value as string, product[unit]];
}

/** The same as columns. */
export function columnsOf(
  field: UndoField,
  value: FieldValue,
): Partial<ProductFields> {
  const unit = unitOf(field);
  if (unit === undefined) return { [field]: value };
  const [amount, code] = value as readonly string[];
  return { [field]: amount, [unit]: code };
}

function unitOf(field: UndoField) {
  return field in SCALAR_RULES
    ? SCALAR_RULES[field as ScalarField].unit?.column
    : undefined;
}

/** Whether two values of a field are the same. */
export function sameValue(a: FieldValue, b: FieldValue): boolean {
  return a === b ||
    (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

function changedFields(before: ProductFields, after: ProductFields) {
  const fields: UndoField[] = SCALAR_NAMES.filter((name) => {
    const unit = unitOf(name);
    return before[name] !== after[name] ||
      (unit !== undefined && before[unit] !== after[unit]);
  });
  for (const name of LIST_NAMES) {
    if (before[name] === after[name]) continue;
    if (!sameValue(valueOf(before, name), valueOf(after, name))) {
      fields.push(name);
    }
  }
  return fields;
}

/** All that a product says, in the order of the table of fields. */
function contentHash(product: ProductFields): string {
  const fields = [...SCALAR_NAMES, ...LIST_NAMES];
  return hashOf(JSON.stringify(fields.map((name) => valueOf(product, name))));
}

function marked(value: FieldValue): FieldValue | Hashed {
  const text = JSON.stringify(value);
  return text.length <= SHORT ? value : { hash: hashOf(text) };
}

function matches(value: FieldValue, mark: FieldValue | Hashed): boolean {
  return mark !== null && typeof mark === "object" && "hash" in mark
    ? hashOf(JSON.stringify(value)) === mark.hash
    : sameValue(value, mark);
}

/** As stored; numbers are places among the results. */
interface Packed {
  /** Places and hashes in turn. */
  created?: (number | string)[];
  /**
   * By the names of the fields that changed: the place, the former values, and
   * what they became.
   */
  updated?: Record<string, [number, ...(FieldValue | Hashed)[]][]>;
  /** What a product was, but for what is as in a new one. */
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
      (packed.created ??= []).push(index, contentHash(after!));
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

/** What `packUndo` made, in the order of the results. */
export function unpackUndo(text: string): UndoStep[] {
  const { created = [], updated = {}, deleted = [] }: Packed = JSON.parse(text);
  const steps: UndoStep[] = [];
  for (let i = 0; i < created.length; i += 2) {
    steps.push({
      index: created[i] as number,
      did: "create",
      isAsLeft: (product) => contentHash(product) === created[i + 1],
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
