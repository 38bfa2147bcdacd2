/**
 * A file on its way to the catalogue: taken → checked by a dry run → repaired
 * and checked again → sent, as one import.
 */
import { IMPORT_NAME_LENGTH, PAGE_LIMIT } from "../../../lib/request_limits.ts";
import {
  ApiError,
  type CallOptions,
  type Client,
  type Detail,
  type Import,
  newIdempotencyKey,
} from "../../../client/mod.ts";
import { escaped } from "../../../lib/markup.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import {
  replacementObjections,
  rowName,
  skuObjections,
  skusInDocument,
  skusInRows,
} from "../check/objections.ts";
import { Finder, isJson, laidOut, withoutProducts } from "../../lib/markup.ts";
import { nameUpload } from "../../state/names.ts";
import {
  type CellChange,
  type MappedTable,
  skuOfRow,
  withCellsChanged,
  withColumnForField,
} from "../columns/sheet.ts";
import { runInSlices } from "../../lib/slices.ts";
import { makeDocument } from "../columns/spreadsheet.ts";
import {
  changeUpload,
  type DocumentUpload,
  newUpload,
  NO_REFUSAL,
  type Refusal,
  type Sent,
  startStep,
  type Step,
  type TableUpload,
  type Upload,
  upload,
} from "./upload_state.ts";

/** Characters; longer documents are shown, but not edited here. */
const EDITABLE_LENGTH = 2 * 1024 * 1024;
/** Characters; longer documents are sent, but not shown. */
const SHOWN_LENGTH = 32 * 1024 * 1024;
const GIVE_UP_MS = 5 * 60_000;
/** The most problems that are shown; more are counted. */
const PROBLEMS_SHOWN = 10_000;

/** Whether the document can be edited on the page. */
export function isEditable(
  { text, bytes }: Pick<DocumentUpload, "text" | "bytes">,
): boolean {
  return bytes === null && text.length <= EDITABLE_LENGTH;
}

/** Whether the document is shown on the page. */
export function isShown({ text }: DocumentUpload): boolean {
  return text.length <= SHOWN_LENGTH;
}

/** Accepts a document and checks it, or keeps it until somebody signs in. */
export async function takeFile(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  const { name, size, lastModified: changedAt } = file;
  const taken = { ...newDocument(name, size), handle, changedAt };
  const bytes = await bytesOf(file);
  if (bytes === null) {
    replaceUpload({
      ...taken,
      step: { name: "failed", error: GONE, refusal: null },
    });
    return;
  }
  const { text, isFaithful } = decodeUtf8(bytes);
  await takeAndCheck(
    client,
    isFaithful
      ? withSkusInFile({ ...taken, ...readably(text) })
      : { ...taken, text, bytes: new Blob([bytes]) },
  );
}

function newDocument(fileName: string, size: number): DocumentUpload {
  return {
    ...newUpload(fileName),
    kind: "document",
    size,
    text: "",
    bytes: null,
    handle: null,
    changedAt: 0,
    isLaidOut: false,
  };
}

/** A longer document cannot be edited, so no SKU is typed here. */
function withSkusInFile(taken: DocumentUpload): DocumentUpload {
  return isEditable(taken)
    ? { ...taken, skusInFile: new Set(skusInDocument(taken.text)) }
    : taken;
}

/** Accepts a document that the page made, and checks it. */
export async function takeDocument(
  client: Client | null,
  fileName: string,
  text: string,
  stored: Upload["stored"] = new Map(),
): Promise<void> {
  const { size } = new Blob([text]);
  await takeAndCheck(
    client,
    withSkusInFile({
      ...newDocument(fileName, size),
      stored,
      text: readably(text).text,
    }),
  );
}

/** Accepts a table whose columns are known, and checks its products. */
export async function takeSheet(
  client: Client | null,
  sheet: MappedTable,
  stored: Upload["stored"] = new Map(),
): Promise<void> {
  const rows = [...sheet.table.rows.keys()];
  await takeAndCheck(client, {
    ...newUpload(sheet.name),
    kind: "table",
    sheet,
    ownColumns: sheet.table.header.length,
    rows,
    changed: new Map(),
    steps: [],
    stored,
    skusInFile: new Set(skusInRows(sheet, rows)),
  });
}

