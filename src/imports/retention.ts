/** Deletes old imports and what is left of them: jobs of maintenance. */
import {
  LIMIT,
  MAINTENANCE,
  query,
  type ReadWrite,
  type Tx,
} from "../database/db.ts";
import {
  deleteDependents,
  deleteSome,
  deleteWhole,
  lockOld,
  type OldRows,
} from "../database/old_rows.ts";
import { TABLES } from "../database/schema.ts";
import { untilNoneOnAnyServer } from "../jobs/periodic_jobs.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import type { Services } from "../services.ts";
import { addUsage } from "../sellers/usage_rows.ts";
import { CHECKED_KEPT_MS, type ImportKey } from "./import.ts";
import { addBytes, findImport, setDeleting } from "./import_rows.ts";
import { refusedSpans } from "./part_rows.ts";
import { PIECE } from "./spool.ts";

type RetentionServices = Pick<Services, "config" | "deps" | "db">;

/** A document arrives sooner than this, or its process is dead. */
const ARRIVAL_MS = HOUR_MS;
/** Of which one write deletes at most so many. */
const TRANSACTIONS = TABLES.transactions.portion;

const KEY = `seller_no AS "sellerNo", id AS "importId"`;

/**
 * Deletes imports that have been over for SELLER_KEEP_UPLOADS_DAYS, images of
 * their products included, and what is left of others that were deleted.
 */
export async function* sweepImports(
  { config, deps, db }: RetentionServices,
): AsyncGenerator<number, void> {
  const now = deps.clock.now();
  const sweep = (old: Pick<OldRows, "condition" | "params" | "order">) =>
    untilNoneOnAnyServer(db, async (tx) => {
      const [row] = await lockOld(tx, { table: "imports", limit: 1, ...old });
      if (row === undefined) return 0;
      return await deleteImport(tx, {
        sellerNo: row.sellerNo,
        importId: row.id,
      });
    });
  yield* sweep({
    condition: "state = 'arriving' AND created_at <= ?",
    params: [now - ARRIVAL_MS],
    order: "created_at",
  });
  const days = config.keepUploadsDays;
  const before = days === 0 ? 0 : now - days * DAY_MS;
  yield* sweep({
    condition: `over_at <= ? AND NOT EXISTS (
      SELECT 1 FROM import_images
      WHERE import_images.seller_no = imports.seller_no
        AND import_images.import_id = imports.id
        AND (pending > 0 OR settled_at > ?))`,
    params: [before, before],
    order: "over_at",
  });
}

/** Deletes the keys of imports that are over. */
export async function* sweepImportKeys(
  { db }: Pick<RetentionServices, "db">,
): AsyncGenerator<number, void> {
  const waiting = () =>
    db.read((sql) =>
      sql.get<ImportKey>(
        `SELECT ${KEY} FROM imports
         WHERE has_keys = 1 AND over_at > 0 ${sql.ofPart()} ORDER BY over_at LIMIT 1`,
      ), { single: true });
  for (let over; (over = await waiting()) !== undefined;) {
    const { sellerNo, importId } = over;
    yield await db.of(sellerNo).write(async (tx) => {
      const keys = await deleteSome(tx, "import_keys", sellerNo, {
        condition: "import_id = ?",
        params: [importId],
      });
      if (keys === TABLES.import_keys.portion) return keys;
      return await tx.run(
        "UPDATE imports SET has_keys = 0 WHERE seller_no = ? AND id = ?",
        [sellerNo, importId],
        "any",
      );
    }, { ...MAINTENANCE });
  }
}

/**
 * Deletes what is not needed any more of the documents of imports that are over,
 * so that it counts against no quota: all but the pieces with a refused product.
 */
export async function* sweepImportDocuments(
  { deps, db }: Pick<RetentionServices, "deps" | "db">,
): AsyncGenerator<number, void> {
  const before = deps.clock.now() - CHECKED_KEPT_MS;
  const waiting = () =>
    db.read((sql) =>
      sql.get<ImportKey>(
        `SELECT ${KEY} FROM imports
         WHERE ${UNNEEDED} ${sql.ofPart()} ORDER BY over_at LIMIT 1`,
        [before],
      ), { single: true });
  for (let over; (over = await waiting()) !== undefined;) {
    const own = db.of(over.sellerNo);
    const kept = await keptPieces(own, over);
    for (let deleted = 1; deleted > 0;) {
      deleted = await own.write(
        (tx) => shrinkDocument(tx, over!, { before, kept }),
        { ...MAINTENANCE },
      );
      yield deleted;
    }
  }
}

/** The parameter is the time until which dry runs had to be over. */
const UNNEEDED = `document <> 'refused' AND over_at > 0
  AND (dry_run = 0 OR over_at <= ?)`;

