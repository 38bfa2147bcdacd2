/** Reads and writes tables as text: CSV, and rows copied from spreadsheets. */
import { joinSentences, nameWithNumbers } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";

/** The byte order mark, by which spreadsheet programs recognize UTF-8. */
const MARK = "\ufeff";

/** A table with the names of its columns. */
export interface Table {
  header: readonly string[];
  /** The rows, each as wide as the header; empty rows are left out. */
  rows: readonly (readonly string[])[];
  /** The number of each row in a spreadsheet, from 1. */
  numbers: readonly number[];
  /** The delimiter; null for a sheet of a workbook. */
  delimiter: string | null;
  /** The texts above the header. */
  titles?: readonly string[];
  /** The columns of a workbook whose numbers show a thousands separator. */
  grouped?: readonly number[];
  /** Why values may be in wrong columns, as a sentence; null if they are not. */
  flaw: string | null;
}

/** A table that was read from a text. */
export interface ReadTable extends Table {
  /** Sentences about texts that were left out. */
  note: string;
  /**
   * The numbers of rows that may be one row with a text over several lines, or
   * several rows. A quotation mark in them may be an inch mark.
   */
  ambiguousRows: readonly number[];
  /**
   * The numbers of rows with too many values and a space after a delimiter. This
   * delimiter may belong to a text.
   */
  shifts: readonly number[];
}

/** A first line that tells Excel the delimiter: `sep=;`. */
const NAMED_DELIMITER = /^"?sep=(.)"?(?:\r\n|\r|\n)/i;

/** The number of rows that are read between two pauses. */
const STEP = 250;

/** The number of first rows in which the header is searched. */
export const HEADER_ROWS = 10;

/** Counts the texts that are known column names. */
export type CountNames = (texts: readonly string[]) => number;

/**
 * Reads text with values separated by commas, semicolons, tabs, vertical bars
 * or the delimiter that the first line names. A quotation mark opens a quoted
 * value only at the start of the value (RFC 4180); an unclosed mark belongs to
 * the value. With `oneText`, each of the `ambiguousRows` is read as one row.
 */
export function* readTable(
  text: string,
  countNames: CountNames,
  oneText = false,
): SlicedWork<ReadTable> {
  const unmarked = text.replace(MARK, "");
  const delimiter = namedDelimiter(unmarked) ??
    delimiterOf(unmarked, countNames);
  const body = unmarked.replace(NAMED_DELIMITER, "");
  const rowAt = rowReader(body, delimiter, quoteOf(body, delimiter));
  const above = headerIndex(firstRows(body, rowAt), countNames);
  let header: string[] | null = null;
  let titles: string[] = [];
  const rows: string[][] = [];
  const numbers: number[] = [];
  /** The number of values of each row in the text. */
  const widths: number[] = [];
  const ambiguousRows = new Set<number>();
  const strays: number[] = [];
  const spaced: { number: number; width: number }[] = [];
  let narrowest = Infinity;
  let number = 0;
  let unquoted: number | null = null;
  let wide: number | null = null;
  for (let at = 0; at < body.length;) {
    if (++number % STEP === 0) yield;
    let read = rowAt(at);
    if (number <= above) titles = [...titles, ...read.cells.filter(Boolean)];
    else if (header === null) header = read.cells;
    else {
      const { length } = header;
      const line = lineEnd(body, at);
      if (read.end > line && mayBeRows(rowAt, at, read.end, line, length)) {
        ambiguousRows.add(number);
        if (!oneText) read = rowAt(at, line);
      } else if (read.isStray) strays.push(number);
      if (read.isStray && read.cells.length < length) unquoted ??= number;
      if (read.cells.slice(length).some((value) => value !== "")) {
        wide ??= number;
      }
      if (read.isSpaced) spaced.push({ number, width: read.cells.length });
      else narrowest = Math.min(narrowest, read.cells.length);
      const row = header.map((_, column) => read.cells[column] ?? "");
      if (row.some((value) => value !== "")) {
        rows.push(row);
        numbers.push(number);
        widths.push(read.cells.length);
      }
    }
    at = read.end;
  }
  const parts = partsIn(widths, header?.length ?? 0);
  for (const [i, { whole, column }] of parts) {
    ambiguousRows.add(numbers[whole]);
    if (!oneText) continue;
    const [first, ...others] = rows[i].slice(0, widths[i]);
    const cells = rows[whole];
    cells[column] = `${cells[column]}\n${first}`.trim();
    others.forEach((text, j) => cells[column + 1 + j] = text);
  }
  const isKept = (_: unknown, i: number) => !oneText || !parts.has(i);
  const flaw = unquoted !== null
    ? `A quotation mark in row ${unquoted} is not closed. Close it, or ` +
      "write two quotation marks."
    : wide !== null
    ? problemOfRow(wide, delimiter)
    : null;
  const note = joinSentences(
    titleNote(titles),
    strays.length > 0 &&
      `A single quotation mark is read as part of its value: ${
        nameWithNumbers("row", strays)
      }.`,
  );
  return {
    header: header ?? [],
    rows: rows.filter(isKept),
    numbers: numbers.filter(isKept),
    delimiter,
    titles,
    flaw,
    note,
    ambiguousRows: [...ambiguousRows].sort((a, b) => a - b),
    shifts: spaced.filter(({ width }) => width > narrowest)
      .map(({ number }) => number),
  };
}

