/**
 * Reads numbers as spreadsheets and shops write them. Their decimal separators
 * differ; a unit follows the number or is in the name of the column.
 */
import { WEIGHT_GRAMS } from "../../catalogue/fields.ts";
import { withoutTrailing } from "../../lib/trim.ts";
import { readCurrency } from "../../lib/values.ts";
import { capitalised } from "./texts.ts";

/** The decimal separator of a column; "" if its numbers do not show it. */
export type DecimalSeparator = "," | "." | "";

/** How the numbers of a column are read. */
export interface NumberFormat {
  decimalSeparator: DecimalSeparator;
  /**
   * The unit of numbers without a unit. Weights: one of `WEIGHT_UNITS`, or "" if
   * each weight has its unit. Prices: `HUNDREDTHS`, or "" for whole amounts.
   * Images: the address that is prepended to paths.
   */
  unit: string;
  /** Whether the user has chosen to round weights to whole grams. */
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

const WEIGHT_UNIT_NAMES: Readonly<Record<string, string>> = {
  mg: "mg milligram milligrams",
  g: "g gr gm gram grams gramm gramme grammes gramo gramos gramy gramów",
  kg:
    "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos kilogramy",
  oz: "oz ounce ounces unze unzen",
  // A Pfund in Germany is half a kilogram.
  lb: "lb lbs pound pounds",
};

/** The unit of prices in cents or other hundredths. */
export const HUNDREDTHS = "1/100";
const HUNDREDTHS_NAMES =
  "cent cents ct pence öre øre ore grosz grosze groszy céntimos centimes";

/** The symbols that only one currency uses. */
const CURRENCY_SYMBOLS: Readonly<Record<string, string>> = {
  "€": "EUR",
  "£": "GBP",
  "zł": "PLN",
  "Kč": "CZK",
};

/** The words of a text, in lower case. */
export function lowerCaseWords(text: string): string[] {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** The unit of weight that one of these words names; "" if no word does. */
function weightUnitIn(words: readonly string[]): string {
  return Object.keys(WEIGHT_UNIT_NAMES).find((unit) =>
    WEIGHT_UNIT_NAMES[unit].split(" ").some((name) => words.includes(name))
  ) ?? "";
}

/**
 * The unit of weight in the name of a column such as `Weight (kg)`; "" if the
 * name has no unit.
 */
export function weightUnitOf(header: string): string {
  return weightUnitIn(lowerCaseWords(header));
}

/** `HUNDREDTHS` for a column such as `Price (cents)`; else "". */
export function priceUnitOf(header: string): string {
  const names = HUNDREDTHS_NAMES.split(" ");
  return lowerCaseWords(header).some((word) => names.includes(word))
    ? HUNDREDTHS
    : "";
}

/** The currency whose code or symbol a text contains; "" if there is none. */
export function currencyIn(text: string): string {
  const symbol = Object.keys(CURRENCY_SYMBOLS).find((one) =>
    text.includes(one)
  );
  if (symbol !== undefined) return CURRENCY_SYMBOLS[symbol];
  // Codes are in capitals; "All" and "Top" are only words.
  const codes = (text.match(/(?<!\p{L})[A-Z]{3}(?!\p{L})/gu) ?? [])
    .filter((code) => "value" in readCurrency(code));
  return codes.length === 1 ? codes[0] : "";
}

/** Whether a weight has no unit, so that its column must have one. */
export function isWeightWithoutUnit(text: string): boolean {
  return /\d$/.test(text) && !isZero(text);
}

function isZero(text: string): boolean {
  return /^[0.,]+$/.test(text);
}

interface Weight {
  number: number;
  /** "" if neither the text nor its column has a unit. */
  unit: string;
  /** The text after the number. */
  word: string;
}

/** Reads a weight; null if the text is not a weight. */
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

/** The grams of a weight, rounded to remove the error of floating point. */
function gramsIn({ number, unit }: Weight): number {
  return Math.round(number * WEIGHT_UNITS[unit] * 1e6) / 1e6;
}

/**
 * Whether a metric weight has a fraction of a gram. Other units are not checked,
 * because their conversion to grams makes fractions.
 */
function hasFractionOfGram(weight: Weight): boolean {
  return ["mg", "g", "kg"].includes(weight.unit) &&
    !Number.isInteger(gramsIn(weight));
}

/**
 * The grams of a weight with a fraction of a gram: `285.5` for `0,2855` in kg;
 * null for whole grams, or if the user has chosen to round.
 */
export function fractionalGrams(
  text: string,
  numberFormat: NumberFormat,
): number | null {
  const weight = numberFormat.roundsToGrams
    ? null
    : weightIn(text, numberFormat);
  return weight !== null && hasFractionOfGram(weight) ? gramsIn(weight) : null;
}

/**
 * A weight in whole grams; "" for 0, which means no weight. An
 * invalid weight is returned as a text that the service refuses.
 */
export function gramsOf(text: string, numberFormat: NumberFormat): string {
  const weight = weightIn(text, numberFormat);
  if (weight === null) return text;
  const { number, unit, word } = weight;
  if (number === 0) return "";
  if (unit === "") return `${text} (${word === "" ? "g or kg?" : "unit?"})`;
  return hasFractionOfGram(weight) && !numberFormat.roundsToGrams
    ? `${number} ${unit}`
    : `${Math.round(gramsIn(weight))}`;
}

/**
 * The message about a weight out of range, in the unit of the table; null if
 * this unit is grams, because the service's message is in grams.
 */
export function weightProblem(
  text: string,
  numberFormat: NumberFormat,
): string | null {
  const { unit = "" } = weightIn(text, numberFormat) ?? {};
  if (unit === "" || unit === "g") return null;
  const grams = WEIGHT_UNITS[unit];
  const [minimum, maximum] = [WEIGHT_GRAMS.min, WEIGHT_GRAMS.max]
    .map((limit) => Number((limit / grams).toPrecision(4)));
  return `is "${text}" in ${unit}; it must be from ${minimum} to ${maximum} ${unit}, ` +
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

/** The number of values from which a decimal separator is found. */
const SAMPLE_ROWS = 1_000;

/**
 * The decimal separator of these numbers; "" if no number shows it, or if the
 * numbers contradict each other.
 */
export function decimalSeparatorOf(
  values: Iterable<string>,
  limit = SAMPLE_ROWS,
): DecimalSeparator {
  const found = new Set<DecimalSeparator>();
  let remaining = limit;
  for (const value of values) {
    if (remaining-- === 0) break;
    const [number] = /\d[\d.,\s\u00a0\u202f']*/.exec(value) ?? [""];
    const separator = decimalSeparatorIn(number.trimEnd());
    if (separator !== "") found.add(separator);
  }
  return found.size === 1 ? [...found][0] : "";
}

const NUMBER = /\d[\d.,\s']*\d|\d/;
const AMBIGUOUS = /^[1-9]\d{0,2}([.,])\d{3}$/;

/** A number such as `1.299`, whose point may separate thousands or decimals. */
export interface AmbiguousNumber {
  number: string;
  separator: Exclude<DecimalSeparator, "">;
}

/** The number in a text, if the number is ambiguous; else null. */
export function ambiguousNumberIn(text: string): AmbiguousNumber | null {
  const [number = ""] = NUMBER.exec(text) ?? [];
  const [, sign] = AMBIGUOUS.exec(number) ?? [];
  return sign === undefined
    ? null
    : { number, separator: sign as AmbiguousNumber["separator"] };
}

/**
 * Both meanings of an ambiguous number: `1299` and `1.299`; for a count, `1000`
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

/** The request to rewrite an ambiguous number; null if the number is clear. */
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
const SUSPICIOUS_FACTOR = 10;

/** Whether one amount is at least `SUSPICIOUS_FACTOR` times the other. */
export function isSuspiciousChange(amount: string, stored: string): boolean {
  const times = Number(amount) / Number(stored);
  return times >= SUSPICIOUS_FACTOR || times <= 1 / SUSPICIOUS_FACTOR;
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
  return currency === stored.currency &&
      !isSuspiciousChange(amount, stored.amount)
    ? null
    : priceQuestionText(
      `${amount} ${currency}`,
      `${stored.amount} ${stored.currency}`,
    );
}

/** The question whether a new price is correct. */
export function priceQuestionText(price: string, stored: string): string {
  return `price ${price} is ${stored} now. Is that correct?`;
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

/**
 * Converts `1 299,00 kr` and `1,299.00` to `1299.00`; an unclear text stays
 * unchanged. `marks` are units in capitals that may stand before or after the
 * number.
 */
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
