/**
 * Usage that counts against a seller's quotas: counters for each resource. A
 * write changes products or files together with their counter, so that the check
 * of a quota counts no rows. The usage is the sum of the counters. Products have
 * 16 counters, so that uploads of a seller do not wait for each other; bytes of
 * images have one counter, which the check of a quota locks.
 */
import {
  type Dialect,
  inReach,
  type Query,
  query,
  type Sql,
  type Tx,
} from "../database/db.ts";
import {
  QUOTA_NAMES,
  type QuotaDefaults,
  type QuotaName,
  type Resource,
  SELLER_QUOTAS,
} from "./limits.ts";

export interface Quota {
  /** The seller's limit; 0 allows nothing. */
  limit: number;
  used: number;
}

/** A seller's quota; `fallback` is the limit if the seller has none of its own. */
export async function quotaOf(
  sql: Sql,
  sellerNo: number,
  name: QuotaName,
  fallback: number,
): Promise<Quota> {
  const { resources } = SELLER_QUOTAS[name];
  const quota = await sql.get<Quota>(
    `SELECT COALESCE(sellers.${name}, ?) AS "limit",
       ${usedOfAllSql(resources, "?")} AS used
     FROM sellers WHERE seller_no = ?`,
    [fallback, ...resources.map(() => sellerNo), sellerNo],
  );
  return quota ?? { limit: 0, used: 0 };
}

/** The columns with a seller's usage of each quota, and with its own limits. */
export type QuotaColumns =
  & Readonly<Record<`${QuotaName}_used`, number>>
  & Readonly<Record<QuotaName, number | null>>;

/** SQL that selects `QuotaColumns` from `SELLERS_WITH_COUNTERS`. */
export function quotaColumns(): string {
  return QUOTA_NAMES.map((name) => {
    const used = usedOfAllSql(SELLER_QUOTAS[name].resources, "own.seller_no");
    return `${used} AS ${name}_used, sellers.${name}`;
  }).join(", ");
}

export interface QuotaUse extends Quota {
  /** What the quota limits: the `of` of `SELLER_QUOTAS`. */
  quota: string;
}

/** What a seller uses of each quota, and the limit that applies. */
export function toQuotaUses(
  row: QuotaColumns,
  defaults: QuotaDefaults,
): QuotaUse[] {
  return QUOTA_NAMES.map((name) => {
    const { of: quota, setting } = SELLER_QUOTAS[name];
    const limit = row[name] ?? defaults[setting];
    return { quota, used: row[`${name}_used`], limit };
  });
}

/** Sellers joined with their counters, as `sellers` and `own`. */
export const SELLERS_WITH_COUNTERS = `seller_counters AS own
  JOIN sellers ON sellers.seller_no = own.seller_no`;

function usedOfAllSql(resources: readonly Resource[], seller: string): string {
  return resources.map((resource) => usedSql(resource, seller)).join(" + ");
}

/**
 * The usage of each quota by each seller, in the order of the sellers' names,
 * with the bytes of imports' documents as a separate value.
 */
export async function listQuotaUses(
  sql: Sql,
  defaults: QuotaDefaults,
): Promise<{ seller: string; uses: QuotaUse[]; importBytes: number }[]> {
  const rows = await sql.all<
    QuotaColumns & { name: string; importBytes: number }
  >(
    `SELECT sellers.name, ${quotaColumns()},
       ${usedSql("import_bytes", "own.seller_no")} AS "importBytes"
     FROM ${SELLERS_WITH_COUNTERS}
     WHERE sellers.status <> 'removed' ${inReach("own.seller_no")}
     ORDER BY sellers.name`,
  );
  return rows.map((row) => ({
    seller: row.name,
    uses: toQuotaUses(row, defaults),
    importBytes: row.importBytes,
  }));
}

/** A subquery: how much of a resource a seller uses; `seller` is its number. */
export function usedSql(resource: Resource, seller: string): string {
  return `COALESCE((SELECT SUM(used) FROM seller_usage
        WHERE seller_no = ${seller} ${inReach()} AND resource = '${resource}'), 0)`;
}

const insertUsage = (
  resource: Resource,
  slotOf: (dialect: Dialect) => string,
) =>
  query((dialect) =>
    `INSERT INTO seller_usage (seller_no, resource, slot, used)
     VALUES (?, '${resource}', ${slotOf(dialect)}, ?)
     ON CONFLICT (seller_no, resource, slot)
       DO UPDATE SET used = seller_usage.used + excluded.used`
  );
const INSERT: Record<Resource, Query> = {
  products: insertUsage("products", ({ slot }) => slot),
  // One row, so that it can be locked.
  image_bytes: insertUsage("image_bytes", () => "0"),
  import_bytes: insertUsage("import_bytes", () => "0"),
};

/** Adds an amount, which may be negative, to the usage of a seller. */
export async function addUsage(
  tx: Tx,
  sellerNo: number,
  resource: Resource,
  amount: number,
): Promise<void> {
  if (amount !== 0) await tx.runMany(INSERT[resource], [[sellerNo, amount]], 1);
}

/** How much of a resource a seller uses. */
export async function usageOf(
  sql: Sql,
  sellerNo: number,
  resource: Resource,
): Promise<number> {
  const row = await sql.get<{ used: number }>(
    `SELECT ${usedSql(resource, "?")} AS used`,
    [sellerNo],
  );
  return row!.used;
}

/**
 * Locks the usage of a seller until the commit, so that no other write uses up
 * the quota after it was checked.
 */
export async function lockUsage(
  tx: Tx,
  sellerNo: number,
  resource: "image_bytes",
): Promise<void> {
  await tx.runMany(INSERT[resource], [[sellerNo, 0]], 1);
}
