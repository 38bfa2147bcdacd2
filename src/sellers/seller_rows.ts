/** Sellers and their API keys. Only the SHA-256 of a key is stored. */
import { Buffer } from "node:buffer";
import type { Deps } from "../deps.ts";
import { ServiceError } from "../lib/errors.ts";
import { readId } from "../lib/ids.ts";
import { quote } from "../lib/values.ts";
import { endHolds } from "./access.ts";
import { hashOf, newKey, prefixOf, sameHash } from "./api_key.ts";
import { giveName, invalidName, isName, NAME_RULE } from "./names.ts";
import type { Caller, Seller, SellerStatus } from "./seller.ts";
import { OWN, usedOf } from "./usage_rows.ts";
import { ofPart, type Sql, type Tx } from "../database/db.ts";

const KEY_KIND = "sk_";

export interface ListedKey {
  id: string;
  /** The operator's name for the key; null if there is none. */
  label: string | null;
  /** How the key starts; null for a key older than this column. */
  prefix: string | null;
  createdAt: number;
  /** Unix time in milliseconds, to the minute; null: never. */
  lastUsedAt: number | null;
  /** null: the key is in force. */
  revokedAt: number | null;
}

export interface NewKey {
  keyId: string;
  /** In the clear; not shown again. */
  apiKey: string;
}

export interface NewSeller extends NewKey {
  seller: Seller;
  webhookSecret: string;
}

/** `whsec_` and 32 random bytes, as Standard Webhooks writes a secret. */
export function newWebhookSecret(ids: Deps["ids"]): string {
  return `whsec_${Buffer.from(ids.random(32)).toString("base64")}`;
}

/**
 * Creates a seller with its first key, which is random unless given. Throws 422
 * for an invalid name or one that is taken.
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
  await giveName(() =>
    tx.run(
      `INSERT INTO sellers (id, seller_no, name, webhook_secret, created_at)
       VALUES (?, ?, ?, ?, ?)`,
      [id, no, name, webhookSecret, clock.now()],
    ), taken(name));
  await tx.runMany("INSERT INTO seller_counters (seller_no) VALUES (?)", [
    [no],
  ]);
  const key = await addKey(tx, { clock, ids }, no, { apiKey });
  return { seller: { id, no, name }, webhookSecret, ...key };
}

/**
 * Returns a number that no seller ever had, not even one whose rows are
 * deleted: a request of that seller may still be in progress. The row is locked
 * until the commit.
 */
async function takeSellerNo(tx: Tx): Promise<number> {
  // A copied or an older database has sellers, but its counter starts at 0.
  const row = await tx.get<{ last: number }>(
    `UPDATE seller_numbers SET last = 1 + CASE
       WHEN last < (SELECT COALESCE(MAX(seller_no), 0) FROM sellers)
       THEN (SELECT MAX(seller_no) FROM sellers) ELSE last END
     WHERE id = 1
     RETURNING last`,
  );
  return row!.last;
}

/** Renames a seller. Throws as `addSeller`. */
export async function renameSeller(
  tx: Tx,
  sellerId: string,
  name: string,
): Promise<void> {
  checkName(name);
  await giveName(
    () => tx.run("UPDATE sellers SET name = ? WHERE id = ?", [name, sellerId]),
    taken(name),
  );
}

/**
 * The name by which a catalogue names the owner of a product, in SQL: removed
 * sellers have given up theirs.
 */
export const OWNER_NAME = "COALESCE(sellers.former_name, sellers.name)";

/**
 * Marks a seller as removed, which frees its name; `sweepRemovedSellers` deletes
 * its rows. False if it was removed already.
 */
export async function markRemoved(
  tx: Tx,
  { id: sellerId, no }: Pick<Seller, "id" | "no">,
): Promise<boolean> {
  await endHolds(tx, no);
  const changed = await tx.run(
    `UPDATE sellers SET status = 'removed', former_name = name, name = ?
     WHERE id = ? AND status <> 'removed'`,
    // Its control character cannot occur in a name.
    [`\u0001${sellerId}`, sellerId],
  );
  return changed > 0;
}

function checkName(name: string): void {
  // A name like an id could be mistaken for another seller, and a URL cannot
  // contain a segment of dots only.
  if (isName(name) && readId(name) === null && !/^\.\.?$/.test(name)) return;
  throw invalidName(
    "not_allowed",
    `${quote(name)} is not a seller's name: ${NAME_RULE}; no UUID, and ` +
      'neither of ".", "..".',
  );
}

function taken(name: string): string {
  return `There is a seller ${quote(name)} already.`;
}

