/** Rows of `transactions`. */
import type { Transaction, TransactionResult } from "./transaction.ts";
import { packResults, unpackResults } from "./packed_results.ts";
import type { Sql, Tx } from "../database/db.ts";
import { readId } from "../lib/ids.ts";

/** Records an upload whose images are still to be registered. */
export async function insertTransaction(
  tx: Tx,
  sellerNo: number,
  transaction: Omit<Transaction, "undone_by">,
  results: readonly TransactionResult[],
): Promise<void> {
  const { products } = transaction;
  await tx.exec(
    `INSERT INTO transactions (seller_no, id, created_at, finished_at,
       products_created, products_updated, products_unchanged,
       products_deleted, products_refused, undoes,
       images_pending, images_stored, images_reused, images_failed, results)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?)`,
    [
      sellerNo,
      transaction.id,
      transaction.created_at,
      transaction.finished_at,
      products.created,
      products.updated,
      products.unchanged,
      products.deleted,
      products.refused,
      transaction.undoes,
      packResults(results),
    ],
  );
}

/** Stores the counts of requested images, and the results again. */
export async function setImageCounts(
  tx: Tx,
  sellerNo: number,
  id: string,
  counts: { pending: number; reused: number },
  finishedAt: number | null,
  results: readonly TransactionResult[],
): Promise<void> {
  await tx.exec(
    `UPDATE transactions SET images_pending = ?, images_reused = ?,
       finished_at = ?, results = ? WHERE seller_no = ? AND id = ?`,
    [
      counts.pending,
      counts.reused,
      finishedAt,
      packResults(results),
      sellerNo,
      id,
    ],
  );
}

interface TransactionRow {
  id: string;
  created_at: number;
  finished_at: number | null;
  products_created: number;
  products_updated: number;
  products_unchanged: number;
  products_deleted: number;
  products_refused: number;
  images_pending: number;
  images_stored: number;
  images_reused: number;
  images_failed: number;
  undoes: string | null;
  undone_by: string | null;
}

const UNDONE_BY = `(SELECT u.id FROM transactions u
   WHERE u.seller_no = transactions.seller_no AND u.undoes = transactions.id)
    AS undone_by`;

const COUNTERS = `id, created_at, finished_at,
  products_created, products_updated, products_unchanged, products_deleted,
  products_refused,
  images_pending, images_stored, images_reused, images_failed, undoes,
  ${UNDONE_BY}`;

function toTransaction(row: TransactionRow): Transaction {
  return {
    id: row.id,
    created_at: row.created_at,
    finished_at: row.finished_at,
    products: {
      created: row.products_created,
      updated: row.products_updated,
      unchanged: row.products_unchanged,
      deleted: row.products_deleted,
      refused: row.products_refused,
    },
    images: {
      pending: row.images_pending,
      stored: row.images_stored,
      reused: row.images_reused,
      failed: row.images_failed,
    },
    undoes: row.undoes,
    undone_by: row.undone_by,
  };
}

/** The seller's transaction without its results; null when there is none. */
export async function findTransaction(
  sql: Sql,
  sellerNo: number,
  text: string,
): Promise<Transaction | null> {
  const id = readId(text);
  if (id === null) return null;
  const row = await sql.get<TransactionRow>(
    `SELECT ${COUNTERS} FROM transactions WHERE seller_no = ? AND id = ?`,
    [sellerNo, id],
  );
  return row === undefined ? null : toTransaction(row);
}

/** The transaction that undid the seller's transaction; null when there is none. */
export async function findUndoneBy(
  sql: Sql,
  { sellerNo, id }: { sellerNo: number; id: string },
): Promise<Pick<Transaction, "undone_by"> | null> {
  return await sql.get<Pick<Transaction, "undone_by">>(
    `SELECT ${UNDONE_BY} FROM transactions WHERE seller_no = ? AND id = ?`,
    [sellerNo, id],
  ) ?? null;
}

/** The seller's transactions before `before` (an id), the newest first. */
export async function listTransactions(
  sql: Sql,
  sellerNo: number,
  { before, limit }: { before: string | null; limit: number },
): Promise<Transaction[]> {
  const older = before === null ? "" : "AND id < ?";
  const rows = await sql.all<TransactionRow>(
    `SELECT ${COUNTERS} FROM transactions WHERE seller_no = ? ${older}
     ORDER BY id DESC LIMIT ?`,
    [sellerNo, ...(before === null ? [] : [before]), limit],
  );
  return rows.map(toTransaction);
}

/** The result of each product, in document order. */
export async function findResults(
  sql: Sql,
  sellerNo: number,
  id: string,
): Promise<TransactionResult[]> {
  const row = await sql.get<{ results: string }>(
    "SELECT results FROM transactions WHERE seller_no = ? AND id = ?",
    [sellerNo, id],
  );
  return row === undefined ? [] : unpackResults(row.results);
}
