/** Checks whether a seller may use the service, and locks sellers. */
import type { DialectQuery, Sql, Tx } from "../database/db.ts";
import type { Ranges } from "../lib/cidr.ts";
import { ServiceError } from "../lib/errors.ts";
import {
  policyOf,
  type ReviewPolicy,
  type StoredPolicy,
} from "./review_policy.ts";
import { isoTime } from "../xml/encode.ts";
import type { Caller, Seller, SellerStatus } from "./seller.ts";

/** The error 401, with the same message for all reasons. */
export function unauthorized(): ServiceError {
  return new ServiceError("unauthorized", KEY_NEEDED);
}

const KEY_NEEDED = "A valid key is needed in the header X-Service-Auth.";

/**
 * The error 401 for a known key that is revoked, has expired or is used from
 * outside its networks. The answer is the same as for an unknown key.
 */
export class KeyRefused extends ServiceError {
  /** The reason, which the operator and other keys of the seller can read. */
  readonly reason: string;
  readonly owner: Caller;

  constructor(owner: Caller, reason: string) {
    super("unauthorized", KEY_NEEDED);
    this.owner = owner;
    this.reason = reason;
  }
}

/**
 * Throws `KeyRefused` for a key that is revoked, has expired, or is used from
 * outside its networks.
 */
export function checkUsable(
  owner: Caller & KeyRestrictions,
  now: number,
  from: { readonly client: string },
): void {
  const reason = whyUnusable(owner, `The key ${owner.keyId}`, now, from);
  if (reason !== null) throw new KeyRefused(owner, reason);
}

/** Why a key may not be used now from this client; null if it may. */
export function whyUnusable(
  { revokedAt, expiresAt, networks }: KeyRestrictions,
  key: string,
  now: number,
  { client }: { readonly client: string },
): string | null {
  if (revokedAt !== null) return `${key} was revoked at ${isoTime(revokedAt)}.`;
  if (expiresAt !== null && expiresAt <= now) {
    return `${key} expired at ${isoTime(expiresAt)}.`;
  }
  return networks === null || networks.has(client)
    ? null
    : `${key} was sent from ${client}, which is in none of its networks.`;
}

/** What can make a key unusable. */
export interface KeyRestrictions {
  /** Unix milliseconds; null: the key is not revoked. */
  revokedAt: number | null;
  /** Unix milliseconds; null: the key does not expire. */
  expiresAt: number | null;
  /** null: the key may be used from any address. */
  networks: Pick<Ranges, "has"> | null;
}

/** Throws 403 for a suspended seller. */
export function checkActive({ status }: { status: SellerStatus }): void {
  if (status !== "active") throw suspended();
}

function suspended(): ServiceError {
  return new ServiceError(
    "suspended",
    "The operator has suspended this seller; ask the operator.",
  );
}

/**
 * Locks the seller against removal. Throws 401 or 403 if the seller may no longer
 * use the service.
 */
export async function requireActive(tx: Tx, caller: Caller): Promise<void> {
  await lockAgainstRemoval(tx, caller.no);
  const { inactiveError } = await readSellerState(tx, caller);
  if (inactiveError !== null) throw inactiveError;
}

const STATUS = `SELECT status, review, price_jump,
    (SELECT version FROM category_list WHERE id = 1) AS categories_version
  FROM sellers WHERE id = ? AND status <> 'removed'`;
const STATUS_WITH_KEY = `${STATUS} AND EXISTS (
  SELECT 1 FROM api_keys WHERE api_keys.id = ? AND revoked_at IS NULL)`;

/**
 * Keeps the seller from being removed until the write ends. A read after this
 * call shows a removal that came before it. Locks `seller_counters`, because
 * every section has a copy of `sellers`. Conflicts only with `lockExclusively`,
 * so many writes may have this lock of a seller at the same time.
 */
export async function lockAgainstRemoval(
  tx: Tx,
  sellerNo: number,
): Promise<void> {
  await tx.runMany(sellerLock("FOR KEY SHARE"), [[sellerNo]], "any");
}

/**
 * Waits for the writes that have locked the seller; later writes wait for this
 * one. Conflicts with all three locks, itself included.
 */
export async function lockExclusively(tx: Tx, sellerNo: number): Promise<void> {
  await tx.runMany(sellerLock("FOR UPDATE"), [[sellerNo]], "any");
}

/**
 * For a write that counts rows of the seller before it adds one. Conflicts with
 * itself and `lockExclusively`. Take it before `lockAgainstRemoval`; the two do
 * not conflict.
 */
export async function lockForCounting(tx: Tx, sellerNo: number): Promise<void> {
  await tx.runMany(sellerLock("FOR NO KEY UPDATE"), [[sellerNo]], "any");
}

/**
 * Waits for the writes that have locked the seller, and marks it as removed in
 * its section, which later writes see.
 */
export async function lockAndMarkRemoved(
  tx: Tx,
  sellerNo: number,
): Promise<void> {
  await lockExclusively(tx, sellerNo);
  await tx.runMany(
    "UPDATE seller_counters SET removed = 1 WHERE seller_no = ?",
    [[sellerNo]],
    "any",
  );
}

/**
 * SQL that locks a seller in the section of its rows; empty on SQLite, which has
 * one writer.
 */
function sellerLock(clause: string): DialectQuery {
  return {
    sqlite: "",
    postgres: `SELECT 1 FROM seller_counters WHERE seller_no = ? ${clause}`,
  };
}

/** The state of a seller on which its writes depend. */
export interface SellerState {
  /** The error if the seller may no longer use the service; null if it may. */
  inactiveError: ServiceError | null;
  /** The review policy of its products. */
  review: ReviewPolicy;
  /** The percent by which a price may change in one step; null: any. */
  priceJump: number | null;
  /**
   * The version of the marketplace's list of categories; null if there is none.
   */
  categoriesVersion: string | null;
}

/**
 * Reads the state of a seller in a write. During a long request, the operator
 * may have revoked the key or removed the seller (401), or suspended the seller
 * (403). Without a key, as in background work, only the seller is checked.
 */
export async function readSellerState(
  sql: Sql,
  { id, keyId }: Seller & Partial<Caller>,
): Promise<SellerState> {
  const seller = await sql.get<
    {
      status: SellerStatus;
      review: StoredPolicy;
      price_jump: number | null;
      categories_version: string | null;
    }
  >(
    keyId === undefined ? STATUS : STATUS_WITH_KEY,
    keyId === undefined ? [id] : [id, keyId],
  );
  if (seller === undefined) {
    return {
      inactiveError: unauthorized(),
      review: "none",
      priceJump: null,
      categoriesVersion: null,
    };
  }
  return {
    inactiveError: seller.status === "active" ? null : suspended(),
    review: policyOf(seller.review),
    priceJump: seller.price_jump,
    categoriesVersion: seller.categories_version,
  };
}