/** Products whose positions are read at a time. */
const SPANS = 1_000;

/** The pieces of a document that hold its root and its refused products. */
async function keptPieces(
  own: ReadWrite,
  key: ImportKey,
): Promise<ReadonlySet<number>> {
  const kept = new Set<number>();
  const keep = ({ start, end }: { start: number; end: number }) => {
    const last = Math.floor((end - 1) / PIECE);
    for (let n = Math.floor(start / PIECE); n <= last; n++) kept.add(n);
  };
  for (let after = 0;;) {
    const spans = await own.read((sql) => refusedSpans(sql, key, after, SPANS));
    spans.forEach(keep);
    if (spans.length < SPANS) break;
    after = spans.at(-1)!.product;
  }
  if (kept.size === 0) return kept;
  const row = await own.read((sql) =>
    findImport(sql, key.sellerNo, key.importId)
  );
  if (row !== null) keep({ start: row.root_start, end: row.root_end });
  return kept;
}

/** Deletes a portion of a document; 0: nothing is left to be deleted. */
async function shrinkDocument(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  { before, kept }: { before: number; kept: ReadonlySet<number> },
): Promise<number> {
  const key = [sellerNo, importId];
  const row = await tx.get(
    query(({ lock }) =>
      `SELECT id FROM imports WHERE seller_no = ? AND id = ? AND ${UNNEEDED}
       ${lock("FOR UPDATE")}`
    ),
    [...key, before],
  );
  // It is being stored, or was deleted.
  if (row === undefined) return 0;
  const pieces = await tx.all<{ piece: number; size: number }>(
    `SELECT piece, LENGTH(bytes) AS size FROM import_pieces
     WHERE seller_no = ? AND import_id = ? ORDER BY piece`,
    key,
  );
  const unneeded = pieces.filter(({ piece }) => !kept.has(piece));
  const portion = unneeded.slice(0, TABLES.import_pieces.portion);
  await tx.runMany(
    `DELETE FROM import_pieces
     WHERE seller_no = ? AND import_id = ? AND piece = ?`,
    portion.map(({ piece }) => [...key, piece]),
    1,
  );
  const isDone = portion.length === unneeded.length;
  await tx.run(
    "UPDATE imports SET document = ? WHERE seller_no = ? AND id = ?",
    [isDone ? "refused" : "shrinking", ...key],
    1,
  );
  const bytes = portion.reduce((sum, { size }) => sum + size, 0);
  await addBytes(tx, { sellerNo, importId }, { kept: -bytes });
  return isDone ? 0 : portion.length;
}

/**
 * Deletes an import with its transactions, or as many of its rows as one write
 * may delete. Returns how many rows were deleted; 0: nothing is left of it.
 */
export async function deleteImport(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
): Promise<number> {
  const key = [sellerNo, importId];
  await setDeleting(tx, { sellerNo, importId });
  const transactions = await tx.all<{ transactionId: string }>(
    `SELECT transaction_id AS "transactionId" FROM import_parts
     WHERE seller_no = ? AND import_id = ? AND transaction_id IS NOT NULL
     ORDER BY part ${LIMIT}`,
    [...key, TRANSACTIONS],
  );
  if (transactions.length > 0) {
    const deleted = await deleteWhole(
      tx,
      "transactions",
      sellerNo,
      transactions.map(({ transactionId }) => transactionId),
    );
    await tx.run(
      `UPDATE import_parts SET transaction_id = NULL
       WHERE seller_no = ? AND import_id = ?
         AND transaction_id IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM transactions
           WHERE transactions.seller_no = import_parts.seller_no
             AND transactions.id = import_parts.transaction_id)`,
      key,
      "any",
    );
    return Math.max(1, deleted);
  }

  const rest = await deleteDependents(tx, "imports", sellerNo, [importId]);
  if (!rest.isDone) return rest.deleted;
  const row = await tx.get<{ kept_bytes: number }>(
    "SELECT kept_bytes FROM imports WHERE seller_no = ? AND id = ?",
    key,
  );
  if (row === undefined) return rest.deleted;
  await addUsage(tx, sellerNo, "import_bytes", -row.kept_bytes);
  return rest.deleted + await tx.run(
    "DELETE FROM imports WHERE seller_no = ? AND id = ?",
    key,
    1,
  );
}

/** Deletes some rows of the seller's imports; returns how many. */
export async function removeImports(
  tx: Tx,
  { no }: { no: number },
): Promise<number> {
  const one = await tx.get<{ id: string }>(
    "SELECT id FROM imports WHERE seller_no = ? LIMIT 1",
    [no],
  );
  if (one === undefined) return 0;
  return await deleteImport(tx, { sellerNo: no, importId: one.id });
}
