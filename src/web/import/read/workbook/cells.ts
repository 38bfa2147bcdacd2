/** Cells of workbooks as the texts that a table has. */
import type { CellObject } from "@e965/xlsx";
import { SSF } from "./xlsx.ts";

/** How numbers and dates of a workbook are read. */
export interface Dates {
  /** Days are counted from 1904, as old Macs do. */
  date1904: boolean;
}

/** Digits that a spreadsheet program keeps of a number. */
const DIGITS = 15;
const LARGEST = 10 ** DIGITS;

/** The text of a cell; that of an error, such as #N/A, is null. */
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

/** Whether a cell shows its number with a sign of thousands. */
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
  // A format of zeros alone shows zeros before the number.
  const isPadded = /^0+$/.test(digits) && Number.isInteger(value) && value >= 0;
  const text = withDecimals(value, digits) ??
    plain(value).padStart(isPadded ? digits.length : 0, "0");
  return `${before}${text}${behind}`.trim();
}

/** A format of digits with other signs between them, as in `00-000`. */
const CODE = /^0+(?:(?:\\[-./ ]|"[-./ ]"|-)0+)+$/;

/** A number that stands for a code, as it is shown; null: it is none. */
function shownAsCode(value: number, format: string): string | null {
  return CODE.test(format) && Number.isInteger(value) && value >= 0
    ? SSF.format(format, value)
    : null;
}

/**
 * As a format of zeros alone shows it, as `100.10`, which may be a code; null:
 * it would lose digits, or its decimals may be taken for thousands.
 */
function withDecimals(value: number, digits: string): string | null {
  const decimals = /^0\.(0+)$/.exec(digits)?.[1].length ?? 3;
  if (decimals === 3 || Math.abs(value) >= LARGEST) return null;
  const text = value.toFixed(decimals);
  return Number(text) === value ? text : null;
}

/** Texts of a format, and last the signs that stand for digits. */
const WORDS =
  /"([^"]*)"|\\(.)|\[([^[\]]*)\]|[_*].|([€$£/ -])|([0#?.,%E+]+|General)|./gs;
const NOTHING = { before: "", digits: "", behind: "" };

/**
 * What a format shows before and behind a number, such as its currency or unit:
 * a cell says it nowhere else. Nothing for texts between digits.
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

/** The currency of `$€-407`; colours and conditions are none. */
function signIn(word: string): string {
  return word.startsWith("$") ? word.slice(1).split("-")[0] : "";
}

/**
 * A decimal point, and never one before three digits alone: that might be taken
 * for a sign of thousands.
 */
function plain(value: number): string {
  // Longer numbers were rounded: their form tells it.
  if (Math.abs(value) >= LARGEST) return value.toExponential().toUpperCase();
  const text = `${Number(value.toPrecision(DIGITS))}`;
  return /\.\d{3}$/.test(text) ? `${text}0` : text;
}

/** As in `2026-05-01`, and with its time if it is not midnight. */
function dateOf(value: number, dates: Dates): string | null {
  const date: Record<string, number> | null = SSF.parse_date_code(value, dates);
  if (date === null) return null;
  const two = (part: number) => `${part}`.padStart(2, "0");
  const day = `${date.y}-${two(date.m)}-${two(date.d)}`;
  return date.T === 0
    ? day
    : `${day}T${two(date.H)}:${two(date.M)}:${two(date.S)}`;
}