function replaceUpload(taken: Upload): void {
  startStep();
  upload.set(taken);
}

async function takeAndCheck(
  client: Client | null,
  taken: Upload,
): Promise<void> {
  replaceUpload(taken);
  if (client !== null) await checkUpload(client);
}

function readably(text: string): Pick<DocumentUpload, "text" | "isLaidOut"> {
  const shown = text.length <= EDITABLE_LENGTH && !isJson(text)
    ? laidOut(text)
    : text;
  return { text: shown, isLaidOut: shown !== text };
}

const GONE = new Error(
  "The file cannot be read. It may have been moved or changed; choose it again.",
);

/** Null if the browser can read the file no more. */
async function bytesOf(file: File): Promise<ArrayBuffer | null> {
  try {
    return await file.arrayBuffer();
  } catch {
    return null;
  }
}

/** Line ends become those that XML reads. */
function decodeUtf8(bytes: ArrayBuffer): { text: string; isFaithful: boolean } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text: text.replace(/\r\n?/g, "\n"), isFaithful: true };
  } catch {
    return { text: new TextDecoder().decode(bytes), isFaithful: false };
  }
}

/** Changes the text of the document. */
export function editText(text: string): void {
  changeUpload({ name: "text edited", text });
}

/** Changes cells of the table; `undoStep` takes the last such step back. */
export function editCells(changes: readonly CellChange[]): void {
  const current = upload.value;
  if (current?.kind !== "table" || changes.length === 0) return;
  const { rows } = current.sheet.table;
  const inverse = changes.map(({ row, column }) => ({
    row,
    column,
    text: rows[row][column],
  }));
  writeCells(current.sheet, changes, inverse);
}

/** Takes the last step of the corrections back. */
export function undoStep(): void {
  const current = upload.value;
  if (current?.kind !== "table") return;
  const last = current.steps.at(-1);
  if (last !== undefined) writeCells(current.sheet, last, null);
}

function writeCells(
  sheet: MappedTable,
  changes: readonly CellChange[],
  inverse: readonly CellChange[] | null,
): void {
  changeUpload({
    name: "cells edited",
    changes,
    inverse,
    sheet: withCellsChanged(sheet, changes),
    unconfirmed: changes.map(({ row }) => skuOfRow(sheet, row)),
  });
}

/** Gives the table a column for a field; returns its index. */
export function addColumn(target: ColumnField): number {
  const current = upload.value;
  if (current?.kind !== "table") throw new Error("there is no table");
  const { sheet } = current;
  changeUpload({
    name: "column added",
    sheet: withColumnForField(sheet, target),
  });
  return sheet.table.header.length;
}

/** Lets products be replaced, and checks again. */
export async function confirmSkus(
  client: Client,
  skus: readonly string[],
): Promise<void> {
  changeUpload({ name: "confirmed", skus });
  await checkUpload(client);
}

/** Writes another value in all these places. */
export function replaceValues(
  { text }: DocumentUpload,
  found: readonly Detail[],
  value: string,
): void {
  const finder = new Finder(text);
  const ranges = found.map((problem) => finder.find(problem))
    .filter((range) => range !== null)
    .sort((a, b) => b.start - a.start);
  editText(ranges.reduce(
    (all, { start, end }) =>
      all.slice(0, start) + escaped(value) + all.slice(end),
    text,
  ));
}

/** The value that all these problems speak of; null unless it is one. */
export function commonValue(
  { text }: DocumentUpload,
  found: readonly Detail[],
): string | null {
  const finder = new Finder(text);
  let common: string | null = null;
  for (const problem of found) {
    const range = finder.find(problem);
    const value = range && text.slice(range.start, range.end);
    if (value === null || value === "" || value.includes("<")) return null;
    if (value !== (common ??= value)) return null;
  }
  return common;
}

/**
 * Reads the file anew if it changed on disk; returns whether it did. Edits on
 * the page are lost then.
 */
export async function readAgain(client: Client): Promise<boolean> {
  const current = upload.value;
  if (current?.kind !== "document" || current.handle === null) return false;
  const { handle, changedAt } = current;
  const file = await handle.getFile();
  if (file.lastModified === changedAt) return false;
  await takeFile(client, file, handle);
  return true;
}

