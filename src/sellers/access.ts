/** Whether a seller may use the service. */
import type { EngineQuery, Sql, Tx } from "../database/db.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Caller, Seller, SellerStatus } from "./seller.ts";

/** 401, with one message for missing, unknown and revoked keys. */
export function unauthorized(): ServiceError {
  return new ServiceError(
    "unauthorized",
    "A valid key is needed in the header X-Service-Auth.",
  );
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

/** Holds the seller; throws what `whyInactive` finds. */
export async function requireActive(tx: Tx, caller: Caller): Promise<void> {
  await holdSeller(tx, caller.no);
  const inactive = await whyInactive(tx, caller);
  if (inactive !== null) throw inactive;
}

const STATUS =
  "SELECT status FROM sellers WHERE id = ? AND status <> 'removed'";
const STATUS_WITH_KEY = `${STATUS} AND EXISTS (
  SELECT 1 FROM api_keys WHERE api_keys.id = ? AND revoked_at IS NULL)`;

/**
 * Until the write ends the seller cannot be removed. What is read afterwards
 * shows a removal before. Not a row of `sellers`, which several servers may have.
 */
export async function holdSeller(tx: Tx, sellerNo: number): Promise<void> {
  await tx.runMany(lockOf("FOR KEY SHARE"), [[sellerNo]]);
}

/** Waits for the writes that hold a seller; later ones see that it is removed. */
export async function endHolds(tx: Tx, sellerNo: number): Promise<void> {
  await tx.runMany(lockOf("FOR UPDATE"), [[sellerNo]]);
  await tx.runMany(
    "UPDATE seller_counters SET removed = 1 WHERE seller_no = ?",
    [[sellerNo]],
  );
}

/** Locks a seller beside its rows; nothing where there is one writer. */
function lockOf(clause: string): EngineQuery {
  return {
    sqlite: "",
    postgres: `SELECT 1 FROM seller_counters WHERE seller_no = ? ${clause}`,
  };
}

/**
 * Checks again in the write of a long request, during which the operator may
 * have revoked the key or removed the seller (401), or suspended it (403).
 * Work that goes on after its request has no key any more.
 */
export async function whyInactive(
  sql: Sql,
  { id, keyId }: Seller & Partial<Caller>,
): Promise<ServiceError | null> {
  const seller = await sql.get<{ status: SellerStatus }>(
    keyId === undefined ? STATUS : STATUS_WITH_KEY,
    keyId === undefined ? [id] : [id, keyId],
  );
  if (seller === undefined) return unauthorized();
  return seller.status === "active" ? null : suspended();
}
