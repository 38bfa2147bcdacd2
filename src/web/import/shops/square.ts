/** Exports of the item library of Square. */
import type { SlicedWork } from "../../lib/slices.ts";
import { yesOrNo } from "../read/words.ts";
import type { Table } from "../read/csv.ts";
import {
  type ColumnFinder,
  type GatheredTable,
  withChangedRows,
  withColumns,
} from "./rows.ts";
import type { Shop } from "./shop.ts";

export const SQUARE: Shop = {
  name: "Square",
  has: ["Token", "Item Name", "Variation Name", "Price"],
  names: (header) =>
    Object.fromEntries(
      header.filter((name) => name.startsWith("Current Quantity "))
        .slice(0, 1).map((name) => [name, "Current Quantity"]),
    ),
  targets: {
    "Item Name": "title",
    "Current Quantity": "quantity",
    "Reporting Category": "",
    // The value is "N" for products that are for sale.
    Archived: "",
  },
  gather,
};

/** Square's name for the only variation of an item. */
const ONLY = "Regular";

/** Adds the variation to the title, and adds a column for the status. */
function* gather(table: Table, at: ColumnFinder): SlicedWork<GatheredTable> {
  const [title, variation, archived, sellable] = [
    at("Item Name"),
    at("Variation Name"),
    at("Archived"),
    at("Sellable"),
  ];
  const { table: titled } = yield* withChangedRows(
    table,
    (cells) =>
      cells[variation] === "" || cells[variation] === ONLY
        ? cells
        : cells.with(title, `${cells[title]} – ${cells[variation]}`),
  );
  const isOff = (cells: readonly string[]) =>
    yesOrNo(cells[archived] ?? "") === true ||
    yesOrNo(cells[sellable] ?? "") === false;
  const products = yield* withColumns(
    titled,
    ["Status"],
    (row) => [isOff(table.rows[row]) ? "paused" : "active"],
  );
  return { table: products, note: "" };
}
