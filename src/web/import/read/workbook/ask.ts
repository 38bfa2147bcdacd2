/** Workbooks, read and written by a thread of their own. */
import { afterMs } from "../../../lib/browser.ts";
import type { SheetTable, Wanted } from "./book.ts";
import type { WorkerRequest, WorkerResponse } from "./messages.ts";

/** Longer than a sheet of 100,000 rows takes. */
const LIMIT_MS = 60_000;

/** A thread that a workbook stopped or that never answered. */
const FAILED: WorkerResponse = {
  name: "unreadable",
  message:
    "It takes too long to read. Save the sheet with the products as a file of its own, or as CSV.",
};

/** Reads a sheet, or tells in sentences why that cannot be. */
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

/** A workbook that the page has made. */
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

/** Where the script is, under a name of its content, as `index.html` says. */
const address = globalThis.document
  ?.querySelector<HTMLMetaElement>('meta[name="workbook"]')?.content ?? "";

/** Makes an address that the page's policy lets a thread start from. */
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
