/** A seller's mail address for notices, and whether the seller wants notices. */
import type { Services } from "../services.ts";
import { createHmac } from "node:crypto";
import { Buffer } from "node:buffer";
import type { Tx } from "../database/db.ts";
import type { Deps } from "../deps.ts";
import { isEmail } from "../lib/email.ts";
import { fieldDetail, recordInvalid } from "../lib/errors.ts";
import { sameHash } from "./api_key.ts";
import type { Seller } from "./seller.ts";

/**
 * Sets the address for notices to a seller; with "" the seller gets none. A
 * seller that unsubscribed stays unsubscribed until the address changes. Throws
 * 422 for an invalid address.
 */
export async function setEmail(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  seller: Seller,
  value: string,
): Promise<void> {
  if (value !== "" && !isEmail(value)) throw notAnAddress();
  const former = await tx.get<{ email: string | null }>(
    "SELECT email FROM sellers WHERE id = ?",
    [seller.id],
  );
  if ((former?.email ?? "") === value) return;
  const key = Buffer.from(ids.random(32)).toString("base64url");
  await tx.run(
    `UPDATE sellers SET email = ?, email_since = ?, email_key = ?,
       email_off_at = NULL
     WHERE id = ?`,
    value === ""
      ? [null, null, null, seller.id]
      : [value, clock.now(), key, seller.id],
    1,
  );
  await forgetNotices(tx, seller);
}

/** The message does not repeat the value, because it may reach a log. */
function notAnAddress() {
  const problem = {
    field: "email",
    code: "not_allowed" as const,
    message: "is not an address such as orders@example.com, in ASCII and " +
      "without a name.",
  };
  return recordInvalid([fieldDetail(problem, {})]);
}

/**
 * Deletes the seller's notices: those whose cause continues are sent again, to
 * the new address.
 */
async function forgetNotices(tx: Tx, { no }: Seller): Promise<void> {
  await tx.run(
    `DELETE FROM notices WHERE seller_no = ? AND recipient = 'seller'
       AND lease_id IS NULL`,
    [no],
    "any",
  );
}

/**
 * The signature in an unsubscribe link. It proves that the service sent the link
 * to the seller's current address, for which `emailKey` was created.
 */
export function linkSignature(emailKey: string, seller: Pick<Seller, "id">) {
  return createHmac("sha256", emailKey)
    .update(`notices ${seller.id}`)
    .digest("hex");
}

/** The seller of an unsubscribe link. */
export interface Subscription {
  seller: Seller;
  /** Whether the seller gets notices. */
  isOn: boolean;
}

/**
 * The subscription of an unsubscribe link; null for a link that was not sent to
 * the seller's current address.
 */
export async function findSubscription(
  tx: Pick<Tx, "get">,
  sellerId: string,
  signature: string,
): Promise<Subscription | null> {
  const row = await tx.get<
    Seller & { emailKey: string | null; offAt: number | null }
  >(
    `SELECT id, seller_no AS no, name, email_key AS "emailKey",
       email_off_at AS "offAt"
     FROM sellers WHERE id = ? AND status <> 'removed'`,
    [sellerId],
  );
  if (row === undefined || row.emailKey === null) return null;
  const { emailKey, offAt, ...seller } = row;
  const isSigned = /^[0-9a-f]{64}$/.test(signature) &&
    sameHash(linkSignature(emailKey, seller), signature);
  if (!isSigned) return null;
  return { seller, isOn: offAt === null };
}

/**
 * Stops or restarts the notices to the seller of an unsubscribe link. Returns
 * null for a link that was not sent to the seller's current address.
 */
export function changeSubscription(
  { db, deps }: Pick<Services, "db" | "deps">,
  { sellerId, signature }: { sellerId: string; signature: string },
  isOn: boolean,
): Promise<Subscription | null> {
  return db.write(async (tx) => {
    const found = await findSubscription(tx, sellerId, signature);
    if (found !== null) await setSubscription(tx, deps, found, isOn);
    return found;
  });
}

async function setSubscription(
  tx: Tx,
  { clock }: Pick<Deps, "clock">,
  { seller, isOn: wasOn }: Subscription,
  isOn: boolean,
): Promise<void> {
  if (wasOn === isOn) return;
  const now = clock.now();
  await tx.run(
    `UPDATE sellers SET email_off_at = ?,
       email_since = CASE WHEN ? = 1 THEN ? ELSE email_since END
     WHERE id = ?`,
    [isOn ? null : now, isOn ? 1 : 0, now, seller.id],
    1,
  );
  await forgetNotices(tx, seller);
}
