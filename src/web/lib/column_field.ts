/** The fields that the columns of a merchant's table may contain. */
import type { ListField, ScalarField } from "../../catalogue/fields.ts";

/**
 * The field that a column contains; "" for a column that is not sent. An
 * `attribute` has the name of its column.
 *
 * A product with a `sale_price` and a `sale_until` is sent with a sale. If only
 * the `sale_until` is missing, the sale price is sent as the price, and the
 * `price` of the table as the former price.
 */
export type ColumnField =
  | ScalarField
  | ListField
  | "currency"
  | "sale_price"
  | "sale_from"
  | "sale_until"
  | "attribute"
  | "";