/** A sentence about the texts above the header; "" if there are none. */
export function titleNote(titles: readonly string[]): string {
  return titles.length === 0
    ? ""
    : `The text “${
      titles.join(" ").slice(0, 60)
    }” above the columns is left out.`;
}

/** A row of a text. */
interface Row {
  /** The values, trimmed. */
  cells: string[];
  /** The offset of the next row. */
  end: number;
  /** Whether a quotation mark neither opens nor closes a value. */
  isStray: boolean;
  /** Whether a space follows a delimiter. */
  isSpaced: boolean;
}

/** Reads the row that begins at `from`, in a text that ends at `to`. */
type RowReader = (from: number, to?: number) => Row;

/** The maximum length of a quoted value; a longer one counts as unclosed. */
const LONGEST_VALUE = 1_000_000;

/** The quotation mark of a text: `'` if it encloses all column names, else `"`. */
function quoteOf(text: string, delimiter: string): "'" | '"' {
  const isQuoted = (cell: string) =>
    cell.length > 1 && cell.startsWith("'") && cell.endsWith("'");
  // Titles above the header may contain the delimiter.
  const lines = text.trimStart().split(/[\r\n]+/, HEADER_ROWS)
    .map((line) => line.split(delimiter));
  return lines[0].every(isQuoted) ||
      lines.some((cells) => cells.length > 1 && cells.every(isQuoted))
    ? "'"
    : '"';
}

function rowReader(
  text: string,
  delimiter: string,
  quote: "'" | '"',
): RowReader {
  const isEnd = (at: number) =>
    at >= text.length || "\r\n".includes(text[at]) || text[at] === delimiter;
  const afterSpaces = (at: number) => {
    while (text[at] === " ") at++;
    return at;
  };
  let soughtFrom = 0;
  let found = -1;
  /**
   * The offset of the next quotation mark that can close a value. Without this
   * variable, a text with many unclosed marks would take quadratic time.
   */
  const nextBeforeEnd = (from: number) => {
    if (soughtFrom <= from && from <= found) return found;
    soughtFrom = from;
    for (let at = from;; at++) {
      at = text.indexOf(quote, at);
      if (at < 0) return found = Infinity;
      if (isEnd(afterSpaces(at + 1))) return found = at;
    }
  };
  /** Finds the mark that closes the value at `from`; null if none does. */
  const closing = (from: number, to: number) => {
    const limit = Math.min(to, from + LONGEST_VALUE);
    if (nextBeforeEnd(from + 1) >= limit) return null;
    let isStray = false;
    for (let at = from + 1;; at++) {
      at = text.indexOf(quote, at);
      if (at < 0 || at >= limit) return null;
      const end = afterSpaces(at + 1);
      if (text[at + 1] === quote) at++;
      else if (isEnd(end)) return { at, end, isStray };
      else isStray = true;
    }
  };
  return (from, to = text.length) => {
    const cells: string[] = [];
    let isStray = false;
    let isSpaced = false;
    for (let at = from;; at++) {
      isSpaced ||= at > from && text[at] === " " && !isEnd(at + 1);
      const isQuoted = text[at] === quote;
      const quoted = isQuoted ? closing(at, to) : null;
      isStray ||= isQuoted && (quoted?.isStray ?? true);
      let end = quoted?.end ?? at;
      while (!isEnd(end)) end++;
      cells.push(
        quoted === null
          ? text.slice(at, end).trim()
          : text.slice(at + 1, quoted.at).replaceAll(quote + quote, quote)
            .trim(),
      );
      at = end;
      if (text[at] === delimiter) continue;
      return { cells, end: lineEnd(text, at), isStray, isSpaced };
    }
  };
}

