/**
 * What tables of other programs say of their rows, and the rows of shops that
 * belong together: images, variants, variations.
 */
import { plural, sentences } from "../lib/format.ts";
import { isBareWeight, weightUnitOf } from "../lib/numbers.ts";
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

/** Changes a table, and says what it did. */
type Change = (table: Table) => SlicedWork<GatheredTable> | GatheredTable;

/** In the order in which they are made. */
const CHANGES: readonly Change[] = [
  withoutRepeatedNames,
  withLowerNames,
  withWeightUnits,
  withPoundsAndOunces,
  withoutPausedSales,
  withoutUntracked,
  ofShop,
];

/** The table with a row for each product; it is read as a person reads it. */
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
  return { table, note: sentences(...notes) };
}

/** Puts the rows of an export together. */
function* ofShop(table: Table): SlicedWork<GatheredTable> {
  const shop = shopOf(table.header);
  // One that was handed back corrected is put together already.
  if (shop === undefined || table.header.includes(PARENT)) {
    return { table, note: "" };
  }
  const names = namesIn(table.header);
  const at = (name: string) => names.indexOf(name);
  const untimed = yield* withoutTimedSales(table, shop, at);
  if (shop.gather === undefined) return untimed;
  const { table: products, note } = yield* shop.gather(
    untimed.table,
    at,
    names,
  );
  return { table: products, note: sentences(untimed.note, note) };
}

/** Lists of several pages name their columns on each. */
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
    note: `${plural(left, "row")} with the names of the columns once more ` +
      `${left === 1 ? "is" : "are"} left out.`,
  };
}

const OF_NUMBERS: readonly (ColumnField | null)[] = [
  "price",
  "compare_at_price",
  "sale_price",
  "quantity",
  "weight",
];
const LONGEST_NAME = 20;

/** A row below the names may say more of them, as `kg` or `net`. */
function withLowerNames(table: Table): GatheredTable {
  const { header, rows: [first, ...rows], numbers: [number, ...numbers] } =
    table;
  const targets = targetsByName(header);
  const named = [...header.keys()].filter((i) => first?.[i]);
  const isOfNames = targets.includes("sku") &&
    shopOf(header) === undefined &&
    named.some((i) => OF_NUMBERS.includes(targets[i])) &&
    named.every((i) =>
      targets[i] !== "sku" && targets[i] !== "title" &&
      first[i].length <= LONGEST_NAME && !/\d/.test(first[i])
    );
  if (!isOfNames) return { table, note: "" };
  const names = header.map((name, i) => {
    // A cell above reaches over several columns.
    const whole = name || header.slice(0, i).findLast(Boolean) || "";
    return first[i] === "" ? name : `${whole} (${first[i]})`;
  });
  return {
    table: { ...table, header: names, rows, numbers },
    note: `Row ${number} is read as a part of the names above it.`,
  };
}

/** Weights with the unit that stands in a column of its own. */
function* withWeightUnits(table: Table): SlicedWork<GatheredTable> {
  const columns = weightAndUnitColumns(table.header);
  if (columns === null) return { table, note: "" };
  const { weight, unit } = columns;
  const { table: weighed } = yield* withChangedRows(
    table,
    (cells) =>
      isBareWeight(cells[weight]) && weightUnitOf(cells[unit]) !== ""
        ? cells.with(weight, `${cells[weight]} ${cells[unit]}`.trim())
        : cells,
  );
  return { table: weighed, note: "" };
}

const OUNCES_OF_A_POUND = 16;

/** Weights in pounds, with the ounces that stand in a column of their own. */
function* withPoundsAndOunces(table: Table): SlicedWork<GatheredTable> {
  const columns = poundAndOunceColumns(table.header);
  if (columns === null) return { table, note: "" };
  const { pounds, ounces } = columns;
  const [first, other] = [pounds, ounces].toSorted((a, b) => a - b);
  const isNumber = (text: string) => /^\d*(?:\.\d+)?$/.test(text);
  yield* sampleValues(table.rows);
  // More ounces are the whole weight in another unit.
  const areWhole = sampledValues(table.rows, ounces).some((text) =>
    isNumber(text) && Number(text) >= OUNCES_OF_A_POUND
  );
  if (areWhole) return { table, note: "" };
  const { table: weighed } = yield* withChangedRows(table, (cells) => {
    const own = [cells[pounds], cells[ounces]];
    if (own.join("") === "" || !own.every(isNumber)) return cells;
    const all = Number(cells[pounds]) * OUNCES_OF_A_POUND +
      Number(cells[ounces]);
    return cells.with(other, "").with(first, `${all} oz`);
  });
  return {
    table: weighed,
    note: `${table.header[pounds]} and ${table.header[ounces]} are added up.`,
  };
}

/** Names of columns that say whether the stock of a product is counted. */
const TRACKED =
  /track(?:er|s|ed|ing)?[ _]?(?:inventory|stock)|(?:inventory|stock)[ _](?:is[ _])?track|manage[ _]?stock/i;
/** Shopify names there the program that counts, if one does. */
const NAMES_TRACKER = /tracker$/i;

/** Shops write the quantity 0 for what is sold without a count. */
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
      : `${plural(changed, "quantity", "quantities")} of what the shop does ` +
        `not count ${changed === 1 ? "is" : "are"} left out.`,
  };
}

/** Some shops say beside each sale price whether it is the price now. */
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
    // In a row whose values are shifted, another value stands there.
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

/** When a sale begins and ends cannot be sent: it may be over. */
function* withoutTimedSales(
  table: Table,
  { sale }: Shop,
  at: (name: string) => number,
): SlicedWork<GatheredTable> {
  if (sale === undefined) return { table, note: "" };
  const [price, ...dates] = sale.map(at);
  const isTimed = (cells: Row) =>
    cells[price] && dates.some((date) => cells[date]);
  const { table: untimed, changed } = yield* withChangedRows(
    table,
    (cells) => isTimed(cells) ? cells.with(price, "") : cells,
  );
  return {
    table: untimed,
    note: changed === 0
      ? ""
      : `${plural(changed, "sale price")} with a date cannot be sent, and ` +
        `${changed === 1 ? "is" : "are"} left out.`,
  };
}
