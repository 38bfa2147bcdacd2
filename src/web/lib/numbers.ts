/**
 * Numbers as spreadsheets and shops write them: their decimal separator, and
 * their unit, which follows the number or is in the name of the column.
 */
import { WEIGHT_GRAMS } from "../../catalogue/fields.ts";
import { withoutTrailing } from "../../lib/trim.ts";
import { readCurrency } from "../../lib/values.ts";
import { capitalised } from "./texts.ts";

/** The decimal separator of a column; "": its numbers do not show it. */
export type DecimalSeparator = "," | "." | "";

/** How the numbers of a column are read. */
export interface NumberFormat {
  decimalSeparator: DecimalSeparator;
  /**
   * The unit of numbers that have none themselves. Weights: one of
   * `WEIGHT_UNITS`, or "" if each has its own. Prices: `HUNDREDTHS`, or "" for
   * whole amounts. Images: the address that is put before paths.
   */
  unit: string;
  /** Weights: round to whole grams, as a person chose. */
  roundsToGrams?: true;
}

/** Grams of each unit of weight, by the name that is sent and shown. */
export const WEIGHT_UNITS: Readonly<Record<string, number>> = {
  mg: 0.001,
  g: 1,
  kg: 1_000,
  oz: 28.349523125,
  lb: 453.59237,
};

const WEIGHT_WORDS: Readonly<Record<string, string>> = {
  mg: "mg milligram milligrams",
  g: "g gr gm gram grams gramm gramme grammes gramo gramos gramy gramów",
  kg:
    "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos kilogramy",
  oz: "oz ounce ounces unze unzen",
  // A Pfund in Germany is half a kilogram.
  lb: "lb lbs pound pounds",
};

/** The unit of prices in cents, by the header or by a person's choice. */
export const HUNDREDTHS = "1/100";
const HUNDREDTHS_WORDS =
  "cent cents ct pence öre øre ore grosz grosze groszy céntimos centimes";

/** Symbols that stand for one currency only. */
const SYMBOLS: Readonly<Record<string, string>> = {
  "€": "EUR",
  "£": "GBP",
  "zł": "PLN",
  "Kč": "CZK",
};

