/** What a column of a merchant's table may hold. */
import type { ListField, ScalarField } from "../../catalogue/fields.ts";

/**
 * The field that a column holds; "" for a column that is not sent. An
 * `attribute` has the name of its column. A product with a `sale_price` and a
 * `sale_until` is sent with that sale; without a `sale_until`, with the sale
 * price as the price, and with the `price` of the table as the former price.
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
