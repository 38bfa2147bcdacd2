/**
 * Lists of reviewed products: the operator's queue, and the list of one seller.
 */
import {
  type OwnedProduct,
  type OwnedRow,
  ownerOf,
} from "../catalogue/product_lists.ts";
import {
  COLUMNS,
  type ProductRow,
  toProduct,
} from "../catalogue/product_values.ts";
import { inReach, LIMIT, type Sql } from "../database/db.ts";
import { where } from "../database/where.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { OWNER_NAME } from "../sellers/seller_rows.ts";
import type { ReviewState } from "../catalogue/review.ts";

/** A place in the order of a queue. */
export interface ReviewPlace {
  /** `review_at`. */
  at: number;
  productId: string;
}

export const FIRST_REVIEW: ReviewPlace = { at: -1, productId: BEFORE_ALL_IDS };

export interface ReviewFilter {
  state: ReviewState;
  /** null: of all sellers. */
  sellerNo: number | null;
}

/**
 * Products in a state after a place, in the order of the times at which they
 * entered the state; without products of removed sellers.
 */
export async function listReviews(
  sql: Sql,
  { state, sellerNo }: ReviewFilter,
  after: ReviewPlace,
  limit: number,
): Promise<OwnedProduct[]> {
  const wanted = where({
    "p.review_state = ?": state,
    "p.seller_no = ?": sellerNo,
  });
  const reachCondition = sellerNo === null ? inReach("p.seller_no") : "";
  const rows = await sql.all<ProductRow & OwnedRow>(
    `SELECT sellers.seller_no AS "ownerNo", sellers.id AS "ownerId",
       ${OWNER_NAME} AS "ownerName", ${
      COLUMNS.map((column) => `p.${column}`).join(", ")
    } FROM products p JOIN sellers ON sellers.seller_no = p.seller_no
     ${wanted.where} AND (p.review_at, p.id) > (?, ?)
       AND sellers.status <> 'removed' ${reachCondition}
     ORDER BY p.review_at, p.id ${LIMIT}`,
    [...wanted.params, after.at, after.productId, limit],
  );
  return rows.map((row) => ({ product: toProduct(row), owner: ownerOf(row) }));
}

export function reviewPlace(
  { review_at, id }: OwnedProduct["product"],
): ReviewPlace {
  return { at: review_at!, productId: id };
}
