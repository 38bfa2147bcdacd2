/**
 * What somebody took: the table whose columns are being mapped, the file on its
 * way. It is outside the views, so that neither a change of view nor a revoked
 * key loses it.
 */
import type { ApiError, Detail, ProductCounts } from "../../client/mod.ts";
import { inTab } from "../lib/browser.ts";
import type { Table } from "./read/csv.ts";
import type { Encoding } from "./read/encodings.ts";
import type { Refused } from "./read/kinds.ts";
import type { Question } from "./check/questions.ts";
import type { Book, CellChange, Sheet } from "./columns/sheet.ts";
import { Store } from "../lib/store.ts";

export type Step =
  /** `percent`: null until the file has arrived. */
  | { name: "checking"; percent: number | null }
  /** Some of it may not be stored. */
  | { name: "refused"; refusal: Refusal }
  | { name: "ready"; counts: ProductCounts }
  /** `interruption`: why the last attempt failed, while the next one waits. */
  | { name: "sending"; refusal: Refusal; interruption: Error | null }
  | { name: "sent"; sent: Sent }
  /**
   * It is unknown whether it was sent, but for what `refusal` holds back; null:
   * nothing was checked.
   */
  | { name: "failed"; error: Error; refusal: Refusal | null }
  /** Signed out during the upload. */
  | { name: "kept" };

/** What speaks against storing all of a file. */
export interface Refusal {
  /** The answer of the service; null if it is that of a check. */
  error: ApiError | null;
  problems: readonly Detail[];
  /** Problems that were only counted. */
  more: number;
  /** Products that may be stored, and that are to be left. */
  valid: number;
  left: number;
  /**
   * Numbers of products that the page holds back, though the service might
   * store them.
   */
  held: readonly number[];
}

/** An import that leaves rows of the table to be corrected. */
export interface Sent {
  import_id: string;
  /** Indices of the table, in the order of the document. */
  rows: readonly number[];
  /** What the page held back, with its problems. */
  held: readonly Left[];
  /** How many rows are to be corrected. */
  left: number;
}

/** A row that was not stored. */
interface Left {
  /** An index of the table. */
  row: number;
  details: readonly Detail[];
}

export interface Upload {
  fileName: string;
  /** Bytes. */
  size: number;
  /** The document; "" if it is made from a table. */
  text: string;
  /** Sent instead of the text where that does not say the same. */
  bytes: Blob | null;
  /** The table that the document is made from. */
  sheet: Sheet | null;
  /** Columns of the file; those behind were added here. */
  ownColumns: number;
  /** Its rows that are not stored, as indices. */
  rows: readonly number[];
  step: Step;
  /** Edited since it was checked. */
  edited: boolean;
  /** Edited at all: no file holds this text. */
  corrected: boolean;
  /** Makes it safe to send the same document again, whatever happened. */
  idempotencyKey: string;
  /** What had been stored last when it was checked. */
  checkedAfter: string;
  /** Something was stored between its check and its upload. */
  overtaken: boolean;
  /** Where the browser lets the page read the file again. */
  handle: FileSystemFileHandle | null;
  /** When the file was changed; Unix milliseconds. */
  changedAt: number;
  /** Line breaks were added, because the file has very long lines. */
  isLaidOut: boolean;
  /** What stood at the last check in cells that were changed: `row:column`. */
  changed: ReadonlyMap<string, string>;
  /** What undoes each step of the corrections, the last one last. */
  steps: readonly (readonly CellChange[])[];
  /** SKUs that were in the file, not typed here. */
  meant: ReadonlySet<string>;
  /** Whose each SKU is that the same file has stored. */
  stored: ReadonlyMap<string, string>;
  /** SKUs whose products may be replaced: somebody said so. */
  confirmed: ReadonlySet<string>;
}

export type Taken = Omit<Upload, "meant" | "ownColumns">;

export type TableUpload = Upload & { sheet: Sheet };

/** null: no file was taken. */
export const upload = new Store<Upload | null>(null);

/** The name of what is being sent: it survives a reload, which ends that. */
export const beingSent = inTab("being sent");

upload.listen(() => {
  const { step, fileName } = upload.value ?? {};
  beingSent.set(step?.name === "sending" ? fileName! : null);
});

let running = new AbortController();

/** Ends the step of the file that is going on; the signal is of the next. */
export function startStep(): AbortSignal {
  running.abort();
  running = new AbortController();
  return running.signal;
}

/** A table whose columns are being mapped. */
export interface Spreadsheet {
  name: string;
  table: Table;
  /** What was done to its rows, in sentences. */
  note: string;
  book: Book | null;
  /** What must be answered before it is sent. */
  questions: readonly Question[];
  /** How its text is read, and may be; null: it is Unicode. */
  encoding: {
    name: string;
    all: readonly Encoding[];
    choose: (name: string) => void;
  } | null;
}

export type Intake =
  | { name: "empty" }
  | { name: "refused"; refused: Refused }
  | { name: "reading"; file: string }
  | { name: "spreadsheet"; spreadsheet: Spreadsheet };

/** What was taken last. A table stays while its products are checked. */
export const intake = new Store<Intake>({ name: "empty" });

let taking = new AbortController();

/** Ends what is being read of what was taken before. */
export function takeAnew(): AbortSignal {
  taking.abort();
  taking = new AbortController();
  return taking.signal;
}

/** Goes back to where nothing was taken. */
export function dropAll(): void {
  takeAnew();
  dropFile();
  intake.set({ name: "empty" });
}

/** Whether to close the page would end an upload or lose corrections. */
export function isAtWork(): boolean {
  const { step, corrected } = upload.value ?? {};
  return step?.name === "sending" ||
    (step?.name === "sent" ? step.sent.held.length > 0 : corrected ?? false);
}

/** Discards the file and stops its upload. */
export function dropFile(): void {
  startStep();
  upload.set(null);
}

/** Stops, and keeps the file to be checked for whoever signs in next. */
export function keepFile(): void {
  startStep();
  change({ step: { name: "kept" } });
}

/** Changes the file on its way, if there is one. */
export function change(changes: Partial<Upload>): void {
  const current = upload.value;
  if (current !== null) upload.set({ ...current, ...changes });
}
