/** Reads and writes workbooks in a worker. */
import { afterMs } from "../../../lib/browser.ts";
import type { SheetTable, Wanted } from "./book.ts";
import type { WorkerRequest, WorkerResponse } from "./messages.ts";

/** The time limit. A sheet of 100,000 rows takes less time. */
const LIMIT_MS = 60_000;

/** The response if the worker crashes or does not respond. */
const FAILED: WorkerResponse = {
  name: "unreadable",
  message:
    "Reading the workbook takes too long. Save the sheet with the products as a separate file, or as CSV.",
};

/** Reads a sheet, or returns why the sheet cannot be read. */
export async function readBook(
  file: Blob,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<SheetTable | string> {
  const bytes = await file.arrayBuffer();
  const answer = await askWorker({ name: "read", bytes, wanted }, signal);
  if (answer.name === "book") throw new Error("a sheet was asked for");
  return answer.name === "sheet" ? answer.sheet : answer.message;
}

/** Writes a workbook. */
export async function writeBook(
  question: Exclude<WorkerRequest, { name: "read" }>,
): Promise<Blob> {
  const answer = await askWorker(question, new AbortController().signal);
  if (answer.name === "book") return new Blob([answer.bytes]);
  throw new Error(answer.name === "unreadable" ? answer.message : answer.name);
}

async function askWorker(
  question: WorkerRequest,
  signal: AbortSignal,
): Promise<WorkerResponse> {
  const worker = startWorker();
  const { promise, resolve } = Promise.withResolvers<WorkerResponse>();
  worker.onmessage = ({ data }: MessageEvent<WorkerResponse>) => resolve(data);
  worker.onerror = () => resolve(FAILED);
  const cancel = afterMs(LIMIT_MS, () => resolve(FAILED));
  const stop = () => resolve(FAILED);
  signal.addEventListener("abort", stop);
  try {
    worker.postMessage(question);
    return await promise;
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
    worker.terminate();
  }
}

/** The URL of the worker's script, which `index.html` contains. */
const address = globalThis.document
  ?.querySelector<HTMLMetaElement>('meta[name="workbook"]')?.content ?? "";

/**
 * The Trusted Types policy of the worker's URL. The page's CSP allows workers
 * only from URLs of such a policy.
 */
const policy = (globalThis as {
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL: () => string },
    ): { createScriptURL(text: string): string };
  };
}).trustedTypes?.createPolicy("workbook", { createScriptURL: () => address });

function startWorker(): Worker {
  return new Worker(policy?.createScriptURL(address) ?? address);
}
