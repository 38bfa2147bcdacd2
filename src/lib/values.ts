/**
 * Readers of single values: each turns a seller's text into the value in
 * canonical spelling, or into a problem. Pure functions; lengths are in Unicode
 * code points.
 */
import type { DetailCode, Problem } from "./errors.ts";
import { isMadeDate } from "./made_dates.ts";

/**
 * The form of a value's text in the published schema; `max` is a number of code
 * points, or the greatest number. A `text` keeps its white space and line
 * breaks.
 */
export type Form =
  | { kind: "line" | "text"; max: number }
  | { kind: "decimal"; before: number; after: number }
  | { kind: "integer"; min?: number; max: number }
  | { kind: "word"; words: readonly string[] }
  | { kind: "digits"; lengths: readonly number[] }
  | { kind: "date" };

/** The form of the unit that belongs to a value. */
export type UnitForm = Form | { kind: "capitals"; length: number };

export type ReadResult<T> = { value: T } | { problem: Problem };
export type Reader<T> = (text: string) => ReadResult<T>;

export function ok<T>(value: T): ReadResult<T> {
  return { value };
}

export function invalid<T>(code: DetailCode, message: string): ReadResult<T> {
  return { problem: { code, message } };
}

/**
 * Trims XML white space. A no-break space or a byte order mark counts as text:
 * a SKU that contains one is found only with it.
 */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Whether this UTF-16 code unit is white space of XML. */
export function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

/** V8 tests a string of one-byte characters without reading it. */
const SURROGATE = /[\ud800-\udbff]/;

