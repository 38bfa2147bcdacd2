/** Rows of `idempotency_keys`: used keys and what they were used for. */
import type { Sql, Tx } from "../database/db.ts";

export interface UsedKey {
  request_hash: string;
  transaction_id: string;
}

/** How many products the upload refused. */
export interface FoundKey extends UsedKey {
  refused: number;
}

/**
 * The request for which the seller used the key; null if the key is unused or
 * expired.
 */
export async function findUsedKey(
  sql: Sql,
  sellerNo: number,
  key: string,
  now: number,
): Promise<FoundKey | null> {
  return await sql.get<FoundKey>(
    `SELECT request_hash, transaction_id, products_refused AS refused
     FROM idempotency_keys AS used
     JOIN transactions ON transactions.seller_no = used.seller_no
       AND transactions.id = transaction_id
     WHERE used.seller_no = ? AND key = ? AND expires_at > ?`,
    [sellerNo, key, now],
  ) ?? null;
}

/**
 * Stores a key in place of an expired use of it. If two writes store a key at
 * the same time, one of them runs again (`unique`).
 */
export async function keepUsedKey(
  tx: Tx,
  sellerNo: number,
  key: string,
  used: UsedKey,
  expiresAt: number,
): Promise<void> {
  await tx.exec(
    `DELETE FROM idempotency_keys
     WHERE seller_no = ? AND key = ? AND expires_at <= ?`,
    [sellerNo, key, tx.now()],
  );
  await tx.exec(
    `INSERT INTO idempotency_keys
       (seller_no, key, request_hash, transaction_id, expires_at)
     VALUES (?, ?, ?, ?, ?)`,
    [sellerNo, key, used.request_hash, used.transaction_id, expiresAt],
  );
}

/** Forgets some keys that have expired; returns how many. */
export function forgetExpiredKeys(tx: Tx, now: number): Promise<number> {
  return tx.run(
    `DELETE FROM idempotency_keys WHERE (seller_no, key) IN (
       SELECT seller_no, key FROM idempotency_keys WHERE expires_at <= ?
       ORDER BY expires_at LIMIT 500 /* FOR UPDATE SKIP LOCKED */)`,
    [now],
  );
}
