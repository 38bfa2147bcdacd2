/**
 * The page's modules for the simulation. No other file of this folder imports
 * from `src/web`.
 */
import { SCALAR_RULES, type ScalarField } from "../../src/catalogue/fields.ts";
import type { SentProduct } from "../../src/client/mod.ts";
import { openAnyFile } from "../../src/web/import/intake.ts";
import {
  makeDocument,
  mappingFor,
  withTarget,
} from "../../src/web/import/columns/spreadsheet.ts";
import {
  type ChosenColumns,
  NOTHING_CHOSEN,
} from "../../src/web/import/columns/mappings.ts";
import type {
  Finding,
  FindingAnswer,
} from "../../src/web/import/check/finding.ts";
import { findingsIn } from "../../src/web/import/check/findings.ts";
import {
  missingFieldsOf,
  repeatedFields,
} from "../../src/web/import/check/table_checks.ts";
import { intake, type Spreadsheet } from "../../src/web/import/intake_state.ts";
import type { ColumnMapping } from "../../src/web/import/columns/spreadsheet.ts";
import type { Table } from "../../src/web/import/read/csv.ts";
import type { ColumnField } from "../../src/web/lib/column_field.ts";
import { countKnownNames } from "../../src/web/import/columns/headers.ts";
import { newBook, readSheet } from "../../src/web/import/read/workbook/book.ts";
import type {
  WorkerRequest as BookQuestion,
  WorkerResponse as BookAnswer,
} from "../../src/web/import/read/workbook/messages.ts";
import { catalogueFile as savedFile } from "../../src/web/products/catalogue_file.ts";
import type { Product as Stored } from "../../src/client/mod.ts";
import { utils, write } from "../../src/web/import/read/workbook/xlsx.ts";
import { finish } from "../support/work.ts";
import type { Cell } from "./grid.ts";

export type { ColumnField as Target, Finding, FindingAnswer as Answer };
export { missingFieldsOf, NOTHING_CHOSEN };

/** A table whose columns are being mapped, as its view stores it. */
export interface View {
  spreadsheet: Spreadsheet;
  table: Table;
  mapping: ColumnMapping;
  answered: ReadonlySet<string>;
  chosen: ChosenColumns;
}

function readFor(
  { bytes, wanted }: Extract<BookQuestion, { name: "read" }>,
): BookAnswer {
  try {
    return { name: "sheet", sheet: readSheet(bytes, wanted, countKnownNames) };
  } catch (error) {
    return { name: "unreadable", message: (error as Error).message };
  }
}

/** Runs the worker for workbooks in this thread. */
class InThisThread {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: (() => void) | null = null;
  postMessage(question: BookQuestion): void {
    const data: BookAnswer = question.name === "write"
      ? { name: "book", bytes: newBook(question.rows, question.numbers) }
      : question.name === "read"
      ? readFor(question)
      : { name: "unreadable", message: "not in this thread" };
    queueMicrotask(() => this.onmessage?.({ data }));
  }
  terminate(): void {}
}

/** Runs a function that may read or write a workbook. */
async function withBooks<T>(work: () => Promise<T>): Promise<T> {
  const before = globalThis.Worker;
  (globalThis as { Worker: unknown }).Worker = InThisThread;
  try {
    return await work();
  } finally {
    globalThis.Worker = before;
  }
}

/** The file in which the page saves products. */
export async function saved(
  products: readonly Stored[],
  kind: "csv" | "xlsx",
): Promise<Uint8Array<ArrayBuffer>> {
  const file = await withBooks(() => savedFile(products, kind));
  return new Uint8Array(await file.arrayBuffer());
}

/** Drops a file on the page; returns a text if it is refused. */
export async function drop(
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  chosen: ChosenColumns = NOTHING_CHOSEN,
): Promise<View | string> {
  await withBooks(() => openAnyFile(null, new File([bytes], name)));
  return taken(chosen);
}

function taken(chosen: ChosenColumns): View | string {
  const { value } = intake;
  if (value.name === "refused") return value.refused.what;
  if (value.name !== "spreadsheet") return value.name;
  const { spreadsheet } = value;
  const { table } = spreadsheet;
  const mapping = mappingFor(table, chosen);
  return { spreadsheet, table, mapping, answered: new Set(), chosen };
}

const found = new WeakMap<Table, WeakMap<ColumnMapping, Finding[]>>();

/** The page's notes and questions about a table, answered or not. */
function findingsOf(view: View): Finding[] {
  const { spreadsheet, table, mapping, chosen } = view;
  const known = found.get(table) ?? new WeakMap<ColumnMapping, Finding[]>();
  found.set(table, known);
  const findings = known.get(mapping) ?? finish(findingsIn({
    ...spreadsheet,
    table,
    mapping,
    chosen,
    answered: new Set(),
  }));
  known.set(mapping, findings);
  return findings;
}

