/**
 * An import: a document with up to 50,000 products. The document is kept in
 * pieces as it arrives, then checked and stored in the background, in parts of
 * at most 250 products, by the code of an upload.
 *
 * arriving → checking → storing → completed → deleting
 *
 * If anything is wrong, the check ends as `refused`, unless the seller asked to
 * store the valid products. A dry run ends as `completed`, and continues with
 * `storing` if its seller stores it afterwards. In `checking` and `storing`,
 * the seller may cancel an import (`cancelled`), or it may fail (`failed`). The
 * undo of an import is also an import: its parts are the transactions that it
 * undoes.
 *
 * After an import has ended (after a dry run, a day later), only the refused
 * products of its document are kept:
 *
 * whole → shrinking → refused
 *
 * Each part is committed with the import's row, which counts the parts that are
 * done; so each part is stored once, however often a process is killed.
 */
import type { LeaseQueue } from "../jobs/lease_queue.ts";
import type { ImageCounts, ProductCounts } from "../catalogue/transaction.ts";
import { progressOf } from "../catalogue/transaction.ts";
import type { Detail } from "../lib/errors.ts";
import { DAY_MS, SECOND_MS } from "../lib/durations.ts";

/** How many imports of a seller run at once; others queue. */
export const IMPORTS_AT_ONCE = 3;
/** How long the document of a dry run can be stored after its check. */
export const CHECKED_KEPT_MS = DAY_MS;
/** The pause after a part that failed. */
export const AFTER_FAILURE_MS = 5 * SECOND_MS;

export const IMPORTS: LeaseQueue = {
  table: "imports",
  order: "id",
  longestPauseMs: AFTER_FAILURE_MS,
  neverPostponed: "failures = 0",
};

/** States of imports that have work left. */
export type OpenState = "checking" | "storing";

/** States of incomplete imports, which are not shown. */
export const HIDDEN_STATES = ["arriving", "deleting"] as const;

export type ImportState =
  | OpenState
  | "refused"
  | "completed"
  | "cancelled"
  | "failed";

/** The statuses that sellers see. */
export const IMPORT_STATUSES = [
  "checking",
  "refused",
  "storing",
  "images",
  "completed",
  "completed_with_errors",
  "cancelled",
  "failed",
] as const;

export type ImportStatus = typeof IMPORT_STATUSES[number];

/** How much of its document an import keeps. */
export type DocumentState = "whole" | "shrinking" | "refused";

/** The row, without the columns of the queue. Flags are 0 or 1. */
export interface Import {
  id: string;
  state: ImportState;
  accept_valid: number;
  dry_run: number;
  keep_changed: number;
  /** Unix milliseconds. */
  created_at: number;
  /** Unix milliseconds; null while parts are checked or stored. */
  over_at: number | null;
  bytes: number;
  root_start: number;
  root_end: number;
  parts: number;
  parts_checked: number;
  parts_stored: number;
  products_total: number;
  products_new: number;
  products_created: number;
  products_updated: number;
  products_unchanged: number;
  products_deleted: number;
  products_refused: number;
  /** How many problems were found. */
  problems: number;
  warnings: number;
  undoes: string | null;
  /** The key that sent the import; null if it is not known. */
  key_id: string | null;
  name: string | null;
  document: DocumentState;
  shows_former: number;
  /** Problems outside of any product; JSON. */
  outside: string;
}

/** What identifies an import. */
export interface ImportKey {
  sellerNo: number;
  importId: string;
}

/** A part of an import. */
export interface Part {
  /** Index of the part, from 0. */
  part: number;
  /** Position of its first product in the document, from 1. */
  first_product: number;
  products: number;
  /** The line of its first product. */
  line: number;
  /** Offsets in the document. */
  start_at: number;
  end_at: number;
  /** The transaction that stored it; null if none did. */
  transaction_id: string | null;
  /** The transaction that this part undoes. */
  undoes: string | null;
}

/** The row as lists show it, with further values that they show. */
export interface ImportRecord extends Omit<Import, "outside"> {
  images: ImageCounts;
  /** Unix milliseconds at which its last images were settled; null if none. */
  images_at: number | null;
  undone_by: string | null;
  /** null: the key has no label, or is no longer stored. */
  key_label: string | null;
}

export function isOpen({ state }: Pick<Import, "state">): boolean {
  return state === "checking" || state === "storing";
}

export function importStatus(record: ImportRecord): ImportStatus {
  const { state, images, products_refused } = record;
  // A cancelled or failed import keeps this status while the images of its
  // stored products are fetched.
  if (state !== "completed") return state;
  if (images.pending > 0) return "images";
  return images.failed + products_refused > 0
    ? "completed_with_errors"
    : "completed";
}

/**
 * When the status became final, in Unix milliseconds; null if it is not final.
 */
export function finishedAt(record: ImportRecord): number | null {
  const { over_at, images, images_at } = record;
  if (over_at === null || images.pending > 0) return null;
  return Math.max(over_at, images_at ?? 0);
}

/**
 * The percentages of the two phases in the progress; a dry run has only the
 * first phase.
 */
const CHECK_PERCENT = 30;
const STORE_PERCENT = 50;

/** Percent of the whole import, rounded down. */
export function importProgress(record: ImportRecord): number {
  const { parts, parts_checked, parts_stored, over_at, images } = record;
  const part = (done: number, percent: number) =>
    parts === 0 ? 0 : done * percent / parts;
  if (over_at === null) {
    if (record.dry_run === 1) return Math.floor(part(parts_checked, 99));
    return Math.floor(
      part(parts_checked, CHECK_PERCENT) + part(parts_stored, STORE_PERCENT),
    );
  }
  const rest = 100 - CHECK_PERCENT - STORE_PERCENT;
  return 100 - rest + Math.floor(progressOf(images) * rest / 100);
}

/** How many products have each result so far. */
export function countsOfImport(row: ImportRecord): ProductCounts {
  return {
    created: row.products_created,
    updated: row.products_updated,
    unchanged: row.products_unchanged,
    deleted: row.products_deleted,
    refused: row.products_refused,
  };
}

export function problemsOutsideProducts(
  { outside }: Pick<Import, "outside">,
): Detail[] {
  return JSON.parse(outside);
}
