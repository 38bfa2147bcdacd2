/**
 * The file that is being uploaded, and its changes. It is stored outside the
 * views, so that neither a change of view nor a revoked key loses it.
 */
import {
  type ApiError,
  type Detail,
  type ProductCounts,
} from "../../../client/mod.ts";
import { inTab } from "../../lib/browser.ts";
import { Store } from "../../lib/store.ts";
import type { CellChange, MappedTable } from "../columns/sheet.ts";

export type Step =
  /** `percent`: null until the file has arrived. */
  | { name: "checking"; percent: number | null }
  /** Some products cannot be stored. */
  | { name: "refused"; refusal: Refusal }
  | { name: "ready"; counts: ProductCounts; import_id: string }
  /** `interruption`: why the last attempt failed, while the next one waits. */
  | { name: "sending"; refusal: Refusal; interruption: Error | null }
  | { name: "sent"; sent: Sent }
  /**
   * It is unknown whether the file was sent, without the products that
   * `refusal` holds back; null: nothing was checked.
   */
  | { name: "failed"; error: Error; refusal: Refusal | null }
  /** Signed out during the upload. */
  | { name: "kept" };

/** Why a file cannot be stored completely. */
export interface Refusal {
  /** The answer of the service; null if it is that of a check. */
  error: ApiError | null;
  problems: readonly Detail[];
  /** Problems that were only counted. */
  more: number;
  /** How many products can be stored, and how many are left out. */
  validCount: number;
  leftOutCount: number;
  /**
   * Numbers of products that the page holds back, though the service might
   * store them.
   */
  heldBackProducts: readonly number[];
  /** The dry run that can be stored; null: nothing can. */
  import_id: string | null;
  /** Numbers of products that it does not have. */
  absent: readonly number[];
}

export const NO_REFUSAL: Refusal = {
  error: null,
  problems: [],
  more: 0,
  validCount: 0,
  leftOutCount: 0,
  heldBackProducts: [],
  import_id: null,
  absent: [],
};

/** An import that leaves rows of the table to be corrected. */
export interface Sent {
  import_id: string;
  /** Indices of the table, in the order of the document. */
  rows: readonly number[];
  /** Rows that the page held back, with their problems. */
  heldBackRows: readonly LeftOutRow[];
  /** How many rows are to be corrected. */
  leftOutCount: number;
}

/** A row that was not stored. */
interface LeftOutRow {
  /** An index of the table. */
  row: number;
  details: readonly Detail[];
}

/** Properties of documents and tables alike. */
interface AnyUpload {
  fileName: string;
  step: Step;
  /** Edited since it was checked. */
  edited: boolean;
  /** Edited at all: no file holds this text. */
  corrected: boolean;
  /** SKUs that were in the file, not typed here. */
  skusInFile: ReadonlySet<string>;
  /** By SKU that this file has stored, the row that it came from. */
  stored: ReadonlyMap<string, string>;
  /** SKUs whose products may be replaced, as a person confirmed. */
  confirmed: ReadonlySet<string>;
}

/** A document that is sent as it is, or as it was edited. */
export interface DocumentUpload extends AnyUpload {
  kind: "document";
  /** Bytes. */
  size: number;
  text: string;
  /** Sent instead of the text if the text is not faithful. */
  bytes: Blob | null;
  /** Where the browser lets the page read the file again. */
  handle: FileSystemFileHandle | null;
  /** When the file was changed; Unix milliseconds. */
  changedAt: number;
  /** Line breaks were added, because the file has very long lines. */
  isLaidOut: boolean;
}

/** A table that a document is made from. */
export interface TableUpload extends AnyUpload {
  kind: "table";
  sheet: MappedTable;
  /** Columns of the file; those behind were added here. */
  ownColumns: number;
  /** Its rows that are not stored, as indices. */
  rows: readonly number[];
  /** The texts at the last check of changed cells, by `row:column`. */
  changed: ReadonlyMap<string, string>;
  /** The inverse of each correction step, in order. */
  steps: readonly (readonly CellChange[])[];
}

export type Upload = DocumentUpload | TableUpload;

/** What an upload has at its beginning. */
export function newUpload(fileName: string): AnyUpload {
  return {
    fileName,
    step: { name: "kept" },
    edited: false,
    corrected: false,
    skusInFile: new Set(),
    stored: new Map(),
    confirmed: new Set(),
  };
}

