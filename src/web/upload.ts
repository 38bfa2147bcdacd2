/**
 * The upload of one file: dropped → checked by a dry run → sent. Its state is
 * outside the views, so that neither a change of view nor a revoked key loses
 * the file.
 */
import { now, randomName, sleep } from "./browser.ts";
import { ApiError, type Client, Unreachable } from "./client.ts";
import { type ProductCounts, readProductCounts } from "./resources.ts";
import { Store } from "./store.ts";
import { find, textOf } from "./xml.ts";

const BULK = "/seller_api/bulk_products?v=1.1";
/** Files above this are sent compressed. */
const GZIP_FROM = 64 * 1024;
/** Larger files are sent, but their source is not shown. */
const SHOWN_UP_TO = 32 * 1024 * 1024;
/** Pauses between attempts; the last one repeats until `GIVE_UP_MS`. */
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000];
const GIVE_UP_MS = 5 * 60_000;

/** `upload valid`: only the products without a problem. */
export type Work = "check" | "upload" | "upload valid";

export type Step =
  | { name: "checking" }
  /** The service refused the document with its problems. */
  | { name: "refused"; error: ApiError }
  | { name: "ready"; counts: ProductCounts }
  /** `interruption`: why the last attempt failed, while the next one waits. */
  | { name: "sending"; interruption: Error | null }
  /** Nothing was checked, or it is unknown whether it was stored. */
  | { name: "failed"; error: Error; during: Work }
  /** Signed out during the upload. */
  | { name: "kept" };

export interface Upload {
  fileName: string;
  /** Bytes. */
  size: number;
  /** Lines of the source; null if it is too long to show. */
  lines: readonly string[] | null;
  step: Step;
}

/** null: no file was dropped. */
export const upload = new Store<Upload | null>(null);

interface Document {
  body: Blob;
  headers: Record<string, string>;
  /** Makes it safe to send the same file again, whatever happened before. */
  idempotencyKey: string;
}

let document: Document | null = null;
let running = new AbortController();

/** Accepts a file and checks it, or keeps it until somebody signs in. */
export async function takeFile(
  client: Client | null,
  file: File,
): Promise<void> {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  document = null;
  const start = { fileName: file.name, size: file.size, lines: null };
  upload.set({ ...start, step: { name: "checking" } });
  try {
    const bytes = await file.arrayBuffer();
    const taken = await documentOf(bytes);
    if (signal.aborted) return;
    document = taken;
    upload.set({
      ...start,
      lines: bytes.byteLength <= SHOWN_UP_TO ? linesOf(bytes) : null,
      step: { name: client === null ? "kept" : "checking" },
    });
  } catch {
    if (signal.aborted) return;
    const error = new Error(
      "The file cannot be read. It may have been moved or changed; choose it again.",
    );
    return upload.set({
      ...start,
      step: { name: "failed", error, during: "check" },
    });
  }
  if (client !== null) await checkFile(client);
}

/** Checks the file with a dry run. */
export async function checkFile(client: Client): Promise<void> {
  await run({ name: "checking" }, "check", async (taken, signal) => {
    const root = await client.read(`${BULK}&dry_run=true`, {
      method: "POST",
      body: taken.body,
      headers: taken.headers,
      signal,
    });
    const counts = readProductCounts(find(root, "dry_run/products"));
    moveTo({ name: "ready", counts });
  });
}

/**
 * Sends the file, with retries while they may help, each with the same
 * Idempotency-Key. Returns the transaction id, or null if it failed.
 */
export async function sendFile(
  client: Client,
  work: Exclude<Work, "check"> = "upload",
): Promise<string | null> {
  let id: string | null = null;
  const sending: Step = { name: "sending", interruption: null };
  await run(sending, work, async (taken, signal) => {
    id = await sendUntilAnswered(client, taken, work, signal);
    if (id === null) throw new Unreachable();
    upload.set(null);
  });
  return id;
}

/** Discards the file and stops its upload. */
export function dropFile(): void {
  running.abort();
  document = null;
  upload.set(null);
}

async function run(
  first: Step,
  during: Work,
  work: (taken: Document, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (document === null) return;
  running.abort();
  running = new AbortController();
  const { signal } = running;
  moveTo(first);
  try {
    await work(document, signal);
  } catch (error) {
    if (signal.aborted) return;
    moveTo(stepAfter(error, during));
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

async function sendUntilAnswered(
  client: Client,
  taken: Document,
  work: Work,
  signal: AbortSignal,
): Promise<string | null> {
  const startedAt = now();
  const isPart = work === "upload valid";
  // A different request needs a different key.
  const key = taken.idempotencyKey + (isPart ? "-valid" : "");
  for (let tries = 0;; tries++) {
    try {
      const root = await client.read(isPart ? `${BULK}&accept=valid` : BULK, {
        method: "POST",
        body: taken.body,
        headers: { ...taken.headers, "Idempotency-Key": key },
        signal,
      });
      return textOf(root, "transaction_id");
    } catch (error) {
      if (!mayPass(error) || now() - startedAt > GIVE_UP_MS) throw error;
      moveTo({ name: "sending", interruption: error });
      await sleep(waitAfter(error, tries), signal);
      if (signal.aborted) throw error;
    }
  }
}

function mayPass(error: unknown): error is ApiError | Unreachable {
  return error instanceof Unreachable ||
    (error instanceof ApiError && error.passes);
}

function waitAfter(error: ApiError | Unreachable, tries: number): number {
  const wait = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)];
  const asked = error instanceof ApiError ? error.retryAfter : null;
  return Math.max(wait, (asked ?? 0) * 1_000);
}

function moveTo(step: Step): void {
  const current = upload.value;
  if (current !== null) upload.set({ ...current, step });
}

async function documentOf(bytes: ArrayBuffer): Promise<Document> {
  const idempotencyKey = randomName();
  const plain = new Blob([bytes]);
  if (plain.size <= GZIP_FROM) {
    return { body: plain, headers: {}, idempotencyKey };
  }
  const packed = plain.stream().pipeThrough(new CompressionStream("gzip"));
  return {
    body: await new Response(packed).blob(),
    headers: { "Content-Encoding": "gzip" },
    idempotencyKey,
  };
}

/** Lines as XML counts them. Invalid UTF-8 is left to the service. */
function linesOf(bytes: ArrayBuffer): string[] {
  return new TextDecoder().decode(bytes).split(/\r\n|\r|\n/);
}
