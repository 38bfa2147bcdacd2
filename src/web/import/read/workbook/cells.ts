/** Converts cells of workbooks to texts. */
import type { CellObject } from "@e965/xlsx";
import { SSF } from "./xlsx.ts";

/** The date settings of a workbook. */
export interface Dates {
  /** Whether days are counted from 1904, as on old Macs. */
  date1904: boolean;
}

/** The number of digits that spreadsheet programs keep of a number. */
const DIGITS = 15;
const LARGEST = 10 ** DIGITS;

/** The text of a cell; null for an error such as #N/A. */
export function textOfCell(
  cell: CellObject | undefined,
  dates: Dates,
): string | null {
  switch (cell?.t) {
    case "s":
      return `${cell.v}`.trim();
    case "n":
      return textOfNumber(cell.v as number, `${cell.z ?? ""}`, dates);
    case "b":
      return `${cell.v}`;
    case "e":
      return null;
    default:
      return "";
  }
}

/** Whether a cell shows its number with a thousands separator. */
export function isGrouped(cell: CellObject | undefined): boolean {
  return cell?.t === "n" && /#,##/.test(`${cell.z ?? ""}`) &&
    Math.abs(cell.v as number) >= 1_000;
}

function textOfNumber(value: number, format: string, dates: Dates): string {
  if (format !== "" && SSF.is_date(format)) {
    const date = dateOf(value, dates);
    if (date !== null) return date;
  }
  const shown = shownAsCode(value, format);
  if (shown !== null) return shown;
  const { before, digits, behind } = partsOf(format);
  if (digits.includes("%")) return `${plain(value * 100)}%`;
  // A format of only zeros pads the number with zeros.
  const isPadded = /^0+$/.test(digits) && Number.isInteger(value) && value >= 0;
  const text = withDecimals(value, digits) ??
    plain(value).padStart(isPadded ? digits.length : 0, "0");
  return `${before}${text}${behind}`.trim();
}

/** A format of zeros with characters between them, such as `00-000`. */
const CODE = /^0+(?:(?:\\[-./ ]|"[-./ ]"|-)0+)+$/;

/** The shown text of a number that is a code; null if it is not a code. */
function shownAsCode(value: number, format: string): string | null {
  return CODE.test(format) && Number.isInteger(value) && value >= 0
    ? SSF.format(format, value)
    : null;
}

/**
 * The text that a format of only zeros shows, such as `100.10`, which may be a
 * code. Null if this text would lose digits or have three decimals.
 */
function withDecimals(value: number, digits: string): string | null {
  const decimals = /^0\.(0+)$/.exec(digits)?.[1].length ?? 3;
  if (decimals === 3 || Math.abs(value) >= LARGEST) return null;
  const text = value.toFixed(decimals);
  return Number(text) === value ? text : null;
}

/** The texts of a format, or its placeholders of digits. */
const WORDS =
  /"([^"]*)"|\\(.)|\[([^[\]]*)\]|[_*].|([€$£/ -])|([0#?.,%E+]+|General)|./gs;
const NOTHING = { before: "", digits: "", behind: "" };

/**
 * The texts before and after a number in a format, such as a currency or a unit;
 * nothing if the format has texts between digits.
 */
function partsOf(format: string): typeof NOTHING {
  const [first] = format.match(/^(?:"[^"]*"|\\.|[^;"\\])*/s)!;
  const parts = { ...NOTHING };
  for (const [, quoted, one, word, bare, digits] of first.matchAll(WORDS)) {
    if (digits !== undefined) {
      if (parts.behind.trim() !== "") return NOTHING;
      parts.digits += digits;
    } else {
      parts[parts.digits === "" ? "before" : "behind"] += quoted ?? one ??
        bare ?? signIn(word ?? "");
    }
  }
  return parts;
}

/** The currency in `$€-407`; "" for colours and conditions. */
function signIn(word: string): string {
  return word.startsWith("$") ? word.slice(1).split("-")[0] : "";
}

/**
 * A number with a decimal point. It never has exactly three decimals, because
 * these could be read as thousands.
 */
function plain(value: number): string {
  // A longer number is rounded, so it is written with an exponent.
  if (Math.abs(value) >= LARGEST) return value.toExponential().toUpperCase();
  const text = `${Number(value.toPrecision(DIGITS))}`;
  return /\.\d{3}$/.test(text) ? `${text}0` : text;
}

/** A date such as `2026-05-01`, with the time unless it is midnight. */
function dateOf(value: number, dates: Dates): string | null {
  const date: Record<string, number> | null = SSF.parse_date_code(value, dates);
  if (date === null) return null;
  const two = (part: number) => `${part}`.padStart(2, "0");
  const day = `${date.y}-${two(date.m)}-${two(date.d)}`;
  return date.T === 0
    ? day
    : `${day}T${two(date.H)}:${two(date.M)}:${two(date.S)}`;
}
