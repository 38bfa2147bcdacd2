/** Exports of BigCommerce. */
import type { SlicedWork } from "../../lib/slices.ts";
import { yesOrNo } from "../read/words.ts";
import type { Table } from "../read/csv.ts";
import {
  type ColumnFinder,
  type GatheredTable,
  withChangedRows,
} from "./rows.ts";
import type { Shop } from "./shop.ts";

export const BIGCOMMERCE: Shop = {
  name: "BigCommerce",
  has: ["Product Code/SKU", "Product Visible?", "Allow Purchases?"],
  targets: {
    "Product Code/SKU": "sku",
    "Product Visible?": "status",
    "Product Condition": "condition",
    // The shop calls this price "MSRP"; 0 means that there is none.
    "Retail Price": "compare_at_price",
    "Sale Price": "sale_price",
    "Current Stock Level": "quantity",
  },
  gather,
};

/** Gives visible products that cannot be bought the status of hidden ones. */
function* gather(table: Table, at: ColumnFinder): SlicedWork<GatheredTable> {
  const [visible, sold] = [at("Product Visible?"), at("Allow Purchases?")];
  const { table: products } = yield* withChangedRows(
    table,
    (cells) =>
      yesOrNo(cells[sold]) === false ? cells.with(visible, cells[sold]) : cells,
  );
  return { table: products, note: "" };
}
