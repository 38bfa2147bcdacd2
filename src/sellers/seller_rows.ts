/** Sellers and their API keys. Of a key only its SHA-256 is stored. */
import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Deps } from "../deps.ts";
import type { Seller } from "./seller.ts";
import { DbError, type Sql, type Tx } from "../database/db.ts";

/** Visible characters, with single spaces between words. */
const NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;
const NAME_LENGTH = 64;

/** What is wrong with a name that the operator gave, or meant. */
export class SellerNameError extends Error {
  override readonly name = "SellerNameError";
}

export interface ListedSeller extends Seller {
  /** Unix time in milliseconds. */
  createdAt: number;
  /** How many keys are in force. */
  keys: number;
}

export interface ListedKey {
  id: string;
  /** Unix time in milliseconds. */
  createdAt: number;
  /** null: the key is in force. */
  revokedAt: number | null;
}

export interface NewKey {
  keyId: string;
  /** In the clear; cannot be had again. */
  apiKey: string;
}

export interface NewSeller extends NewKey {
  seller: Seller;
  webhookSecret: string;
}

/** `sk_` and 32 random bytes. */
function newApiKey(ids: Deps["ids"]): string {
  return `sk_${Buffer.from(ids.random(32)).toString("base64url")}`;
}

/** `whsec_` and 32 random bytes, as Standard Webhooks writes a secret. */
export function newWebhookSecret(ids: Deps["ids"]): string {
  return `whsec_${Buffer.from(ids.random(32)).toString("base64")}`;
}

/**
 * Creates a seller with its first key, a random one unless given. Throws a
 * `SellerNameError` for a name that is taken or that no seller can have.
 */
export async function addSeller(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  name: string,
  apiKey = newApiKey(ids),
): Promise<NewSeller> {
  checkName(name);
  const seller = { id: ids.uuid(), name };
  const webhookSecret = newWebhookSecret(ids);
  try {
    await tx.run(
      "INSERT INTO sellers (id, name, webhook_secret, created_at) VALUES (?, ?, ?, ?)",
      [seller.id, name, webhookSecret, clock.now()],
    );
  } catch (error) {
    if (!(error instanceof DbError && error.kind === "unique")) throw error;
    throw new SellerNameError(
      `There is a seller ${JSON.stringify(name)} already.`,
    );
  }
  const key = await addKey(tx, { clock, ids }, seller.id, apiKey);
  return { seller, webhookSecret, ...key };
}

function checkName(name: string): void {
  const length = [...name].length;
  if (length >= 1 && length <= NAME_LENGTH && NAME.test(name)) return;
  throw new SellerNameError(
    `${JSON.stringify(name)} is not a seller's name: 1 to ${NAME_LENGTH} ` +
      "visible characters on one line, with single spaces between words.",
  );
}

/** Gives a seller one more key, a random one unless given. */
export async function addKey(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  sellerId: string,
  apiKey = newApiKey(ids),
): Promise<NewKey> {
  const keyId = ids.uuid();
  await tx.run(
    "INSERT INTO api_keys (id, seller_id, hash, created_at) VALUES (?, ?, ?, ?)",
    [keyId, sellerId, hash(apiKey).toString("hex"), clock.now()],
  );
  return { keyId, apiKey };
}

/** Takes a key out of force; false when there is none with this id. */
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

/** Whose key it is; null when it is unknown or revoked. */
export async function findSellerByKey(
  sql: Sql,
  apiKey: string,
): Promise<Seller | null> {
  const wanted = hash(apiKey);
  const row = await sql.get<Seller & { hash: string }>(
    `SELECT sellers.id, sellers.name, api_keys.hash
     FROM api_keys JOIN sellers ON sellers.id = api_keys.seller_id
     WHERE api_keys.hash = ? AND api_keys.revoked_at IS NULL`,
    [wanted.toString("hex")],
  );
  if (row === undefined) return null;
  // The index compares byte by byte; this one tells nothing by its duration.
  if (!timingSafeEqual(wanted, Buffer.from(row.hash, "hex"))) return null;
  return { id: row.id, name: row.name };
}

/** The seller of a name; throws a `SellerNameError` when there is none. */
export async function sellerByName(sql: Sql, name: string): Promise<Seller> {
  const seller = await sql.get<Seller>(
    "SELECT id, name FROM sellers WHERE name = ?",
    [name],
  );
  if (seller !== undefined) return seller;
  throw new SellerNameError(
    `There is no seller ${JSON.stringify(name)}; \`seller list\` shows all.`,
  );
}

/** All sellers, by name. */
export function listSellers(sql: Sql): Promise<ListedSeller[]> {
  return sql.all<ListedSeller>(
    `SELECT sellers.id, sellers.name, sellers.created_at AS "createdAt",
       COUNT(api_keys.id) AS keys
     FROM sellers LEFT JOIN api_keys
       ON api_keys.seller_id = sellers.id AND api_keys.revoked_at IS NULL
     GROUP BY sellers.id, sellers.name, sellers.created_at
     ORDER BY sellers.name`,
  );
}

/** A seller as the operator's page lists it. */
export interface SellerRow extends ListedSeller {
  /** How many webhooks there are, and how many of them fail or are disabled. */
  webhooks: number;
  failing: number;
  /** Unix milliseconds; null when there was none. */
  lastUploadAt: number | null;
}

/** Sellers behind `after` (an id), in the order of their creation. */
export function pageOfSellers(
  sql: Sql,
  after: string,
  limit: number,
): Promise<SellerRow[]> {
  return sql.all<SellerRow>(
    `SELECT id, name, created_at AS "createdAt",
       (SELECT COUNT(*) FROM api_keys
        WHERE seller_id = sellers.id AND revoked_at IS NULL) AS keys,
       (SELECT COUNT(*) FROM webhooks
        WHERE seller_id = sellers.id) AS webhooks,
       (SELECT COUNT(*) FROM webhooks
        WHERE seller_id = sellers.id AND failing_since IS NOT NULL) AS failing,
       (SELECT created_at FROM transactions WHERE seller_id = sellers.id
        ORDER BY id DESC LIMIT 1) AS "lastUploadAt"
     FROM sellers WHERE id > ? ORDER BY id LIMIT ?`,
    [after, limit],
  );
}

/** A seller's keys, the oldest first. */
export function listKeys(sql: Sql, sellerId: string): Promise<ListedKey[]> {
  return sql.all<ListedKey>(
    `SELECT id, created_at AS "createdAt", revoked_at AS "revokedAt"
     FROM api_keys WHERE seller_id = ? ORDER BY id`,
    [sellerId],
  );
}

function hash(apiKey: string): Buffer {
  return createHash("sha256").update(apiKey, "utf8").digest();
}
