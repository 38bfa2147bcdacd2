/**
 * Whether a seller may have the products that an upload, or the undo of one,
 * would create.
 */
import type { Detail } from "../lib/errors.ts";
import type { Sql } from "../database/db.ts";
import { quotaOf } from "../sellers/usage_rows.ts";

/**
 * What is wrong with each of these new products, if they are too many; with
 * `fill`, only with those after the first ones for which there is room.
 */
export async function quotaProblems(
  sql: Sql,
  sellerId: string,
  created: readonly Pick<Detail, "product" | "sku" | "line">[],
  { defaultLimit, fill }: { defaultLimit: number; fill: boolean },
): Promise<Detail[]> {
  if (created.length === 0) return [];
  const { limit, used } = await quotaOf(
    sql,
    sellerId,
    "products",
    defaultLimit,
  );
  if (used + created.length <= limit) return [];
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
