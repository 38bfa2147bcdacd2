/** Sellers, their limits and the usage that counts against them. */
import { Buffer } from "node:buffer";
import type { Deps } from "../deps.ts";
import { ServiceError } from "../lib/errors.ts";
import { readId } from "../lib/ids.ts";
import { quote } from "../lib/values.ts";
import { lockAndMarkRemoved } from "./access.ts";
import { addKey, type NewKey } from "./key_rows.ts";
import { LIMIT_NAMES, type SellerLimits } from "./limits.ts";
import { invalidName, isName, NAME_RULE, writeUniqueName } from "./names.ts";
import type { ReviewPolicy } from "./review_policy.ts";
import type { Seller, SellerStatus } from "./seller.ts";
import { SELLERS_WITH_COUNTERS, usedSql } from "./usage_rows.ts";
import { inReach, LIMIT, type Sql, type Tx } from "../database/db.ts";

export interface NewSeller extends NewKey {
  seller: Seller;
  webhookSecret: string;
}

/** `whsec_` and 32 random bytes, as Standard Webhooks writes a secret. */
export function newWebhookSecret(ids: Deps["ids"]): string {
  return `whsec_${Buffer.from(ids.random(32)).toString("base64")}`;
}

/**
 * Creates a seller with its first key; `apiKey` is random by default. Throws 422
 * for a name that is invalid or in use.
 */
export async function addSeller(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  name: string,
  apiKey?: string,
): Promise<NewSeller> {
  checkName(name);
  const id = ids.uuid();
  const no = await takeSellerNo(tx);
  const webhookSecret = newWebhookSecret(ids);
  await writeUniqueName(() =>
    tx.run(
      `INSERT INTO sellers (id, seller_no, name, webhook_secret, created_at)
       VALUES (?, ?, ?, ?, ?)`,
      [id, no, name, webhookSecret, clock.now()],
      1,
    ), takenMessage(name));
  await tx.runMany("INSERT INTO seller_counters (seller_no) VALUES (?)", [
    [no],
  ], 1);
  const key = await addKey(tx, { clock, ids }, no, { apiKey });
  return { seller: { id, no, name }, webhookSecret, ...key };
}

/**
 * Returns a number that no seller ever had, not even one whose rows are
 * deleted: a request of that seller may still be in progress. The row is locked
 * until the commit.
 */
async function takeSellerNo(tx: Tx): Promise<number> {
  // In a copied or an older database, the counter starts at 0 despite sellers.
  const [{ last }] = await tx.returning<{ last: number }>(
    `UPDATE seller_numbers SET last = 1 + CASE
       WHEN last < (SELECT COALESCE(MAX(seller_no), 0) FROM sellers)
       THEN (SELECT MAX(seller_no) FROM sellers) ELSE last END
     WHERE id = 1
     RETURNING last`,
    [],
    1,
  );
  return last;
}

/** Renames a seller. Throws 422 for a name that is invalid or in use. */
export async function renameSeller(
  tx: Tx,
  sellerId: string,
  name: string,
): Promise<void> {
  checkName(name);
  await writeUniqueName(
    () =>
      tx.run("UPDATE sellers SET name = ? WHERE id = ?", [name, sellerId], 1),
    takenMessage(name),
  );
}

/**
 * SQL for the name of a product's seller; for a removed seller, the former name.
 */
export const OWNER_NAME = "COALESCE(sellers.former_name, sellers.name)";

/**
 * Marks a seller as removed, so that its name can be used again.
 * `sweepRemovedSellers` deletes its rows. Returns false if the seller was
 * removed already.
 */
export async function markRemoved(
  tx: Tx,
  { id: sellerId, no }: Pick<Seller, "id" | "no">,
): Promise<boolean> {
  await lockAndMarkRemoved(tx, no);
  const changed = await tx.run(
    `UPDATE sellers SET status = 'removed', former_name = name, name = ?
     WHERE id = ? AND status <> 'removed'`,
    // The control character cannot occur in a name that an operator chooses.
    [`\u0001${sellerId}`, sellerId],
    "any",
  );
  return changed > 0;
}

function checkName(name: string): void {
  // A name like an id could be mistaken for another seller, and a URL cannot
  // contain a segment of dots only.
  if (isName(name) && readId(name) === null && !/^\.\.?$/.test(name)) return;
  throw invalidName(
    "not_allowed",
    `${quote(name)} is not a valid name for a seller: use ${NAME_RULE}, but ` +
      'no UUID, "." or "..".',
  );
}

