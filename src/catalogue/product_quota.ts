/**
 * Whether a seller may have the products that an upload, or the undo of one,
 * would create. Uploads of a seller run side by side and do not see each other's
 * products; so near the limit they decide one after the other.
 */
import type { Detail } from "../lib/errors.ts";
import type { Tx } from "../database/db.ts";
import type { Quota } from "../sellers/usage_rows.ts";
import { PRODUCTS_LIMIT } from "./fields.ts";

/** Room for the products of so many uploads in progress. */
const NEAR = 64 * PRODUCTS_LIMIT;

/**
 * The quota by which `created` new products are judged. In a write it keeps
 * it from changing where there is little room.
 */
export async function judgingQuota(
  tx: Tx | null,
  read: () => Promise<Quota>,
  { first, sellerId, created }: {
    /** As it was read before. */
    first: Quota;
    sellerId: string;
    created: number;
  },
): Promise<Quota> {
  const isNear = created > 0 && first.used + created + NEAR > first.limit;
  if (tx === null || !isNear) return first;
  await tx.lock(
    "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
    [`products of ${sellerId}`],
  );
  return await read();
}

/**
 * What is wrong with each of these new products, if they are too many; with
 * `fill`, only with those after the first ones for which there is room.
 */
export function quotaProblems(
  { limit, used }: Quota,
  created: readonly Pick<Detail, "product" | "sku" | "line">[],
  { fill }: { fill: boolean },
): Detail[] {
  if (created.length === 0 || used + created.length <= limit) return [];
  const room = fill ? Math.max(0, limit - used) : 0;
  return created.slice(room).map(({ product, sku, line }) => ({
    product,
    sku,
    line,
    field: "sku",
    code: "quota_exceeded",
    message: `The product would be new. You have ${used} products, this ` +
      `upload has ${created.length} new ones, and your limit is ${limit}; ` +
      "ask the operator for a higher one.",
  }));
}
