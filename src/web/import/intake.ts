/**
 * Opens files and text that are dropped, chosen or pasted. Documents are checked
 * at once; tables after their columns are mapped. Other files are refused.
 */
import type { Client } from "../../client/mod.ts";
import { now } from "../lib/browser.ts";
import { isJson } from "../lib/markup.ts";
import {
  type ReadTable,
  readTable,
  type Table,
  withFormulas,
} from "./read/csv.ts";
import { isOwnTable } from "./columns/own_table.ts";
import { joinSentences, nameWithNumbers, plural } from "../lib/format.ts";
import { decodeAs, type DecodedText } from "./read/encodings.ts";
import { countKnownNames } from "./columns/headers.ts";
import {
  columnRemoval,
  confirmation,
  type Finding,
  question,
  rereading,
  withoutRows,
} from "./check/finding.ts";
import { sampleValues } from "./columns/guesses.ts";
import { gatherTable } from "./gather.ts";
import type { GatheredTable } from "./shops/rows.ts";
import { tableOfFeed } from "./read/feed.ts";
import { fileKindOf, isTable } from "./read/kinds.ts";
import { runInSlices, type SlicedWork } from "../lib/slices.ts";
import { intake, type Spreadsheet, startOpening } from "./intake_state.ts";
import { dropFile, upload } from "./send/upload_state.ts";
import { openDocument, openDocumentText } from "./send/upload.ts";
import { readBook } from "./read/workbook/ask.ts";

/**
 * The maximum size of a workbook in bytes. The worker may not have enough memory
 * for a larger one.
 */
const LARGEST_BOOK = 50_000_000;

/** Opens a file. */
export async function openAnyFile(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  const signal = startOpening();
  const bytes = await file.arrayBuffer().catch(() => null);
  if (signal.aborted) return;
  const kind = bytes === null ? null : fileKindOf(file.name, bytes);
  if (kind === null || kind.name === "document") {
    intake.set({ name: "empty" });
    return openDocument(client, file, handle);
  }
  dropFile();
  if (kind.name === "table") {
    await openTextTable({ ...kind.decoded, name: file.name, bytes });
  } else if (kind.name === "feed") {
    await openFeed({ ...kind.decoded, name: file.name, bytes });
  } else if (kind.name === "workbook") {
    await openWorkbook(file.name, file, null);
  } else intake.set(kind);
}

async function openFeed(file: TextFile): Promise<void> {
  const { name } = file;
  const table = tableOfFeed(file.text);
  if (table !== null) {
    return await openTable(name, table, encodingChoice(file, openFeed));
  }
  const refused = {
    name,
    what: "a feed that cannot be read",
    remedy: "It is malformed XML, or has no products. Export it again.",
  };
  intake.set({ name: "refused", refused });
}

/**
 * Opens a sheet of a workbook; if `sheet` is null, the first one with a table.
 * `hidden` determines whether hidden rows are read; null asks the user.
 */
export async function openWorkbook(
  name: string,
  file: Blob,
  sheet: string | null,
  hidden: boolean | null = null,
): Promise<void> {
  const signal = startOpening();
  intake.set({ name: "reading", file: name });
  const read = file.size > LARGEST_BOOK
    ? "It has more than 50 MB. Save the sheet with the products as CSV."
    : await readBook(file, { sheet, hidden: hidden ?? true }, signal);
  if (signal.aborted) return;
  if (typeof read === "string") {
    const refused = {
      name,
      what: "a workbook that cannot be read",
      remedy: read,
    };
    intake.set({ name: "refused", refused });
    return;
  }
  const { sheets, note, errors, table } = read;
  const { hiddenRows, hiddenColumns } = read;
  await openTable(name, table, {
    book: { file, sheets, sheet: read.sheet },
    note,
    errors,
    questions: [
      ...(hidden !== null || hiddenRows.length === 0 ? [] : [question(
        `The workbook hides ${
          nameWithNumbers("row", hiddenRows)
        }, maybe by a filter.`,
        confirmation(`Include ${plural(hiddenRows.length, "row")}`),
        rereading(
          `Leave ${plural(hiddenRows.length, "row")} out`,
          () => openWorkbook(name, file, read.sheet, false),
        ),
      )]),
      ...(hiddenColumns.length === 0 ? [] : [question(
        `The workbook hides ${plural(hiddenColumns.length, "column")}: ${
          hiddenColumns.map((column) => table.header[column]).join(", ")
        }.`,
        confirmation("Include them"),
        columnRemoval("Leave them out", hiddenColumns),
      )]),
    ],
  });
}

