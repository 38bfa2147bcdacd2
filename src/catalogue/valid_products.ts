/**
 * Selects the products of a plan that can be stored although others have a
 * problem; some can only be stored together.
 */
import { type Detail, fieldDetail } from "../lib/errors.ts";
import { lineOfField } from "./decoded_product.ts";
import { skuTaken } from "./product.ts";
import type { PlannedProduct } from "./row_plan.ts";

/**
 * A plan without the refused products, and the problems of products that were
 * refused only because of others.
 */
export interface ValidProducts {
  products: PlannedProduct[];
  problems: Detail[];
}

/**
 * Removes the products that have one of the `problems`, and those that would
 * take a SKU whose product now keeps it.
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

/** A problem of each product whose SKU its owner does not give up. */
function skuClashes(products: readonly PlannedProduct[]): Detail[] {
  const leaving = new Set<string>();
  for (const { before, after } of products) {
    if (before !== null && before.sku !== after.sku) leaving.add(before.id);
  }
  return products.flatMap(({ row, after: { sku }, takesSkuOf }) =>
    takesSkuOf === null || leaving.has(takesSkuOf) ? [] : [
      fieldDetail(skuTaken(sku, takesSkuOf), {
        product: row.product,
        sku,
        line: lineOfField(row, "sku"),
      }),
    ]
  );
}
