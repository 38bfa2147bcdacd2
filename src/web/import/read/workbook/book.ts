/** Reads tables from workbooks, and writes tables as workbooks. */
import type { CellObject, Range, WorkBook, WorkSheet } from "@e965/xlsx";
import {
  type CountNames,
  HEADER_ROWS,
  headerIndex,
  type Table,
  titleNote,
} from "../csv.ts";
import { IMPORT_PRODUCTS } from "../../../../lib/request_limits.ts";
import { joinSentences } from "../../../lib/format.ts";
import { unpackedSize } from "./archive.ts";
import { type Dates, isGrouped, textOfCell } from "./cells.ts";
import { noteHidden } from "./hidden.ts";
import { CFB, read, utils, write } from "./xlsx.ts";

/** A sheet of a workbook as a table. */
export interface SheetTable {
  /** The names of all sheets, hidden ones last. */
  sheets: readonly string[];
  sheet: string;
  table: Table;
  /** The numbers of hidden rows, and the indices of hidden columns. */
  hiddenRows: readonly number[];
  hiddenColumns: readonly number[];
  /** Sentences about texts that were left out. */
  note: string;
  /** The number of cells with formula errors, which are read as empty. */
  errors: number;
}

/** The reason why a workbook cannot be read, and a remedy, as sentences. */
export class UnreadableError extends Error {
  override name = "UnreadableError";
}

/** The limit of a workbook in unpacked bytes. */
const UNPACKED_UP_TO = 256 * 1024 * 1024;
/** The limit of a sheet in rows. */
const ROWS = 100_000;
const SPLIT = "Split it into several files, or save the sheet as CSV.";

/** The choice of a sheet and of its rows. */
export interface Wanted {
  /** The sheet's name; null for the first visible sheet with a table. */
  sheet: string | null;
  /** Whether hidden rows are read, too. */
  hidden: boolean;
}

/** Reads a sheet. */
export function readSheet(
  bytes: ArrayBuffer,
  wanted: Wanted,
  countNames: CountNames,
): SheetTable {
  const book = bookOf(bytes);
  const { true: hidden = [], false: shown = [] } = Object.groupBy(
    book.SheetNames,
    (_, i) => `${Boolean(book.Workbook?.Sheets?.[i]?.Hidden)}` as const,
  );
  const sheets = [...shown, ...hidden];
  const names = wanted.sheet === null ? shown : [wanted.sheet];
  const read = names.map((sheet) => {
    const { note, ...found } = tableOf(
      rowsOf(book, sheet),
      book.Sheets[sheet],
      datesOf(book),
      wanted.hidden,
      countNames,
    );
    const hiddenNote = hidden.length > 0 && wanted.sheet === null &&
      `A hidden sheet is not read unless you choose it above: ${
        hidden.join(", ")
      }.`;
    return { ...found, sheets, sheet, note: joinSentences(note, hiddenNote) };
  });
  const found = read.find(({ table }) => table.rows.length > 0) ?? read[0];
  if (found === undefined) {
    throw new UnreadableError("All sheets of the workbook are hidden.");
  }
  const others = read
    .filter((one) => one !== found && one.table.rows.length > 0)
    .map(({ sheet }) => sheet);
  const note = others.length > 0 &&
    `Only the sheet ${found.sheet} is read; you can choose another above: ${
      others.join(", ")
    }.`;
  return { ...found, note: joinSentences(found.note, note) };
}

/**
 * Writes rows into a sheet of a workbook, by their numbers. Cells whose texts
 * are the same stay unchanged.
 */
export function correctedBook(
  bytes: ArrayBuffer,
  sheet: string,
  rows: readonly { number: number; texts: readonly string[] }[],
): ArrayBuffer {
  const book = bookOf(bytes);
  const dates = datesOf(book);
  const cells = rowsOf(book, sheet);
  const corrected = rows.map(({ number, texts }) =>
    texts.map((text, column) => {
      const cell = cells[number - 1]?.[column];
      return textOfCell(cell, dates) === text ? cell : cellOf(text);
    })
  );
  return written({
    ...book,
    Sheets: { ...book.Sheets, [sheet]: sheetOf(corrected) },
  });
}

/**
 * Creates a workbook with one sheet. The columns `numbers` contain numbers below
 * the header.
 */
