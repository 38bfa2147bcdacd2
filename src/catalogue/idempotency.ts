/** Requests that are executed once, however often they are sent. */
import { createHash, type Hash } from "node:crypto";
import type { Sql, Tx } from "../database/db.ts";
import { DAY_MS } from "../lib/durations.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";

const KEY_LIFETIME_MS = DAY_MS;

export interface KeyedRequest {
  key: string;
  /** Method, path and query. */
  target: string;
}

/** A key, and the SHA-256 of the request that uses it. */
export interface KeyUse {
  key: string;
  hash: string;
}

export interface FoundKey {
  request_hash: string;
  /** The id of the transaction or import; "" if the request made neither. */
  made: string;
  /** How many products the upload refused. */
  refused: number;
}

interface Once<T> {
  seller: Seller;
  /** null: a request without a key. */
  request: KeyedRequest | null;
  body: readonly Uint8Array[];
  /** Executes the request; calls `findKeyUse` and `storeKeyUse` in its write. */
  carryOut: (use: KeyUse | null) => Promise<T>;
  /** The answer to a repeated request. */
  again: (used: FoundKey) => T;
}

/**
 * Executes a request unless it was already executed with its key. Throws 409
 * for a key in progress, 422 for a key of another request. The codes and
 * statuses are those of draft-ietf-httpapi-idempotency-key-header-07, section
 * 2.6.
 */
export function executeOnce<T>(
  services: Services,
  once: Once<T>,
): Promise<T> {
  const { request, carryOut } = once;
  return request === null
    ? carryOut(null)
    : executeWithKey(services, { ...once, request });
}

async function executeWithKey<T>(
  services: Services,
  { seller, request, body, carryOut, again }: Once<T> & {
    request: KeyedRequest;
  },
): Promise<T> {
  const hash = beginHash(request);
  for (const block of body) hash.update(block);
  const use: KeyUse = { key: request.key, hash: hash.digest("hex") };
  return await withReservedKey(
    services,
    seller,
    request,
    async (used) =>
      used === null ? await carryOut(use) : again(checkSameRequest(used, use)),
  );
}

/** The hash of a request, to which the caller adds the body. */
export function beginHash({ target }: KeyedRequest): Hash {
  return createHash("sha256").update(target).update("\0");
}

/**
 * Runs `work` with the earlier use of the key; null if there is none. Throws
 * 409 for a key in progress.
 */
export async function withReservedKey<T>(
  { db, deps, keysInProgress }: Services,
  seller: Seller,
  { key }: KeyedRequest,
  work: (used: FoundKey | null) => Promise<T>,
): Promise<T> {
  // Other processes do not know the keys in progress in this process. If two
  // processes use a key at the same time, the second write finds that the key
  // is used.
  const name = `${seller.id} ${key}`;
  if (keysInProgress.has(name)) {
    throw new ServiceError(
      "idempotency_key_in_progress",
      "A request with this Idempotency-Key is still in progress; send it again later.",
      { headers: { "Retry-After": "1" } },
    );
  }
  keysInProgress.add(name);
  try {
    const used = await db.of(seller.no).read(
      (sql) => findUsedKey(sql, seller.no, key, deps.clock.now()),
    );
    await deps.maybe?.("key looked up");
    return await work(used);
  } finally {
    keysInProgress.delete(name);
  }
}

/**
 * The request for which another process used the key after this request began;
 * null if there is none. Throws 422 if it is a different request.
 */
export async function findKeyUse(
  tx: Tx,
  seller: Seller,
  use: KeyUse | null,
): Promise<FoundKey | null> {
  const used = use && await findUsedKey(tx, seller.no, use.key, tx.now());
  return used && checkSameRequest(used, use!);
}

/** Returns the earlier use; throws 422 if it was a different request. */
export function checkSameRequest(used: FoundKey, use: KeyUse): FoundKey {
  if (used.request_hash === use.hash) return used;
  throw new ServiceError(
    "idempotency_key_reused",
    "This Idempotency-Key was used for another request; a key belongs to one " +
      "path, query and body. Use a new key for this request.",
  );
}

/**
 * The request for which the seller used the key; null if the key is unused or
 * expired.
 */
async function findUsedKey(
  sql: Sql,
  sellerNo: number,
  key: string,
  now: number,
): Promise<FoundKey | null> {
  const found = await sql.get<Omit<FoundKey, "made"> & { made: string | null }>(
    `SELECT request_hash, COALESCE(transaction_id, used.import_id) AS made,
       COALESCE(products_refused, 0) AS refused
     FROM idempotency_keys AS used
     LEFT JOIN transactions ON transactions.seller_no = used.seller_no
       AND transactions.id = transaction_id
     WHERE used.seller_no = ? AND key = ? AND expires_at > ?`,
    [sellerNo, key, now],
  );
  return found === undefined ? null : { ...found, made: found.made ?? "" };
}

/** The record that a request created, if any. */
export interface Made {
  transactionId?: string;
  importId?: string;
}

/**
 * Records that a key is used, in the write of its request, in place of an
 * expired use. If two writes store a key at the same time, one of them runs
 * again (`unique`).
 */
export async function storeKeyUse(
  tx: Tx,
  sellerNo: number,
  { transactionId, importId }: Made,
  { key, hash }: KeyUse,
): Promise<void> {
  const now = tx.now();
  await tx.runMany(
    `DELETE FROM idempotency_keys
     WHERE seller_no = ? AND key = ? AND expires_at <= ?`,
    [[sellerNo, key, now]],
    "any",
  );
  await tx.runMany(
    `INSERT INTO idempotency_keys
       (seller_no, key, request_hash, transaction_id, import_id, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [[
      sellerNo,
      key,
      hash,
      transactionId ?? null,
      importId ?? null,
      now + KEY_LIFETIME_MS,
    ]],
    1,
  );
}
