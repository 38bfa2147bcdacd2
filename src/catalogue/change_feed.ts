/**
 * The order of change of the catalogue. Every write that changes what a product
 * shows gives it the next number, in the same write. A reader reads up to a
 * horizon, below which no change appears later (`changedProducts`);
 * `database/change_numbers.ts` says how each engine assigns numbers.
 */
import type { ProductChange } from "./product.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import {
  type Change,
  inLists,
  marks,
  type Param,
  type Tx,
} from "../database/db.ts";

/** Products that one write gives a number to because of their images. */
const TOUCH_LIMIT = 1_000;

/** The next change; one for all writes that become visible together. */
export function takeChange(tx: Tx): Promise<Change> {
  return tx.once("change", () => tx.takeChanges(1));
}

/**
 * Records which images these products show now. `imageIds` has the id of every
 * URL that is new to one of them.
 */
export async function linkImages(
  tx: Tx,
  sellerNo: number,
  products: readonly ProductChange[],
  imageIds: ReadonlyMap<string, string>,
): Promise<void> {
  const added: Param[][] = [];
  const removed: Param[][] = [];
  for (const { before, after } of products) {
    if (before?.images === after?.images) continue;
    const former = new Set(before?.images.map(({ url }) => url));
    for (const { url } of after?.images ?? []) {
      if (former.delete(url)) continue;
      added.push([imageIds.get(url)!, sellerNo, after!.id]);
    }
    for (const url of former) removed.push([sellerNo, before!.id, url]);
  }
  await tx.runMany(
    `DELETE FROM product_images WHERE seller_no = ? AND product_id = ?
       AND image_id = (SELECT id FROM images WHERE url = ?)`,
    removed,
  );
  await tx.runMany(
    `INSERT INTO product_images (image_id, seller_no, product_id)
     VALUES (?, ?, ?) ON CONFLICT (image_id, seller_no, product_id) DO NOTHING`,
    added,
  );
}

/** A product that shows an image. */
interface Link {
  seller_no: number;
  product_id: string;
}

/**
 * Gives the products that show one of these images the next number. The images
 * are locked, so no write that shows one of them is in progress. If there are
 * very many products, `touchRest` does the others later, so that one write does
 * not block all others.
 */
export async function touchProductsOf(
  tx: Tx,
  imageIds: readonly string[],
): Promise<void> {
  if (imageIds.length === 0) return;
  const { number } = await takeChange(tx);
  let room = TOUCH_LIMIT;
  for (const list of inLists(imageIds)) {
    const links = await tx.all<Link>(
      `SELECT DISTINCT seller_no, product_id FROM product_images
       WHERE image_id IN (${marks(list.length)}) LIMIT ?`,
      [...list, room + 1],
    );
    if (links.length > room) {
      await leaveRest(tx, list);
      continue;
    }
    room -= links.length;
    await setChange(tx, number, links);
  }
}

async function setChange(
  tx: Tx,
  change: number,
  products: readonly Link[],
): Promise<void> {
  for (const list of inLists(products)) {
    await tx.lock(
      `SELECT 1 FROM products
       WHERE (seller_no, id) IN (${list.map(() => "(?, ?)").join(", ")})
       ORDER BY seller_no, sku FOR UPDATE`,
      list.flatMap(({ seller_no, product_id }) => [seller_no, product_id]),
    );
  }
  await tx.runMany(
    "UPDATE products SET change_no = ? WHERE seller_no = ? AND id = ?",
    products.map(({ seller_no, product_id }) => [
      change,
      seller_no,
      product_id,
    ]),
  );
}

function leaveRest(tx: Tx, imageIds: readonly string[]): Promise<void> {
  return tx.runMany(
    `INSERT INTO changed_images (image_id, seller_no, product_id)
     VALUES (?, 0, ?) ON CONFLICT (image_id) DO UPDATE SET
       seller_no = excluded.seller_no, product_id = excluded.product_id`,
    Array.from(new Set(imageIds), (id) => [id, BEFORE_ALL_IDS]),
  );
}

/** Whether `touchRest` has something to do. */
export const REST = "SELECT 1 FROM changed_images LIMIT 1";

/**
 * Handles some of the products that `touchProductsOf` left. Returns how many
 * products got a number.
 */
export async function touchRest(tx: Tx): Promise<number> {
  const { number } = await takeChange(tx);
  const rest = await tx.get<Link & { image_id: string }>(
    `SELECT image_id, seller_no, product_id FROM changed_images
     ORDER BY image_id LIMIT 1 /* FOR UPDATE */`,
  );
  if (rest === undefined) return 0;
  const links = await tx.all<Link>(
    `SELECT seller_no, product_id FROM product_images
     WHERE image_id = ? AND (seller_no, product_id) > (?, ?)
     ORDER BY seller_no, product_id LIMIT ?`,
    [rest.image_id, rest.seller_no, rest.product_id, TOUCH_LIMIT],
  );
  await setChange(tx, number, links);
  if (links.length < TOUCH_LIMIT) {
    await tx.exec("DELETE FROM changed_images WHERE image_id = ?", [
      rest.image_id,
    ]);
  } else {
    const { seller_no, product_id } = links[links.length - 1];
    await tx.exec(
      `UPDATE changed_images SET seller_no = ?, product_id = ?
       WHERE image_id = ?`,
      [seller_no, product_id, rest.image_id],
    );
  }
  return links.length;
}
