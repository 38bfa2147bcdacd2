/** Questions about rows: whether they are products, for sale, and in stock. */
import { formatCount, nameWithNumbers, plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import { sampledValues } from "../columns/guesses.ts";
import {
  isUnsoldValue,
  mayBeStatus,
  namesStatus,
  saysNotForSale,
} from "../columns/headers.ts";
import { namesIn, shopOf } from "../shops/shops.ts";
import { withColumnForField } from "../columns/sheet.ts";
import { cellValues } from "../columns/spreadsheet.ts";
import { yesOrNo } from "../read/words.ts";
import {
  type CheckedTable,
  columnName,
  columnRemoval,
  confirmation,
  type Finding,
  question,
  rowRemoval,
  rowsWhere,
  type TableAndMapping,
  tableChange,
  withCellInRows,
} from "./finding.ts";

/** Asks about SKUs that a program has converted to dates or numbers. */
export function skuQuestion(
  { problems: { damaged } }: CheckedTable,
): Finding | null {
  return damaged.length === 0 ? null : question(
    `${plural(damaged.length, "article number")} such as ${
      damaged.slice(0, 3).join(", ")
    } may have been changed by a spreadsheet program. If so, upload the file ` +
      "as your shop exported it, without opening it in Excel.",
    confirmation("They are right"),
  );
}

/** Asks about texts in which another program has lost letters. */
export function letterQuestion(
  { problems: { garbled } }: CheckedTable,
): Finding | null {
  return garbled === null ? null : question(
    `Letters in a text such as “${garbled.slice(0, 60)}” seem to be ` +
      "damaged in the file itself. If so, export it again as UTF-8.",
    confirmation("They are right"),
  );
}

/**
 * Asks what a dash means: 0, as in accounting formats, or an uncounted stock, as
 * in tables of the page.
 */
export function* dashQuestion(
  { table, mapping: { targets } }: CheckedTable,
): SlicedWork<Finding | null> {
  const column = targets.indexOf("quantity");
  if (column < 0) return null;
  const found = yield* rowsWhere(
    table,
    (cells) => /^[-–—]$/.test(cells[column]),
  );
  const writes = (label: string, text: string) =>
    tableChange(label, (table) => withCellInRows(table, found, column, text));
  return found.length === 0 ? null : question(
    `${columnName(table, column)} is ${table.rows[found[0]][column]} in ${
      plural(found.length, "row")
    }. Does it mean 0?`,
    writes("Yes: 0", "0"),
    writes("No: the stock is not counted", "-"),
  );
}

/** The maximum number of distinct values of a column that contains states. */
const STATE_LIMIT = 6;

/** How a column marks rows as not for sale; null if it does not mark rows. */
function unsoldMarkIn(
  { table, mapping: { targets } }: CheckedTable,
  column: number,
): ((cell: string) => boolean) | null {
  const isStatus = targets[column] === "status";
  if (targets[column] !== "" && !isStatus) return null;
  const name = namesIn(table.header)[column];
  if (saysNotForSale(name)) {
    return (cell) =>
      cell !== "" && yesOrNo(cell) !== false && !/^0[-0:. ]*$/.test(cell);
  }
  if (isStatus) return null;
  const few = sampledValues(table.rows, column, STATE_LIMIT + 1);
  const isFlag = !targets.includes("status") && mayBeStatus(name) &&
    few.every((value) => yesOrNo(value) !== null);
  if (namesStatus(name) || isFlag) {
    return (cell) => yesOrNo(cell) === false;
  }
  return few.length <= STATE_LIMIT && few.some(isUnsoldValue)
    ? isUnsoldValue
    : null;
}

/** Asks about columns that mark rows as not for sale. */
export function* unsoldQuestions(
  checked: CheckedTable,
): SlicedWork<Finding[]> {
  const { table, mapping } = checked;
  if (mapping.values.status === "paused") return [];
  const status = mapping.targets.indexOf("status");
  const isPaused = (cells: readonly string[]) =>
    status >= 0 &&
    cellValues("status", cells[status], mapping, status, "")[0] === "paused";
  const questions: Finding[] = [];
  for (const column of table.header.keys()) {
    const isUnsold = unsoldMarkIn(checked, column);
    if (isUnsold === null) continue;
    const isSaid = column === status;
    const found = yield* rowsWhere(
      table,
      (cells) => isUnsold(cells[column]) && (isSaid || !isPaused(cells)),
    );
    if (found.length === 0) continue;
    const name = columnName(table, column);
    questions.push(question(
      `${name} is ${table.rows[found[0]][column]} in ${
        plural(found.length, "row")
      }. Is that for sale?`,
      {
        label: `No: pause ${formatCount(found.length)}`,
        apply: (mapped) => withPaused(mapped, found, isSaid),
      },
      isSaid
        ? columnRemoval("Leave the column out", [column])
        : confirmation("Yes"),
    ));
  }
  return questions;
}

/** Pauses these rows; if `others` is true, makes the other rows active. */
function withPaused(
  mapped: TableAndMapping,
  found: readonly number[],
  others: boolean,
): TableAndMapping {
  const { table, mapping } = mapped.mapping.targets.includes("status")
    ? mapped
    : withColumnForField({ ...mapped, name: "", book: null }, "status");
  const status = mapping.targets.indexOf("status");
  const stated = others
    ? withCellInRows(table, [...table.rows.keys()], status, "active")
    : table;
  return { table: withCellInRows(stated, found, status, "paused"), mapping };
}

/** Asks about empty cells in a column that marks only some rows. */
export function* unmarkedQuestion(
  { table, mapping: { targets } }: CheckedTable,
): SlicedWork<Finding | null> {
  const status = targets.indexOf("status");
  const title = targets.indexOf("title");
  const marks = status < 0 ? [] : sampledValues(table.rows, status);
  if (marks.length === 0 || !marks.every((mark) => yesOrNo(mark) === true)) {
    return null;
  }
  const empty = yield* rowsWhere(
    table,
    (cells) => cells[status] === "" && cells[title] !== "",
  );
  return empty.length === 0 ? null : question(
    `${columnName(table, status)} is ${marks[0]} in some rows, and empty in ${
      formatCount(empty.length)
    }. Are those for sale?`,
    tableChange(
      `No: pause ${formatCount(empty.length)}`,
      (table) => withCellInRows(table, empty, status, "paused"),
    ),
    confirmation("Yes"),
  );
}

/** Asks about rows whose availability and quantity contradict each other. */
export function* stockQuestion(
  { table, mapping }: CheckedTable,
): SlicedWork<Finding | null> {
  const quantity = mapping.targets.indexOf("quantity");
  const availability = mapping.targets.indexOf("availability");
  if (quantity < 0 || availability < 0) return null;
  const valueIn = (
    cells: readonly string[],
    name: "quantity" | "availability",
    column: number,
  ) => cellValues(name, cells[column], mapping, column, "")[0];
  const found = yield* rowsWhere(
    table,
    (cells) =>
      valueIn(cells, "quantity", quantity) === "0" &&
      valueIn(cells, "availability", availability) === "in_stock",
  );
  return found.length === 0 ? null : question(
    `${columnName(table, availability)} is ${
      table.rows[found[0]][availability]
    } in ${plural(found.length, "row")} with the quantity 0. Is that in stock?`,
    tableChange(
      `No: ${formatCount(found.length)} out of stock`,
      (table) => withCellInRows(table, found, availability, "out_of_stock"),
    ),
    confirmation("Yes"),
  );
}

/** Asks about cells that may contain the SKUs of several variants. */
export function* severalSkusQuestion(
  { table, mapping: { targets } }: CheckedTable,
): SlicedWork<Finding | null> {
  const sku = targets.indexOf("sku");
  if (sku < 0) return null;
  const found = yield* rowsWhere(table, (cells) => hasSeveralSkus(cells[sku]));
  return found.length === 0 ? null : question(
    `${table.rows[found[0]][sku]} in ${plural(found.length, "row")} may be ` +
      "several SKUs, such as of variants. Each product needs its own row.",
    confirmation("It is one SKU"),
    rowRemoval(found),
  );
}

function hasSeveralSkus(sku: string): boolean {
  const parts = sku.split(/[,;|]/).map((part) => part.trim());
  return parts.length > 1 && parts.every((part) => part.length > 2) &&
    /\D/.test(parts.join(""));
}

/** Asks about rows that may be the sum of other rows. */
export function sumQuestion(
  { table, problems: { sums } }: CheckedTable,
): Finding | null {
  return sums.length === 0 ? null : question(
    `A sum, not a product, may be in ${
      nameWithNumbers("row", sums.map((row) => table.numbers[row]))
    }.`,
    rowRemoval(sums),
    confirmation(sums.length === 1 ? "It is a product" : "They are products"),
  );
}

/** Usual decimals of prices. */
const CENTS = /^(?:0\d|[1-9]0|[24]5|49|75|9[589])$/;

/**
 * Asks about prices in a file that separates values by commas. Without quotation
 * marks, a price with a decimal comma becomes two values.
 */
export function* splitPriceQuestion(
  { table, mapping: { targets } }: CheckedTable,
): SlicedWork<Finding | null> {
  const price = targets.indexOf("price");
  if (
    table.delimiter !== "," || price < 0 || shopOf(table.header) !== undefined
  ) return null;
  const end = (cells: readonly string[]) =>
    cells.findLastIndex((cell) => cell !== "");
  // A weight may have a unit, which was added from another column.
  const centsIn = (cells: readonly string[]) =>
    /^(\d\d)(?: [a-z]+)?$/.exec(cells[price + 1] ?? "")?.[1];
  const isSplit = (cells: readonly string[]) =>
    /^\d+$/.test(cells[price]) && centsIn(cells) !== undefined;
  let narrowest = Infinity;
  const split = yield* rowsWhere(table, (cells) => {
    if (isSplit(cells)) return true;
    if (cells[price] !== "") narrowest = Math.min(narrowest, end(cells));
    return false;
  });
  const { rows } = table;
  const found = split.filter((row) =>
    narrowest === Infinity || end(rows[row]) > narrowest
  );
  const next = targets[price + 1];
  const areCents = found.every((row) => CENTS.test(centsIn(rows[row])!));
  // A former price is at least the price; a sale price is at most the price.
  const areSwapped = found.some((row) => {
    const amount = Number(rows[row][price]);
    const other = Number(centsIn(rows[row]));
    return next === "compare_at_price"
      ? other < amount
      : next === "sale_price" && other > amount;
  });
  const isMeant = next === "compare_at_price" || next === "sale_price"
    ? areCents || areSwapped
    // In other columns, values of two digits are usual.
    : next === "" || narrowest < Infinity || areCents;
  if (found.length === 0 || !isMeant) return null;
  const example = rows[found[0]].slice(price, price + 2).join();
  return question(
    `${columnName(table, price)}: in ${plural(found.length, "row")}, such as ` +
      `with ${example}, a decimal comma may be read as a delimiter, so that ` +
      "values are in wrong columns.",
    confirmation("The columns are right"),
    rowRemoval(found),
  );
}
