/**
 * Usage that counts against a seller's quotas: counters for each resource,
 * changed in the same write as what they count, so that a quota never needs a
 * count of rows. The sum of the rows counts: products have one for each shard, so
 * that uploads of a seller do not wait for each other; bytes of images have one,
 * which a decision locks.
 */
import {
  type Query,
  query,
  type Sql,
  type Tx,
  type Words,
} from "../database/db.ts";

/** What is counted. */
export type Resource =
  /** Stored products. */
  | "products"
  /** Bytes of the stored copies of the seller's images. */
  | "image_bytes"
  /** Bytes of documents of imports, and of what is kept of them. */
  | "import_bytes";

/** What is limited together, and the column that overrides the limit. */
const QUOTAS = {
  products: { resources: ["products"], override: "product_limit" },
  image_bytes: {
    resources: ["image_bytes", "import_bytes"],
    override: "image_quota",
  },
} as const satisfies Record<
  string,
  { resources: readonly Resource[]; override: string }
>;

export interface Quota {
  /** The seller's limit; 0 allows nothing. */
  limit: number;
  used: number;
}

/** A seller's quota; `fallback` is the limit of sellers without their own. */
export async function quotaOf(
  sql: Sql,
  sellerNo: number,
  limited: keyof typeof QUOTAS,
  fallback: number,
): Promise<Quota> {
  const { resources, override } = QUOTAS[limited];
  const quota = await sql.get<Quota>(
    `SELECT COALESCE(sellers.${override}, ?) AS "limit",
       ${
      resources.map((resource) => usedOf(sql, resource, "?")).join(" + ")
    } AS used
     FROM sellers WHERE seller_no = ?`,
    [fallback, ...resources.map(() => sellerNo), sellerNo],
  );
  return quota ?? { limit: 0, used: 0 };
}

/** Sellers beside their rows, as `own` and `sellers`. */
export const OWN = `seller_counters AS own
  JOIN sellers ON sellers.seller_no = own.seller_no`;

/** A subquery: how much of a resource a seller uses; `seller` is its number. */
export function usedOf(
  sql: Sql,
  resource: Resource,
  seller: string,
): string {
  return `COALESCE((SELECT SUM(used) FROM seller_usage
        WHERE seller_no = ${seller} ${sql.ofPart()} AND resource = '${resource}'), 0)`;
}

const insert = (resource: Resource, shardOf: (words: Words) => string) =>
  query((words) =>
    `INSERT INTO seller_usage (seller_no, resource, shard, used)
     VALUES (?, '${resource}', ${shardOf(words)}, ?)
     ON CONFLICT (seller_no, resource, shard)
       DO UPDATE SET used = seller_usage.used + excluded.used`
  );
const INSERT: Record<Resource, Query> = {
  products: insert("products", ({ shard }) => shard),
  // One row, so that it can be locked.
  image_bytes: insert("image_bytes", () => "0"),
  import_bytes: insert("import_bytes", () => "0"),
};

/** Adds an amount, which may be negative, to the usage of a seller. */
export async function addUsage(
  tx: Tx,
  sellerNo: number,
  resource: Resource,
  amount: number,
): Promise<void> {
  if (amount !== 0) await tx.runMany(INSERT[resource], [[sellerNo, amount]]);
}

/**
 * Locks the usage of a seller until the commit, so that a quota decision stays
 * valid.
 */
export async function lockUsage(
  tx: Tx,
  sellerNo: number,
  resource: "image_bytes",
): Promise<void> {
  await tx.runMany(INSERT[resource], [[sellerNo, 0]]);
}
