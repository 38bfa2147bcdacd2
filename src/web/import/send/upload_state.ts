/**
 * The file that is being uploaded, and its changes. The page stores the file
 * outside of the views, so that a change of the view or a new sign-in does not
 * lose it.
 */
import {
  type ApiError,
  type Detail,
  type ProductCounts,
  type Warnings,
} from "../../../client/mod.ts";
import { storedInTab } from "../../lib/browser.ts";
import { Store } from "../../lib/store.ts";
import type { CellChange, MappedTable } from "../columns/sheet.ts";

export type Step =
  /** The `percent` is null until the service has received the file. */
  | { name: "checking"; percent: number | null }
  /** Some or all products cannot be stored. */
  | { name: "refused"; refusal: Refusal }
  | {
    name: "ready";
    counts: ProductCounts;
    warnings: Warnings | undefined;
    import_id: string;
  }
  /** During a pause, `interruption` is why the last attempt failed. */
  | { name: "sending"; refusal: Refusal; interruption: Error | null }
  | { name: "sent"; sent: Sent }
  /**
   * A request failed. If `refusal` is not null, the file may have been sent
   * without the refused products.
   */
  | { name: "failed"; error: Error; refusal: Refusal | null }
  /** The user was signed out during the upload; the file is still open. */
  | { name: "kept" };

/** Why a file cannot be stored completely. */
export interface Refusal {
  /** The service's refusal of the request; null after a check. */
  error: ApiError | null;
  problems: readonly Detail[];
  /** The number of problems that are not listed. */
  more: number;
  /** Warnings about products without problems, which rules will refuse later. */
  warnings: Warnings | undefined;
  /** The number of products that can be stored. */
  validCount: number;
  /** The number of products that cannot be stored. */
  leftOutCount: number;
  /**
   * The numbers of products that the page does not send without a confirmation,
   * although the service would accept them.
   */
  heldBackProducts: readonly number[];
  /** The stored prices, by SKU, of products with a detail `price_jump`. */
  presentPrices: ReadonlyMap<string, string>;
  /** The dry run that can be stored; null if none can. */
  import_id: string | null;
  /** The numbers of products that this dry run leaves out. */
  absent: readonly number[];
}

export const NO_REFUSAL: Refusal = {
  error: null,
  problems: [],
  more: 0,
  warnings: undefined,
  validCount: 0,
  leftOutCount: 0,
  heldBackProducts: [],
  presentPrices: new Map(),
  import_id: null,
  absent: [],
};

/** A sent import, and the rows that it did not store. */
export interface Sent {
  import_id: string;
  /** The rows that were sent, as indices, in the order of the document. */
  rows: readonly number[];
  /** Rows that the page did not send, with their problems. */
  heldBackRows: readonly LeftOutRow[];
  /** The number of rows to correct. */
  leftOutCount: number;
}

/** A row that was not stored. */
interface LeftOutRow {
  /** The index of the row in the table. */
  row: number;
  details: readonly Detail[];
}

/** The properties that documents and tables share. */
interface AnyUpload {
  fileName: string;
  step: Step;
  /** Whether the file has been edited since the last check. */
  edited: boolean;
  /** Whether the content has been edited, so that it differs from the file. */
  corrected: boolean;
  /** The SKUs of the file before any edit on the page. */
  skusInFile: ReadonlySet<string>;
  /** The names of the rows that this file has stored, by their SKUs. */
  stored: ReadonlyMap<string, string>;
  /** The SKUs of products that the user has confirmed. */
  confirmed: ReadonlySet<string>;
  /**
   * The stored prices, by SKU, of products whose new price the user has
   * confirmed. They are sent as expected prices.
   */
  expectedPrices: ReadonlyMap<string, string>;
}

/** A document in XML or JSON, which may be edited. */
export interface DocumentUpload extends AnyUpload {
  kind: "document";
  /** The size in bytes. */
  size: number;
  text: string;
  /** Sent instead of the text if the file is not UTF-8; else null. */
  bytes: Blob | null;
  /** Reads the file again, where the browser allows it. */
  handle: FileSystemFileHandle | null;
  /** The modification time of the file in Unix milliseconds. */
  changedAt: number;
  /** Whether line breaks were added, because the file has very long lines. */
  isLaidOut: boolean;
}

