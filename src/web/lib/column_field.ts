/** What a column of a merchant's table may hold. */
import type { ListField, ScalarField } from "../../catalogue/fields.ts";

/**
 * What a column holds: a scalar field, `currency`, a list, `attribute` (whose
 * name is the column's), `sale_price` (where it has one, it is the price, and
 * the column of the price is what the product cost before), or nothing that is
 * sent.
 */
export type ColumnField =
  | ScalarField
  | ListField
  | "currency"
  | "sale_price"
  | "attribute"
  | "";
