/** Reads and writes tables of text: CSV, and the rows that spreadsheets copy. */
import Papa from "papaparse";

/** A byte order mark tells spreadsheets that the file is UTF-8. */
const MARK = "\ufeff";

/** A table with the names of its columns. */
export interface Table {
  header: readonly string[];
  /** As many texts each as the header has; empty rows are left out. */
  rows: readonly (readonly string[])[];
  /** The line of each row in a spreadsheet, from 1. */
  numbers: readonly number[];
  /** Why values may stand in wrong columns, as a sentence; null: they do not. */
  flaw: string | null;
}

/** A first line for Excel, which shows none such: `sep=;`. */
const NAMED = /^"?sep=(.)"?(?:\r\n|\r|\n)/i;

/**
 * Reads text whose values are separated by commas, semicolons or tabs, or by
 * what its first line names.
 */
export function tableOf(text: string): Table {
  const unmarked = text.replace(MARK, "");
  const delimiter = namedDelimiter(unmarked) ?? delimiterOf(unmarked);
  const { data, errors } = Papa.parse<string[]>(unmarked.replace(NAMED, ""), {
    delimiter,
  });
  const [first = [], ...others] = data;
  const header = first.map((name) => name.trim());
  const filled = others.map((row, i) => ({
    number: i + 2,
    row: header.map((_, column) => (row[column] ?? "").trim()),
  })).filter(({ row }) => row.some((value) => value !== ""));
  return {
    header,
    rows: filled.map(({ row }) => row),
    numbers: filled.map(({ number }) => number),
    flaw: flawOf(data, errors, delimiter),
  };
}

/** The first quotation mark or row that breaks the columns. */
function flawOf(
  data: readonly (readonly string[])[],
  errors: ReturnType<typeof Papa.parse>["errors"],
  delimiter: string,
): string | null {
  const [header = []] = data;
  const quoted = errors.find(({ type }) => type === "Quotes");
  if (quoted !== undefined) {
    return `A quotation mark in row ${(quoted.row ?? 0) + 1} has no ` +
      "counterpart. Close it, or write two in place of one.";
  }
  const wide = data.findIndex((row) =>
    row.slice(header.length).some((value) => value.trim() !== "")
  );
  if (wide < 0) return null;
  const name = delimiter === "\t" ? "a tab" : `"${delimiter}"`;
  return `Row ${
    wide + 1
  } has more values than there are columns. Put a value ` +
    `that holds ${name} into quotation marks, or name every column.`;
}

/** The delimiter that the first line of a text names; null if it names none. */
export function namedDelimiter(text: string): string | null {
  return NAMED.exec(text)?.[1] ?? null;
}

/** The one that the first line has most of; it names the columns. */
function delimiterOf(text: string): string {
  const [first] = text.split("\n", 1);
  const times = (delimiter: string) => first.split(delimiter).length;
  return [",", ";", "\t"].reduce((a, b) => times(b) > times(a) ? b : a);
}

/** A table as CSV. No text of it is read as a formula. */
export function csvOf(
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return MARK + Papa.unparse(rows, { escapeFormulae: true }) + "\r\n";
}
