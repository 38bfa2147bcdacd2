/** API keys of sellers. Only the SHA-256 of a key is stored. */
import type { Sql, Tx } from "../database/db.ts";
import type { Deps } from "../deps.ts";
import type { KeyRestrictions } from "./access.ts";
import { keyHash, keyPrefix, newKey, sameHash } from "./api_key.ts";
import {
  ALL_RIGHTS,
  describeRights,
  type KeyRights,
  rangesOf,
  rightsColumns,
  rightsOf,
  type RightsRow,
} from "./key_rights.ts";
import type { Scope } from "./scopes.ts";
import type { Caller, SellerStatus } from "./seller.ts";

const KEY_KIND = "sk_";

export interface ListedKey {
  id: string;
  /** A name for the key; null if it has none. */
  label: string | null;
  /** The first characters of the key; null if they were not recorded. */
  prefix: string | null;
  createdAt: number;
  /** Unix milliseconds, to the minute; null if it was never used. */
  lastUsedAt: number | null;
  /** null: the key is not revoked. */
  revokedAt: number | null;
  rights: KeyRights;
}

export interface NewKey {
  keyId: string;
  /** The key itself, which is shown once. */
  apiKey: string;
  label: string | null;
  rights: KeyRights;
}

/** Creates a key of a seller; `apiKey` is random by default. */
export async function addKey(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  sellerNo: number,
  { apiKey = newKey(ids, KEY_KIND), label = null, rights = ALL_RIGHTS }: {
    apiKey?: string;
    label?: string | null;
    rights?: KeyRights;
  } = {},
): Promise<NewKey> {
  const keyId = ids.uuid();
  await tx.run(
    `INSERT INTO api_keys (id, seller_no, hash, label, prefix, created_at,
       scopes, expires_at, networks)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[keyId, sellerNo, keyHash(apiKey), label, keyPrefix(apiKey)],
      clock.now(),
      ...rightsColumns(rights),
    ],
    1,
  );
  return { keyId, apiKey, label, rights };
}

/**
 * The name of a key's seller, and whether the key is revoked; null for an
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

/** Revokes a key. Returns false for an unknown id. */
export async function revokeKey(
  tx: Tx,
  { clock }: Pick<Deps, "clock">,
  keyId: string,
): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?",
    [clock.now(), keyId],
    "any",
  );
  return changed > 0;
}

/** Sets when a key expires. */
export async function endKey(
  tx: Tx,
  keyId: string,
  expiresAt: number,
): Promise<void> {
  await tx.run("UPDATE api_keys SET expires_at = ? WHERE id = ?", [
    expiresAt,
    keyId,
  ], 1);
}

/** Deletes keys of a seller. */
export async function forgetKeys(
  tx: Tx,
  sellerNo: number,
  ids: readonly string[],
): Promise<void> {
  await tx.runMany(
    "DELETE FROM key_uses WHERE seller_no = ? AND key_id = ?",
    ids.map((id) => [sellerNo, id]),
    "any",
  );
  await tx.runMany(
    "DELETE FROM api_keys WHERE seller_no = ? AND id = ?",
    ids.map((id) => [sellerNo, id]),
    1,
  );
}

/** The subquery `key_label`: the label of the key in the column `key_id`. */
export const KEY_LABEL =
  "(SELECT label FROM api_keys WHERE api_keys.id = key_id) AS key_label";

/** The columns of a key that `rightsOf` reads. */
const RIGHTS_COLUMNS = `api_keys.scopes, api_keys.expires_at AS "expiresAt",
       api_keys.networks`;

/** The owner of a key and the limits of its requests. */
export interface KeyOwner extends Caller, KeyRestrictions {
  scopes: readonly Scope[];
  status: SellerStatus;
  /** Requests a minute, 0 for no limit; null: the default setting. */
  rateLimit: number | null;
  /** The percent by which a price may change in one step; null: any. */
  priceJump: number | null;
}

/**
 * The owner of a key, even if the key has expired or is revoked; null for an
 * unknown key, and for a key of a removed seller.
 */
export async function findSellerByKey(
  sql: Sql,
  apiKey: string,
): Promise<KeyOwner | null> {
  const wantedHash = keyHash(apiKey);
  const row = await sql.get<
    Omit<KeyOwner, keyof KeyRights> & RightsRow & { hash: string }
  >(
    `SELECT sellers.id, sellers.seller_no AS no, sellers.name, sellers.status,
       sellers.rate_limit AS "rateLimit",
       sellers.price_jump AS "priceJump", api_keys.id AS "keyId", api_keys.hash,
       api_keys.revoked_at AS "revokedAt", ${RIGHTS_COLUMNS}
     FROM api_keys JOIN sellers ON sellers.seller_no = api_keys.seller_no
     WHERE api_keys.hash = ? AND sellers.status <> 'removed'`,
    [wantedHash],
  );
  if (row === undefined) return null;
  const { hash, ...owner } = row;
  // The index compares byte by byte; this comparison takes constant time.
  if (!sameHash(wantedHash, hash)) return null;
  const rights = rightsOf(owner);
  return { ...owner, ...rights, networks: rangesOf(rights) };
}

/** A seller's keys, the oldest first. */
export async function listKeys(
  sql: Sql,
  sellerNo: number,
): Promise<ListedKey[]> {
  const rows = await sql.all<Omit<ListedKey, "rights"> & RightsRow>(
    `SELECT id, label, prefix, created_at AS "createdAt", ${RIGHTS_COLUMNS},
       last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"
     FROM api_keys LEFT JOIN key_uses
       ON key_uses.seller_no = api_keys.seller_no AND key_id = id
     WHERE api_keys.seller_no = ? ORDER BY id`,
    [sellerNo],
  );
  return rows.map(({ scopes, expiresAt, networks, ...key }) => ({
    ...key,
    rights: rightsOf({ scopes, expiresAt, networks }),
  }));
}

/** Describes a new key for the audit log. */
export function describeKey({ keyId, label, rights }: NewKey): string {
  return [`key ${keyId}`, label, describeRights(rights)].filter(Boolean)
    .join(", ");
}
