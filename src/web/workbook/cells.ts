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
export function textOf(
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

function textOfNumber(value: number, format: string, dates: Dates): string {
  if (format !== "" && SSF.is_date(format)) {
    const date = dateOf(value, dates);
    if (date !== null) return date;
  }
  if (format.includes("%")) return `${plain(value * 100)}%`;
  // A format of zeros alone shows zeros before the number.
  if (/^0+$/.test(format) && Number.isInteger(value) && value >= 0) {
    return plain(value).padStart(format.length, "0");
  }
  return plain(value);
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
