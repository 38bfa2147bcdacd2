/** Rows of `idempotency_keys`: used keys and what they were used for. */
import type { Sql, Tx } from "../database/db.ts";

export interface UsedKey {
  request_hash: string;
  transaction_id: string;
}

/** With how many products the upload refused. */
export interface FoundKey extends UsedKey {
  refused: number;
}

/** What the seller's key was used for; null when it is free (again). */
export async function findUsedKey(
  sql: Sql,
  sellerId: string,
  key: string,
  now: number,
): Promise<FoundKey | null> {
  return await sql.get<FoundKey>(
    `SELECT request_hash, transaction_id, products_refused AS refused
     FROM idempotency_keys AS used
     JOIN transactions ON transactions.id = transaction_id
     WHERE used.seller_id = ? AND key = ? AND expires_at > ?`,
    [sellerId, key, now],
  ) ?? null;
}

/**
 * Keeps a key; an expired use of the same key goes. A write that uses it at the
 * same time makes one of them run again (`unique`).
 */
export async function keepUsedKey(
  tx: Tx,
  sellerId: string,
  key: string,
  used: UsedKey,
  expiresAt: number,
): Promise<void> {
  await tx.exec(
    `DELETE FROM idempotency_keys
     WHERE seller_id = ? AND key = ? AND expires_at <= ?`,
    [sellerId, key, tx.now()],
  );
  await tx.exec(
    `INSERT INTO idempotency_keys
       (seller_id, key, request_hash, transaction_id, expires_at)
     VALUES (?, ?, ?, ?, ?)`,
    [sellerId, key, used.request_hash, used.transaction_id, expiresAt],
  );
}

/** Forgets some keys that have expired; returns how many. */
export function forgetExpiredKeys(tx: Tx, now: number): Promise<number> {
  return tx.run(
    `DELETE FROM idempotency_keys WHERE (seller_id, key) IN (
       SELECT seller_id, key FROM idempotency_keys WHERE expires_at <= ?
       ORDER BY expires_at LIMIT 500 /* FOR UPDATE SKIP LOCKED */)`,
    [now],
  );
}