/** Creates another key of a seller, which is random unless given. */
export async function addKey(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  sellerNo: number,
  { apiKey = newKey(ids, KEY_KIND), label = null }: {
    apiKey?: string;
    label?: string | null;
  } = {},
): Promise<NewKey> {
  const keyId = ids.uuid();
  await tx.run(
    `INSERT INTO api_keys (id, seller_no, hash, label, prefix, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [keyId, sellerNo, hashOf(apiKey), label, prefixOf(apiKey), clock.now()],
  );
  return { keyId, apiKey };
}

/**
 * The seller's name of a key id, and whether the key is revoked; null for an
 * unknown id.
 */
export async function findKey(
  sql: Sql,
  keyId: string,
): Promise<{ seller: string; revoked: boolean } | null> {
  const row = await sql.get<{ seller: string; revokedAt: number | null }>(
    `SELECT sellers.name AS seller, api_keys.revoked_at AS "revokedAt"
     FROM api_keys JOIN sellers ON sellers.seller_no = api_keys.seller_no
     WHERE api_keys.id = ? AND sellers.status <> 'removed'`,
    [keyId],
  );
  if (row === undefined) return null;
  return { seller: row.seller, revoked: row.revokedAt !== null };
}

/** Revokes a key; false if there is none with this id. */
export async function revokeKey(
  tx: Tx,
  { clock }: Pick<Deps, "clock">,
  keyId: string,
): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?",
    [clock.now(), keyId],
  );
  return changed > 0;
}

/** The owner of a key and the limits of its requests. */
export interface KeyOwner extends Caller {
  status: SellerStatus;
  /** Requests a minute, 0: unlimited; null: the default of the settings. */
  rateLimit: number | null;
}

/** The owner of a key; null if it is unknown or revoked, or the owner removed. */
export async function findSellerByKey(
  sql: Sql,
  apiKey: string,
): Promise<KeyOwner | null> {
  const wanted = hashOf(apiKey);
  const row = await sql.get<KeyOwner & { hash: string }>(
    `SELECT sellers.id, sellers.seller_no AS no, sellers.name, sellers.status,
       sellers.rate_limit AS "rateLimit", api_keys.id AS "keyId", api_keys.hash
     FROM api_keys JOIN sellers ON sellers.seller_no = api_keys.seller_no
     WHERE api_keys.hash = ? AND api_keys.revoked_at IS NULL
       AND sellers.status <> 'removed'`,
    [wanted],
  );
  if (row === undefined) return null;
  const { hash, ...owner } = row;
  // The index compares byte by byte; this comparison takes constant time.
  return sameHash(wanted, hash) ? owner : null;
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

/** A seller's own limits; null: the default of the settings. */
export interface SellerLimits {
  /** Requests a minute; 0: unlimited. */
  rateLimit: number | null;
  /** Stored products; 0: none. */
  productLimit: number | null;
  /** Bytes of stored images; 0: none. */
  imageQuota: number | null;
}

/** A seller as operators see it. */
export interface SellerRow extends Seller, SellerLimits {
  createdAt: number;
  status: SellerStatus;
  /** How many keys are in force. */
  keys: number;
  /** What counts against the limits. */
  products: number;
  imageBytes: number;
  /** How many webhooks there are, and how many of them fail or are disabled. */
  webhooks: number;
  failing: number;
  /** Unix milliseconds; null when there was none. */
  lastUploadAt: number | null;
  /** When a key was last used, to the minute; Unix milliseconds. */
  lastUsedAt: number | null;
}

/**
 * Of each seller, or of the one whose number is the parameter `?`, which stands in
 * every subquery: so a single server is asked.
 */
const sellerRow = (seller: "own.seller_no" | "?", from: string) => `
  SELECT sellers.id, sellers.seller_no AS no, name, created_at AS "createdAt", status,
    rate_limit AS "rateLimit", product_limit AS "productLimit",
    image_quota AS "imageQuota",
    ${usedOf("products", seller)} AS products,
    ${usedOf("image_bytes", seller)} AS "imageBytes",
    (SELECT MAX(last_used_at) FROM key_uses
     WHERE seller_no = ${seller} ${ofPart()}) AS "lastUsedAt",
    (SELECT COUNT(*) FROM api_keys
     WHERE seller_no = ${seller} AND revoked_at IS NULL) AS keys,
    (SELECT COUNT(*) FROM webhooks
     WHERE seller_no = ${seller} ${ofPart()}) AS webhooks,
    (SELECT COUNT(*) FROM webhooks
     WHERE seller_no = ${seller} ${ofPart()} AND failing_since IS NOT NULL) AS failing,
    (SELECT created_at FROM transactions
     WHERE seller_no = ${seller} ${ofPart()}
     ORDER BY id DESC LIMIT 1) AS "lastUploadAt"
  FROM ${from} WHERE status <> 'removed'`;
const SELLER_ROWS = sellerRow("own.seller_no", OWN);
const SELLER_ROW = `${sellerRow("?", "sellers")} AND seller_no = ?`;

/** All sellers, by name. */
export function listSellers(sql: Sql): Promise<SellerRow[]> {
  return sql.all<SellerRow>(`${SELLER_ROWS} ORDER BY name`);
}

/** Sellers after `after` (an id), in order of creation. */
export function pageOfSellers(
  sql: Sql,
  after: string,
  limit: number,
): Promise<SellerRow[]> {
  return sql.all<SellerRow>(
    `${SELLER_ROWS} AND sellers.id > ? ${ofPart("own.seller_no")}
     ORDER BY sellers.id LIMIT ?`,
    [after, limit],
  );
}

/** One seller with what counts against its limits. */
export function readSellerRow(
  sql: Sql,
  sellerNo: number,
): Promise<SellerRow | undefined> {
  const parameters = SELLER_ROW.split("?").length - 1;
  return sql.get<SellerRow>(SELLER_ROW, Array(parameters).fill(sellerNo));
}

/** A seller's keys, the oldest first. */
export function listKeys(sql: Sql, sellerNo: number): Promise<ListedKey[]> {
  return sql.all<ListedKey>(
    `SELECT id, label, prefix, created_at AS "createdAt",
       last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"
     FROM api_keys LEFT JOIN key_uses
       ON key_uses.seller_no = api_keys.seller_no AND key_id = id
     WHERE api_keys.seller_no = ? ORDER BY id`,
    [sellerNo],
  );
}
