/**
 * The upload of a file: taken → checked by a dry run → edited and checked again
 * → sent. A large spreadsheet becomes several documents, its parts, which are
 * checked and sent one after the other. The state is outside the views, so that
 * neither a change of view nor a revoked key loses the file.
 */
import { PRODUCTS_LIMIT } from "../catalogue/fields.ts";
import {
  ApiError,
  type Client,
  type Detail,
  newIdempotencyKey,
  type ProductCounts,
} from "../client/mod.ts";
import { escaped } from "../lib/markup.ts";
import { alreadyMeant, heldIn, rowName } from "./held.ts";
import { Finder, laidOut, productCount, withoutProducts } from "./markup.ts";
import { nameUpload } from "./names.ts";
import {
  type CellChange,
  type Sheet,
  skuOf,
  withCells,
  withColumn,
} from "./sheet.ts";
import { documentOf } from "./spreadsheet.ts";
import type { Target } from "./headers.ts";
import { Store } from "./store.ts";

/** Characters; longer documents are shown, but not edited here. */
const EDITED_UP_TO = 2 * 1024 * 1024;
/** Characters; longer documents are sent, but not shown. */
const SHOWN_UP_TO = 32 * 1024 * 1024;
const GIVE_UP_MS = 5 * 60_000;

/** `upload valid`: only the products without a problem. */
export type Work = "check" | "upload" | "upload valid";

export type Step =
  /** Not checked yet. */
  | { name: "waiting" }
  | { name: "checking" }
  /** Some of it may not be stored. */
  | { name: "refused"; refusal: Refusal }
  | { name: "ready"; counts: ProductCounts }
  /** `interruption`: why the last attempt failed, while the next one waits. */
  | { name: "sending"; interruption: Error | null }
  /** Stored, but for `refused` products; of a table, these are `left`. */
  | { name: "sent"; id: string; refused: number; left: readonly Left[] }
  /** Nothing was checked, or it is unknown whether it was stored. */
  | { name: "failed"; error: Error; during: Work }
  /** Signed out during the upload. */
  | { name: "kept" };

/** What speaks against storing all of a document. */
export interface Refusal {
  /** The answer of the service; null if only the page has an objection. */
  error: ApiError | null;
  problems: readonly Detail[];
  /** Problems that were only counted. */
  more: number;
  /**
   * Numbers of products that the page holds back, though the service might
   * store them.
   */
  held: readonly number[];
}

/** A row that was not stored. */
export interface Left {
  /** An index of the table. */
  row: number;
  details: readonly Detail[];
}

/** One document. */
export interface Part {
  name: string;
  text: string;
  /** Its rows in the upload's sheet; null if it was not made from a table. */
  rows: readonly number[] | null;
  /** Sent instead of the text where that does not say the same. */
  bytes: Blob | null;
  /** Edited since it was checked. */
  edited: boolean;
  /** Edited at all: no file holds this text. */
  corrected: boolean;
  /** Makes it safe to send the same document again, whatever happened. */
  idempotencyKey: string;
  step: Step;
}

export interface Upload {
  fileName: string;
  /** Bytes. */
  size: number;
  /** At least one. */
  parts: readonly Part[];
  /** Index of the part that is shown. */
  shown: number;
  /** Where the browser lets the page read the file again. */
  handle: FileSystemFileHandle | null;
  /** When the file was changed; Unix milliseconds. */
  changedAt: number;
  /** Line breaks were added, because the file has very long lines. */
  isLaidOut: boolean;
  /** The table that the parts are made from. */
  sheet: Sheet | null;
  /** Cells as `row:column` that were changed since the last check. */
  changed: ReadonlySet<string>;
  /** What undoes each step of the corrections, the last one last. */
  steps: readonly (readonly CellChange[])[];
  /** SKUs that were in the file, not typed here. */
  meant: ReadonlySet<string>;
  /** Whose each SKU is that the same file has stored. */
  stored: ReadonlyMap<string, string>;
  /** SKUs whose products may be replaced: somebody said so. */
  confirmed: ReadonlySet<string>;
}

/** null: no file was taken. */
export const upload = new Store<Upload | null>(null);

let running = new AbortController();

