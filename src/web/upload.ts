/**
 * The upload of a file: taken → checked by a dry run → edited and checked again
 * → sent. A large spreadsheet becomes several documents, its parts, which are
 * checked and sent one after the other. The state is outside the views, so that
 * neither a change of view nor a revoked key loses the file.
 */
import {
  ApiError,
  type Client,
  type Detail,
  newIdempotencyKey,
  type ProductCounts,
} from "../client/mod.ts";
import { escaped } from "../lib/markup.ts";
import { Finder, laidOut } from "./markup.ts";
import { nameUpload } from "./names.ts";
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
  /** The service refused the document with its problems. */
  | { name: "refused"; error: ApiError }
  | { name: "ready"; counts: ProductCounts }
  /** `interruption`: why the last attempt failed, while the next one waits. */
  | { name: "sending"; interruption: Error | null }
  /** Stored; `refused` products were left out. */
  | { name: "sent"; id: string; refused: number }
  /** Nothing was checked, or it is unknown whether it was stored. */
  | { name: "failed"; error: Error; during: Work }
  /** Signed out during the upload. */
  | { name: "kept" };

/** One document. */
export interface Part {
  name: string;
  text: string;
  /** The row of each product; null if it was not made from a table. */
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
  /** The row of each product, if it was made from a table. */
  rows?: readonly number[];
}

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
    fileName: file.name,
    size: file.size,
    parts: [isFaithful ? part : { ...part, text, bytes: new Blob([bytes]) }],
    shown: 0,
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
): Promise<void> {
  await take(client, {
    fileName,
    size: documents.reduce(
      (all, { text, size = new Blob([text]).size }) => all + size,
      0,
    ),
    parts: documents.map(partOf),
    shown: 0,
    handle: null,
    changedAt: 0,
    isLaidOut: false,
  });
}

async function take(client: Client | null, taken: Upload): Promise<void> {
  running.abort();
  running = new AbortController();
  upload.set(taken);
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
    fileName: file.name,
    size: file.size,
    parts: [{ ...part, step: { name: "failed", error, during: "check" } }],
    shown: 0,
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
  await each("check", { name: "checking" }, async (part, signal) => {
    const products = bodyOf(part);
    const { dry_run } = await client
      .uploadProducts({ products, dry_run: true }, { signal });
    return { name: "ready", counts: dry_run.products };
  });
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
    const { transaction_id: id, refused = 0 } = await client.uploadProducts({
      products: bodyOf(part),
      accept: isValidOnly ? "valid" : undefined,
    }, {
      signal,
      retryFor: GIVE_UP_MS,
      onRetry: (interruption) => onStep({ name: "sending", interruption }),
      // A different request needs a different key.
      idempotencyKey: part.idempotencyKey + (isValidOnly ? "-valid" : ""),
    });
    nameUpload(id, part.name);
    return { name: "sent", id, refused };
  });
  const { parts } = upload.value ?? {};
  return parts?.every(({ step }) => step.name === "sent") ?? false;
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
      ? step.error.details.map((problem) => ({ part, problem }))
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
      onStep(await work(part, signal, onStep));
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
    return { name: "refused", error };
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
