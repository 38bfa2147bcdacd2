/**
 * Usage that counts against a seller's quotas: a counter for each resource,
 * changed in the same write as what it counts, so that a quota never needs a
 * count of rows. Its row is locked after those of images and before those of
 * transactions.
 */
import type { Sql, Tx } from "../database/db.ts";

/** Limited resources, each with the column that overrides the limit. */
const OVERRIDES = {
  /** Stored products. */
  products: "product_limit",
  /** Bytes of stored images that the seller was the first to ask for. */
  image_bytes: "image_quota",
} as const;

export type Resource = keyof typeof OVERRIDES;

export interface Quota {
  /** What the seller may have; 0 is nothing. */
  limit: number;
  used: number;
}

/** A seller's quota; `fallback` is the limit of sellers without their own. */
export async function quotaOf(
  sql: Sql,
  sellerId: string,
  resource: Resource,
  fallback: number,
): Promise<Quota> {
  const quota = await sql.get<Quota>(
    `SELECT COALESCE(sellers.${OVERRIDES[resource]}, ?) AS "limit",
       COALESCE(seller_usage.used, 0) AS used
     FROM sellers LEFT JOIN seller_usage
       ON seller_usage.seller_id = sellers.id AND seller_usage.resource = ?
     WHERE sellers.id = ?`,
    [fallback, resource, sellerId],
  );
  return quota ?? { limit: 0, used: 0 };
}

/** Adds amounts, which may be negative, to the usage of sellers. */
export async function addUsage(
  tx: Tx,
  resource: Resource,
  amounts: ReadonlyMap<string, number>,
): Promise<void> {
  await tx.runMany(
    `INSERT INTO seller_usage (seller_id, resource, used) VALUES (?, ?, ?)
     ON CONFLICT (seller_id, resource)
       DO UPDATE SET used = seller_usage.used + excluded.used`,
    [...amounts].filter(([, amount]) => amount !== 0).sort()
      .map(([sellerId, amount]) => [sellerId, resource, amount]),
  );
}

/**
 * Locks the usage of sellers until the commit, so that a quota decision stays
 * valid.
 */
export async function lockUsage(
  tx: Tx,
  sellerIds: Iterable<string>,
  resource: Resource,
): Promise<void> {
  await tx.runMany(
    `INSERT INTO seller_usage (seller_id, resource, used) VALUES (?, ?, 0)
     ON CONFLICT (seller_id, resource) DO UPDATE SET used = seller_usage.used`,
    [...sellerIds].sort().map((sellerId) => [sellerId, resource]),
  );
}
