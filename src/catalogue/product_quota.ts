/**
 * Whether a seller may have the products that an upload, or the undo of one,
 * would create. Uploads of a seller run side by side and do not see each
 * other's products; so near the limit they run one after the other.
 */
import type { Detail } from "../lib/errors.ts";
import type { Tx } from "../database/db.ts";
import type { Quota } from "../sellers/usage_rows.ts";
import { PRODUCTS_LIMIT } from "./fields.ts";

/**
 * The quota has little room if it is less than the products of this many
 * uploads.
 */
const NEAR = 64 * PRODUCTS_LIMIT;

/**
 * Reads the quota for `created` new products. In a write it locks the quota if
 * there is little room.
 */
export async function judgingQuota(
  tx: Tx | null,
  read: () => Promise<Quota>,
  { first, sellerNo, created }: {
    /** The quota that was read before. */
    first: Quota;
    sellerNo: number;
    created: number;
  },
): Promise<Quota> {
  const isNear = created > 0 && first.used + created + NEAR > first.limit;
  if (tx === null || !isNear) return first;
  await tx.lock(
    "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
    [`products of ${sellerNo}`],
  );
  return await read();
}

/**
 * Returns a problem for each of these new products if there are too many; with
 * `fill`, only for those for which there is no room.
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
