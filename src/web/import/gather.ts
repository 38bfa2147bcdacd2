/**
 * Makes one row for each product. Joins the rows of images and variants in
 * exports of shops, and applies columns that modify others, such as units.
 */
import { parseTime } from "../../lib/values.ts";
import { now } from "../lib/browser.ts";
import { joinSentences, plural } from "../lib/format.ts";
import { isWeightWithoutUnit, weightUnitOf } from "../lib/numbers.ts";
import { normaliseSaleTime } from "../lib/sale_times.ts";
import type { SlicedWork } from "../lib/slices.ts";
import { sampledValues, sampleValues } from "./columns/guesses.ts";
import type { ColumnField } from "../lib/column_field.ts";
import {
  namesSale,
  namesSalePrice,
  poundAndOunceColumns,
  targetsByName,
  weightAndUnitColumns,
} from "./columns/headers.ts";
import { yesOrNo } from "./read/words.ts";
import type { Table } from "./read/csv.ts";
import {
  eachRow,
  type GatheredTable,
  PARENT,
  type Row,
  withChangedRows,
  withRows,
} from "./shops/rows.ts";
import type { Shop } from "./shops/shop.ts";
import { namesIn, shopOf } from "./shops/shops.ts";

/** A change of a table, with a note about it. */
type Change = (table: Table) => SlicedWork<GatheredTable> | GatheredTable;

/** The changes in the order in which they are applied. */
const CHANGES: readonly Change[] = [
  withoutRepeatedNames,
  withSecondHeader,
  withWeightUnits,
  withPoundsAndOunces,
  withoutPausedSales,
  withoutUntracked,
  joinShopRows,
];

/** The table after all changes, with a row for each product. */
export function* gatherTable(read: Table): SlicedWork<GatheredTable> {
  let table = read;
  const notes: string[] = [];
  for (const change of CHANGES) {
    const made = change(table);
    const next = "next" in made ? yield* made : made;
    table = next.table;
    notes.push(next.note);
    yield;
  }
  return { table, note: joinSentences(...notes) };
}

/** Joins the rows of a shop's export. */
function* joinShopRows(table: Table): SlicedWork<GatheredTable> {
  const shop = shopOf(table.header);
  // The page has saved this table with joined rows.
  if (shop === undefined || table.header.includes(PARENT)) {
    return { table, note: "" };
  }
  const names = namesIn(table.header);
  const at = (name: string) => names.indexOf(name);
  const ended = yield* withoutEndlessSales(table, shop, at);
  if (shop.gather === undefined) return ended;
  const { table: products, note } = yield* shop.gather(
    ended.table,
    at,
    names,
  );
  return { table: products, note: joinSentences(ended.note, note) };
}

/** Removes rows that repeat the header, as in lists of several pages. */
function* withoutRepeatedNames(table: Table): SlicedWork<GatheredTable> {
  const { header, rows, numbers } = table;
  const kept: { cells: Row; number: number }[] = [];
  yield* eachRow(table, (cells, row) => {
    const isOfNames = cells.every((cell, i) => cell === header[i]);
    if (!isOfNames) kept.push({ cells, number: numbers[row] });
  });
  const left = rows.length - kept.length;
  if (left === 0) return { table, note: "" };
  return {
    table: withRows(table, kept),
    note: `${plural(left, "row")} that ${
      left === 1 ? "repeats the column names is" : "repeat the column names are"
    } left out.`,
  };
}

const NUMBER_FIELDS: readonly (ColumnField | null)[] = [
  "price",
  "compare_at_price",
  "sale_price",
  "quantity",
  "weight",
];
const LONGEST_NAME = 20;

/** Joins a second header row, such as `kg` or `net`, to the header. */
function withSecondHeader(table: Table): GatheredTable {
  const { header, rows: [first, ...rows], numbers: [number, ...numbers] } =
    table;
  const targets = targetsByName(header);
  const named = [...header.keys()].filter((i) => first?.[i]);
  const isOfNames = targets.includes("sku") &&
    shopOf(header) === undefined &&
    named.some((i) => NUMBER_FIELDS.includes(targets[i])) &&
    named.every((i) =>
      targets[i] !== "sku" && targets[i] !== "title" &&
      first[i].length <= LONGEST_NAME && !/\d/.test(first[i])
    );
  if (!isOfNames) return { table, note: "" };
  const names = header.map((name, i) => {
    // A merged cell of the header spans several columns.
    const whole = name || header.slice(0, i).findLast(Boolean) || "";
    return first[i] === "" ? name : `${whole} (${first[i]})`;
  });
  return {
    table: { ...table, header: names, rows, numbers },
    note: `Row ${number} is read as part of the column names above it.`,
  };
}

/** Adds the unit to each weight, if the units are in another column. */
function* withWeightUnits(table: Table): SlicedWork<GatheredTable> {
  const columns = weightAndUnitColumns(table.header);
  if (columns === null) return { table, note: "" };
  const { weight, unit } = columns;
  const { table: weighed } = yield* withChangedRows(
    table,
    (cells) =>
      isWeightWithoutUnit(cells[weight]) && weightUnitOf(cells[unit]) !== ""
        ? cells.with(weight, `${cells[weight]} ${cells[unit]}`.trim())
        : cells,
  );
  return { table: weighed, note: "" };
}