/** Checks the file by a dry run. */
export async function checkUpload(client: Client): Promise<void> {
  if (upload.value === null) return;
  const first = { name: "checking", percent: null } as const;
  await runStep(
    first,
    (current, signal) => checkOutcome(client, current, signal),
  );
}

async function checkOutcome(
  client: Client,
  current: Upload,
  signal: AbortSignal,
): Promise<Step> {
  const lastStoredAtCheck = await lastStored(client, { signal });
  changeUpload({ name: "placed", lastStoredAtCheck });
  const held = await pageObjections(client, current, signal);
  const products = await documentToSend(current, [], signal);
  return await dryRun(client, current, { products, held }, signal);
}

/** The page's objections, before the service is asked. */
async function pageObjections(
  client: Client,
  current: Upload,
  signal: AbortSignal,
): Promise<Detail[]> {
  if (current.kind === "table") {
    const skus = skusInRows(current.sheet, current.rows);
    return await skuObjections(client, current, skus, signal);
  }
  const { stored, corrected, text } = current;
  const mayHold = isEditable(current) && (stored.size > 0 || corrected);
  return mayHold
    ? await skuObjections(client, current, skusInDocument(text), signal)
    : [];
}

/** Enough imports to find a stored one behind the checks of others. */
const IMPORTS_LISTED = 20;

/** Identifies the last upload and the last import, whoever sent them. */
async function lastStored(
  client: Client,
  options: CallOptions,
): Promise<string> {
  const [{ transactions }, { imports }] = await Promise.all([
    client.listTransactions({ limit: 1 }, options),
    client.listImports({ limit: IMPORTS_LISTED }, options),
  ]);
  const stored = imports.find(({ dry_run }) => !dry_run);
  return `${transactions[0]?.transaction_id} ${stored?.import_id}`;
}

/** The outcome of a dry run, with the products that the page holds back. */
async function dryRun(
  client: Client,
  current: Upload,
  { products, held }: { products: string | Blob; held: readonly Detail[] },
  signal: AbortSignal,
): Promise<Step> {
  const name = importName(current.fileName);
  const { import_id } = await client.beginImport(
    { products, name, dry_run: true },
    { signal, idempotencyKey: newIdempotencyKey() },
  );
  try {
    const changes = client
      .follow({ import_id }, { signal, retryFor: GIVE_UP_MS });
    for await (const { progress: percent } of changes) {
      changeUpload({ name: "reached", step: { name: "checking", percent } });
    }
    const step = withObjections(
      await dryRunOutcome(client, import_id, signal),
      held,
    );
    return current.kind === "table"
      ? withObjections(
        step,
        await replacementObjections(client, current, import_id, signal),
      )
      : step;
  } finally {
    // Its document would count against the quota. If this fails, it is deleted
    // as old uploads are.
    client.cancelImport({ import_id }).catch(() => {});
  }
}

async function dryRunOutcome(
  client: Client,
  import_id: string,
  signal: AbortSignal,
): Promise<Step> {
  const { import: checked } = await client.getImport({ import_id }, { signal });
  const { status, products: counts } = checked;
  if (status === "completed") return { name: "ready", counts };
  if (checked.problems === undefined) throw new Error("The check was ended.");
  const refused = counts.refused ?? 0;
  const refusal = {
    ...await allProblems(client, checked, signal),
    error: null,
    validCount: counts.total - refused,
    leftOutCount: refused,
    heldBackProducts: [],
  };
  return { name: "refused", refusal };
}

/** The problems of an import, also those that its status only counts. */
async function allProblems(
  client: Client,
  { import_id, problems = [], more = 0 }: Import,
  signal: AbortSignal,
): Promise<Pick<Refusal, "problems" | "more">> {
  if (more === 0) return { problems, more };
  const outside = problems.filter(({ product }) => product === undefined);
  const found = [...outside];
  const results = client.all
    .getImportResults({
      import_id,
      result: "refused",
      limit: PAGE_LIMIT.maximum,
    }, { signal });
  for await (const { details = [] } of results) {
    for (const detail of details) found.push(detail);
    if (found.length >= PROBLEMS_SHOWN) break;
  }
  return { problems: found, more: problems.length + more - found.length };
}

