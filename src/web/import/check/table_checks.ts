/** Checks the rows of a table before the table is sent. */
import { SCALAR_NAMES, SCALAR_RULES } from "../../../catalogue/fields.ts";
import { visibleSku } from "../../../catalogue/similar_sku.ts";
import { isMadeDate } from "../../../lib/made_dates.ts";
import type { Table } from "../read/csv.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import { isImagePath, sampledValues } from "../columns/guesses.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import {
  isTotalLabel,
  mayNamePricePeriod,
  namesSalePrice,
  TARGETS,
} from "../columns/headers.ts";
import { isHtml } from "../../lib/html.ts";
import {
  type AmbiguousNumber,
  ambiguousNumberIn,
  type DecimalSeparator,
  fractionalGrams,
  isWeightWithoutUnit,
  type NumberFormat,
} from "../../lib/numbers.ts";
import {
  type ColumnMapping,
  isPrice,
  isRepeatable,
} from "../columns/spreadsheet.ts";

/** The labels of fields that have several columns but may have only one. */
export function repeatedFields({ targets }: ColumnMapping): string[] {
  return TARGETS.filter(({ target }) =>
    !isRepeatable(target) &&
    targets.filter((one) => one === target).length > 1
  ).map(({ label }) => label);
}

/** The required fields of a new product that have no column. */
export function missingFieldsOf({ targets, values }: ColumnMapping): string[] {
  const has = (target: ColumnField) =>
    targets.includes(target) || (values[target] ?? "") !== "";
  return [
    ...SCALAR_NAMES.filter((name) => SCALAR_RULES[name].required && !has(name))
      .map((name) => SCALAR_RULES[name].label),
    ...(has("quantity") || has("availability")
      ? []
      : [SCALAR_RULES.quantity.label]),
    ...(has("price") && !has("currency") ? ["Currency"] : []),
  ];
}

/** The result of the row checks; null, 0 or empty if nothing was found. */
export interface RowProblems {
  /** An example of a bar code that another program has rounded. */
  rounded: string | null;
  /** SKUs that another program may have changed. */
  damaged: readonly string[];
  /**
   * Examples of ambiguous numbers such as `1.299`, one for each separator in a
   * column.
   */
  thousands: ReadonlyMap<
    number,
    Readonly<Partial<Record<DecimalSeparator, string>>>
  >;
  /** The indices of rows with a fraction of a gram, by the index of the column. */
  partial: ReadonlyMap<number, readonly number[]>;
  /** An example of a weight without a unit, in a column without a unit. */
  bareWeight: string | null;
  /**
   * An example of an image that is a path, where the shop's address is unknown.
   */
  path: string | null;
  /** Two different SKUs that look alike. */
  similarSkus: readonly [string, string] | null;
  /** An example of a text with letters that another program has damaged. */
  garbled: string | null;
  /** The indices of rows that may be the sum of other rows. */
  sums: readonly number[];
  /** The number of rows without a quantity; the stored quantity stays the same. */
  unstocked: number;
  /** The number of descriptions in HTML, which are sent as text. */
  html: number;
  /** The indices of rows with a sale price and a date that is not sent. */
  timedSales: readonly number[];
  /** The indices of rows whose sale price would become the price. */
  unpricedSales: readonly number[];
  /**
   * The number of compare-at prices that the price replaces, because the row
   * has a sale price.
   */
  replaced: number;
}

const TEXTS: readonly ColumnField[] = [
  "title",
  "description",
  "brand",
  "categories",
];
/** UTF-8 that was read as Windows-1252, and substitutes for lost letters. */
const GARBLED =
  /[ÃÅÄÐ][\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ€]|Â[\u00a0-\u00bf]|â€|\ufffd|\p{L}\?\?\p{Ll}/u;

/** The number of rows that are examined between two pauses. */
const STEP = 250;

