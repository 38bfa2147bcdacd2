/** Whether a seller may have the products that an upload would create. */
import type { Detail } from "../lib/errors.ts";
import type { Sql } from "../database/db.ts";
import { quotaOf } from "../sellers/usage_rows.ts";
import type { PlannedProduct } from "./upload_plan.ts";

/** What is wrong with each product that would be new, if they are too many. */
export async function quotaProblems(
  sql: Sql,
  sellerId: string,
  products: readonly PlannedProduct[],
  defaultLimit: number,
): Promise<Detail[]> {
  const created = products.filter(({ result }) => result === "created");
  if (created.length === 0) return [];
  const { limit, used } = await quotaOf(
    sql,
    sellerId,
    "products",
    defaultLimit,
  );
  if (used + created.length <= limit) return [];
  return created.map(({ row, product }) => ({
    product: row.product,
    sku: product.sku,
    line: row.line,
    field: "sku",
    code: "quota_exceeded",
    message: `The product would be new. You have ${used} products, this ` +
      `upload has ${created.length} new ones, and your limit is ${limit}; ` +
      "ask the operator for a higher one.",
  }));
}
