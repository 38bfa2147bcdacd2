/** Requests that are carried out once, however often they are sent. */
import { createHash } from "node:crypto";
import type { Tx } from "../database/db.ts";
import { DAY_MS } from "../lib/durations.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { TransactionKey } from "./transaction.ts";
import { findUsedKey, type FoundKey, keepUsedKey } from "./idempotency_rows.ts";

/** A used Idempotency-Key is remembered this long. */
const KEY_LIFETIME_MS = DAY_MS;

/** A request with an Idempotency-Key. */
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

interface Once<T> {
  seller: Seller;
  /** null: without a key. */
  request: KeyedRequest | null;
  body: readonly Uint8Array[];
  /** Executes the request; calls `usedBefore` and `useKey` in its write. */
  carryOut: (use: KeyUse | null) => Promise<T>;
  /** The answer to the same request before. */
  again: (used: FoundKey) => T;
}

/**
 * Runs a request, unless its key was used for it before. Throws 409 for a key
 * in progress, or one used for another request.
 */
export async function once<T>(
  { db, deps, keysInProgress }: Services,
  { seller, request, body, carryOut, again }: Once<T>,
): Promise<T> {
  if (request === null) return await carryOut(null);
  const hash = createHash("sha256").update(request.target).update("\0");
  for (const block of body) hash.update(block);
  const use: KeyUse = { key: request.key, hash: hash.digest("hex") };
  // Other processes do not know the keys in progress here. If two use a key at
  // once, the second to write finds it used.
  const name = `${seller.id} ${use.key}`;
  if (keysInProgress.has(name)) {
    throw new ServiceError(
      "conflict",
      "A request with this Idempotency-Key is still in progress; ask again.",
      { headers: { "Retry-After": "1" } },
    );
  }
  keysInProgress.add(name);
  try {
    const used = await db.read((sql) =>
      findUsedKey(sql, seller.no, use.key, deps.clock.now())
    );
    await deps.maybe?.("key looked up");
    return used === null ? await carryOut(use) : again(checked(used, use));
  } finally {
    keysInProgress.delete(name);
  }
}

/**
 * The request for which another process used the key since this one began; null
 * if none did. Throws 409 if it is a different request.
 */
export async function usedBefore(
  tx: Tx,
  seller: Seller,
  use: KeyUse | null,
): Promise<FoundKey | null> {
  const used = use && await findUsedKey(tx, seller.no, use.key, tx.now());
  return used && checked(used, use!);
}

function checked(used: FoundKey, use: KeyUse): FoundKey {
  if (used.request_hash === use.hash) return used;
  throw new ServiceError(
    "conflict",
    "This Idempotency-Key was used for another request; a key belongs to one " +
      "path, query and body.",
  );
}

/** Records that a key is used, in the write of its request. */
export async function useKey(
  tx: Tx,
  { sellerNo, transactionId }: TransactionKey,
  use: KeyUse,
): Promise<void> {
  const used = { request_hash: use.hash, transaction_id: transactionId };
  const until = tx.now() + KEY_LIFETIME_MS;
  await keepUsedKey(tx, sellerNo, use.key, used, until);
}