/** Number of Unicode code points. */
export function codePoints(text: string): number {
  let count = text.length;
  if (!SURROGATE.test(text)) return count;
  for (let i = 0; i < text.length - 1; i++) {
    if (
      (text.charCodeAt(i) & 0xfc00) === 0xd800 &&
      (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    ) {
      count--;
      i++;
    }
  }
  return count;
}

/**
 * Texts of more code units than this are too long for every field and are not
 * examined.
 */
export const LONGEST_TEXT = 65_536;

/** The length of a text that is too long, in code points, for the message. */
export function shownLength(
  text: string,
  show: (count: number) => string = String,
): string {
  return text.length < LONGEST_TEXT
    ? show(codePoints(text))
    : `at least ${show(LONGEST_TEXT / 2)}`;
}

/**
 * Whether a text has at most `max` code points; for most texts, the number of
 * code units is enough to know.
 */
export function fits(text: string, max: number): boolean {
  return text.length <= max ||
    (text.length <= 2 * max && codePoints(text) <= max);
}

/** A value shortened for a message. */
export function quote(text: string): string {
  const points = Array.from(text.slice(0, 200));
  const shown = points.length > 60
    ? points.slice(0, 60).join("") + "…"
    : text.length > 200
    ? points.join("") + "…"
    : text;
  return `"${shown}"`;
}

/** Control characters, and two characters that XML cannot carry. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/;

function controlName(char: string): string {
  const named: Record<string, string> = {
    "\n": "a line break",
    "\r": "a carriage return",
    "\t": "a tab",
  };
  const hex = char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return named[char] ?? `the control character U+${hex}`;
}

/** One line of at most `max` code points without control characters. */
export function lineReader(max: number): Reader<string> {
  return (text) => {
    const control = CONTROL.exec(text);
    if (control !== null) {
      return invalid(
        "not_one_line",
        `contains ${controlName(control[0])}; it must be one line without ` +
          "control characters.",
      );
    }
    if (!fits(text, max)) {
      return invalid(
        "too_long",
        `has ${shownLength(text)} characters; at most ${max} are allowed.`,
      );
    }
    return ok(text);
  };
}

/** A text of at most `max` code points; line breaks are allowed. */
export function textReader(max: number): Reader<string> {
  return (text) =>
    fits(text, max) ? ok(text) : invalid(
      "too_long",
      `has ${shownLength(text)} characters; at most ${max} are allowed.`,
    );
}

export const SKU_MAX = 64;
const readSkuLine = lineReader(SKU_MAX);

/**
 * A SKU: one line, 1–64 code points, and not `.` or `..`, which a URL cannot
 * address.
 */
export const readSku: Reader<string> = (text) =>
  text === "." || text === ".."
    ? invalid(
      "not_allowed",
      `must not be "." or "..", which no URL can address.`,
    )
    : readSkuLine(text);

const DECIMAL = /^(\d+)(?:\.(\d+))?$/;
const NEGATIVE = /^-\d+(?:\.\d+)?$/;

/**
 * A decimal without sign, exponent and trailing zeros: `199.00` → `199`.
 * `expected` describes a valid value: "a price above 0, as in 199.00".
 */
function decimalReader(
  { before, after }: typeof PRICE_DIGITS,
  expected: string,
): Reader<string> {
  return (text) => {
    const match = DECIMAL.exec(text);
    if (match === null && NEGATIVE.test(text)) {
      return invalid(
        "out_of_range",
        `is ${quote(text)}; it must be ${expected}.`,
      );
    }
    if (match === null) {
      const plain = plainDecimalOf(text);
      return invalid(
        "not_a_number",
        plain === null
          ? `is ${quote(text)}${
            isMadeDate(text) ? ", a date that a spreadsheet program made" : ""
          }; it must be ${expected}.`
          : `is ${quote(text)}; write "${plain}": digits and a point alone.`,
      );
    }
    const whole = match[1];
    const fraction = match[2] ?? "";
    if (whole.length > before || fraction.length > after) {
      return invalid(
        "out_of_range",
        `is ${quote(text)}; at most ${before} digits before the point ` +
          `and ${after} after it are allowed.`,
      );
    }
    return ok(canonicalDecimal(whole, fraction));
  };
}

/** A number with separators, and the text around it. */
const WRITTEN =
  /^([^\d.,]{0,5})(\d(?:[\d.,' \u00a0\u202f]{0,29}\d)?)(\D{0,5})$/;

/**
 * A currency or percent sign next to an amount. Any other text may belong to
 * the number.
 */
const SIGN = /^(?:[+%]|US\$|\p{Sc}|kr\.?|zł|kč|s?fr\.?|euro?)?$/iu;

/**
 * The decimal that a text means, as in `1 299,50 kr`; null if it is ambiguous:
 * `1,299` differs between Berlin and London.
 */
function plainDecimalOf(text: string): string | null {
  if (text.includes("-")) return null;
  const [, before, written, after] = WRITTEN.exec(text) ?? [];
  const isAlone = written !== undefined &&
    [before.trim(), after.trim()]
      .every((sign) => SIGN.test(sign) || CURRENCIES.has(sign));
  if (!isAlone) return null;
  const parts = written.split(/[.,' \u00a0\u202f]/);
  const separators = written.replace(/\d/g, "");
  const last = separators.at(-1);
  if (last === undefined) return written;
  const groups = parts.slice(1).every(({ length }) => length === 3);
  const isPoint = (last === "." || last === ",") &&
    !separators.slice(0, -1).includes(last);
  if (!isPoint) return groups ? parts.join("") : null;
  const isSure = !groups || parts.length > 2;
  if (!isSure || !parts.slice(1, -1).every(({ length }) => length === 3)) {
    return null;
  }
  return `${parts.slice(0, -1).join("")}.${parts.at(-1)}`;
}

function canonicalDecimal(whole: string, fraction: string): string {
  let end = fraction.length;
  while (end > 0 && fraction[end - 1] === "0") end--;
  let start = 0;
  while (start < whole.length - 1 && whole[start] === "0") start++;
  const shortWhole = whole.slice(start);
  return end === 0 ? shortWhole : `${shortWhole}.${fraction.slice(0, end)}`;
}

/**
 * Compares two canonical decimals exactly; returns a negative number, 0 or a
 * positive one.
 */
export function compareDecimals(a: string, b: string): number {
  const digits = digitsBeforePoint(a) - digitsBeforePoint(b);
  if (digits !== 0) return digits;
  return a === b ? 0 : a < b ? -1 : 1;
}

function digitsBeforePoint(decimal: string): number {
  const point = decimal.indexOf(".");
  return point < 0 ? decimal.length : point;
}

/** The most digits before and after the point. */
export const PRICE_DIGITS = { before: 10, after: 4 };

const readPriceDecimal = decimalReader(
  PRICE_DIGITS,
  'a decimal above 0 with a point, as in "199.00"',
);

/** A price: an exact decimal above 0. */
export const readPrice: Reader<string> = (text) => {
  const read = readPriceDecimal(text);
  return "value" in read && read.value === "0"
    ? invalid("out_of_range", "is 0; a price must be above 0.")
    : read;
};

/** The most digits before and after the point. */
export const RATE_DIGITS = { before: 3, after: 2 };

const readRateDecimal = decimalReader(
  RATE_DIGITS,
  'a percentage from 0 to 100, as in "25" or "12.5"',
);

/** A VAT rate in percent, 0–100 with at most two decimals. */
export const readVatRate: Reader<string> = (text) => {
  const read = readRateDecimal(text);
  return "value" in read && compareDecimals(read.value, "100") > 0
    ? invalid("out_of_range", `is ${read.value}; it must be from 0 to 100.`)
    : read;
};

/** A whole number from `min` to `max`, of `unit`s such as "bytes". */
export function integerReader(
  max: number,
  min = 0,
  unit?: string,
): Reader<number> {
  const number = `a whole number${unit === undefined ? "" : ` of ${unit}`}`;
  const expected = `it must be ${number} from ${min} to ${max}.`;
  return (text) => {
    if (!/^-?\d+$/.test(text)) {
      return invalid("not_a_number", `is ${quote(text)}; ${expected}`);
    }
    const value = Number(text);
    return value < min || value > max
      ? invalid("out_of_range", `is ${quote(text)}; ${expected}`)
      : ok(value);
  };
}

/** Reads one of a few words. */
export function wordReader<W extends string>(words: readonly W[]): Reader<W> {
  const known: ReadonlySet<string> = new Set(words);
  const expected = (words.length === 1 ? "" : "one of ") + words.join(", ");
  return (text) =>
    known.has(text)
      ? ok(text as W)
      : invalid("not_in_list", `is ${quote(text)}; it must be ${expected}.`);
}

/** The day of a time in Unix milliseconds, in UTC: `YYYY-MM-DD`. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** A calendar date, `YYYY-MM-DD` (ISO 8601), from the year 1 on. */
export const readDate: Reader<string> = (text) => {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match !== null) {
    const [year, month, day] = match.slice(1).map(Number);
    if (year > 0 && month >= 1 && month <= 12) {
      // Day 0 of the next month is the last day of this month. Date reads years
      // below 100 as 19xx; adding 400 keeps the leap years.
      const last = new Date(Date.UTC(year % 400 + 400, month, 0)).getUTCDate();
      if (day >= 1 && day <= last) return ok(text);
    }
  }
  return invalid(
    "not_a_date",
    `is ${quote(text)}; it must be a date that exists, as in "2026-12-01".`,
  );
};

const TIME =
  /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Parses a date, or a time with its zone, of ISO 8601 to Unix milliseconds;
 * null if there is no such time. A date stands for its first moment in UTC.
 */
export function parseTime(text: string): number | null {
  if (!TIME.test(text) || "problem" in readDate(text.slice(0, 10))) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

/** The texts that `parseTime` accepts. */
export const EXPECTED_TIME =
  "a date, or a time with its zone, that exists, as in " +
  '"2026-12-01" or "2026-12-01T08:00:00Z"';

const WITHOUT_ZONE =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)$/;

/** The problem of a text that `parseTime` does not accept. */
export function timeProblem(text: string): string {
  const [, date, time] = WITHOUT_ZONE.exec(text) ?? [];
  const inUtc = `${date}T${time}Z`;
  return parseTime(inUtc) === null
    ? `is ${quote(text)}; it must be ${EXPECTED_TIME}.`
    : `is ${quote(text)}, without a zone; write "${inUtc}" for UTC, or ` +
      "another zone, such as +01:00, instead of Z.";
}

export const GTIN_LENGTHS: readonly number[] = [8, 12, 13, 14];

/** A GTIN of 8, 12, 13 or 14 digits (GS1 General Specifications, 7.9). */
export const readGtin: Reader<string> = (text) => {
  if (!/^\d+$/.test(text)) {
    return invalid(
      "not_a_number",
      `is ${quote(text)}; it must be 8, 12, 13 or 14 digits.`,
    );
  }
  if (!GTIN_LENGTHS.includes(text.length)) {
    return invalid(
      "out_of_range",
      `has ${text.length} digits; it must have 8, 12, 13 or 14.`,
    );
  }
  const expected = gtinCheckDigit(text.slice(0, -1));
  return text.endsWith(expected) ? ok(text) : invalid(
    "bad_check_digit",
    `is ${quote(text)}, whose check digit should be ${expected}.`,
  );
};

/** The check digit for these digits. */
export function gtinCheckDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const weight = (digits.length - i) % 2 === 1 ? 3 : 1;
    sum += weight * (digits.charCodeAt(i) - 48);
  }
  return String((10 - sum % 10) % 10);
}

/** The active codes of ISO 4217, list one, without XTS and XXX. */
const CURRENCIES = new Set(
  ("AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB " +
    "BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC " +
    "CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD " +
    "GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS " +
    "KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK " +
    "MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB " +
    "PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP " +
    "SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH " +
    "UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB " +
    "XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XUA YER ZAR ZMW ZWG")
    .split(" "),
);

/** A currency code of ISO 4217. */
export const readCurrency: Reader<string> = (text) =>
  CURRENCIES.has(text) ? ok(text) : invalid(
    "not_in_list",
    `is ${quote(text)}; it must be a currency code of ISO 4217 in capitals, ` +
      'as in "SEK".',
  );

/** The codes of ISO 3166-1 alpha-2. */
const COUNTRIES = new Set(
  ("AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI " +
    "BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN " +
    "CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK " +
    "FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM " +
    "HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN " +
    "KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK " +
    "ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP " +
    "NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW " +
    "SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF " +
    "TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI " +
    "VN VU WF WS YE YT ZA ZM ZW").split(" "),
);

export const COUNTRY_LETTERS = 2;

/** A country code of ISO 3166-1. */
export const readCountry: Reader<string> = (text) =>
  COUNTRIES.has(text) ? ok(text) : invalid(
    "not_in_list",
    `is ${quote(text)}; it must be a country code of ISO 3166-1 in two ` +
      'capitals, as in "SE".',
  );

/** The highest rate limit, in requests a minute and seller. */
export const RATE_LIMIT_MAX = 1_000_000;
