/**
 * Selects the products of a plan that can be stored although others have a
 * problem; some can only be stored together.
 */
import { type Detail, fieldDetail } from "../lib/errors.ts";
import { lineOfField } from "./decoded_product.ts";
import { skuTaken } from "./product.ts";
import type { PlannedProduct } from "./row_plan.ts";

/**
 * The products of a plan that are not refused, and the problems of products
 * that are refused only because of other products.
 */
export interface ValidProducts {
  products: PlannedProduct[];
  problems: Detail[];
}

/**
 * Removes the products that have one of the `problems`, and the products that
 * would take the SKU of a product that now keeps it.
 */
export function withoutRefused(
  planned: readonly PlannedProduct[],
  problems: readonly Detail[],
): ValidProducts {
  let products = withoutProblems(planned, problems);
  const found: Detail[] = [];
  for (;;) {
    const kept = skuClashes(products);
    if (kept.length === 0) return { products, problems: found };
    for (const detail of kept) found.push(detail);
    products = withoutProblems(products, kept);
  }
}

function withoutProblems(
  planned: readonly PlannedProduct[],
  problems: readonly Detail[],
): PlannedProduct[] {
  const refused = new Set(problems.map(({ product }) => product));
  return planned.filter(({ row }) => !refused.has(row.product));
}

/** A problem for each product that takes a SKU which its owner keeps. */
function skuClashes(products: readonly PlannedProduct[]): Detail[] {
  const freedSkuIds = new Set<string>();
  for (const { before, after } of products) {
    if (before !== null && before.sku !== after.sku) freedSkuIds.add(before.id);
  }
  return products.flatMap(({ row, after: { sku }, takesSkuOf }) =>
    takesSkuOf === null || freedSkuIds.has(takesSkuOf) ? [] : [
      fieldDetail(skuTaken(sku, takesSkuOf), {
        product: row.product,
        sku,
        line: lineOfField(row, "sku"),
      }),
    ]
  );
}