/** The part that is shown. */
export function shownPart({ parts, shown }: Upload): Part {
  return parts[shown];
}

/** Whether this document can be edited on the page. */
export function isEditable({ text, bytes }: Part): boolean {
  return bytes === null && text.length <= EDITED_UP_TO;
}

/** Whether this document is shown on the page. */
export function isShown({ text }: Part): boolean {
  return text.length <= SHOWN_UP_TO;
}

/** A document, or a part of a large one. */
export interface Document {
  name: string;
  text: string;
  /** Bytes, if they were counted. */
  size?: number;
  /** Its rows in the sheet, if it was made from a table. */
  rows?: readonly number[];
}

/** What is known of documents beside their text. */
export interface Origin {
  sheet?: Sheet;
  /** Whose each SKU is that the same file has stored. */
  stored?: ReadonlyMap<string, string>;
}

/** What an upload has at its beginning. */
const BEGUN = {
  shown: 0,
  sheet: null,
  changed: new Set<string>(),
  steps: [],
  stored: new Map<string, string>(),
  confirmed: new Set<string>(),
};

/** Accepts an XML file and checks it, or keeps it until somebody signs in. */
export async function takeFile(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  const bytes = await bytesOf(file);
  if (bytes === null) return takeUnreadable(file);
  const { text, isFaithful } = decoded(bytes);
  const part = partOf({ name: file.name, text });
  await take(client, {
    ...BEGUN,
    fileName: file.name,
    size: file.size,
    parts: [isFaithful ? part : { ...part, text, bytes: new Blob([bytes]) }],
    handle,
    changedAt: file.lastModified,
    isLaidOut: isFaithful && part.text !== text,
  });
}

/** Accepts documents that the page made, and checks them. */
export async function takeDocuments(
  client: Client | null,
  fileName: string,
  documents: readonly Document[],
  { sheet, stored }: Origin = {},
): Promise<void> {
  await take(client, {
    ...BEGUN,
    ...(sheet && { sheet }),
    ...(stored && { stored }),
    fileName,
    size: documents.reduce(
      (all, { text, size = new Blob([text]).size }) => all + size,
      0,
    ),
    parts: documents.map(partOf),
    handle: null,
    changedAt: 0,
    isLaidOut: false,
  });
}

async function take(
  client: Client | null,
  taken: Omit<Upload, "meant">,
): Promise<void> {
  running.abort();
  running = new AbortController();
  const { parts, sheet } = taken;
  upload.set({
    ...taken,
    meant: alreadyMeant(parts.filter(isEditable), sheet),
  });
  if (client === null) setSteps({ name: "kept" });
  else await checkUpload(client);
}

function partOf({ name, text, rows }: Document): Part {
  return {
    name,
    rows: rows ?? null,
    // One that was made from a table is laid out.
    text: rows === undefined && text.length <= EDITED_UP_TO
      ? laidOut(text)
      : text,
    bytes: null,
    edited: false,
    corrected: false,
    idempotencyKey: newIdempotencyKey(),
    step: { name: "waiting" },
  };
}

/** Null if the browser can read the file no more. */
async function bytesOf(file: File): Promise<ArrayBuffer | null> {
  try {
    return await file.arrayBuffer();
  } catch {
    return null;
  }
}

function takeUnreadable(file: File): void {
  running.abort();
  const error = new Error(
    "The file cannot be read. It may have been moved or changed; choose it again.",
  );
  const part = partOf({ name: file.name, text: "" });
  upload.set({
    ...BEGUN,
    meant: new Set(),
    fileName: file.name,
    size: file.size,
    parts: [{ ...part, step: { name: "failed", error, during: "check" } }],
    handle: null,
    changedAt: file.lastModified,
    isLaidOut: false,
  });
}

/** Line ends become those that XML reads. */
function decoded(bytes: ArrayBuffer): { text: string; isFaithful: boolean } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text: text.replace(/\r\n?/g, "\n"), isFaithful: true };
  } catch {
    return { text: new TextDecoder().decode(bytes), isFaithful: false };
  }
}

/** Shows another part. */
export function showPart(index: number): void {
  const current = upload.value;
  if (current !== null) upload.set({ ...current, shown: index });
}