/** The words of a text, in lower case. */
export function lowerCaseWords(text: string): string[] {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** The unit of weight that one of these words names; "" if none does. */
function weightUnitIn(words: readonly string[]): string {
  return Object.keys(WEIGHT_WORDS).find((unit) =>
    WEIGHT_WORDS[unit].split(" ").some((name) => words.includes(name))
  ) ?? "";
}

/**
 * The weight unit in the name of a column such as `Weight (kg)`; "" if none.
 */
export function weightUnitOf(header: string): string {
  return weightUnitIn(lowerCaseWords(header));
}

/** `HUNDREDTHS` for a column such as `Price (cents)`; else "". */
export function priceUnitOf(header: string): string {
  const names = HUNDREDTHS_WORDS.split(" ");
  return lowerCaseWords(header).some((word) => names.includes(word))
    ? HUNDREDTHS
    : "";
}

/** The currency that a text names by its code or symbol; "" if none. */
export function currencyIn(text: string): string {
  const symbol = Object.keys(SYMBOLS).find((one) => text.includes(one));
  if (symbol !== undefined) return SYMBOLS[symbol];
  // Only words in capitals: "All" and "Top" are no codes.
  const codes = (text.match(/(?<!\p{L})[A-Z]{3}(?!\p{L})/gu) ?? [])
    .filter((code) => "value" in readCurrency(code));
  return codes.length === 1 ? codes[0] : "";
}

/** Whether a weight has no unit itself, so that its column must have one. */
export function isBareWeight(text: string): boolean {
  return /\d$/.test(text) && !isZero(text);
}

function isZero(text: string): boolean {
  return /^[0.,]+$/.test(text);
}

interface Weight {
  number: number;
  /** "" if neither the text nor its column names one. */
  unit: string;
  /** The text after the number. */
  word: string;
}

/** Reads a weight; null if the text is none. */
function weightIn(
  text: string,
  { decimalSeparator, unit }: NumberFormat,
): Weight | null {
  const [, number, word] = /^(.*\d)\s*(\p{L}+)\.?$/u.exec(text) ??
    [, text, ""];
  const plain = decimalOf(number, [], decimalSeparator);
  return !/^\d+(\.\d+)?$/.test(plain) ? null : {
    number: Number(plain),
    unit: word === "" ? unit : weightUnitIn([word.toLowerCase()]),
    word,
  };
}

/** Rounded to a millionth, to remove the error of floating point. */
function gramsIn({ number, unit }: Weight): number {
  return Math.round(number * WEIGHT_UNITS[unit] * 1e6) / 1e6;
}

/**
 * Whether a metric weight has a fraction of a gram. With other units, the
 * fraction comes from the conversion.
 */
function isPartial(weight: Weight): boolean {
  return ["mg", "g", "kg"].includes(weight.unit) &&
    !Number.isInteger(gramsIn(weight));
}

/**
 * The grams of a weight with a fraction of a gram: `285.5` for `0,2855` in kg;
 * null for whole grams, and where rounding was chosen.
 */
export function partialGrams(
  text: string,
  numberFormat: NumberFormat,
): number | null {
  const weight = numberFormat.roundsToGrams
    ? null
    : weightIn(text, numberFormat);
  return weight !== null && isPartial(weight) ? gramsIn(weight) : null;
}

/**
 * A weight in whole grams; "" for 0, which means none. A text that is no weight
 * is returned in a form that the service refuses.
 */
export function gramsOf(text: string, numberFormat: NumberFormat): string {
  const weight = weightIn(text, numberFormat);
  if (weight === null) return text;
  const { number, unit, word } = weight;
  if (number === 0) return "";
  if (unit === "") return `${text} (${word === "" ? "g or kg?" : "unit?"})`;
  return isPartial(weight) && !numberFormat.roundsToGrams
    ? `${number} ${unit}`
    : `${Math.round(gramsIn(weight))}`;
}

/** The problem of a weight in the unit of the table; null if that is grams. */
export function weightProblem(
  text: string,
  numberFormat: NumberFormat,
): string | null {
  const { unit = "" } = weightIn(text, numberFormat) ?? {};
  if (unit === "" || unit === "g") return null;
  const grams = WEIGHT_UNITS[unit];
  const [least, most] = [WEIGHT_GRAMS.min, WEIGHT_GRAMS.max]
    .map((limit) => Number((limit / grams).toPrecision(4)));
  return `is "${text}" in ${unit}; it must be from ${least} to ${most} ${unit}, ` +
    "in whole grams.";
}

/** An amount in hundredths as a decimal; other texts are unchanged. */
export function fromHundredths(amount: string): string {
  const [, whole, decimals = ""] = /^(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const digits = whole.padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}${
    withoutTrailing(decimals, "0")
  }`;
}

/** The number of rows whose numbers are examined. */
const SAMPLE_ROWS = 1_000;

/**
 * The decimal separator of these numbers; "" if none shows it, or if they
 * contradict each other.
 */
export function decimalSeparatorOf(
  values: Iterable<string>,
  most = SAMPLE_ROWS,
): DecimalSeparator {
  const found = new Set<DecimalSeparator>();
  let left = most;
  for (const value of values) {
    if (left-- === 0) break;
    const [number] = /\d[\d.,\s\u00a0\u202f']*/.exec(value) ?? [""];
    const separator = decimalSeparatorIn(number.trimEnd());
    if (separator !== "") found.add(separator);
  }
  return found.size === 1 ? [...found][0] : "";
}

const NUMBER = /\d[\d.,\s']*\d|\d/;
const AMBIGUOUS = /^[1-9]\d{0,2}([.,])\d{3}$/;

/** A number such as `1.299`, whose point separates thousands or decimals. */
export interface AmbiguousNumber {
  number: string;
  separator: Exclude<DecimalSeparator, "">;
}

/** The number of a text, if it is ambiguous. */
export function ambiguousNumberIn(text: string): AmbiguousNumber | null {
  const [number = ""] = NUMBER.exec(text) ?? [];
  const [, sign] = AMBIGUOUS.exec(number) ?? [];
  return sign === undefined
    ? null
    : { number, separator: sign as AmbiguousNumber["separator"] };
}

/**
 * Both meanings of an ambiguous number: `1299` and `1.299`; of a count `1000`
 * and `1`.
 */
export function bothMeanings(
  number: string,
  isCount: boolean,
): [string, string] {
  const small = number.replace(",", ".");
  return [small.replace(".", ""), isCount ? `${Number(small)}` : small];
}

/** `does 1.299 mean 1299, or 1.299?` */
export function ambiguityQuestion(
  number: string,
  [large, small]: string[],
): string {
  return `does ${number} mean ${large}, or ${small}?`;
}

/** The request to rewrite an ambiguous number; null if it is clear. */
export function ambiguityProblem(
  text: string,
  isCount: boolean,
): string | null {
  const { number } = ambiguousNumberIn(text) ?? {};
  if (number === undefined) return null;
  const both = bothMeanings(number, isCount);
  const [large, small] = both;
  return `${capitalised(ambiguityQuestion(number, both))} Write ${large} or ${
    isCount ? small : `${small}0`
  }.`;
}

/** A price that changes by this factor is probably a mistake. */
const MANY_TIMES = 10;

/** Whether one amount is at least `MANY_TIMES` the other one. */
export function isManyTimes(amount: string, stored: string): boolean {
  const times = Number(amount) / Number(stored);
  return times >= MANY_TIMES || times <= 1 / MANY_TIMES;
}

/**
 * The question about a price that is probably a mistake: it has changed by a
 * large factor, as prices in cents do, or its currency has changed; else null.
 */
export function suspiciousPriceQuestion(
  amount: string,
  currency: string,
  stored: { amount: string; currency: string },
): string | null {
  return currency === stored.currency && !isManyTimes(amount, stored.amount)
    ? null
    : priceQuestionText(
      `${amount} ${currency}`,
      `${stored.amount} ${stored.currency}`,
    );
}

/** The question whether a price is correct; `now` is the stored one. */
export function priceQuestionText(price: string, now: string): string {
  return `price ${price} is ${now} now. Is that correct?`;
}

function decimalSeparatorIn(number: string): DecimalSeparator {
  const signs = number.match(/[.,]/g) as DecimalSeparator[] | null;
  if (signs === null) return "";
  const last = signs[signs.length - 1];
  const other = last === "," ? "." : ",";
  if (signs.includes(other)) return last;
  // Repeated separators separate thousands, so the other one is the decimal
  // separator.
  if (signs.length > 1) return other;
  const [before, after] = number.split(last);
  // Three digits after one to three others may be decimals or thousands.
  return after.length !== 3 || !/^[1-9]\d{0,2}$/.test(before)
    ? after === "" ? "" : last
    : "";
}

/** Removes one of these marks from the start or the end of the text. */
function withoutMark(marks: readonly string[], text: string): string {
  const upper = text.toUpperCase();
  for (const mark of marks) {
    if (mark === "") continue;
    if (upper.endsWith(mark)) return text.slice(0, -mark.length);
    if (upper.startsWith(mark)) return text.slice(mark.length);
  }
  return text;
}

/** `1 299,00 kr` and `1,299.00` as `1299.00`; unclear texts are unchanged. */
export function decimalOf(
  text: string,
  marks: readonly string[],
  separator: DecimalSeparator = "",
): string {
  // "12,-" and "12.–" are whole amounts.
  const whole = text.replace(/[.,][-–—]{1,2}$/, "");
  const plain = withoutMark(marks, whole).replace(/[\s\u00a0\u202f'’]/g, "");
  if (/^(?:\d+|\d{1,3}(?:\.\d{3})+),(?:\d{1,2}|\d{4})$/.test(plain)) {
    return plain.replaceAll(".", "").replace(",", ".");
  }
  if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(plain)) return plain.replaceAll(",", "");
  if (separator === "," && /^\d{1,3}(?:\.\d{3})+$/.test(plain)) {
    return plain.replaceAll(".", "");
  }
  if (separator === "." && /^\d{1,3}(?:,\d{3})+$/.test(plain)) {
    return plain.replaceAll(",", "");
  }
  // A comma before three digits is ambiguous.
  if (
    /^\d+,\d+$/.test(plain) && (separator === "," || plain.startsWith("0,"))
  ) {
    return plain.replace(",", ".");
  }
  return /^[\d.]+$/.test(plain) ? plain : text;
}
