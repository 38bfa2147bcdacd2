/** Deletes the products of a removed seller; tombstones stay. */
import { LIMIT, type Tx } from "../database/db.ts";
import { linkImages } from "../images/shown_images.ts";
import {
  findProducts,
  rowChange,
  type SellerKeys,
  writeProducts,
} from "./product_rows.ts";

/** The most rows that one write deletes. */
const PRODUCTS = 100;

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
