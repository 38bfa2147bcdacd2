/** Guesses the field of a column with an unknown name by the column's values. */
import { IMAGE_TYPES } from "../../../images/image_types.ts";
import { readGtin } from "../../../lib/values.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { namesCarton, namesNetAmount, namesOtherPicture } from "./headers.ts";
import { runUninterrupted, type SlicedWork } from "../../lib/slices.ts";
import { currencyIn, decimalOf } from "../../lib/numbers.ts";

/** The number of values that a guess examines. */
const VALUES_SAMPLED = 200;
/** The minimum number of values for a guess; fewer may match by chance. */
const LEAST_VALUES = 3;

type Rows = readonly (readonly string[])[];

/** The maximum number of values in the sample of a column. */
const VALUES_KEPT = 1_000;

/** A sample of a column. */
export interface ColumnValues {
  /** The first values, without repeated and empty ones. */
  values: readonly string[];
  /** The number of cells that are not empty. */
  count: number;
}

const sampled = new WeakMap<Rows, readonly ColumnValues[]>();

/** The number of rows that are examined between two pauses. */
const STEP = 250;

/**
 * Samples the values of all columns. A second call returns the same samples.
 */
export function* sampleValues(
  rows: Rows,
): SlicedWork<readonly ColumnValues[]> {
  const before = sampled.get(rows);
  if (before !== undefined) return before;
  const found = (rows[0] ?? []).map(() => new Set<string>());
  const counts = found.map(() => 0);
  for (const [row, cells] of rows.entries()) {
    for (const [column, cell] of cells.entries()) {
      if (cell === "") continue;
      counts[column]++;
      if (found[column].size < VALUES_KEPT) found[column].add(cell);
    }
    if (row % STEP === STEP - 1) yield;
  }
  const columns = found.map((values, column) => ({
    values: [...values],
    count: counts[column],
  }));
  sampled.set(rows, columns);
  return columns;
}

/** The first `most` values of a column, without repeated and empty ones. */
export function sampledValues(
  rows: Rows,
  column: number,
  most = VALUES_SAMPLED,
): readonly string[] {
  const columns = sampled.get(rows) ?? runUninterrupted(sampleValues(rows));
  const values = columns[column]?.values ?? [];
  return values.length > most ? values.slice(0, most) : values;
}

/** The field that matches the values; null if no field or several match. */
export function targetByValues(
  header: string,
  values: readonly string[],
): ColumnField | null {
  if (values.length === 0) return null;
  const all = (test: (value: string) => boolean) => values.every(test);
  if (values.length >= LEAST_VALUES && !namesCarton(header) && all(isGtin)) {
    return "gtin";
  }
  if (all((value) => value.split(/[|,;\s]+/).every(isImage))) {
    return namesOtherPicture(header) ? null : "images";
  }
  // Only common currencies, because "ALL" and "TOP" are currency codes, too.
  if (all((value) => COMMON_CURRENCIES.includes(value))) return "currency";
  return !namesNetAmount(header) && all(isPrice) ? "price" : null;
}

/** Common currencies. */
const COMMON_CURRENCIES =
  "AUD BGN BRL CAD CHF CNY CZK DKK EUR GBP HUF INR ISK JPY MXN NOK NZD PLN RON SEK TRY UAH USD ZAR"
    .split(" ");

function isGtin(value: string): boolean {
  const digits = plainDigits(value).replace(/[\s-]/g, "");
  return digits.length >= 12 && "value" in readGtin(digits);
}

function isImage(value: string): boolean {
  const url = /^https?:\/\//i.test(value) ? URL.parse(value) : null;
  return url !== null && isImagePath(url.pathname);
}

/** Whether a path has the extension of an image. */
export function isImagePath(path: string): boolean {
  const [ending, ...before] = path.toLowerCase().split(".").reverse();
  return before.length > 0 && ["jpg", ...IMAGE_TYPES].includes(ending);
}

/** Whether a text is an amount with a currency. */
function isPrice(value: string): boolean {
  const currency = currencyIn(value);
  const amount = value.replace(/[A-Z]{3}|[€£]|zł|Kč/g, "").trim();
  return currency !== "" && /^\d+(\.\d+)?$/.test(decimalOf(amount, []));
}

/**
 * The text without the marks by which some programs keep a spreadsheet program
 * from reading the digits as a number.
 */
export function plainDigits(text: string): string {
  return text.replace(/^="(.*)"$/, "$1").replace(/^'(?=\S)/, "");
}

/** The currency in the header or in all amounts; "" if there is none. */
export function currencyOfColumn(
  header: string,
  values: readonly string[],
): string {
  const named = currencyIn(header);
  if (named !== "") return named;
  const found = new Set(values.map(currencyIn));
  return found.size === 1 ? [...found][0] : "";
}