/** Adds the page's objections. */
function withObjections(step: Step, objections: readonly Detail[]): Step {
  const refusal = step.name === "refused"
    ? step.refusal
    : step.name === "ready"
    ? { ...NO_REFUSAL, validCount: step.counts.total }
    : null;
  if (refusal === null) return step;
  const before = new Set(refusal.heldBackProducts);
  const held = objections.filter(({ product }) => !before.has(product!));
  if (held.length === 0) return step;
  const wrong = new Set(refusal.problems.map(({ product }) => product));
  const numbers = [...new Set(held.map(({ product }) => product!))];
  const more = numbers.filter((product) => !wrong.has(product)).length;
  return {
    name: "refused",
    refusal: {
      ...refusal,
      problems: [...refusal.problems, ...held],
      heldBackProducts: [...refusal.heldBackProducts, ...numbers],
      validCount: refusal.validCount - more,
      leftOutCount: refusal.leftOutCount + more,
    },
  };
}

/**
 * Sends what may be stored, with retries while they may help, each with the
 * same Idempotency-Key. Returns the import; null: it is not known to have begun,
 * or a check comes to something else since others have stored something.
 */
export async function sendUpload(client: Client): Promise<string | null> {
  const { step } = upload.value!;
  const refusal = approvedRefusal(step);
  const sending = { name: "sending", refusal, interruption: null } as const;
  let import_id: string | null = null;
  await runStep(sending, async (current, signal) => {
    const { fileName, idempotencyKey, lastStoredAtCheck } = current;
    const options = {
      signal,
      retryFor: GIVE_UP_MS,
      onRetry: (interruption: Error) =>
        changeUpload({ name: "reached", step: { ...sending, interruption } }),
    };
    // What is sent again may have been stored.
    const isFirst = step.name !== "failed";
    if (isFirst && await lastStored(client, options) !== lastStoredAtCheck) {
      const now = await checkOutcome(client, current, signal);
      if (!isSameOutcome(step, now)) {
        changeUpload({ name: "overtaken" });
        return now;
      }
      changeUpload({ name: "reached", step: sending });
    }
    const products = await documentToSend(
      current,
      refusal.heldBackProducts,
      signal,
    );
    const begun = await client.beginImport({
      products,
      name: importName(fileName),
      // What somebody else changes meanwhile concerns its product alone.
      accept: "valid",
    }, {
      ...options,
      // A different request needs a different key.
      idempotencyKey: idempotencyKey + hashOfNumbers(refusal.heldBackProducts),
    });
    ({ import_id } = begun);
    return { name: "sent", sent: sentImport(current, refusal, import_id) };
  });
  return import_id;
}

/** What will be stored and what is left out, as shown before the upload. */
function approvedRefusal(step: Step): Refusal {
  if (step.name === "ready") {
    return { ...NO_REFUSAL, validCount: step.counts.total };
  }
  return "refusal" in step && step.refusal || NO_REFUSAL;
}

/** Whether a check has the outcome that was shown. */
function isSameOutcome(shown: Step, now: Step): boolean {
  const outcome = (step: Step) => {
    const { validCount, leftOutCount, heldBackProducts } = approvedRefusal(
      step,
    );
    const counts = step.name === "ready" ? step.counts : null;
    return JSON.stringify([
      step.name,
      counts,
      validCount,
      leftOutCount,
      heldBackProducts,
    ]);
  };
  return outcome(shown) === outcome(now);
}

/** A hash that distinguishes lists of numbers; "" for an empty list. */
function hashOfNumbers(numbers: readonly number[]): string {
  return numbers.length === 0
    ? ""
    : `-${numbers.reduce((all, one) => (all * 31 + one) % 2 ** 40, 7)}`;
}

function sentImport(
  current: Upload,
  { heldBackProducts, problems, leftOutCount }: Refusal,
  import_id: string,
): Sent {
  if (current.kind === "document") {
    return { import_id, leftOutCount, rows: [], heldBackRows: [] };
  }
  const { rows } = current;
  const isHeld = new Set(heldBackProducts);
  return {
    import_id,
    leftOutCount,
    rows: rows.filter((_, i) => !isHeld.has(i + 1)),
    heldBackRows: heldBackProducts.map((product) => ({
      row: rows[product - 1],
      details: problems.filter((problem) => problem.product === product),
    })),
  };
}