/** Changes the text of the part that is shown. */
export function editText(text: string): void {
  const current = upload.value;
  if (current === null) return;
  change(current.shown, {
    text,
    edited: true,
    corrected: true,
    idempotencyKey: newIdempotencyKey(),
  });
}

/** Whether the upload is of a table. */
export function isOfTable(
  current: Upload,
): current is Upload & { sheet: Sheet } {
  return current.sheet !== null;
}

/** How many products may be stored, and how many are to be left. */
export function countsOf(
  { parts }: Upload,
): { valid: number; left: number } {
  let valid = 0;
  let left = 0;
  for (const { step, text, rows } of parts) {
    if (step.name === "ready") valid += step.counts.total;
    if (step.name !== "refused") continue;
    const numbers = step.refusal.problems.map(({ product }) => product);
    const wrong = new Set(numbers).size;
    left += wrong;
    valid += (rows?.length ?? productCount(text)) - wrong;
  }
  return { valid, left };
}

/** Changes cells of the table; `undo` takes the last such step back. */
export function editCells(changes: readonly CellChange[]): void {
  const current = upload.value;
  if (current?.sheet == null || changes.length === 0) return;
  const { rows } = current.sheet.table;
  const inverse = changes.map(({ row, column }) => ({
    row,
    column,
    text: rows[row][column],
  }));
  writeCells(changes, [...current.steps, inverse]);
}

/** Takes the last step of the corrections back. */
export function undoStep(): void {
  const last = upload.value?.steps.at(-1);
  if (last !== undefined) writeCells(last, upload.value!.steps.slice(0, -1));
}

/** Gives the table a column for a field; returns its index. */
export function addColumn(target: Target): number {
  const { sheet, ...current } = upload.value!;
  upload.set({ ...current, sheet: withColumn(sheet!, target) });
  return sheet!.table.header.length;
}

function writeCells(
  changes: readonly CellChange[],
  steps: Upload["steps"],
): void {
  const current = upload.value!;
  const sheet = withCells(current.sheet!, changes);
  const rows = new Set(changes.map(({ row }) => row));
  const parts = current.parts.map((part) =>
    part.step.name === "sent" || !part.rows?.some((row) => rows.has(row))
      ? part
      : {
        ...part,
        ...CORRECTED,
        text: documentOf(sheet.table, sheet.mapping, part.rows),
        idempotencyKey: newIdempotencyKey(),
      }
  );
  const places = changes.map(({ row, column }) => `${row}:${column}`);
  const changed = new Set([...current.changed, ...places]);
  upload.set({ ...current, sheet, parts, steps, changed });
}

const CORRECTED = { edited: true, corrected: true };

/** Lets a product be replaced, and checks again. */
export async function confirmSku(client: Client, sku: string): Promise<void> {
  const current = upload.value;
  if (current === null) return;
  const confirmed = new Set([...current.confirmed, sku]);
  upload.set({ ...current, confirmed });
  await checkUpload(client);
}

/** Writes another value in all these places. */
export function replaceValues(found: readonly Found[], value: string): void {
  for (const [index, places] of Map.groupBy(found, ({ part }) => part)) {
    const { text } = upload.value!.parts[index];
    const finder = new Finder(text);
    const ranges = places.map(({ problem }) => finder.find(problem))
      .filter((range) => range !== null)
      .sort((a, b) => b.start - a.start);
    const changed = ranges.reduce(
      (all, { start, end }) =>
        all.slice(0, start) + escaped(value) + all.slice(end),
      text,
    );
    change(index, {
      text: changed,
      edited: true,
      corrected: true,
      idempotencyKey: newIdempotencyKey(),
    });
  }
}

