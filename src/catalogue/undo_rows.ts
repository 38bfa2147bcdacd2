/** Rows of `undo_records`: the data for the undo of a transaction. */
import { DAY_MS } from "../lib/durations.ts";
import type { Sql, Tx } from "../database/db.ts";
import type { RowChange } from "./product_rows.ts";
import type { TransactionKey } from "./transaction.ts";
import { packUndo } from "./undo_record.ts";

/**
 * Stores the undo record of a transaction, unless it changed no product.
 * `changes` are in the order of its results.
 */
export async function storeUndoRecord(
  tx: Tx,
  { sellerNo, transactionId }: TransactionKey,
  now: number,
  changes: readonly (RowChange | null)[],
): Promise<void> {
  if (changes.every((change) => change === null)) return;
  await tx.runMany(
    `INSERT INTO undo_records (seller_no, transaction_id, created_at, record)
     VALUES (?, ?, ?, ?)`,
    [[sellerNo, transactionId, now, packUndo(changes)]],
    1,
  );
}

/**
 * The undo record of a transaction; null if it never existed, was deleted, or
 * is not newer than `storedAfter`.
 */
export async function findUndo(
  sql: Sql,
  { sellerNo, transactionId }: TransactionKey,
  storedAfter: number,
): Promise<string | null> {
  const row = await sql.get<{ record: string }>(
    `SELECT record FROM undo_records
     WHERE seller_no = ? AND transaction_id = ? AND created_at > ?`,
    [sellerNo, transactionId, storedAfter],
  );
  return row?.record ?? null;
}

/**
 * Deletes the record of a transaction that is being undone, if there is one: it
 * cannot be undone again. Otherwise a seller that undoes its undo again and
 * again would store all its products with each request.
 */
export async function deleteUndo(
  tx: Tx,
  { sellerNo, transactionId }: TransactionKey,
): Promise<void> {
  await tx.run(
    "DELETE FROM undo_records WHERE seller_no = ? AND transaction_id = ?",
    [sellerNo, transactionId],
    "any",
  );
}

/** Uploads made after this time can be undone: `days` before `now`. */
export function undoableSince(now: number, days: number): number {
  return now - days * DAY_MS;
}