export function newBook(
  rows: readonly (readonly string[])[],
  numbers: readonly number[],
): ArrayBuffer {
  const book = utils.book_new();
  const cells = rows.map((row, i) =>
    row.map((text, column) =>
      i > 0 && text !== "" && numbers.includes(column)
        ? numberOf(text)
        : cellOf(text)
    )
  );
  utils.book_append_sheet(book, sheetOf(cells), PRODUCTS_SHEET);
  return written(book);
}

/** A column of a template; without `values`, any value is allowed. */
export interface TemplateColumn {
  name: string;
  values: readonly string[];
  /**
   * Whether the values are numbers. Cells of other columns are formatted as
   * text, because spreadsheet programs remove leading zeros of numbers.
   */
  isNumber: boolean;
}

/** The sheet with the products, and the hidden sheet with the lists of values. */
const PRODUCTS_SHEET = "Products";
const LISTS_SHEET = "Lists";
/** The last row of a template in which cells offer a list of values. */
const LAST_ROW = IMPORT_PRODUCTS + 1;

/**
 * Creates a workbook with these columns and no rows. In a column with values, a
 * spreadsheet program offers only these values.
 */
export function templateBook(columns: readonly TemplateColumn[]): ArrayBuffer {
  const lists = columns.filter(({ values }) => values.length > 0);
  const book = utils.book_new();
  const header = columns.map(({ name }) => cellOf(name));
  utils.book_append_sheet(book, sheetOf([header]), PRODUCTS_SHEET);
  const longest = lists.reduce(
    (most, { values }) => Math.max(most, values.length),
    0,
  );
  const rows = Array.from(
    { length: longest },
    (_, row) => lists.map(({ values }) => cellOf(values[row] ?? "")),
  );
  utils.book_append_sheet(book, sheetOf(rows), LISTS_SHEET);
  book.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 1 }] };
  const validations = lists.map((column, n) => {
    const cells = utils.encode_col(columns.indexOf(column));
    const list = `$${utils.encode_col(n)}`;
    return '<dataValidation type="list" allowBlank="1" showErrorMessage="1" ' +
      `sqref="${cells}2:${cells}${LAST_ROW}"><formula1>${LISTS_SHEET}!` +
      `${list}$1:${list}$${column.values.length}</formula1></dataValidation>`;
  });
  return withSheetXml(written(book), (xml) => {
    // The cells of the header are text.
    const [, text] = /<c r="A1" s="(\d+)"/.exec(xml)!;
    const formats = columns.map(({ isNumber }, i) =>
      `<col min="${i + 1}" max="${i + 1}" width="16" ` +
      `${isNumber ? "" : `style="${text}" `}customWidth="1"/>`
    );
    return xml
      .replace(
        "<sheetData>",
        (data) => `<cols>${formats.join("")}</cols>${data}`,
      )
      .replace(
        "</sheetData>",
        (end) =>
          `${end}<dataValidations count="${validations.length}">` +
          `${validations.join("")}</dataValidations>`,
      );
  });
}

/**
 * Changes the XML of the first sheet, because the library can write neither
 * validations nor formats of columns (ECMA-376, part 1, 18.3.1).
 */
function withSheetXml(
  bytes: ArrayBuffer,
  change: (xml: string) => string,
): ArrayBuffer {
  const archive = CFB.read(new Uint8Array(bytes), { type: "array" });
  const sheet = CFB.find(archive, "sheet1.xml")!;
  const xml = new TextDecoder().decode(Uint8Array.from(sheet.content));
  sheet.content = new TextEncoder().encode(change(xml));
  sheet.size = sheet.content.length;
  const out = CFB.write(archive, { fileType: "zip", type: "array" });
  return Uint8Array.from(out as ArrayLike<number>).buffer;
}

/** A cell with a number. Spreadsheet programs keep all digits of a price. */
function numberOf(text: string): CellObject {
  return { t: "n", v: Number(text) };
}

/**
 * A cell with a text. In a workbook `_x0041_` represents a character (ECMA-376,
 * part 1, 22.9.2.19), so such a text is escaped.
 */
function cellOf(text: string): CellObject | undefined {
  const v = text.replace(/_(?=x[\da-f]{4}_)/gi, "_x005F_");
  return text === "" ? undefined : { t: "s", v, z: "@" };
}

function sheetOf(cells: readonly (readonly (CellObject | undefined)[])[]) {
  const columns = cells.reduce((most, { length }) => Math.max(most, length), 1);
  return {
    "!data": cells as CellObject[][],
    "!ref": utils.encode_range({
      s: { r: 0, c: 0 },
      e: { r: cells.length - 1, c: columns - 1 },
    }),
  };
}

