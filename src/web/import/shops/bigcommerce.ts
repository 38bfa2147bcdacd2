/** Exports of BigCommerce. */
import { yesOrNo } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import { columnFinder, type Gathered } from "./rows.ts";

/** What nobody may buy is not for sale, though it is shown. */
export function ofBigCommerce(table: Table): Gathered {
  const at = columnFinder(table);
  const [visible, sold] = [at("Product Visible?"), at("Allow Purchases?")];
  const rows = table.rows.map((cells) =>
    yesOrNo(cells[sold]) === false ? cells.with(visible, cells[sold]) : cells
  );
  return { table: { ...table, rows }, note: "" };
}