function takenMessage(name: string): string {
  return `There is a seller ${quote(name)} already.`;
}

/** The seller with this name or id; throws 404 if there is none. */
export async function sellerByName(
  sql: Sql,
  nameOrId: string,
): Promise<Seller> {
  const id = readId(nameOrId) ?? nameOrId;
  const seller = await sql.get<Seller>(
    `SELECT id, seller_no AS no, name FROM sellers
     WHERE (name = ? OR id = ?) AND status <> 'removed'
     ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END LIMIT 1`,
    [nameOrId, id, id],
  );
  if (seller !== undefined) return seller;
  throw new ServiceError(
    "not_found",
    `There is no seller ${quote(nameOrId)}.`,
  );
}

/** A seller as operators see it. */
export interface SellerRow extends Seller, SellerLimits {
  createdAt: number;
  status: SellerStatus;
  /** Where notices are sent; null: nowhere. */
  email: string | null;
  /** When the seller unsubscribed from notices; null if subscribed. */
  unsubscribedAt: number | null;
  review: ReviewPolicy;
  /** How many keys are valid. */
  keys: number;
  /** Usage that counts against the limits. */
  products: number;
  imageBytes: number;
  importBytes: number;
  /** How many webhooks there are, and how many of them fail or are disabled. */
  webhooks: number;
  failing: number;
  /** Unix milliseconds; null if there was none. */
  lastUploadAt: number | null;
  /** When a key was last used, to the minute; Unix milliseconds. */
  lastUsedAt: number | null;
}

/** Later than the expiry of every key. */
const FOREVER = Number.MAX_SAFE_INTEGER;

/**
 * SQL that selects every seller, or only the seller whose number is the
 * parameter `?`. Every subquery has this parameter, so that the database reads
 * one section. The first parameter is the time.
 */
const selectSellers = (seller: "own.seller_no" | "?", from: string) => `
  SELECT (SELECT COUNT(*) FROM api_keys
     WHERE COALESCE(expires_at, ${FOREVER}) > ? AND seller_no = ${seller}
       AND revoked_at IS NULL) AS keys,
    sellers.id, sellers.seller_no AS no, name, created_at AS "createdAt", status,
    ${LIMIT_NAMES.join(", ")}, email, email_off_at AS "unsubscribedAt",
    CASE WHEN review = 'ending' THEN 'none' ELSE review END AS review,
    ${usedSql("products", seller)} AS products,
    ${usedSql("image_bytes", seller)} AS "imageBytes",
    ${usedSql("import_bytes", seller)} AS "importBytes",
    (SELECT MAX(last_used_at) FROM key_uses
     WHERE seller_no = ${seller} ${inReach()}) AS "lastUsedAt",
    (SELECT COUNT(*) FROM webhooks
     WHERE seller_no = ${seller} ${inReach()}) AS webhooks,
    (SELECT COUNT(*) FROM webhooks
     WHERE seller_no = ${seller} ${inReach()} AND failing_since IS NOT NULL) AS failing,
    (SELECT created_at FROM transactions
     WHERE seller_no = ${seller} ${inReach()}
     ORDER BY id DESC LIMIT 1) AS "lastUploadAt"
  FROM ${from} WHERE status <> 'removed'`;
const SELLER_ROWS = selectSellers("own.seller_no", SELLERS_WITH_COUNTERS);
const ONE_SELLER_ROW = `${selectSellers("?", "sellers")} AND seller_no = ?`;

/** All sellers, by name. */
export function listSellers(sql: Sql, now: number): Promise<SellerRow[]> {
  return sql.all<SellerRow>(`${SELLER_ROWS} ORDER BY name`, [now]);
}

/** Sellers after `after` (an id), in order of creation. */
export function pageOfSellers(
  sql: Sql,
  now: number,
  after: string,
  limit: number,
): Promise<SellerRow[]> {
  return sql.all<SellerRow>(
    `${SELLER_ROWS} AND sellers.id > ? ${inReach("own.seller_no")}
     ORDER BY sellers.id ${LIMIT}`,
    [now, after, limit],
  );
}

/** One seller with the usage that counts against its limits. */
export function readSellerRow(
  sql: Sql,
  now: number,
  sellerNo: number,
): Promise<SellerRow | undefined> {
  const parameters = ONE_SELLER_ROW.split("?").length - 1;
  return sql.get<SellerRow>(ONE_SELLER_ROW, [
    now,
    ...Array(parameters - 1).fill(sellerNo),
  ]);
}