/** The offset of the next line after `from`. */
function lineEnd(text: string, from: number): number {
  const ends = /\r\n?|\n/g;
  ends.lastIndex = from;
  return ends.exec(text) === null ? text.length : ends.lastIndex;
}

/**
 * Whether the row from `from` to `to` may be several rows, one for each line:
 * at least half of the later lines have as many values as the header.
 */
function mayBeRows(
  rowAt: RowReader,
  from: number,
  to: number,
  line: number,
  width: number,
): boolean {
  const first = rowAt(from, line).cells.length;
  const widths: number[] = [];
  for (let at = line; at < to;) {
    const { cells, end } = rowAt(at);
    if (cells.join("") !== "") widths.push(cells.length);
    at = end;
  }
  return first > 1 && first <= width &&
    widths.filter((one) => one === width).length * 2 >= widths.length;
}

/**
 * The rows that continue an earlier row, by index. The first value of such a row
 * continues the earlier row's value in `column`; its other values belong to the
 * later columns. Returns none if a short row continues no other row, because
 * some programs leave out empty values at the end of rows.
 */
function partsIn(
  widths: readonly number[],
  width: number,
): Map<number, { whole: number; column: number }> {
  const parts = new Map<number, { whole: number; column: number }>();
  let whole = 0;
  let filled = width;
  for (const [i, own] of widths.entries()) {
    const column = filled - 1;
    if (i > 0 && own < width && column + own <= width) {
      parts.set(i, { whole, column });
      filled = column + own;
    } else if (filled < width) return new Map();
    else {
      whole = i;
      filled = own;
    }
  }
  return filled < width ? new Map() : parts;
}

function firstRows(text: string, rowAt: RowReader): string[][] {
  const rows: string[][] = [];
  for (let at = 0; at < text.length && rows.length < HEADER_ROWS;) {
    const { cells, end } = rowAt(at);
    rows.push(cells);
    at = end;
  }
  return rows;
}

/** A decimal or a long number, which is never a column name. */
const NUMBER = /^\d+[.,]\d+$|^\d{5,}$/;

/** The maximum number of texts in a row of titles. */
const TITLES = 3;

/**
 * The index of the header. Rows of titles above the header are skipped: they
 * have few texts, at most half as many as another of the first rows, or fewer
 * known names. Of adjacent rows with equally many known names, the last one is
 * the header, because some tables have labels above the column names.
 */
export function headerIndex(
  rows: readonly (readonly string[])[],
  countNames: CountNames,
): number {
  const first = rows.slice(0, HEADER_ROWS);
  const filled = first
    .map((cells) => cells.filter((text) => text !== "").length);
  const most = filled.reduce((a, b) => Math.max(a, b), 0);
  const full = Math.max(
    0,
    filled.findIndex((texts) => texts > TITLES || texts * 2 > most),
  );
  const known = first.map((cells) =>
    cells.some((text) => NUMBER.test(text)) ? 0 : countNames(cells)
  );
  const best = known.reduce((a, b) => Math.max(a, b), 0);
  if (best <= Math.max(1, known[full] ?? 0)) return full;
  let last = known.indexOf(best);
  while (known[last + 1] === best) last++;
  return last;
}

