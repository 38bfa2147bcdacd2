/**
 * What somebody drops, chooses or pastes: a document is checked, a table gets
 * its columns mapped first, anything else is refused before it is sent.
 */
import type { Client } from "../client/mod.ts";
import { now } from "./browser.ts";
import { readTable, type Table } from "./csv.ts";
import { gathered } from "./shops/gather.ts";
import { noteOf } from "./shops/rows.ts";
import { tableOfFeed } from "./feed.ts";
import { isTable, kindOf } from "./kinds.ts";
import { inSlices } from "./slices.ts";
import { plural } from "./parts.tsx";
import type { Book } from "./sheet.ts";
import { dropFile, intake, takeAnew, upload } from "./taken.ts";
import { takeDocument, takeFile } from "./upload.ts";
import { readBook } from "./workbook/ask.ts";

/** Bytes; the thread that reads a larger one may need too much memory. */
const LARGEST_BOOK = 50_000_000;

/** Accepts a file. */
export async function takeAny(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  const signal = takeAnew();
  const bytes = await file.arrayBuffer().catch(() => null);
  if (signal.aborted) return;
  const kind = bytes === null ? null : kindOf(file.name, bytes);
  if (kind === null || kind.name === "xml") {
    intake.set({ name: "empty" });
    return takeFile(client, file, handle);
  }
  dropFile();
  if (kind.name === "table") await takeRows(file.name, kind.text, signal);
  else if (kind.name === "feed") takeFeed(file.name, kind.text);
  else if (kind.name === "workbook") await takeBook(file.name, file, null);
  else intake.set(kind);
}

function takeFeed(name: string, text: string): void {
  const table = tableOfFeed(text);
  if (table !== null) return takeTable(name, table, null);
  const refused = {
    name,
    what: "a feed that cannot be read",
    remedy: "It is broken XML, or holds no products. Export it again.",
  };
  intake.set({ name: "refused", refused });
}

/** Accepts a sheet of a workbook; null: the first with a table. */
export async function takeBook(
  name: string,
  file: Blob,
  sheet: string | null,
): Promise<void> {
  const signal = takeAnew();
  intake.set({ name: "reading", file: name });
  const read = file.size > LARGEST_BOOK
    ? "It has more than 50 MB. Save the sheet with the products as CSV."
    : await readBook(file, sheet, signal);
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
  const { sheets, errors, table } = read;
  takeTable(name, table, { file, sheets, sheet: read.sheet }, errors);
}

/** Accepts pasted text: a document, or rows of a spreadsheet. */
export async function takeText(
  client: Client | null,
  text: string,
): Promise<boolean> {
  const isXml = text.trimStart().startsWith("<");
  if (!isXml && !isTable(text)) return false;
  const signal = takeAnew();
  const name = `pasted ${new Date(now()).toTimeString().slice(0, 5)}`;
  dropFile();
  if (isXml) {
    intake.set({ name: "empty" });
    await takeDocument(client, name, text);
  } else await takeRows(name, text, signal);
  return true;
}

/** Goes back to the columns of a table, with its corrections. */
export function mapAgain(): void {
  const { sheet } = upload.value ?? {};
  takeAnew();
  dropFile();
  if (sheet == null) return;
  intake.set({
    name: "spreadsheet",
    spreadsheet: {
      name: sheet.name,
      table: sheet.table,
      note: "",
      book: sheet.book,
    },
  });
}

/** How programs write that a formula or a database has no value. */
const NO_VALUE =
  /^(?:#(?:N\/[ABD]|NV|[¡¿]?\p{Lu}[\p{Lu}/0]*[!?])|null|NULL|nan|NaN)$/u;

function withoutErrors(table: Table): { table: Table; errors: number } {
  let errors = 0;
  const rows = table.rows.map((cells) =>
    !cells.some((cell) => NO_VALUE.test(cell)) ? cells : cells.map((cell) => {
      if (!NO_VALUE.test(cell)) return cell;
      errors++;
      return "";
    })
  );
  return { table: errors === 0 ? table : { ...table, rows }, errors };
}

async function takeRows(
  name: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  intake.set({ name: "reading", file: name });
  const table = await inSlices(readTable(text), signal);
  if (table !== null) takeTable(name, table, null);
}

function takeTable(
  name: string,
  read: Table,
  book: Book | null,
  errors = 0,
): void {
  const { table: sound, errors: more } = withoutErrors(read);
  const { table, note } = gathered(sound);
  const without = errors + more;
  const notes = noteOf(
    without > 0 &&
      `${plural(without, "cell")} without a value, such as #N/A, ` +
        `${without === 1 ? "is" : "are"} read as empty.`,
    note,
  );
  // Another sheet of a workbook may have rows.
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
        spreadsheet: { name, table, note: notes, book },
      },
  );
}
