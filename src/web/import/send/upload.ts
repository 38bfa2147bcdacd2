/**
 * The upload of a file. The file is opened, checked by a dry run, corrected and
 * checked again, and then sent as one import.
 */
import { PAGE_LIMIT } from "../../../lib/request_limits.ts";
import {
  ApiError,
  type Client,
  type Detail,
  type Import,
  type ImportResult,
  newIdempotencyKey,
  type Warnings,
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
import { uploadName } from "../../state/names.ts";
import { indentLongLines, isJson, ProblemFinder } from "../../lib/markup.ts";
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

/** The maximum length in characters of a document that can be edited. */
const EDITABLE_LENGTH = 2 * 1024 * 1024;
/** The maximum length in characters of a document that is shown. */
const SHOWN_LENGTH = 32 * 1024 * 1024;
const GIVE_UP_MS = 5 * 60_000;
/** The maximum number of problems that are shown; more problems are counted. */
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

/** Opens a document and checks it, if a user is signed in. */
export async function openDocument(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  const { name, size, lastModified: changedAt } = file;
  const opened = { ...newDocument(name, size), handle, changedAt };
  const bytes = await bytesOf(file);
  if (bytes === null) {
    replaceUpload({
      ...opened,
      step: { name: "failed", error: GONE, refusal: null },
    });
    return;
  }
  const { text, isFaithful } = decodeUtf8(bytes);
  await openAndCheck(
    client,
    isFaithful
      ? withSkusInFile({ ...opened, ...readably(text) })
      : { ...opened, text, bytes: new Blob([bytes]) },
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

/**
 * Adds the SKUs of the file before the first edit, to distinguish them from SKUs
 * typed later.
 */
function withSkusInFile(opened: DocumentUpload): DocumentUpload {
  return isEditable(opened)
    ? { ...opened, skusInFile: new Set(skusInDocument(opened.text)) }
    : opened;
}

/** Opens a document that the page has made, and checks it. */
export async function openDocumentText(
  client: Client | null,
  fileName: string,
  text: string,
  stored: Upload["stored"] = new Map(),
): Promise<void> {
  const { size } = new Blob([text]);
  await openAndCheck(
    client,
    withSkusInFile({
      ...newDocument(fileName, size),
      stored,
      text: readably(text).text,
    }),
  );
}

/** Opens a table with mapped columns, and checks its products. */
export async function openMappedTable(
  client: Client | null,
  sheet: MappedTable,
  stored: Upload["stored"] = new Map(),
): Promise<void> {
  const rows = [...sheet.table.rows.keys()];
  await openAndCheck(client, {
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

function replaceUpload(opened: Upload): void {
  startStep();
  upload.set(opened);
}

async function openAndCheck(
  client: Client | null,
  opened: Upload,
): Promise<void> {
  replaceUpload(opened);
  if (client !== null) await checkUpload(client);
}

function readably(text: string): Pick<DocumentUpload, "text" | "isLaidOut"> {
  const shown = text.length <= EDITABLE_LENGTH && !isJson(text)
    ? indentLongLines(text)
    : text;
  return { text: shown, isLaidOut: shown !== text };
}

const GONE = new Error(
  "The file cannot be read. It may have been moved or changed; choose it again.",
);

/** The bytes of a file; null if the browser can no longer read it. */
async function bytesOf(file: File): Promise<ArrayBuffer | null> {
  try {
    return await file.arrayBuffer();
  } catch {
    return null;
  }
}

/** Decodes text; line ends become `\n`, as in XML. */
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

/** Changes cells of the table; one call of `undoStep` restores all of them. */
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

/** Reverts the last step of the corrections. */
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

/** Adds a column for a field; returns its index. */
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

/** Confirms that these products are replaced, and checks the file again. */
export async function confirmSkus(
  client: Client,
  skus: readonly string[],
): Promise<void> {
  changeUpload({ name: "confirmed", skus });
  await checkUpload(client);
}

/** Replaces the values of all these problems. */
export function replaceValues(
  { text }: DocumentUpload,
  found: readonly Detail[],
  value: string,
): void {
  const finder = new ProblemFinder(text);
  const ranges = found.map((problem) => finder.find(problem))
    .filter((range) => range !== null)
    .sort((a, b) => b.start - a.start);
  editText(ranges.reduce(
    (all, { start, end }) =>
      all.slice(0, start) + escaped(value) + all.slice(end),
    text,
  ));
}

/** The value of all these problems; null if their values differ. */
export function commonValue(
  { text }: DocumentUpload,
  found: readonly Detail[],
): string | null {
  const finder = new ProblemFinder(text);
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
 * Reads the file again if it has changed on disk; edits on the page are then
 * lost. Returns whether the file has changed.
 */
export async function readAgain(client: Client): Promise<boolean> {
  const current = upload.value;
  if (current?.kind !== "document" || current.handle === null) return false;
  const { handle, changedAt } = current;
  const file = await handle.getFile();
  if (file.lastModified === changedAt) return false;
  await openDocument(client, file, handle);
  return true;
}

/** Checks the file with a dry run, which can be stored later. */
export async function checkUpload(client: Client): Promise<void> {
  if (upload.value === null) return;
  forgetCheck(client, upload.value);
  const first = { name: "checking", percent: null } as const;
  await runStep(first, async (current, signal) => {
    const step = await checkOutcome(client, current, signal);
    if (signal.aborted) forgetCheck(client, { step });
    return step;
  });
}

/**
 * Deletes a dry run that will not be stored, because its document counts toward
 * the quota. If the request fails, the service deletes the dry run after a day.
 */
export function forgetCheck(
  client: Client,
  { step }: Pick<Upload, "step">,
): void {
  const import_id = step.name === "ready"
    ? step.import_id
    : step.name === "refused"
    ? step.refusal.import_id
    : null;
  if (import_id !== null) client.imports.cancel({ import_id }).catch(() => {});
}

/** The step after a dry run. */
type CheckedStep = Step & ({ name: "ready" } | { name: "refused" });

async function checkOutcome(
  client: Client,
  current: Upload,
  signal: AbortSignal,
): Promise<Step> {
  const whole = await dryRun(client, current, [], signal);
  const found = await dryRunOutcome(client, whole, signal);
  if (!mayObject(current)) return found;
  const results = await resultsOf(client, whole.import_id, signal);
  const step = withPresentPrices(found, results);
  const objections = pageObjections(current, results);
  if (objections.length === 0) return step;
  forgetCheck(client, { step });
  const outcome = withObjections(step, objections);
  const { refusal } = outcome;
  if (refusal.validCount === 0 || current.kind === "document") return outcome;
  // A second dry run, without refused and unconfirmed products, can be stored.
  const isHeld = new Set(refusal.heldBackProducts);
  const absent = results.flatMap(({ result }, i) =>
    result === "refused" || isHeld.has(i + 1) ? [i + 1] : []
  );
  const { import_id } = await dryRun(client, current, absent, signal);
  return { name: "refused", refusal: { ...refusal, import_id, absent } };
}

/** The step with the stored price of each product with a `price_jump`. */
function withPresentPrices(
  step: CheckedStep,
  results: readonly ImportResult[],
): CheckedStep {
  if (step.name === "ready") return step;
  const { refusal } = step;
  const presentPrices = new Map(
    refusal.problems.filter(({ code }) => code === "price_jump")
      .flatMap(({ product, sku }) => {
        const price = results[product! - 1].former?.price?.amount;
        return price === undefined ? [] : [[sku!, price] as const];
      }),
  );
  return { name: "refused", refusal: { ...refusal, presentPrices } };
}

/** Whether the page compares the file with the stored products. */
function mayObject(current: Upload): boolean {
  if (current.kind === "table") return true;
  return isEditable(current) && (current.stored.size > 0 || current.corrected);
}

/** The page's objections to the results of a dry run of all products. */
function pageObjections(
  current: Upload,
  results: readonly ImportResult[],
): Detail[] {
  const found = skuObjections(current, results);
  if (current.kind === "document") return found;
  const before = new Set(found.map(({ product }) => product));
  const others = replacementObjections(current, results)
    .filter(({ product }) => !before.has(product));
  return [...found, ...others];
}

async function resultsOf(
  client: Client,
  import_id: string,
  signal: AbortSignal,
): Promise<ImportResult[]> {
  const query = { import_id, limit: PAGE_LIMIT.maximum };
  const results: ImportResult[] = [];
  for await (const one of client.imports.results(query, { signal })) {
    results.push(one);
  }
  return results;
}

/**
 * Runs a dry run of the file without some products. Returns the finished dry
 * run, whose valid products can be stored.
 */
async function dryRun(
  client: Client,
  current: Upload,
  without: readonly number[],
  signal: AbortSignal,
): Promise<Import> {
  const products = await documentToSend(current, without, signal);
  const name = uploadName(current.fileName);
  const { import_id } = await client.imports.create(
    {
      products,
      name,
      dry_run: true,
      accept: "valid",
      ...(mayObject(current) && { show: "former" }),
    },
    { signal, idempotencyKey: newIdempotencyKey() },
  );
  try {
    const changes = client
      .imports.follow({ import_id }, { signal, retryFor: GIVE_UP_MS });
    for await (const { progress: percent } of changes) {
      changeUpload({ name: "reached", step: { name: "checking", percent } });
    }
    const { import: over } = await client.imports.get({ import_id }, {
      signal,
    });
    return over;
  } catch (error) {
    client.imports.cancel({ import_id }).catch(() => {});
    throw error;
  }
}

async function dryRunOutcome(
  client: Client,
  checked: Import,
  signal: AbortSignal,
): Promise<CheckedStep> {
  const { import_id, status, products: counts, warnings } = checked;
  if (status === "completed") {
    return { name: "ready", counts, warnings, import_id };
  }
  if (checked.problems === undefined) throw new Error("The check was ended.");
  const refused = counts.refused ?? 0;
  const isStorable = status === "completed_with_errors";
  const refusal = {
    ...await allProblems(client, checked, signal),
    error: null,
    warnings,
    validCount: counts.total - refused,
    leftOutCount: refused,
    heldBackProducts: [],
    presentPrices: NO_REFUSAL.presentPrices,
    import_id: isStorable ? import_id : null,
    absent: [],
  };
  return { name: "refused", refusal };
}

/** All problems of an import. The status of an import lists only some of them. */
async function allProblems(
  client: Client,
  { import_id, problems = [], more = 0 }: Import,
  signal: AbortSignal,
): Promise<Pick<Refusal, "problems" | "more">> {
  if (more === 0) return { problems, more };
  const outside = problems.filter(({ product }) => product === undefined);
  const found = [...outside];
  const results = client.imports.results({
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

/** The step with the page's objections added. */
function withObjections(
  step: CheckedStep,
  objections: readonly Detail[],
): Step & { name: "refused" } {
  const refusal = approvedRefusal(step);
  const wrong = new Set(refusal.problems.map(({ product }) => product));
  const numbers = [...new Set(objections.map(({ product }) => product!))];
  const more = numbers.filter((product) => !wrong.has(product)).length;
  return {
    name: "refused",
    refusal: {
      ...refusal,
      problems: [...refusal.problems, ...objections],
      heldBackProducts: numbers,
      validCount: refusal.validCount - more,
      leftOutCount: refusal.leftOutCount + more,
      import_id: null,
    },
  };
}

/**
 * Stores the checked products; retries have the same Idempotency-Key. Returns
 * the id of the import. Returns null if the import may not have begun, or if
 * products have changed since the check.
 */
export async function sendUpload(client: Client): Promise<string | null> {
  const refusal = approvedRefusal(upload.value!.step);
  const { import_id } = refusal;
  if (import_id === null) return null;
  const sending = { name: "sending", refusal, interruption: null } as const;
  let isStored = false;
  await runStep(sending, async (current, signal) => {
    try {
      await client.imports.store({ import_id }, {
        signal,
        retryFor: GIVE_UP_MS,
        onRetry: (interruption: Error) =>
          changeUpload({ name: "reached", step: { ...sending, interruption } }),
        idempotencyKey: `store ${import_id}`,
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "changed_since") {
        throw error;
      }
      return changedSinceCheck(error, refusal);
    }
    isStored = true;
    return { name: "sent", sent: sentImport(current, refusal, import_id) };
  });
  return isStored ? import_id : null;
}

/** The step if products have changed since the check; nothing is stored. */
function changedSinceCheck(error: ApiError, { absent }: Refusal): Step {
  const isAbsent = new Set(absent);
  const last = error.details.at(-1)?.product ?? 0;
  const present: number[] = [];
  for (let product = 1; present.length < last; product++) {
    if (!isAbsent.has(product)) present.push(product);
  }
  const problems = error.details.map((detail) => (
    { ...detail, product: present[detail.product! - 1] }
  ));
  return { name: "refused", refusal: { ...NO_REFUSAL, error, problems } };
}

/** The refusal that the user saw before sending the valid products. */
function approvedRefusal(step: Step): Refusal {
  if (step.name === "ready") {
    const { counts: { total: validCount }, warnings, import_id } = step;
    return { ...NO_REFUSAL, warnings, validCount, import_id };
  }
  return "refusal" in step && step.refusal || NO_REFUSAL;
}

function sentImport(
  current: Upload,
  { absent, problems, leftOutCount }: Refusal,
  import_id: string,
): Sent {
  if (current.kind === "document") {
    return { import_id, leftOutCount, rows: [], heldBackRows: [] };
  }
  const { rows } = current;
  const isAbsent = new Set(absent);
  return {
    import_id,
    leftOutCount,
    rows: rows.filter((_, i) => !isAbsent.has(i + 1)),
    heldBackRows: absent.map((product) => ({
      row: rows[product - 1],
      details: problems.filter((problem) => problem.product === product),
    })),
  };
}

/**
 * The table that this page sent as an import; null if the page no longer has the
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

/** The row that was sent as a product of an import; null if unknown. */
export function sentRow(import_id: string, product: number): string | null {
  const known = sentTableOf(import_id);
  const row = known?.sent.rows[product - 1];
  return row === undefined ? null : rowName(known!.current.sheet, row);
}

/**
 * Shows the rows that an import did not store, with their problems. Returns
 * false if the page no longer has the table.
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
  const results = client.imports.results({
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

/** The warnings of the last check. */
export function warningsIn({ step }: Upload): Warnings | undefined {
  return step.name === "ready"
    ? step.warnings
    : step.name === "refused"
    ? step.refusal.warnings
    : undefined;
}

/** Runs a step, which the next step aborts. */
async function runStep(
  first: Step,
  work: (current: Upload, signal: AbortSignal) => Promise<Step>,
): Promise<void> {
  const signal = startStep();
  const current = upload.value!;
  changeUpload({ name: "begun", step: first });
  const step = await work(current, signal)
    .catch((error) => stepAfter(error, first));
  if (!signal.aborted) changeUpload({ name: "reached", step });
}

function stepAfter(error: unknown, first: Step): Step {
  if (error instanceof ApiError && error.status === 401) {
    return { name: "kept" };
  }
  if (error instanceof ApiError && !error.isRetryable) {
    const { details: problems, more } = error;
    return {
      name: "refused",
      refusal: { ...NO_REFUSAL, error, problems, more },
    };
  }
  const failure = error instanceof Error ? error : new Error(String(error));
  const refusal = first.name === "sending" ? first.refusal : null;
  return { name: "failed", error: failure, refusal };
}

/** The document to send. `without` leaves out products of a table. */
async function documentToSend(
  current: Upload,
  without: readonly number[],
  signal: AbortSignal,
): Promise<string | Blob> {
  if (current.kind === "table") {
    const { sheet, rows, expectedPrices } = current;
    const out = new Set(without);
    const sent = rows.filter((_, i) => !out.has(i + 1));
    const { table, mapping } = sheet;
    const made = await runInSlices(
      makeDocument(table, mapping, sent, expectedPrices),
      signal,
    );
    signal.throwIfAborted();
    return made!;
  }
  const { text, bytes } = current;
  if (bytes !== null) return bytes;
  return isJson(text) ? new Blob([text], { type: "application/json" }) : text;
}
