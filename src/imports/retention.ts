/**
 * Maintenance jobs that delete old imports, and finish interrupted deletions.
 */
import {
  inReach,
  LIMIT,
  MAINTENANCE,
  type Sql,
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
import { untilNoneInAnySection } from "../jobs/periodic_jobs.ts";
import { bytesInBlocks } from "../lib/blocks.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import type { Services } from "../services.ts";
import { addUsage } from "../sellers/usage_rows.ts";
import { CHECKED_KEPT_MS, type Import, type ImportKey } from "./import.ts";
import { addBytes, setDeleting, setDocument } from "./import_rows.ts";
import { refusedProductsAfter } from "./part_rows.ts";
import {
  groupNearby,
  PIECE,
  type PlacedProduct,
  readDocumentRoot,
  readProducts,
} from "./spool.ts";

type RetentionServices = Pick<Services, "config" | "deps" | "db">;

/**
 * A document that has not arrived completely after this time belongs to a dead
 * process.
 */
const ARRIVAL_MS = HOUR_MS;
/** The most transactions that one write deletes. */
const TRANSACTIONS = TABLES.transactions.portion;

const KEY = `seller_no AS "sellerNo", id AS "importId"`;

/**
 * Deletes imports that ended more than SELLER_KEEP_UPLOADS_DAYS ago, unless they
 * are being undone, and documents that have not arrived completely. Continues
 * interrupted deletions.
 */
export async function* sweepImports(
  { config, deps, db }: RetentionServices,
): AsyncGenerator<number, void> {
  const now = deps.clock.now();
  const sweep = (old: Pick<OldRows, "condition" | "params" | "order">) =>
    untilNoneInAnySection(db, async (tx) => {
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
        AND (pending > 0 OR settled_at > ?))
      AND NOT EXISTS (
        SELECT 1 FROM imports undo
        WHERE undo.seller_no = imports.seller_no
          AND undo.undoes = imports.id AND undo.over_at IS NULL)`,
    params: [before, before],
    order: "over_at",
  });
}

/** Deletes the keys of imports that have ended. */
export async function* sweepImportKeys(
  { db }: Pick<RetentionServices, "db">,
): AsyncGenerator<number, void> {
  const waiting = () =>
    db.read((sql) =>
      sql.get<ImportKey>(
        `SELECT ${KEY} FROM imports
         WHERE has_keys = 1 AND over_at > 0 ${inReach()} ORDER BY over_at LIMIT 1`,
      ), { single: true });
  for (let ended; (ended = await waiting()) !== undefined;) {
    const { sellerNo, importId } = ended;
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
 * Deletes documents of ended imports, except their refused products. Refused
 * products are copied before the pieces are deleted, so that each is stored at
 * any time. Both are done in portions.
 */
export async function* sweepImportDocuments(
  { deps, db }: Pick<RetentionServices, "deps" | "db">,
): AsyncGenerator<number, void> {
  const by = deps.clock.now() - CHECKED_KEPT_MS;
  // Reads first, because a write would take the lock each second for nothing.
  if (!await db.read((sql) => hasUnneeded(sql, by), { single: true })) return;
  const old = {
    table: "imports",
    condition: UNNEEDED,
    params: [by],
    order: "over_at",
    limit: 1,
  } as const;
  yield* untilNoneInAnySection(db, async (tx) => {
    const [row] = await lockOld(tx, old);
    if (row === undefined) return 0;
    const { sellerNo, id: importId } = row;
    return await shrinkDocument(tx, { sellerNo, importId });
  });
}

/** The parameter is the time before which dry runs must have ended. */
const UNNEEDED = `document <> 'refused' AND over_at > 0
  AND (dry_run = 0 OR over_at <= ?)`;

/** Whether any document is unneeded; `by` is the parameter of `UNNEEDED`. */
async function hasUnneeded(sql: Sql, by: number): Promise<boolean> {
  const row = await sql.get(
    `SELECT 1 FROM imports WHERE ${UNNEEDED} ${inReach()} LIMIT 1`,
    [by],
  );
  return row !== undefined;
}

/** Copies refused products or deletes pieces; returns how many, at least 1. */
async function shrinkDocument(tx: Tx, key: ImportKey): Promise<number> {
  const own = [key.sellerNo, key.importId];
  const row = (await tx.get<ShrinkingImport>(
    `SELECT bytes, root_start, root_end, copied_to, undoes FROM imports
     WHERE seller_no = ? AND id = ?`,
    own,
  ))!;
  const copied = row.undoes === null ? await copyRefused(tx, key, row) : 0;
  if (copied > 0) return copied;
  const pieces = await deleteSome(tx, "import_pieces", key.sellerNo, {
    condition: "import_id = ?",
    params: [key.importId],
  });
  const isDone = pieces < TABLES.import_pieces.portion;
  await setDocument(tx, key, isDone ? "refused" : "shrinking");
  if (isDone) await addBytes(tx, key, { kept: -row.bytes });
  return Math.max(1, pieces);
}

type ShrinkingImport =
  & Pick<Import, "bytes" | "root_start" | "root_end" | "undoes">
  & { copied_to: number };

/**
 * The most refused products in one write, and the most bytes that they may
 * span.
 */
const COPIED_AT_ONCE = 250;
const COPIED_BYTES = 4 * PIECE;

/**
 * Copies the next refused products, and with the first ones the root; returns
 * how many.
 */
async function copyRefused(
  tx: Tx,
  key: ImportKey,
  { copied_to, ...row }: ShrinkingImport,
): Promise<number> {
  const { sellerNo, importId } = key;
  const left = await refusedProductsAfter(tx, key, copied_to, COPIED_AT_ONCE);
  const some: PlacedProduct[] | undefined =
    groupNearby(left, COPIED_BYTES).next().value ?? undefined;
  if (some === undefined) return 0;
  const root = copied_to === 0 ? await readDocumentRoot(tx, key, row) : null;
  const sent = await readProducts(tx, key, some);
  await tx.runMany(
    `UPDATE import_problems SET sent = ?
     WHERE seller_no = ? AND import_id = ? AND product = ?`,
    some.map(({ product }, n) => [sent[n], sellerNo, importId, product]),
    1,
  );
  await tx.run(
    `UPDATE imports SET copied_to = ?, root = COALESCE(?, root)
     WHERE seller_no = ? AND id = ?`,
    [some.at(-1)!.product, root, sellerNo, importId],
    1,
  );
  await setDocument(tx, key, "shrinking");
  await addBytes(tx, key, { kept: bytesInBlocks(sent) + (root?.length ?? 0) });
  return some.length;
}

/**
 * Deletes an import with its transactions, or as many of its rows as one write
 * may delete. Returns how many rows were deleted; 0 at the end.
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