const OUNCES_PER_POUND = 16;

/** Adds up weights in a column of pounds and a column of ounces. */
function* withPoundsAndOunces(table: Table): SlicedWork<GatheredTable> {
  const columns = poundAndOunceColumns(table.header);
  if (columns === null) return { table, note: "" };
  const { pounds, ounces } = columns;
  const [first, other] = [pounds, ounces].toSorted((a, b) => a - b);
  const isNumber = (text: string) => /^\d*(?:\.\d+)?$/.test(text);
  yield* sampleValues(table.rows);
  // If a row has 16 ounces or more, the ounces are the whole weight.
  const areWhole = sampledValues(table.rows, ounces).some((text) =>
    isNumber(text) && Number(text) >= OUNCES_PER_POUND
  );
  if (areWhole) return { table, note: "" };
  const { table: weighed } = yield* withChangedRows(table, (cells) => {
    const own = [cells[pounds], cells[ounces]];
    if (own.join("") === "" || !own.every(isNumber)) return cells;
    const all = Number(cells[pounds]) * OUNCES_PER_POUND +
      Number(cells[ounces]);
    return cells.with(other, "").with(first, `${all} oz`);
  });
  return {
    table: weighed,
    note: `${table.header[pounds]} and ${table.header[ounces]} are added up.`,
  };
}

/** Headers of columns that say whether the stock of a product is counted. */
const TRACKED =
  /track(?:er|s|ed|ing)?[ _]?(?:inventory|stock)|(?:inventory|stock)[ _](?:is[ _])?track|manage[ _]?stock/i;
/** The name of Shopify's column with the program that counts the stock. */
const NAMES_TRACKER = /tracker$/i;

/** Removes the quantity of products whose stock the shop does not count. */
function* withoutUntracked(table: Table): SlicedWork<GatheredTable> {
  const { header } = table;
  const stock = targetsByName(header).indexOf("quantity");
  const flag = header.findIndex((name, i) => i !== stock && TRACKED.test(name));
  if (stock < 0 || flag < 0) return { table, note: "" };
  const isUntracked = (cells: Row) =>
    cells[stock] !== "" &&
    (cells[flag] === ""
      ? NAMES_TRACKER.test(header[flag])
      : /^none$/i.test(cells[flag]) || yesOrNo(cells[flag]) === false);
  const { table: counted, changed } = yield* withChangedRows(
    table,
    (cells) => isUntracked(cells) ? cells.with(stock, "") : cells,
  );
  return {
    table: counted,
    note: changed === 0
      ? ""
      : `${plural(changed, "quantity", "quantities")} ${
        changed === 1 ? "is" : "are"
      } left out: the shop does not count this stock.`,
  };
}

/** Removes sale prices that another column marks as inactive. */
function* withoutPausedSales(table: Table): SlicedWork<GatheredTable> {
  const { header } = table;
  const price = header.findIndex(namesSalePrice);
  const flags = [...header.keys()]
    .filter((i) => i !== price && namesSale(header[i]));
  if (price < 0 || flags.length === 0) return { table, note: "" };
  const columns = yield* sampleValues(table.rows);
  const isOn = flags.find((i) => {
    const { values } = columns[i] ?? { values: [] };
    const isFlag = (text: string) => yesOrNo(text) !== null;
    // Rows with shifted values may have another text in this column.
    return values.some(isFlag) &&
      (values.every(isFlag) || !/\d/.test(values.filter(isFlag).join("")));
  });
  if (isOn === undefined) return { table, note: "" };
  const isPaused = (cells: Row) =>
    cells[price] !== "" && yesOrNo(cells[isOn]) === false;
  const { table: priced, changed } = yield* withChangedRows(
    table,
    (cells) => isPaused(cells) ? cells.with(price, "") : cells,
  );
  return {
    table: priced,
    note: changed === 0
      ? ""
      : `${plural(changed, "sale price")} ${
        changed === 1 ? "is left out: it is" : "are left out: they are"
      } not on sale now.`,
  };
}

/** Removes future sale prices without an end, because a sale needs an end. */
function* withoutEndlessSales(
  table: Table,
  { sale }: Shop,
  at: (name: string) => number,
): SlicedWork<GatheredTable> {
  if (sale === undefined) return { table, note: "" };
  const [price, from, until] = sale.map(at);
  const isEndless = (cells: Row) =>
    cells[price] && !cells[until] && cells[from] &&
    (parseTime(normaliseSaleTime(cells[from])) ?? Infinity) > now();
  const { table: ended, changed } = yield* withChangedRows(
    table,
    (cells) => isEndless(cells) ? cells.with(price, "") : cells,
  );
  return {
    table: ended,
    note: changed === 0
      ? ""
      : `${plural(changed, "sale price")} that ${
        changed === 1 ? "begins" : "begin"
      } later, without an end, ${changed === 1 ? "is" : "are"} left out.`,
  };
}
