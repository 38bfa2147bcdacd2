/** Deletes old rows of the catalogue: jobs of `operations/maintenance.ts`. */
import { lockOld } from "../database/old_rows.ts";
import { bySeller } from "../jobs/lease_queue.ts";
import { inLists, LIMIT, marks, partsOf, type Tx } from "../database/db.ts";
import { untilNoneOnAny } from "../jobs/periodic_jobs.ts";
import { DAY_MS } from "../lib/durations.ts";
import type { Services } from "../services.ts";
import { hasRest, touchRest } from "./change_feed.ts";
import { forgetExpiredKeys } from "./idempotency.ts";
import { deletePriceChangesBefore, pricesShownSince } from "./price_changes.ts";
import { deleteOldUndo, undoableSince } from "./undo_rows.ts";

type RetentionServices = Pick<Services, "config" | "deps" | "db">;

/**
 * Transactions, rows of their images, and pieces of their refused products that
 * one write deletes at most.
 */
const SWEEP_TRANSACTIONS = 32;
const SWEEP_IMAGES = 500;
/** Pieces have 64 KiB. */
const SWEEP_PIECES = 64;

/** Deletes transactions that have been final for SELLER_KEEP_UPLOADS_DAYS. */
export async function* sweepUploads(
  { config, deps, db }: RetentionServices,
): AsyncGenerator<number, void> {
  const days = config.keepUploadsDays;
  if (days === 0) return;
  const before = deps.clock.now() - days * DAY_MS;
  yield* untilNoneOnAny(db, (tx) => deleteOldTransactions(tx, before));
}

/**
 * Deletes some of the transactions that were final at `before` (Unix
 * milliseconds). Returns how many rows were deleted.
 */
async function deleteOldTransactions(
  tx: Tx,
  before: number,
): Promise<number> {
  const old = await lockOld(tx, {
    table: "transactions",
    key: "id",
    condition: "finished_at <= ? AND import_id IS NULL",
    params: [before],
    order: "finished_at",
    limit: SWEEP_TRANSACTIONS,
  });
  let deleted = 0;
  for (const [sellerNo, rows] of bySeller(old)) {
    const ids = rows.map(({ id }) => id);
    deleted += await deleteTransactions(tx, sellerNo, ids);
    // The next write continues with the same transactions.
    if (deleted >= SWEEP_IMAGES) break;
  }
  return deleted;
}

/**
 * Deletes these transactions of a seller, at most 256, or as many of their
 * dependent rows as one write may delete. Returns how many rows were deleted.
 */
export async function deleteTransactions(
  tx: Tx,
  sellerNo: number,
  transactionIds: readonly string[],
): Promise<number> {
  const [list] = inLists(transactionIds);
  const keys = [sellerNo, ...list];
  const among = marks(list.length);
  const theirs = `seller_no = ? AND transaction_id IN (${among})`;
  const images = await tx.run(
    `DELETE FROM transaction_images
     WHERE seller_no = ? AND (transaction_id, ordinal) IN (
       SELECT transaction_id, ordinal FROM transaction_images
       WHERE ${theirs} ${LIMIT})`,
    [sellerNo, ...keys, SWEEP_IMAGES],
  );
  // The next write continues with the same transactions.
  if (images === SWEEP_IMAGES) return images;
  const pieces = await tx.run(
    `DELETE FROM refused_pieces
     WHERE seller_no = ? AND (transaction_id, piece) IN (
       SELECT transaction_id, piece FROM refused_pieces
       WHERE ${theirs} ${LIMIT})`,
    [sellerNo, ...keys, SWEEP_PIECES],
  );
  if (pieces === SWEEP_PIECES) return images + pieces;
  await tx.run(`DELETE FROM idempotency_keys WHERE ${theirs}`, keys);
  await tx.run(
    `DELETE FROM transactions WHERE seller_no = ? AND id IN (${among})`,
    keys,
  );
  return images + pieces + transactionIds.length;
}

/** Deletes what undos of transactions older than SELLER_UNDO_DAYS need. */
export async function* sweepUndo(
  { config, deps, db }: RetentionServices,
): AsyncGenerator<number, void> {
  const since = undoableSince(deps.clock.now(), config.undoDays);
  yield* untilNoneOnAny(db, (tx) => deleteOldUndo(tx, since));
}

/** Deletes changes of prices older than SELLER_KEEP_PRICES_DAYS. */
export async function* sweepPriceChanges(
  { config, deps, db }: RetentionServices,
): AsyncGenerator<number, void> {
  const since = pricesShownSince(deps.clock.now(), config);
  yield* deletePriceChangesBefore(partsOf(db), since);
}

/** Deletes Idempotency-Keys that have expired. */
export async function* sweepIdempotencyKeys(
  { deps, db }: RetentionServices,
): AsyncGenerator<number, void> {
  const now = deps.clock.now();
  yield* untilNoneOnAny(db, (tx) => forgetExpiredKeys(tx, now));
}

/** Gives products the numbers that changes of their images left for later. */
export async function* finishImageChanges(
  { db }: RetentionServices,
): AsyncGenerator<number, void> {
  if (!await db.read(hasRest, { single: true })) return;
  yield* untilNoneOnAny(db, touchRest);
}