/** A table that a document is made from. */
export interface TableUpload extends AnyUpload {
  kind: "table";
  sheet: MappedTable;
  /**
   * The number of columns in the file; later columns were added on the page.
   */
  ownColumns: number;
  /**
   * The indices of the rows to send: all rows, or those that an earlier import
   * did not store.
   */
  rows: readonly number[];
  /** The changed cells, by `row:column`, with their texts at the last check. */
  changed: ReadonlyMap<string, string>;
  /** The inverse of each correction step, in order. */
  steps: readonly (readonly CellChange[])[];
}

export type Upload = DocumentUpload | TableUpload;

/** The initial state of an upload. */
export function newUpload(fileName: string): AnyUpload {
  return {
    fileName,
    step: { name: "kept" },
    edited: false,
    corrected: false,
    skusInFile: new Set(),
    stored: new Map(),
    confirmed: new Set(),
    expectedPrices: new Map(),
  };
}

/** An event that changes an upload. */
export type UploadChange =
  /** A check or the sending has begun. */
  | { name: "begun"; step: Step }
  /** The step has progressed or ended. */
  | { name: "reached"; step: Step }
  | { name: "text edited"; text: string }
  /** `inverse` undoes the edit; null if the edit is itself an undo. */
  | {
    name: "cells edited";
    changes: readonly CellChange[];
    inverse: readonly CellChange[] | null;
    /** The sheet after the changes. */
    sheet: MappedTable;
    /** The SKUs whose confirmation the changes withdraw. */
    unconfirmed: readonly string[];
  }
  /** The sheet has one more column. */
  | { name: "column added"; sheet: MappedTable }
  | { name: "confirmed"; skus: readonly string[] }
  /** The rows that the import did not store are shown for correction. */
  | {
    name: "left shown";
    rows: readonly number[];
    problems: readonly Detail[];
    stored: TableUpload["stored"];
  };

/**
 * The upload after a change. A change of cells has no effect on a document, and
 * a change of text has none on a table.
 */
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
      return applyConfirmation(current, change);
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

function applyConfirmation(
  current: Upload,
  { skus }: ChangeOf<"confirmed">,
): Upload {
  const { step, confirmed, expectedPrices } = current;
  const { presentPrices } = step.name === "refused" ? step.refusal : NO_REFUSAL;
  const prices = skus.flatMap((sku) => {
    const price = presentPrices.get(sku);
    return price === undefined ? [] : [[sku, price] as const];
  });
  return {
    ...current,
    confirmed: confirmed.union(new Set(skus)),
    expectedPrices: new Map([...expectedPrices, ...prices]),
  };
}

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
    expectedPrices: new Map(
      [...current.expectedPrices].filter(([sku]) => !unconfirmed.includes(sku)),
    ),
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
    // Undo does not revert stored rows.
    steps: [],
    corrected: true,
  };
}

/** The opened file; null if there is none. */
export const upload = new Store<Upload | null>(null);

/** Changes the opened file, if there is one. */
export function changeUpload(made: UploadChange): void {
  const current = upload.value;
  if (current !== null) upload.set(applyChange(current, made));
}

/**
 * The name of the file that is being sent. The name is stored in the tab,
 * because a reload of the page stops sending the file.
 */
export const nameOfFileBeingSent = storedInTab("being sent");

upload.listen(() => {
  const { step, fileName } = upload.value ?? {};
  nameOfFileBeingSent.set(step?.name === "sending" ? fileName! : null);
});

let running = new AbortController();

/** Ends the current step; returns the signal of the next one. */
export function startStep(): AbortSignal {
  running.abort();
  running = new AbortController();
  return running.signal;
}

/** Closes the file and stops its upload. */
export function dropFile(): void {
  startStep();
  upload.set(null);
}

/** Stops the upload; the file is checked after the next sign-in. */
export function keepFile(): void {
  startStep();
  changeUpload({ name: "reached", step: { name: "kept" } });
}

/** Whether closing the page would end an upload or lose corrections. */
export function hasUnsavedWork(): boolean {
  const { step, corrected } = upload.value ?? {};
  return step?.name === "sending" ||
    (step?.name === "sent"
      ? step.sent.heldBackRows.length > 0
      : corrected ?? false);
}