/** Checks all rows. */
export function* checkRows(
  { header, rows, delimiter, grouped = [] }: Table,
  { targets, numberFormats, isOwn }: ColumnMapping,
): SlicedWork<RowProblems> {
  const isRounded = firstIn(
    targets.map((target) => target === "gtin"),
    (value) => /^\d[.,]\d+E\+\d+$/i.test(value),
  );
  const isDamaged = firstIn(
    targets.map((target) => target === "sku"),
    (value, column) =>
      isAsSpreadsheetsWrite(value) ||
      // Workbooks are left out: their cells do not show how a number was written.
      delimiter === null && /^\d+\.\d{3}0$/.test(value) ||
      grouped.includes(column) && /^\d{4,}$/.test(value),
  );
  const isBare = firstIn(
    targets.map((target, i) =>
      target === "weight" && numberFormats[i].unit === ""
    ),
    isWeightWithoutUnit,
  );
  const isPath = firstIn(
    targets.map((target, i) =>
      target === "images" && numberFormats[i].unit === ""
    ),
    (value) => isImagePath(/^[\w/.-]+/.exec(value)?.[0] ?? ""),
  );
  const isGarbled = firstIn(
    targets.map((target) => TEXTS.includes(target)),
    (value) => GARBLED.test(value),
  );
  const isSum = firstIn(
    targets.map((target) => target === "sku" || target === "title"),
    isTotalLabel,
  );
  const [sku, price, former, description, quantity] = [
    "sku",
    "price",
    "compare_at_price",
    "description",
    "quantity",
  ].map((name) => targets.indexOf(name as ColumnField));
  const sale = saleColumnOf(header, targets);
  const end = targets.indexOf("sale_until");
  const dates = sale < 0 ? [] : saleDatesIn(header, rows, targets);
  const alikeTo = similarSkuFinder();
  const damaged: string[] = [];
  const sums: number[] = [];
  const timedSales: number[] = [];
  const unpricedSales: number[] = [];
  const thousands = new Map<
    number,
    Partial<Record<DecimalSeparator, string>>
  >();
  const partial = new Map<number, number[]>();
  const weights = [...targets.keys()].filter((i) => targets[i] === "weight");
  const found: RowProblems = {
    rounded: null,
    damaged,
    thousands,
    partial,
    bareWeight: null,
    path: null,
    similarSkus: null,
    garbled: null,
    sums,
    unstocked: 0,
    html: 0,
    timedSales,
    unpricedSales,
    replaced: 0,
  };
  for (const [i, row] of rows.entries()) {
    found.rounded ??= isRounded(row);
    found.bareWeight ??= isBare(row);
    found.path ??= isPath(row);
    found.garbled ??= isGarbled(row);
    const changed = isDamaged(row);
    if (changed !== null) damaged.push(changed);
    if (isSum(row) !== null) sums.push(i);
    for (const [column, target] of targets.entries()) {
      const ambiguous = ambiguousCell(
        row[column],
        target,
        numberFormats[column],
      );
      if (ambiguous === null) continue;
      const { separator, number } = ambiguous;
      thousands.set(column, { [separator]: number, ...thousands.get(column) });
    }
    for (const column of weights) {
      if (fractionalGrams(row[column], numberFormats[column]) === null) {
        continue;
      }
      const rows = partial.get(column) ?? [];
      partial.set(column, rows);
      rows.push(i);
    }
    if (sku >= 0) found.similarSkus ??= alikeTo(row[sku]);
    if (quantity >= 0 && row[quantity] === "") found.unstocked++;
    if (description >= 0 && !isOwn && isHtml(row[description])) {
      found.html++;
    }
    if (sale >= 0 && row[sale] !== "") {
      if (dates.some((column) => isDate(row[column]))) timedSales.push(i);
      const isSent = end >= 0 && row[end] !== "";
      if (!isSent) {
        if (sale === price || !row[price]) unpricedSales.push(i);
        else if (row[former]) found.replaced++;
      }
    }
    if (i % STEP === STEP - 1) yield;
  }
  return found;
}

/** The column of sale prices, even if it is mapped to the price; -1 if none. */
export function saleColumnOf(
  header: readonly string[],
  targets: readonly ColumnField[],
): number {
  const sale = targets.indexOf("sale_price");
  return sale >= 0
    ? sale
    : targets.findIndex((target, i) =>
      target === "price" && namesSalePrice(header[i])
    );
}

const DATE =
  /^(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[./-]\d\d?[./-]\d\d(?:\d\d)?\b|20\d{6}$)/;
/** Dates such as `Jan 1, 2024` and `1. Januar 2024`. */
const IN_WORDS =
  /^(?:\p{L}{3,9}\.? \d{1,2},?|\d{1,2}\.? \p{L}{3,9}\.?,?) 20\d\d\b/u;
/** The number by which spreadsheet programs store a day from 2000 to 2099. */
const AS_NUMBER_OF_DAYS = /^(?:3[6-9]|[4-6]\d|7[0-2])\d{3}$/;

/** Whether a text is a date. Databases write a missing date as zeros. */
function isDate(text: string): boolean {
  return (DATE.test(text) || IN_WORDS.test(text) ||
    AS_NUMBER_OF_DAYS.test(text)) && !text.startsWith("0000");
}

/** The columns with the validity of sale prices, by their names and values. */
function saleDatesIn(
  header: readonly string[],
  rows: Table["rows"],
  targets: readonly ColumnField[],
): number[] {
  return [...header.keys()].filter((column) => {
    const isLeft = targets[column] === "";
    return isLeft && mayNamePricePeriod(header[column]) &&
      sampledValues(rows, column).some(isDate);
  });
}

const AS_NUMBER =
  /^\d+(?:[.,]\d+E[+-]?\d+|E[+-]\d+|[.,]0)$|^\d{1,3}(?:,\d{3})+$/i;
/**
 * Whether a text looks like a SKU that a spreadsheet program has converted to a
 * number or date, such as `1.00E+03`, `1,234` or `02-Jan`.
 */
function isAsSpreadsheetsWrite(value: string): boolean {
  return AS_NUMBER.test(value) || isMadeDate(value);
}

const IN_GRAMS = /\d\s*g(?:r|ramm?e?s?)?$/i;

/** The ambiguous number in a cell; null if there is none. */
function ambiguousCell(
  text: string,
  target: ColumnField,
  { decimalSeparator, unit }: NumberFormat,
): AmbiguousNumber | null {
  const isWatched = isPrice(target) || target === "quantity" ||
    target === "weight" &&
      (unit === "g" || IN_GRAMS.test(text) || decimalSeparator === "");
  const found = isWatched ? ambiguousNumberIn(text) : null;
  return decimalSeparator === "" || decimalSeparator === found?.separator
    ? found
    : null;
}

/** Returns a function that finds an earlier, different SKU that looks alike. */
function similarSkuFinder(): (sku: string) => readonly [string, string] | null {
  const known = new Map<string, string>();
  return (sku) => {
    const seen = visibleSku(sku);
    const other = known.get(seen);
    if (other === undefined) known.set(seen, sku);
    return other === undefined || other === sku ? null : [other, sku];
  };
}

/** Finds the first matching value of a row in some columns. */
function firstIn(
  isWatched: readonly boolean[],
  isLike: (value: string, column: number) => boolean,
): (row: readonly string[]) => string | null {
  const columns = [...isWatched.keys()].filter((i) => isWatched[i]);
  return (row) => {
    const column = columns.find((i) => isLike(row[i], i));
    return column === undefined ? null : row[column];
  };
}
