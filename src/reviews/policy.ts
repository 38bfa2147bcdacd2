/**
 * The review policy of a seller. Under `none`, no product has a review. A
 * policy that was set to `none` is `ending` until a job of
 * `administration/maintenance.ts` has removed all reviews, so the job continues
 * after a crash.
 */
import { setChange } from "../images/shown_images.ts";
import type { Db, Tx } from "../database/db.ts";
import { untilNone } from "../jobs/periodic_jobs.ts";
import { lockAgainstRemoval, lockExclusively } from "../sellers/access.ts";
import { eachSeller } from "../sellers/each_seller.ts";
import type { ReviewPolicy } from "../sellers/review_policy.ts";

/** The most reviews that one write removes. */
const PORTION = 100;

/**
 * Sets the policy, once all writes under the former policy have ended; later
 * writes see the new policy.
 */
export async function setPolicy(
  tx: Tx,
  sellerNo: number,
  policy: ReviewPolicy,
): Promise<void> {
  await lockExclusively(tx, sellerNo);
  await tx.run(
    policy === "none"
      ? `UPDATE sellers SET review = 'ending'
         WHERE seller_no = ? AND review <> 'none'`
      : `UPDATE sellers SET review = '${policy}' WHERE seller_no = ?`,
    [sellerNo],
    policy === "none" ? "any" : 1,
  );
}

/**
 * Removes the reviews of sellers whose products are no longer reviewed. A
 * seller whose section is unreachable is skipped.
 */
export function sweepEndedReviews(
  { db }: { db: Pick<Db, "read" | "write" | "of"> },
): AsyncGenerator<number, void> {
  return eachSeller(db, "review = 'ending'", ({ no }) => endReviews(db, no));
}

async function* endReviews(
  db: Pick<Db, "write" | "of">,
  seller: number,
): AsyncGenerator<number, void> {
  const options = { order: `reviews ${seller}`, heavy: true, changes: true };
  const own = db.of(seller);
  yield* untilNone(() =>
    own.write((tx) => endSomeReviews(tx, seller), options)
  );
  await db.write((tx) =>
    tx.run(
      `UPDATE sellers SET review = 'none'
       WHERE seller_no = ? AND review = 'ending'`,
      [seller],
      "any",
    )
  );
}

/** Removes some reviews of a seller; returns how many, 0 at the end. */
async function endSomeReviews(tx: Tx, sellerNo: number): Promise<number> {
  await lockAgainstRemoval(tx, sellerNo);
  const products = await tx.all<{ id: string }>(
    `SELECT id FROM products
     WHERE seller_no = ? AND review_state IS NOT NULL AND EXISTS
       (SELECT 1 FROM sellers WHERE seller_no = ? AND review = 'ending')
     LIMIT ${PORTION}`,
    [sellerNo, sellerNo],
  );
  if (products.length === 0) return 0;
  const { number } = await tx.takeChanges(1, sellerNo);
  await setChange(tx, sellerNo, number, products);
  await tx.runMany(
    `UPDATE products SET review_state = NULL, review_at = NULL, review = NULL
     WHERE seller_no = ? AND id = ?`,
    products.map(({ id }) => [sellerNo, id]),
    1,
  );
  return products.length;
}
