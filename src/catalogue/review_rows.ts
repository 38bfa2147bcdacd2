/** The columns of products with their reviews. */
import type { Product, ProductContent } from "./product.ts";
import type { Sql, Tx } from "../database/db.ts";
import {
  NO_STATE,
  type Review,
  reviewAfter,
  reviewColumnValues,
} from "./review.ts";
import {
  policyOf,
  type ReviewPolicy,
  type StoredPolicy,
} from "../sellers/review_policy.ts";

/**
 * A seller's review policy. In a write that has called `lockAgainstRemoval` it
 * does not change before the commit.
 */
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

/**
 * Updates the reviews of a seller's products after their changes were written.
 */
export async function reviewChanges(
  tx: Tx,
  sellerNo: number,
  policy: ReviewPolicy,
  changes: Iterable<{ before: Product | null; after: ProductContent | null }>,
): Promise<void> {
  if (policy === "none") return;
  const now = tx.now();
  const reviews: NewReview[] = [];
  for (const { before, after } of changes) {
    if (after === null) continue;
    const review = reviewAfter(policy, before, after, now);
    if (review !== null) reviews.push([after.id, review]);
  }
  await writeReviews(tx, sellerNo, reviews);
}

type NewReview = [productId: string, review: Review | typeof NO_STATE];

async function writeReviews(
  tx: Tx,
  sellerNo: number,
  reviews: readonly NewReview[],
): Promise<void> {
  await tx.runMany(
    `UPDATE products SET review_state = ?, review_at = ?, review = ?
     WHERE seller_no = ? AND id = ?`,
    reviews.map(([id, review]) => [
      ...(review === NO_STATE
        ? [null, null, null]
        : reviewColumnValues(review)),
      sellerNo,
      id,
    ]),
    1,
  );
}
