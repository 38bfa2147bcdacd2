/** Whether a seller may use the service. */
import { query, type Sql } from "../database/db.ts";
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

/** Throws what `whyInactive` finds. */
export async function requireActive(sql: Sql, caller: Caller): Promise<void> {
  const inactive = await whyInactive(sql, caller);
  if (inactive !== null) throw inactive;
}

const status = (more: string) =>
  query(({ lock }) =>
    `SELECT status FROM sellers
     WHERE id = ? AND status <> 'removed' ${more} ${lock("FOR KEY SHARE")}`
  );
const STATUS = status("");
const STATUS_WITH_KEY = status(`AND EXISTS (
  SELECT 1 FROM api_keys WHERE api_keys.id = ? AND revoked_at IS NULL)`);

/**
 * Checks again in the write of a long request, during which the operator may
 * have revoked the key or removed the seller (401), or suspended it (403). The
 * seller cannot be removed before the write ends. Work that goes on after its
 * request has no key any more.
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
