/** Converts products to the values of their columns, and back. */
import type { Param } from "../database/db.ts";
import {
  isList,
  LIST_NAMES,
  type ListField,
  type ProductFields,
  SALE,
  type Sale,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  STORED_UNITS,
} from "./fields.ts";
import { NO_FORMER_PRICE } from "./price_changes.ts";
import { INITIAL, type Product } from "./product.ts";
import { templateOf } from "../lib/template.ts";
import { NO_REVIEW } from "./review.ts";
import { saleOfText, saleText } from "./sale.ts";

const SINGLE = [...SCALAR_NAMES, ...STORED_UNITS, SALE] as const;

export type ContentColumn = keyof ProductFields;

/** The columns with the values that a seller sets. */
export const CONTENT: readonly ContentColumn[] = [
  ...SINGLE,
  ...LIST_NAMES,
];

/** The fields that have a column for their unit, by that column. */
export const FIELD_OF_UNIT: ReadonlyMap<string, ScalarField> = new Map(
  SCALAR_NAMES.flatMap((field) => {
    const column = SCALAR_RULES[field].unit?.column;
    return column === undefined ? [] : [[column, field] as const];
  }),
);

/** Columns that only the service sets. */
export const OWN_COLUMNS = [
  "id",
  "created_at",
  "updated_at",
  "review_state",
  "review_at",
  "review",
] as const;
/** The columns of former prices; see `price_changes.ts`. */
export const PRICE_COLUMNS = [
  "price_row",
  "recent_prices",
  "former_prices",
  "sale_at",
] as const;
/** The columns of a `Product`. */
export const COLUMNS = [
  ...OWN_COLUMNS,
  ...PRICE_COLUMNS,
  ...CONTENT,
] as const;
export type Column = keyof Product;

/** A row with these columns; the lists are JSON, the sale is a text. */
export type ProductRow =
  & Omit<Product, ListField | typeof SALE>
  & { [SALE]: string | null }
  & { [L in ListField]: string };

/** The values of `CONTENT`, in its order, as in a row. */
export type Values = readonly Param[];

/** Parses a JSON list. Most lists are empty and need no parser. */
export function parseJsonList(json: string): unknown[] {
  return json === "[]" ? [] : JSON.parse(json);
}

function listJson(list: readonly unknown[]): string {
  return list.length === 0 ? "[]" : JSON.stringify(list);
}

/** Converts the value of a column to the field's value. */
export function fieldFromColumn(column: Column, value: Param): unknown {
  if (isList(column)) return parseJsonList(value as string);
  return column === SALE && value !== null
    ? saleOfText(value as string)
    : value;
}

/** Converts a whole row to a product, in place. */
export function toProduct(row: ProductRow): Product {
  const product: Record<string, unknown> = row;
  for (const list of LIST_NAMES) product[list] = parseJsonList(row[list]);
  if (row.sale !== null) product.sale = saleOfText(row.sale);
  return product as unknown as Product;
}

/** The value of a column of `CONTENT`. */
export function columnValue(
  product: ProductFields,
  column: ContentColumn,
): Param {
  const value = product[column];
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? listJson(value) : saleText(value as Sale);
}

export function columnValues(product: ProductFields): Param[] {
  return CONTENT.map((column) => columnValue(product, column));
}

/** The columns in which two products differ: a bit for each of `CONTENT`. */
export function differences(one: ProductFields, other: ProductFields): number {
  let bits = 0;
  for (let place = 0; place < CONTENT.length; place++) {
    const column = CONTENT[place];
    // The same list object needs no comparison.
    if (one[column] === other[column]) continue;
    if (columnValue(one, column) !== columnValue(other, column)) {
      bits |= 1 << place;
    }
  }
  return bits;
}

/** The values of an empty product. */
export const NO_VALUES: Values = columnValues(INITIAL);

/**
 * A product with every property: V8 turns an object whose properties are added
 * one by one into a hash table, which is several times slower.
 */
const BLANK: Product = templateOf({
  ...INITIAL,
  ...NO_FORMER_PRICE,
  ...NO_REVIEW,
  id: "",
  created_at: 0,
  updated_at: 0,
});

/** The product of a row with only some of the columns. */
export function toPartialProduct(row: Partial<ProductRow>): Product {
  const product: Record<string, unknown> = { ...BLANK };
  for (const column in row) {
    const value = row[column as Column] as Param;
    product[column] = fieldFromColumn(column as Column, value);
  }
  return product as unknown as Product;
}