/** The value that all these problems speak of; null unless it is one. */
export function commonValue(
  { parts }: Upload,
  found: readonly Found[],
): string | null {
  const finders = new Map<number, Finder>();
  let common: string | null = null;
  for (const { part, problem } of found) {
    const { text } = parts[part];
    const finder = finders.get(part) ?? new Finder(text);
    finders.set(part, finder);
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
  const { handle, changedAt } = upload.value ?? {};
  if (!handle) return false;
  const file = await handle.getFile();
  if (file.lastModified === changedAt) return false;
  await takeFile(client, file, handle);
  return true;
}

/** Checks every part that has not been sent, with dry runs. */
export async function checkUpload(client: Client): Promise<void> {
  const current = upload.value;
  if (current === null) return;
  upload.set({ ...current, changed: new Set() });
  await each("check", { name: "checking" }, async (part, signal, _, index) => {
    const products = bodyOf(part);
    const held = isEditable(part)
      ? await heldIn(client, upload.value!, index, signal)
      : [];
    const step = await client
      .uploadProducts({ products, dry_run: true }, { signal }).then(
        ({ dry_run }): Step => ({ name: "ready", counts: dry_run.products }),
        (error) => {
          const step = stepAfter(error, "check");
          if (step.name !== "refused") throw error;
          return step;
        },
      );
    return withHeld(step, held);
  });
}

/** Adds what the page objects to. */
function withHeld(step: Step, held: readonly Detail[]): Step {
  if (held.length === 0) return step;
  const refusal = step.name === "refused"
    ? step.refusal
    : step.name === "ready"
    ? { error: null, problems: [], more: 0 }
    : null;
  if (refusal === null) return step;
  return {
    name: "refused",
    refusal: {
      ...refusal,
      problems: [...refusal.problems, ...held],
      held: held.map(({ product }) => product!),
    },
  };
}

/**
 * Sends every part that has not been sent, with retries while they may help,
 * each with the same Idempotency-Key. Returns whether all are stored.
 */
export async function sendUpload(
  client: Client,
  work: Exclude<Work, "check"> = "upload",
): Promise<boolean> {
  const sending: Step = { name: "sending", interruption: null };
  const isValidOnly = work === "upload valid";
  await each(work, sending, async (part, signal, onStep) => {
    const held = part.step.name === "refused" ? part.step.refusal.held : [];
    const { transaction_id: id, refused = 0 } = await client.uploadProducts({
      products: held.length === 0
        ? bodyOf(part)
        : withoutProducts(part.text, held),
      accept: isValidOnly ? "valid" : undefined,
    }, {
      signal,
      retryFor: GIVE_UP_MS,
      onRetry: (interruption) => onStep({ name: "sending", interruption }),
      // A different request needs a different key.
      idempotencyKey: part.idempotencyKey + (isValidOnly ? "-valid" : ""),
    });
    nameUpload(id, part.name);
    const left = part.rows === null || refused + held.length === 0
      ? []
      : await leftOf(client, part, id, signal);
    markStored(part, left);
    return { name: "sent", id, refused: refused + held.length, left };
  });
  keepLeft();
  const { parts } = upload.value ?? {};
  return parts?.every(({ step }) => step.name === "sent") ?? false;
}

/** The rows of a part that were not stored, with their problems. */
async function leftOf(
  client: Client,
  { rows, step }: Part,
  transaction_id: string,
  signal: AbortSignal,
): Promise<Left[]> {
  const problems = step.name === "refused" ? step.refusal.problems : [];
  const held = step.name === "refused" ? step.refusal.held : [];
  const results = await Array.fromAsync(
    client.results({ transaction_id }, { signal }),
  );
  const left: Left[] = [];
  let sent = 0;
  for (const [i, row] of rows!.entries()) {
    const product = i + 1;
    if (held.includes(product)) {
      const details = problems.filter((problem) => problem.product === product);
      left.push({ row, details });
      continue;
    }
    const { result, details } = results[sent++];
    if (result === "refused") {
      left.push({ row, details: details?.detail ?? [] });
    }
  }
  return left;
}

/** Remembers whose the SKUs are that are stored now. */
function markStored({ rows }: Part, left: readonly Left[]): void {
  const current = upload.value;
  if (rows === null || current?.sheet == null) return;
  const { sheet } = current;
  const isLeft = new Set(left.map(({ row }) => row));
  const stored = new Map(current.stored);
  for (const row of rows) {
    if (!isLeft.has(row)) stored.set(skuOf(sheet, row), rowName(sheet, row));
  }
  upload.set({ ...current, stored });
}

/** Makes parts of the rows of a table that were not stored. */
function keepLeft(): void {
  const current = upload.value;
  if (current?.sheet == null) return;
  const { table, mapping } = current.sheet;
  const left = current.parts.flatMap(({ step }) =>
    step.name === "sent" ? step.left : []
  );
  if (left.length === 0) return;
  const parts = current.parts.map((part) =>
    part.step.name === "sent"
      ? { ...part, step: { ...part.step, left: [] } }
      : part
  );
  for (let from = 0; from < left.length; from += PRODUCTS_LIMIT) {
    const some = left.slice(from, from + PRODUCTS_LIMIT);
    const rows = some.map(({ row }) => row);
    const name = `${current.fileName}, ${rows.length} left`;
    const text = documentOf(table, mapping, rows);
    const problems = some.flatMap(({ details }, i) =>
      details.map((detail) => ({ ...detail, product: i + 1 }))
    );
    const refusal = { error: null, problems, more: 0, held: [] };
    parts.push({
      ...partOf({ name, text, rows }),
      corrected: true,
      step: { name: "refused", refusal },
    });
  }
  // What is stored is not taken back by an undo of typing.
  upload.set({ ...current, parts, steps: [], shown: parts.length - 1 });
}

/** Whether to close the page would end an upload or lose corrections. */
export function isAtWork(): boolean {
  return upload.value?.parts.some(({ step, corrected }) =>
    step.name === "sending" || (corrected && step.name !== "sent")
  ) ?? false;
}

/** Discards the file and stops its upload. */
export function dropFile(): void {
  running.abort();
  upload.set(null);
}

/** Stops, and keeps the file to be checked for whoever signs in next. */
export function keepFile(): void {
  running.abort();
  setSteps({ name: "kept" });
}

/** A problem and the index of its part. */
export interface Found {
  part: number;
  problem: Detail;
}

/** The problems of all parts that were refused. */
export function problemsIn({ parts }: Upload): Found[] {
  return parts.flatMap(({ step }, part) =>
    step.name === "refused"
      ? step.refusal.problems.map((problem) => ({ part, problem }))
      : []
  );
}

/**
 * Works on one part after the other. A refusal concerns one part; any other
 * failure ends it.
 */
async function each(
  during: Work,
  first: Step,
  work: (
    part: Part,
    signal: AbortSignal,
    onStep: (step: Step) => void,
    index: number,
  ) => Promise<Step>,
): Promise<void> {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const todo = (upload.value?.parts ?? []).map(({ step }, index) => ({
    step,
    index,
  })).filter(({ step }) => step.name !== "sent");
  for (const { index } of todo) {
    const part = upload.value!.parts[index];
    const onStep = (step: Step) => {
      if (!signal.aborted) change(index, { step });
    };
    change(index, { step: first, edited: false });
    try {
      onStep(await work(part, signal, onStep, index));
    } catch (error) {
      if (signal.aborted) return;
      const step = stepAfter(error, during);
      onStep(step);
      if (step.name === "kept") return setSteps(step);
      if (step.name === "failed") return;
    }
    if (signal.aborted) return;
  }
}

function stepAfter(error: unknown, during: Work): Step {
  if (error instanceof ApiError && error.status === 401) {
    return { name: "kept" };
  }
  if (error instanceof ApiError && !error.passes) {
    const { details: problems, more } = error;
    return { name: "refused", refusal: { error, problems, more, held: [] } };
  }
  const failure = error instanceof Error ? error : new Error(String(error));
  return { name: "failed", error: failure, during };
}

function change(index: number, changes: Partial<Part>): void {
  const current = upload.value;
  if (current === null) return;
  const parts = current.parts.map((part, i) =>
    i === index ? { ...part, ...changes } : part
  );
  upload.set({ ...current, parts });
}

/** Sets the step of the parts that have not been sent. */
function setSteps(step: Step): void {
  const current = upload.value;
  if (current === null) return;
  const parts = current.parts.map((part) =>
    part.step.name === "sent" ? part : { ...part, step }
  );
  upload.set({ ...current, parts });
}

function bodyOf({ text, bytes }: Part): string | Blob {
  return bytes ?? text;
}