/**
 * The table that this browser sent as an import; null if it no longer has that
 * table.
 */
function sentTableOf(
  import_id: string,
): { sent: Sent; current: TableUpload } | null {
  const current = upload.value;
  if (current?.kind !== "table" || current.step.name !== "sent") return null;
  const { sent } = current.step;
  return sent.import_id === import_id ? { sent, current } : null;
}

/** The row that was sent as a product of an import; null if it is not known. */
export function sentRow(import_id: string, product: number): string | null {
  const known = sentTableOf(import_id);
  const row = known?.sent.rows[product - 1];
  return row === undefined ? null : rowName(known!.current.sheet, row);
}

/**
 * Shows the rows of a table that its import has left, with their problems;
 * false: this browser has not sent it, or has another file.
 */
export async function showLeftOutRows(
  client: Client,
  import_id: string,
): Promise<boolean> {
  const known = sentTableOf(import_id);
  if (known === null) return false;
  const { sent, current } = known;
  const { sheet } = current;
  const left = [...sent.heldBackRows];
  const results = client.all
    .getImportResults({
      import_id,
      result: "refused",
      limit: PAGE_LIMIT.maximum,
    });
  for await (const { details = [] } of results) {
    const row = sent.rows[(details[0]?.product ?? 0) - 1];
    if (row !== undefined) left.push({ row, details });
  }
  left.sort((a, b) => a.row - b.row);
  const rows = left.map(({ row }) => row);
  const problems = left.flatMap(({ details }, i) =>
    details.map((detail) => ({ ...detail, product: i + 1 }))
  );
  const isLeft = new Set(rows);
  const stored = new Map(current.stored);
  for (const row of sent.rows.filter((row) => !isLeft.has(row))) {
    stored.set(skuOfRow(sheet, row), rowName(sheet, row));
  }
  changeUpload({ name: "left shown", rows, problems, stored });
  return true;
}

/** The problems of a file that was refused. */
export function problemsIn({ step }: Upload): readonly Detail[] {
  return step.name === "refused" ? step.refusal.problems : [];
}

/** Runs a step; a step that begins later aborts it. */
async function runStep(
  first: Step,
  work: (current: Upload, signal: AbortSignal) => Promise<Step>,
): Promise<void> {
  const signal = startStep();
  const current = upload.value!;
  changeUpload({ name: "begun", step: first });
  const step = await work(current, signal)
    .catch((error) => stepAfter(error, first, current));
  if (!signal.aborted) changeUpload({ name: "reached", step });
}

function stepAfter(error: unknown, first: Step, { fileName }: Upload): Step {
  if (error instanceof ApiError && error.status === 401) {
    return { name: "kept" };
  }
  if (error instanceof ApiError && !error.isRetryable) {
    const { details: problems, more, requestId } = error;
    if (requestId) nameUpload(requestId, fileName);
    return {
      name: "refused",
      refusal: { ...NO_REFUSAL, error, problems, more },
    };
  }
  const failure = error instanceof Error ? error : new Error(String(error));
  const refusal = first.name === "sending" ? first.refusal : null;
  return { name: "failed", error: failure, refusal };
}

function importName(fileName: string): string {
  return fileName.slice(0, IMPORT_NAME_LENGTH);
}

/** The document, without the products of these numbers. */
async function documentToSend(
  current: Upload,
  without: readonly number[],
  signal: AbortSignal,
): Promise<string | Blob> {
  if (current.kind === "table") {
    const { sheet, rows } = current;
    const out = new Set(without);
    const sent = rows.filter((_, i) => !out.has(i + 1));
    const { table, mapping } = sheet;
    const made = await runInSlices(makeDocument(table, mapping, sent), signal);
    signal.throwIfAborted();
    return made!;
  }
  const { text, bytes } = current;
  if (bytes !== null) return bytes;
  const sent = without.length === 0 ? text : withoutProducts(text, without);
  return isJson(text) ? new Blob([sent], { type: "application/json" }) : sent;
}
