/**
 * Whether a seller's quota allows the products that an upload or an undo would
 * create. Concurrent uploads of a seller do not see each other's products, so
 * near the limit they run one after the other.
 */
import type { Detail } from "../lib/errors.ts";
import type { Tx } from "../database/db.ts";
import type { Quota } from "../sellers/usage_rows.ts";
import { PRODUCTS_LIMIT } from "./fields.ts";

/** A quota has little room if fewer products than this are left. */
const LITTLE_ROOM = 64 * PRODUCTS_LIMIT;

/** Whether uploads with new products must run one after the other. */
export function hasLittleRoom(
  { limit, used }: Quota,
  created: number,
): boolean {
  return created > 0 && used + created + LITTLE_ROOM > limit;
}

/** Waits for the seller's other uploads with new products. */
export function lockProductQuota(tx: Tx, sellerNo: number): Promise<void> {
  return tx.lock(`products of ${sellerNo}`);
}

/**
 * Returns a problem for each of these new products if there are too many; with
 * `fill`, only for the products beyond the quota.
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
      `upload has ${created.length} new products, and your limit is ${limit}; ` +
      "ask the operator for a higher one.",
  }));
}
