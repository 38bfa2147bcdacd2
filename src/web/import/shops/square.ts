/** Exports of the item library of Square. */
import { yesOrNo } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import { columnFinder, type Gathered, withComputedColumn } from "./rows.ts";

/** What Square calls the only variation of an item. */
const ONLY = "Regular";

/** Titles with the name of their variation, and what is for sale. */
export function ofSquare(table: Table): Gathered {
  const at = columnFinder(table);
  const [title, variation, archived, sellable] = [
    at("Item Name"),
    at("Variation Name"),
    at("Archived"),
    at("Sellable"),
  ];
  const rows = table.rows.map((cells) =>
    cells[variation] === "" || cells[variation] === ONLY
      ? cells
      : cells.with(title, `${cells[title]} – ${cells[variation]}`)
  );
  const isOff = (cells: readonly string[]) =>
    yesOrNo(cells[archived] ?? "") === true ||
    yesOrNo(cells[sellable] ?? "") === false;
  return {
    table: withComputedColumn(
      { ...table, rows },
      "Status",
      (row) => isOff(rows[row]) ? "paused" : "active",
    ),
    note: "",
  };
}