/** Opens pasted text: a document, or rows of a spreadsheet. */
export async function openPastedText(
  client: Client | null,
  text: string,
): Promise<boolean> {
  const isDocument = text.trimStart().startsWith("<") || isJson(text);
  if (!isDocument && !isTable(text)) return false;
  startOpening();
  const name = `pasted ${new Date(now()).toTimeString().slice(0, 5)}`;
  dropFile();
  if (isDocument) {
    intake.set({ name: "empty" });
    await openDocumentText(client, name, text);
  } else await openTextTable({ name, text, encodings: null, bytes: null });
  return true;
}

/** Shows the columns of a table again and keeps the corrections. */
export function changeColumns(): void {
  const current = upload.value;
  startOpening();
  dropFile();
  if (current?.kind !== "table") return;
  const { sheet } = current;
  intake.set({
    name: "spreadsheet",
    spreadsheet: {
      name: sheet.name,
      table: sheet.table,
      note: "",
      book: sheet.book,
      questions: [],
      encoding: null,
    },
  });
}

/** The number of rows that are changed between two pauses. */
const STEP = 250;

/** Restores the texts of a table that the page saved with CSV escapes. */
function* withOwnTexts(table: Table): SlicedWork<Table> {
  if (table.delimiter === null) return table;
  const rows: (readonly string[])[] = [];
  for (const cells of table.rows) {
    rows.push(cells.map(withFormulas));
    if (rows.length % STEP === 0) yield;
  }
  return { ...table, header: table.header.map(withFormulas), rows };
}

/**
 * The table as it is shown: cells without a value are empty, and `errors` is
 * their number. A table that the page saved has its texts restored instead.
 */
function* preparedTable(
  read: Table,
): SlicedWork<GatheredTable & { errors: number }> {
  if (isOwnTable(read.header)) {
    return { table: yield* withOwnTexts(read), note: "", errors: 0 };
  }
  const { table, errors } = yield* withoutErrors(read);
  const { table: products, note } = yield* gatherTable(table);
  // The samples are stored here, in slices; the column proposals read them.
  yield* sampleValues(products.rows);
  return { table: products, note, errors };
}

