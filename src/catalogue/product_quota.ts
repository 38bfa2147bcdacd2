/**
 * Whether a seller may have the products that an upload, or the undo of one,
 * would create.
 */
import type { Detail } from "../lib/errors.ts";
import type { Sql } from "../database/db.ts";
import { quotaOf } from "../sellers/usage_rows.ts";

/** What is wrong with each of these new products, if they are too many. */
export async function quotaProblems(
  sql: Sql,
  sellerId: string,
  created: readonly Pick<Detail, "product" | "sku" | "line">[],
  defaultLimit: number,
): Promise<Detail[]> {
  if (created.length === 0) return [];
  const { limit, used } = await quotaOf(
    sql,
    sellerId,
    "products",
    defaultLimit,
  );
  if (used + created.length <= limit) return [];
  return created.map(({ product, sku, line }) => ({
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
