/** Whether a seller may use the service. */
import type { EngineQuery, Sql, Tx } from "../database/db.ts";
import type { Ranges } from "../lib/cidr.ts";
import { ServiceError } from "../lib/errors.ts";
import {
  policyOf,
  type ReviewPolicy,
  type StoredPolicy,
} from "./review_policy.ts";
import { isoTime } from "../xml/encode.ts";
import type { Caller, Seller, SellerStatus } from "./seller.ts";

/** 401, with one message for all reasons. */
export function unauthorized(): ServiceError {
  return new ServiceError("unauthorized", KEY_NEEDED);
}

const KEY_NEEDED = "A valid key is needed in the header X-Service-Auth.";

/**
 * 401 for a key that is known, but is revoked, has ended or comes from elsewhere.
 * The answer is that to an unknown one.
 */
export class KeyRefused extends ServiceError {
  /** For the operator and for other keys of the seller. */
  readonly reason: string;
  readonly owner: Caller;

  constructor(owner: Caller, reason: string) {
    super("unauthorized", KEY_NEEDED);
    this.owner = owner;
    this.reason = reason;
  }
}

/** Throws 401 for a key that is revoked, after its end, and outside its networks. */
export function checkUsable(
  owner: Caller & KeyRestrictions,
  now: number,
  from: { readonly client: string },
): void {
  const { keyId, revokedAt, expiresAt, networks } = owner;
  if (revokedAt !== null) {
    const at = isoTime(revokedAt);
    throw new KeyRefused(owner, `The key ${keyId} was revoked at ${at}.`);
  }
  if (expiresAt !== null && expiresAt <= now) {
    const end = isoTime(expiresAt);
    throw new KeyRefused(owner, `The key ${keyId} ended at ${end}.`);
  }
  if (networks !== null && !networks.has(from.client)) {
    throw new KeyRefused(
      owner,
      `The key ${keyId} was sent from ${from.client}, which is in none of ` +
        "its networks.",
    );
  }
}

/** What keeps a key from being used; null: nothing. */
export interface KeyRestrictions {
  /** Unix milliseconds; null: it is not revoked. */
  revokedAt: number | null;
  /** Unix milliseconds. */
  expiresAt: number | null;
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

/** Holds the seller; throws what `standingOf` finds. */
export async function requireActive(tx: Tx, caller: Caller): Promise<void> {
  await lockAgainstRemoval(tx, caller.no);
  const { inactive } = await standingOf(tx, caller);
  if (inactive !== null) throw inactive;
}

const STATUS = `SELECT status, review,
    (SELECT version FROM category_list WHERE id = 1) AS categories_version
  FROM sellers WHERE id = ? AND status <> 'removed'`;
const STATUS_WITH_KEY = `${STATUS} AND EXISTS (
  SELECT 1 FROM api_keys WHERE api_keys.id = ? AND revoked_at IS NULL)`;

/**
 * Keeps the seller from being removed until the write ends. A read after this
 * call shows a removal that came before it. Locks `seller_counters`, because
 * `sellers` is copied to every server. Conflicts with `outlastHolds` alone, so
 * many writes may hold a seller at the same time.
 */
export async function lockAgainstRemoval(
  tx: Tx,
  sellerNo: number,
): Promise<void> {
  await tx.runMany(sellerLock("FOR KEY SHARE"), [[sellerNo]], "any");
}

/**
 * Waits for the writes that hold a seller; later ones wait for this one.
 * Conflicts with all three locks, itself included.
 */
export async function lockExclusively(tx: Tx, sellerNo: number): Promise<void> {
  await tx.runMany(sellerLock("FOR UPDATE"), [[sellerNo]], "any");
}

/**
 * For a write that counts rows of the seller before it adds one. Conflicts with
 * itself and `outlastHolds`. Take it before `holdSeller`; the two do not conflict.
 */
export async function lockForCounting(tx: Tx, sellerNo: number): Promise<void> {
  await tx.runMany(sellerLock("FOR NO KEY UPDATE"), [[sellerNo]], "any");
}

/** Waits for the writes that hold a seller; later ones see that it is removed. */
export async function markRemovedAfterHolds(
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

/** Locks a seller beside its rows; nothing where there is one writer. */
function sellerLock(clause: string): EngineQuery {
  return {
    sqlite: "",
    postgres: `SELECT 1 FROM seller_counters WHERE seller_no = ? ${clause}`,
  };
}

/** What a seller may do. */
export interface Standing {
  /** Why it may not use the service any more; null: it may. */
  inactive: ServiceError | null;
  /** Which of its products are reviewed. */
  review: ReviewPolicy;
  /** Of the marketplace's list of categories; null: it has none. */
  categoriesVersion: string | null;
}

/**
 * Checks again in the write of a long request, during which the operator may
 * have revoked the key or removed the seller (401), or suspended it (403).
 * Work that goes on after its request has no key any more.
 */
export async function standingOf(
  sql: Sql,
  { id, keyId }: Seller & Partial<Caller>,
): Promise<Standing> {
  const seller = await sql.get<
    {
      status: SellerStatus;
      review: StoredPolicy;
      categories_version: string | null;
    }
  >(
    keyId === undefined ? STATUS : STATUS_WITH_KEY,
    keyId === undefined ? [id] : [id, keyId],
  );
  if (seller === undefined) {
    return {
      inactive: unauthorized(),
      review: "none",
      categoriesVersion: null,
    };
  }
  return {
    inactive: seller.status === "active" ? null : suspended(),
    review: policyOf(seller.review),
    categoriesVersion: seller.categories_version,
  };
}
