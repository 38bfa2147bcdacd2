/** Exports of BigCommerce. */
import { answerIn } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import { columnsOf, type Gathered } from "./rows.ts";

/** What nobody may buy is not for sale, though it is shown. */
export function ofBigCommerce(table: Table): Gathered {
  const at = columnsOf(table);
  const [visible, sold] = [at("Product Visible?"), at("Allow Purchases?")];
  const rows = table.rows.map((cells) =>
    answerIn(cells[sold]) === false ? cells.with(visible, cells[sold]) : cells
  );
  return { table: { ...table, rows }, note: "" };
}