/**
 * The currency that the page takes from an earlier file; null if it takes none.
 */
export function earlierCurrencyOf(view: View): string | null {
  const texts = findingsOf(view).map(({ text }) => text).join("\n");
  return /prices are sent in ([A-Z]{3}), the currency of an earlier file/
    .exec(texts)?.[1] ?? null;
}

export function openQuestions(view: View): Finding[] {
  return findingsOf(view)
    .filter(({ text, isQuestion }) => isQuestion && !view.answered.has(text));
}

/** The view after an answer, computed like in `columns.tsx`. */
export async function answer(
  view: View,
  { text }: Finding,
  { apply }: FindingAnswer,
): Promise<View | string> {
  let next: { table: Table; mapping: ColumnMapping } | null = null;
  await withBooks(async () => {
    next = apply(view);
    while (intake.value.name === "reading") {
      await new Promise((done) => setTimeout(done));
    }
  });
  const answered = new Set([...view.answered, text]);
  if (next === null) {
    const again = taken(view.chosen);
    return typeof again === "string" ? again : { ...again, answered };
  }
  const { table, mapping } = next;
  return { ...view, table, mapping, answered };
}

export function choose(view: View, column: number, target: ColumnField): View {
  const { table, mapping } = view;
  return { ...view, mapping: withTarget(table, mapping, column, target) };
}

export function setUnit(view: View, column: number, unit: string): View {
  const { mapping } = view;
  const readings = mapping.numberFormats
    .with(column, { ...mapping.numberFormats[column], unit });
  return { ...view, mapping: { ...mapping, numberFormats: readings } };
}

export function setCurrency(view: View, currency: string): View {
  const { mapping } = view;
  const values = { ...mapping.values, currency };
  return { ...view, mapping: { ...mapping, values } };
}

/** Why the check button is disabled; null if it is enabled. */
export function blockOf(view: View):
  | "sku"
  | "currency"
  | "flaw"
  | "repeated"
  | "unit"
  | null {
  const { targets, values } = view.mapping;
  if (!targets.includes("sku")) return "sku";
  if (
    targets.includes("price") && !targets.includes("currency") &&
    (values.currency ?? "") === ""
  ) return "currency";
  if (view.table.flaw !== null) return "flaw";
  if (repeatedFields(view.mapping).length > 0) return "repeated";
  const isUnitOpen = findingsOf(view)
    .some(({ text }) => text.endsWith("Choose the unit."));
  return isUnitOpen ? "unit" : null;
}

const blobs = new WeakMap<Blob, string>();

/** The products that would be sent. */
export async function sentOf({ table, mapping }: View): Promise<SentProduct[]> {
  const rows = [...table.rows.keys()];
  const blob = finish(makeDocument(table, mapping, rows));
  const text = blobs.get(blob) ?? await blob.text();
  return JSON.parse(text).products;
}

/** Whether the service accepts a value of a field. */
export function isTaken(field: string, text: string): boolean {
  if (field === "currency") return /^[A-Z]{3}$/.test(text);
  return !Object.hasOwn(SCALAR_RULES, field) ||
    !("problem" in SCALAR_RULES[field as ScalarField].read(text));
}

/** The bytes of a workbook as a spreadsheet program writes it. */
export function bookBytes(
  rows: readonly (readonly Cell[])[],
  { hiddenRows, hiddenColumns, sheets }: {
    hiddenRows: readonly number[];
    hiddenColumns: readonly number[];
    sheets: readonly string[];
  },
): Uint8Array<ArrayBuffer> {
  const book = utils.book_new();
  for (const [i, name] of sheets.entries()) {
    if (i > 0) {
      utils.book_append_sheet(
        book,
        utils.aoa_to_sheet([["Note"], ["none"]]),
        name,
      );
      continue;
    }
    const sheet = utils.aoa_to_sheet(
      rows.map((row) =>
        row.map((cell) =>
          cell === ""
            ? null
            : typeof cell === "string"
            ? { t: "s", v: cell }
            : { t: "n", v: cell.v, z: cell.z }
        )
      ),
    );
    sheet["!rows"] = rows.map((_, row) => ({
      hidden: hiddenRows.includes(row),
    }));
    sheet["!cols"] = rows[0]?.map((_, column) => ({
      hidden: hiddenColumns.includes(column),
    }));
    utils.book_append_sheet(book, sheet, name);
  }
  return new Uint8Array(
    write(book, { type: "array", bookType: "xlsx", compression: true }),
  );
}
