/** Whether a seller may use the service. */
import { query, type Sql } from "../database/db.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Caller, SellerStatus } from "./seller.ts";

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

const STATUS = query(({ lock }) =>
  `SELECT status FROM sellers
   WHERE id = ? AND status <> 'removed' AND EXISTS (
     SELECT 1 FROM api_keys WHERE api_keys.id = ? AND revoked_at IS NULL)
   ${lock("FOR KEY SHARE")}`
);

/**
 * Checks again in the write of a long request, during which the operator may
 * have revoked the key or removed the seller (401), or suspended it (403). The
 * seller cannot be removed before the write ends.
 */
export async function whyInactive(
  sql: Sql,
  { id, keyId }: Caller,
): Promise<ServiceError | null> {
  const seller = await sql.get<{ status: SellerStatus }>(
    STATUS,
    [id, keyId],
  );
  if (seller === undefined) return unauthorized();
  return seller.status === "active" ? null : suspended();
}
