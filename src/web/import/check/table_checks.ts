/** Checks a table for problems and doubts before anything is sent. */
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
  isBareWeight,
  type NumberFormat,
  partialGrams,
} from "../../lib/numbers.ts";
import {
  type ColumnMapping,
  isPrice,
  isRepeatable,
} from "../columns/spreadsheet.ts";

/** Labels of the fields that several columns hold, though only one may. */
export function repeatedFields({ targets }: ColumnMapping): string[] {
  return TARGETS.filter(({ target }) =>
    !isRepeatable(target) &&
    targets.filter((one) => one === target).length > 1
  ).map(({ label }) => label);
}

/** Fields that a new product needs and no column holds. */
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

/** The result of the checks of all rows; null where nothing was found. */
export interface RowProblems {
  /** An example of a bar code that a spreadsheet program has rounded. */
  rounded: string | null;
  /** Article numbers that a spreadsheet program may have changed. */
  damaged: readonly string[];
  /**
   * By column, examples of numbers whose sign may be of thousands or of
   * decimals, as in `1.299`, by that sign.
   */
  thousands: ReadonlyMap<
    number,
    Readonly<Partial<Record<DecimalSeparator, string>>>
  >;
  /** By column, rows with weights that have parts of a gram, as indices. */
  partial: ReadonlyMap<number, readonly number[]>;
  /** An example of a weight without a unit, where its column has none. */
  bareWeight: string | null;
  /**
   * An example of an image that is a path in a shop, where no address is known.
   */
  path: string | null;
  /** Two SKUs that a person takes for one, though they are two products. */
  similarSkus: readonly [string, string] | null;
  /** An example of a text whose letters another program has broken. */
  garbled: string | null;
  /** Rows that may add up others, as indices. */
  sums: readonly number[];
  /** Rows whose cell of the quantity is empty, so that it stays. */
  unstocked: number;
  /** Descriptions in HTML, which are sent as text. */
  html: number;
  /** Rows with a sale price, as indices: beside a date, or without a price. */
  timedSales: readonly number[];
  unpricedSales: readonly number[];
  /**
   * Compare-at prices for which the price is sent, as there is a sale price.
   */
  replaced: number;
}

const TEXTS: readonly ColumnField[] = [
  "title",
  "description",
  "brand",
  "categories",
];
/** UTF-8 that was read as Windows-1252, and what stands for lost letters. */
const GARBLED =
  /[ÃÅÄÐ][\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ€]|Â[\u00a0-\u00bf]|â€|\ufffd|\p{L}\?\?\p{Ll}/u;

/** Rows that are looked at between two pauses. */
const STEP = 250;

/** Looks at all rows. */
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
      // Cells of a workbook do not say which of both a number was.
      delimiter === null && /^\d+\.\d{3}0$/.test(value) ||
      grouped.includes(column) && /^\d{4,}$/.test(value),
  );
  const isBare = firstIn(
    targets.map((target, i) =>
      target === "weight" && numberFormats[i].unit === ""
    ),
    isBareWeight,
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
      const doubtful = doubtfulCell(row[column], target, numberFormats[column]);
      if (doubtful === null) continue;
      const { separator, number } = doubtful;
      thousands.set(column, { [separator]: number, ...thousands.get(column) });
    }
    for (const column of weights) {
      if (partialGrams(row[column], numberFormats[column]) === null) continue;
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
      if (sale === price || !row[price]) unpricedSales.push(i);
      else if (row[former]) found.replaced++;
    }
    if (i % STEP === STEP - 1) yield;
  }
  return found;
}

/** The column of sale prices, also where it is that of the price; -1: none. */
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
/** As in `Jan 1, 2024` and `1. Januar 2024`. */
const IN_WORDS =
  /^(?:\p{L}{3,9}\.? \d{1,2},?|\d{1,2}\.? \p{L}{3,9}\.?,?) 20\d\d\b/u;
/** The number that a spreadsheet program has for a day of 2000 to 2099. */
const AS_NUMBER_OF_DAYS = /^(?:3[6-9]|[4-6]\d|7[0-2])\d{3}$/;

/** Whether it is a date; databases write zeros for none. */
function isDate(text: string): boolean {
  return (DATE.test(text) || IN_WORDS.test(text) ||
    AS_NUMBER_OF_DAYS.test(text)) && !text.startsWith("0000");
}

/** The columns that say when sale prices are valid: dates under such a name. */
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
/** Whether a number or a date was made of it, as of `1E3`, `1234` or `1-2`. */
function isAsSpreadsheetsWrite(value: string): boolean {
  return AS_NUMBER.test(value) || isMadeDate(value);
}

const IN_GRAMS = /\d\s*g(?:r|ramm?e?s?)?$/i;

/** A number whose sign may be of thousands, or of decimals; else null. */
function doubtfulCell(
  text: string,
  target: ColumnField,
  { decimalSeparator, unit }: NumberFormat,
): AmbiguousNumber | null {
  const isMeant = isPrice(target) || target === "quantity" ||
    target === "weight" &&
      (unit === "g" || IN_GRAMS.test(text) || decimalSeparator === "");
  const found = isMeant ? ambiguousNumberIn(text) : null;
  return decimalSeparator === "" || decimalSeparator === found?.separator
    ? found
    : null;
}

/** Finds an earlier SKU that looks like one, and is not the same. */
function similarSkuFinder(): (sku: string) => readonly [string, string] | null {
  const known = new Map<string, string>();
  return (sku) => {
    const seen = visibleSku(sku);
    const other = known.get(seen);
    if (other === undefined) known.set(seen, sku);
    return other === undefined || other === sku ? null : [other, sku];
  };
}

/** Finds the first value like this of a row, in the columns that are meant. */
function firstIn(
  isMeant: readonly boolean[],
  isLike: (value: string, column: number) => boolean,
): (row: readonly string[]) => string | null {
  const columns = [...isMeant.keys()].filter((i) => isMeant[i]);
  return (row) => {
    const column = columns.find((i) => isLike(row[i], i));
    return column === undefined ? null : row[column];
  };
}
