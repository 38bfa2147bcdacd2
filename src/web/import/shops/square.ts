/** Exports of the item library of Square. */
import { answerIn } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import { columnsOf, type Gathered, withColumn } from "./rows.ts";

/** What Square calls the only variation of an item. */
const ONLY = "Regular";

/** Titles with the name of their variation, and what is for sale. */
export function ofSquare(table: Table): Gathered {
  const at = columnsOf(table);
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
    answerIn(cells[archived] ?? "") === true ||
    answerIn(cells[sellable] ?? "") === false;
  return {
    table: withColumn(
      { ...table, rows },
      "Status",
      (row) => isOff(rows[row]) ? "paused" : "active",
    ),
    note: "",
  };
}
