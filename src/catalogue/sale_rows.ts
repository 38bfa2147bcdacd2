/**
 * Finds products whose sale has a step that is due, and records the step in
 * their rows, so that the step is a change in the feed.
 */
import {
  type Change,
  LIMIT,
  type Param,
  query,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { ofWaitingSellers } from "../jobs/lease_queue.ts";
import { rowsOf } from "../jobs/queues.ts";
import { afterSaleSteps } from "./current_price.ts";
import {
  insertPriceRows,
  lastChangeAt,
  type PriceRow,
} from "./price_changes.ts";
import type { Product } from "./product.ts";
import {
  PRICE_COLUMNS,
  type ProductRow,
  toPartialProduct,
} from "./product_values.ts";

/** A seller with planned steps, and when the first of them is due. */
export interface SellerWithSteps {
  sellerNo: number;
  /** Unix milliseconds. */
  due: number;
}

const SELLERS = ofWaitingSellers(
  rowsOf("sales"),
  ({ waiting, inOrder, due }) =>
    `WITH ${waiting}
     SELECT waiting.seller_no AS "sellerNo", ${due} AS due FROM waiting
     WHERE waiting.seller_no IS NOT NULL ${inOrder} ${LIMIT}`,
  { readsDue: true },
);

/** The first sellers after `after` that have planned steps, by number. */
export function sellersWithSteps(
  sql: Sql,
  after: number,
  limit: number,
): Promise<SellerWithSteps[]> {
  return sql.all<SellerWithSteps>(SELLERS, [after, limit]);
}

const COLUMNS = [
  ...["id", "updated_at", "price", "currency", "sale"] as const,
  ...PRICE_COLUMNS,
] as const;
type Read = Pick<ProductRow, typeof COLUMNS[number]>;

/**
 * Products that another write has locked are left out: that write records their
 * steps itself, or a later search finds them.
 */
const DUE = query(({ lock }) =>
  `SELECT ${COLUMNS.join(", ")} FROM products
   WHERE seller_no = ? AND sale_at IS NOT NULL AND sale_at <= ?
   ORDER BY sale_at, id ${LIMIT} ${lock("FOR UPDATE SKIP LOCKED")}`
);

const RECORD = `UPDATE products SET change_no = ?, updated_at = ?, ${
  PRICE_COLUMNS.map((column) => `${column} = ?`).join(", ")
} WHERE seller_no = ? AND id = ?`;

/**
 * The most products of one write. Other writes wait some milliseconds for this
 * write. Smaller writes would take longer in all, because each ends with a
 * flush to disk.
 */
export const STEPS_AT_ONCE = 250;

/**
 * Records the due steps of at most `STEPS_AT_ONCE` products of a seller;
 * returns the number of these products.
 */
export async function recordDueSteps(
  tx: Tx,
  sellerNo: number,
): Promise<number> {
  const now = tx.now();
  const rows = await tx.all<Read>(DUE, [sellerNo, now, STEPS_AT_ONCE]);
  if (rows.length === 0) return 0;
  const first = await tx.takeChanges(rows.length, sellerNo);
  const moved: PriceRow[] = [];
  const values = rows.map((row, place): Param[] => {
    const product = toPartialProduct(row);
    const { kept, rows } = afterSaleSteps(product, now);
    // bounded: one of each product
    moved.push(...rows);
    return [
      first.number + place,
      changedAt(first, product, lastChangeAt(kept)),
      ...PRICE_COLUMNS.map((column) => kept[column]),
      sellerNo,
      product.id,
    ];
  });
  await tx.runMany(RECORD, values, 1);
  if (moved.length > 0) await insertPriceRows(tx, sellerNo, moved);
  return rows.length;
}

/** The new time of a product: not before its former one or a price change. */
function changedAt(
  { at }: Change,
  { updated_at }: Pick<Product, "updated_at">,
  last: number,
): number {
  return Math.max(at, updated_at, last);
}