function written(book: WorkBook): ArrayBuffer {
  // The library unescapes strings twice unless they are shared strings.
  return write(book, {
    type: "array",
    bookType: "xlsx",
    bookSST: true,
    compression: true,
  });
}

function bookOf(bytes: ArrayBuffer): WorkBook {
  const size = unpackedSize(bytes);
  if (size === null) {
    throw new UnreadableError(
      "The file is damaged. Open it in your spreadsheet program, and save it again.",
    );
  }
  if (size > UNPACKED_UP_TO) {
    throw new UnreadableError(
      `The workbook has more than 256 MiB when it is unpacked. ${SPLIT}`,
    );
  }
  try {
    const book = read(bytes, {
      dense: true,
      cellNF: true,
      cellText: false,
      cellFormula: false,
      cellHTML: false,
      // Without styles, the library does not report hidden rows and columns.
      cellStyles: true,
      sheetRows: ROWS + 1,
    });
    if (book.bookType === "ods") noteHidden(book, bytes, ROWS);
    return book;
  } catch {
    throw new UnreadableError(
      "The file is damaged or of another kind. Open it in your spreadsheet program, and save it as an Excel workbook (.xlsx).",
    );
  }
}

function datesOf({ Workbook }: WorkBook): Dates {
  return { date1904: Workbook?.WBProps?.date1904 === true };
}

/** The cells of a sheet, without empty rows and cells. */
function rowsOf(
  { Sheets }: WorkBook,
  name: string,
): (CellObject | undefined)[][] {
  const { "!data": rows, "!ref": shown, "!fullref": all } = Sheets[name] ?? {};
  if (all !== undefined && all !== shown) {
    throw new UnreadableError(`A sheet has more than 100,000 rows. ${SPLIT}`);
  }
  return rows ?? [];
}

/**
 * The table of a sheet without the titles above the header. A cell that spans
 * several rows is repeated in each row.
 */
function tableOf(
  cells: readonly (readonly (CellObject | undefined)[])[],
  { "!merges": merges = [], "!rows": rowStyles, "!cols": columnStyles }:
    WorkSheet,
  dates: Dates,
  withHidden: boolean,
  countNames: CountNames,
): Omit<SheetTable, "sheets" | "sheet"> {
  let errors = 0;
  const rows: string[][] = [];
  const numbers: number[] = [];
  const hiddenRows: number[] = [];
  let wide: number | null = null;
  const grouped = new Set<number>();
  const tall = new Map<number, Range[]>();
  for (const merge of merges) {
    for (let row = merge.s.r + 1; row <= merge.e.r; row++) {
      if (row >= cells.length) break;
      tall.set(row, [...tall.get(row) ?? [], merge]);
    }
  }
  const textsOf = (row: number) =>
    Array.from(cells[row] ?? [], (cell) => textOfCell(cell, dates));
  const filled = [...cells.keys()].filter((row) =>
    textsOf(row).some((text) => text !== "")
  );
  const first = filled.slice(0, HEADER_ROWS)
    .map((row) => textsOf(row).map((text) => text ?? ""));
  const above = headerIndex(first, countNames);
  const [header = []] = first.slice(above);
  const headerAt = filled[above];
  const hiddenColumns = [...header.keys()]
    .filter((column) => columnStyles?.[column]?.hidden);
  for (const i of filled.slice(above + 1)) {
    if (rowStyles?.[i]?.hidden) {
      hiddenRows.push(i + 1);
      if (!withHidden) continue;
    }
    const texts = textsOf(i).map((text) => {
      if (text === null) errors++;
      return text ?? "";
    });
    for (const [column, cell] of (cells[i] ?? []).entries()) {
      if (isGrouped(cell)) grouped.add(column);
    }
    for (const { s: { r, c } } of tall.get(i) ?? []) {
      if (r > headerAt) texts[c] ||= textOfCell(cells[r]?.[c], dates) ?? "";
    }
    if (texts.slice(header.length).some(Boolean)) wide ??= i + 1;
    rows.push(header.map((_, column) => texts[column] ?? ""));
    numbers.push(i + 1);
  }
  const titles = first.slice(0, above).flat().filter(Boolean);
  const flaw = wide === null
    ? null
    : `Row ${wide} has more values than there are columns. Name every column.`;
  return {
    errors,
    hiddenRows,
    hiddenColumns,
    note: titleNote(titles),
    table: {
      header,
      rows,
      numbers,
      delimiter: null,
      titles,
      flaw,
      grouped: [...grouped],
    },
  };
}