function problemOfRow(wide: number, delimiter: string): string {
  const name = delimiter === "\t" ? "a tab" : `"${delimiter}"`;
  return `Row ${wide} has more values than there are columns. Put values ` +
    `that contain ${name} in quotation marks, or name every column.`;
}

/** The delimiter that the first line of a text names; null if it names none. */
export function namedDelimiter(text: string): string | null {
  return NAMED_DELIMITER.exec(text)?.[1] ?? null;
}

/** The possible delimiters; the first ones are the least likely in a text. */
const DELIMITERS = ["\t", ";", ",", "|"];
/** The number of first characters in which a delimiter is searched. */
const SAMPLE = 65_536;

/**
 * The delimiter with which a row has the most known names. If that is at most
 * one name, or if two delimiters find equally many: the delimiter with which
 * all first rows have the same number of values, and the most values. If there
 * is no such delimiter: the most frequent one of a line whose next line
 * contains it, too.
 */
function delimiterOf(text: string, countNames: CountNames): string {
  const sample = text.slice(0, SAMPLE);
  const read = DELIMITERS.map((delimiter) => {
    const rows = firstRows(
      sample,
      rowReader(sample, delimiter, quoteOf(sample, delimiter)),
    )
      .filter((cells) => cells.some((cell) => cell !== ""));
    const widths = new Set(rows.map(({ length }) => length));
    return {
      delimiter,
      names: rows.reduce((most, row) => Math.max(most, countNames(row)), 0),
      width: rows.length > 1 && widths.size === 1 ? rows[0].length : 1,
    };
  });
  const [known, others] = read.toSorted((a, b) => b.names - a.names);
  if (known.names > Math.max(1, others.names)) return known.delimiter;
  const compare = (a: typeof known, b: typeof known) =>
    b.width - a.width || b.names - a.names;
  const [wide, next] = read.toSorted(compare);
  return wide.width > 1 && compare(wide, next) < 0
    ? wide.delimiter
    : mostIn(text);
}

/**
 * The most frequent delimiter of the first line whose next line contains it,
 * too. Of equally frequent ones, the first of `DELIMITERS` is used.
 */
function mostIn(text: string): string {
  const lines = text.split(/[\r\n]+/, HEADER_ROWS)
    .filter((line) => line.trim() !== "");
  const found = lines.map((line) => {
    const times = (delimiter: string) => line.split(delimiter).length;
    return DELIMITERS.reduce((a, b) => times(b) > times(a) ? b : a);
  });
  const first = lines.findIndex((line, i) =>
    line.includes(found[i]) &&
    (i + 1 === lines.length || lines[i + 1].includes(found[i]) ||
      !lines[i + 1].includes(found[i + 1]))
  );
  return found[first] ?? ",";
}

/**
 * The positions at which a spreadsheet program may read a formula: the start of
 * a cell, and after characters that end a cell in some programs.
 */
const FORMULA = /(^|[;\t\n])( *)(?=[=+\-@'])/g;

/** Escapes a text so that spreadsheet programs read no formula in it. */
function withoutFormulas(text: string): string {
  return text.replace(FORMULA, "$1$2'");
}

/** Reverts `withoutFormulas`. */
export function withFormulas(text: string): string {
  return text.replace(/(^|[;\t\n])( *)'(?=[=+\-@'])/g, "$1$2");
}

/** Writes a table as CSV; with `escapeFormulae`, texts are never formulas. */
export function csvOf(
  rows: readonly (readonly (string | number | null)[])[],
  // Tables from files are not escaped, so that their texts stay unchanged.
  { delimiter = ",", escapeFormulae }: {
    delimiter?: string;
    escapeFormulae: boolean;
  } = { escapeFormulae: true },
): string {
  const cellOf = (value: string | number | null) => {
    const text = escapeFormulae && typeof value === "string"
      ? withoutFormulas(value)
      : `${value ?? ""}`;
    const isPlain = text.trim() === text && !/["\r\n;\t]/.test(text) &&
      !/^'/.test(text) && !text.includes(delimiter);
    return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
  };
  const lines = rows.map((cells) => cells.map(cellOf).join(delimiter));
  return `${MARK}${lines.join("\r\n")}\r\n`;
}