/** An event that changes an upload. */
export type UploadChange =
  /** A check or the sending of the file begins. */
  | { name: "begun"; step: Step }
  /** It goes on, or ends. */
  | { name: "reached"; step: Step }
  | { name: "text edited"; text: string }
  /** `inverse`: what undoes it; null: it undoes the last step. */
  | {
    name: "cells edited";
    changes: readonly CellChange[];
    inverse: readonly CellChange[] | null;
    /** With the changes. */
    sheet: MappedTable;
    /** SKUs of rows that somebody confirmed as they were. */
    unconfirmed: readonly string[];
  }
  /** The sheet has one more column. */
  | { name: "column added"; sheet: MappedTable }
  | { name: "confirmed"; skus: readonly string[] }
  /** Rows that the import left are shown, to be corrected. */
  | {
    name: "left shown";
    rows: readonly number[];
    problems: readonly Detail[];
    stored: TableUpload["stored"];
  };

/** The upload after a change; what does not fit its kind changes nothing. */
export function applyChange(current: Upload, change: UploadChange): Upload {
  switch (change.name) {
    case "begun": {
      const next = { ...current, step: change.step, edited: false };
      const isCheck = change.step.name === "checking";
      return next.kind === "table" && isCheck
        ? { ...next, changed: new Map() }
        : next;
    }
    case "reached":
      return { ...current, step: change.step };
    case "text edited":
      return current.kind === "table"
        ? current
        : { ...current, ...CORRECTED, text: change.text };
    case "cells edited":
      return current.kind === "document"
        ? current
        : applyCellChanges(current, change);
    case "column added":
      return current.kind === "document"
        ? current
        : { ...current, sheet: change.sheet };
    case "confirmed":
      return {
        ...current,
        confirmed: current.confirmed.union(new Set(change.skus)),
      };
    case "left shown":
      return current.kind === "document"
        ? current
        : applyLeftOutRows(current, change);
  }
}

type ChangeOf<Name extends UploadChange["name"]> = Extract<
  UploadChange,
  { name: Name }
>;

const CORRECTED = { edited: true, corrected: true };

function applyCellChanges(
  current: TableUpload,
  { changes, inverse, sheet, unconfirmed }: ChangeOf<"cells edited">,
): TableUpload {
  const { rows } = current.sheet.table;
  const changed = new Map(current.changed);
  for (const { row, column, text } of changes) {
    const place = `${row}:${column}`;
    const before = changed.get(place) ?? rows[row][column];
    if (text === before) changed.delete(place);
    else changed.set(place, before);
  }
  return {
    ...current,
    ...CORRECTED,
    sheet,
    changed,
    confirmed: current.confirmed.difference(new Set(unconfirmed)),
    steps: inverse === null
      ? current.steps.slice(0, -1)
      : [...current.steps, inverse],
  };
}

function applyLeftOutRows(
  current: TableUpload,
  { rows, problems, stored }: ChangeOf<"left shown">,
): TableUpload {
  const refusal = { ...NO_REFUSAL, problems, leftOutCount: rows.length };
  return {
    ...current,
    rows,
    stored,
    step: { name: "refused", refusal },
    // Undo does not reverse what has been stored.
    steps: [],
    corrected: true,
  };
}

/** null: no file was taken. */
export const upload = new Store<Upload | null>(null);

/** Changes the file on its way, if there is one. */
export function changeUpload(made: UploadChange): void {
  const current = upload.value;
  if (current !== null) upload.set(applyChange(current, made));
}

/** The name of what is being sent: it survives a reload, which ends that. */
export const nameOfFileBeingSent = inTab("being sent");

upload.listen(() => {
  const { step, fileName } = upload.value ?? {};
  nameOfFileBeingSent.set(step?.name === "sending" ? fileName! : null);
});

let running = new AbortController();

/** Ends the step of the file that is going on; the signal is of the next. */
export function startStep(): AbortSignal {
  running.abort();
  running = new AbortController();
  return running.signal;
}

/** Discards the file and stops its upload. */
export function dropFile(): void {
  startStep();
  upload.set(null);
}

/** Stops, and keeps the file to be checked for whoever signs in next. */
export function keepFile(): void {
  startStep();
  changeUpload({ name: "reached", step: { name: "kept" } });
}

/** Whether to close the page would end an upload or lose corrections. */
export function hasUnsavedWork(): boolean {
  const { step, corrected } = upload.value ?? {};
  return step?.name === "sending" ||
    (step?.name === "sent"
      ? step.sent.heldBackRows.length > 0
      : corrected ?? false);
}