/** Texts that programs write if a formula or database field has no value. */
const NO_VALUE =
  /^(?:#(?:N\/[ABD]|NV|[¡¿]?\p{Lu}[\p{Lu}/0]*[!?])|null|NULL|nan|NaN|None|N\/A|n\/a|n\.a\.|k\. ?A\.)$/u;

function* withoutErrors(
  table: Table,
): SlicedWork<{ table: Table; errors: number }> {
  const rows = [...table.rows];
  let errors = 0;
  for (const [row, cells] of table.rows.entries()) {
    if (row % STEP === STEP - 1) yield;
    const wrong = cells.filter((cell) => NO_VALUE.test(cell)).length;
    if (wrong === 0) continue;
    errors += wrong;
    rows[row] = cells.map((cell) => NO_VALUE.test(cell) ? "" : cell);
  }
  return { table: errors === 0 ? table : { ...table, rows }, errors };
}

/** A table as text, with the user's choices about it. */
interface TextFile extends DecodedText {
  name: string;
  /** Null for pasted text. */
  bytes: ArrayBuffer | null;
  /** The encoding that the user chose. */
  encoding?: string;
  /** Whether quoted text over several lines is one text, and not several rows. */
  oneText?: boolean;
  /** The numbers of rows that are left out. */
  leftOut?: readonly number[];
}

/** The encoding of a file, and the question about it. */
function encodingChoice(
  file: TextFile,
  take: (file: TextFile) => void,
): Pick<Spreadsheet, "encoding" | "questions"> {
  const { encodings, bytes, encoding } = file;
  if (encodings === null) return { encoding: null, questions: [] };
  const { all, likely } = encodings;
  const choose = (encoding: string) =>
    take({ ...file, encoding, text: decodeAs(bytes!, encoding) });
  return {
    encoding: { name: encoding ?? all[0].name, all, choose },
    questions: likely === 1 || encoding !== undefined ? [] : [question(
      "The encoding of this file is uncertain. Which text is right? " +
        "More encodings can be chosen above.",
      ...all.slice(0, likely).map(({ name, label, words }) =>
        rereading(`${words} (${label})`, () => choose(name))
      ),
    )],
  };
}

async function openTextTable(file: TextFile): Promise<void> {
  const { name, text } = file;
  const signal = startOpening();
  intake.set({ name: "reading", file: name });
  const table = await runInSlices(
    readTable(text, countKnownNames, file.oneText),
    signal,
  );
  if (table === null) return;
  const { encoding, questions } = encodingChoice(file, openTextTable);
  const left = new Set(file.leftOut);
  const out = [...table.numbers.keys()]
    .filter((row) => left.has(table.numbers[row]));
  await openTable(name, withoutRows(table, out), {
    note: table.note,
    encoding,
    questions: [
      ...questions,
      ...(table.ambiguousRows.length === 0 || file.oneText !== undefined
        ? []
        : [question(
          `A text in ${
            nameWithNumbers("row", table.ambiguousRows)
          } may continue in the ` +
            "next lines, or each of these lines may be a row: a quotation " +
            "mark may mean inches.",
          confirmation("Each line is a row"),
          rereading(
            "It is one text",
            () => openTextTable({ ...file, oneText: true }),
          ),
        )]),
      ...(table.shifts.length === 0 || file.leftOut !== undefined ? [] : [
        shiftQuestion(
          table,
          () => openTextTable({ ...file, leftOut: table.shifts }),
        ),
      ]),
    ],
  });
}

/** The question about unquoted texts that contain the delimiter. */
function shiftQuestion(
  { shifts, delimiter }: ReadTable,
  leaveOut: () => void,
): Finding {
  return question(
    `A "${delimiter}" before a space may be part of a text in ${
      nameWithNumbers("row", shifts)
    }, so that values are in wrong columns.`,
    confirmation("The columns are right"),
    rereading(`Leave ${plural(shifts.length, "row")} out`, leaveOut),
  );
}

async function openTable(
  name: string,
  read: Table,
  {
    book = null,
    errors = 0,
    note: before = "",
    questions = [],
    encoding = null,
  }:
    & Partial<Omit<Spreadsheet, "name" | "table">>
    & { errors?: number } = {},
): Promise<void> {
  const signal = startOpening();
  intake.set({ name: "reading", file: name });
  const made = await runInSlices(preparedTable(read), signal);
  if (made === null) return;
  const { table, errors: more, note } = made;
  const without = errors + more;
  const notes = joinSentences(
    before,
    without > 0 &&
      `${plural(without, "cell")} without a value, such as #N/A, ` +
        `${without === 1 ? "is" : "are"} read as empty.`,
    note,
  );
  // Another sheet of the workbook may have rows.
  const isEmpty = table.rows.length === 0 && (book?.sheets.length ?? 1) < 2;
  intake.set(
    isEmpty
      ? {
        name: "refused",
        refused: {
          name,
          what: "a table without rows",
          remedy: "Its first row must name the columns; products follow.",
        },
      }
      : {
        name: "spreadsheet",
        spreadsheet: { name, table, note: notes, book, questions, encoding },
      },
  );
}
