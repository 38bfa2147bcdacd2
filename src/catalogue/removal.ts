/** Deletes the products and uploads of a removed seller; tombstones stay. */
import { LIMIT, type Tx } from "../database/db.ts";
import { linkImages } from "./change_feed.ts";
import {
  findProducts,
  rowChange,
  type SellerKeys,
  writeProducts,
} from "./product_rows.ts";
import { deleteTransactions } from "./retention.ts";

/** The most rows that one write deletes. */
const PRODUCTS = 100;
const TRANSACTIONS = 32;

/** Deletes some of the seller's products; returns how many. */
export async function removeProducts(
  tx: Tx,
  seller: SellerKeys,
): Promise<number> {
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM products WHERE seller_no = ? ${LIMIT}`,
    [seller.no, PRODUCTS],
  );
  const ids = rows.map(({ id }) => id);
  const products = await findProducts(tx, seller.no, { ids });
  const changes = products.map((before) => rowChange({ before, after: null }));
  await linkImages(tx, seller.no, changes, new Map());
  await writeProducts(tx, seller, changes, null);
  return changes.length;
}

/**
 * Deletes some of the seller's uploads with their results, undo records, keys,
 * refused products and images; returns how many rows.
 */
export async function removeUploads(
  tx: Tx,
  { no: sellerNo }: SellerKeys,
): Promise<number> {
  const keys = await tx.all<{ id: string }>(
    `SELECT id FROM transactions WHERE seller_no = ? ${LIMIT}`,
    [sellerNo, TRANSACTIONS],
  );
  if (keys.length === 0) return 0;
  return await deleteTransactions(tx, sellerNo, keys.map(({ id }) => id));
}
