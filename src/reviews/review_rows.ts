/** The columns of products that hold their reviews. */
import type { Product, ProductContent } from "../catalogue/product.ts";
import type { Sql, Tx } from "../database/db.ts";
import {
  columnValues,
  policyOf,
  type Review,
  reviewAfter,
  type ReviewPolicy,
  type StoredPolicy,
} from "./review.ts";

/** A seller's policy of review; that of a held seller stays until the commit. */
export async function findPolicy(
  sql: Sql,
  sellerNo: number,
): Promise<ReviewPolicy> {
  const seller = await sql.get<{ review: StoredPolicy }>(
    "SELECT review FROM sellers WHERE seller_no = ?",
    [sellerNo],
  );
  return policyOf(seller?.review ?? "none");
}

/** Stores what the changes of a seller's products, just written, do to their reviews. */
export async function reviewChanges(
  tx: Tx,
  sellerNo: number,
  policy: ReviewPolicy,
  changes: Iterable<{ before: Product | null; after: ProductContent | null }>,
): Promise<void> {
  if (policy === "none") return;
  const now = tx.now();
  const reviews: [productId: string, review: Review][] = [];
  for (const { before, after } of changes) {
    if (after === null) continue;
    const review = reviewAfter(policy, before, after, now);
    if (review !== null) reviews.push([after.id, review]);
  }
  await writeReviews(tx, sellerNo, reviews);
}

async function writeReviews(
  tx: Tx,
  sellerNo: number,
  reviews: readonly [productId: string, review: Review][],
): Promise<void> {
  await tx.runMany(
    `UPDATE products SET review_state = ?, review_at = ?, review = ?
     WHERE seller_no = ? AND id = ?`,
    reviews.map(([id, review]) => [...columnValues(review), sellerNo, id]),
  );
}
