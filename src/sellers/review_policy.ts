/**
 * The review policy, an attribute of a seller. `catalogue/review.ts` applies
 * it.
 */

/** Which products are reviewed: none, new ones, or also changed ones. */
export const REVIEW_POLICIES = ["none", "new", "changes"] as const;
export type ReviewPolicy = typeof REVIEW_POLICIES[number];

/**
 * The stored value: `ending` while the reviews of the seller's products are
 * being removed.
 */
export type StoredPolicy = ReviewPolicy | "ending";

/** The policy for a stored value. */
export function policyOf(stored: StoredPolicy): ReviewPolicy {
  return stored === "ending" ? "none" : stored;
}
