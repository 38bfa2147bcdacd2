/** Reads and writes tables of text: CSV, and the rows that spreadsheets copy. */
import Papa from "papaparse";
import type { Work } from "./slices.ts";

/** A byte order mark tells spreadsheets that the file is UTF-8. */
const MARK = "\ufeff";

/** A table with the names of its columns. */
export interface Table {
  header: readonly string[];
  /** As many texts each as the header has; empty rows are left out. */
  rows: readonly (readonly string[])[];
  /** The line of each row in a spreadsheet, from 1. */
  numbers: readonly number[];
  /** What stands between values; null: it is a sheet of a workbook. */
  delimiter: string | null;
  /** Why values may stand in wrong columns, as a sentence; null: they do not. */
  flaw: string | null;
}

/** A first line for Excel, which shows none such: `sep=;`. */
const NAMED = /^"?sep=(.)"?(?:\r\n|\r|\n)/i;

/** Rows that are read between two pauses. */
const STEP = 250;

/**
 * Reads text whose values are separated by commas, semicolons or tabs, or by
 * what its first line names.
 */
export function* readTable(text: string): Work<Table> {
  const unmarked = text.replace(MARK, "");
  const delimiter = namedDelimiter(unmarked) ?? delimiterOf(unmarked);
  const body = unmarked.replace(NAMED, "");
  let header: string[] | null = null;
  const rows: string[][] = [];
  const numbers: number[] = [];
  let number = 0;
  let unquoted: number | null = null;
  let wide: number | null = null;
  let newline: string | undefined;
  for (let at = 0;;) {
    const { data, errors, meta } = Papa.parse<string[]>(body.slice(at), {
      delimiter,
      newline,
      preview: STEP,
      // It would split the whole rest at each step.
      fastMode: false,
    });
    const quoted = errors.find(({ type }) => type === "Quotes");
    if (quoted !== undefined) unquoted ??= number + (quoted.row ?? 0) + 1;
    for (const values of data) {
      number++;
      const texts = values.map((value) => value.trim());
      if (header === null) {
        header = texts;
        continue;
      }
      const { length } = header;
      if (texts.slice(length).some((value) => value !== "")) wide ??= number;
      const row = header.map((_, column) => texts[column] ?? "");
      if (row.every((value) => value === "")) continue;
      rows.push(row);
      numbers.push(number);
    }
    if (!meta.truncated) break;
    at += meta.cursor;
    newline = meta.linebreak;
    yield;
  }
  const flaw = unquoted !== null
    ? `A quotation mark in row ${unquoted} has no counterpart. Close it, or ` +
      "write two in place of one."
    : wide !== null
    ? flawOfRow(wide, delimiter)
    : null;
  return { header: header ?? [], rows, numbers, delimiter, flaw };
}

function flawOfRow(wide: number, delimiter: string): string {
  const name = delimiter === "\t" ? "a tab" : `"${delimiter}"`;
  return `Row ${wide} has more values than there are columns. Put a value ` +
    `that holds ${name} into quotation marks, or name every column.`;
}

/** The delimiter that the first line of a text names; null if it names none. */
export function namedDelimiter(text: string): string | null {
  return NAMED.exec(text)?.[1] ?? null;
}

/**
 * The one that the first line has most of; it names the columns. Of as many, the
 * one that is less likely in a name.
 */
function delimiterOf(text: string): string {
  const [first] = text.split("\n", 1);
  const times = (delimiter: string) => first.split(delimiter).length;
  return ["\t", ";", ","].reduce((a, b) => times(b) > times(a) ? b : a);
}

/** A table as CSV. Unless told otherwise, no text of it is read as a formula. */
export function csvOf(
  rows: readonly (readonly (string | number | null)[])[],
  // What came from a file goes back as it was.
  options: { delimiter?: string; escapeFormulae: boolean } = {
    escapeFormulae: true,
  },
): string {
  return MARK + Papa.unparse(rows, options) + "\r\n";
}
