/**
 * Which products show which images, and the order in which products changed. A
 * write that changes what others see of a product also gives the product the
 * next change number; a write that changes an image gives one to each product
 * that shows the image. A reader reads up to a horizon: no change appears below
 * it later (`changedProducts`). `database/change_numbers.ts` says how each
 * engine assigns numbers.
 */
import { untilNoneInAnySection } from "../jobs/periodic_jobs.ts";
import type { Services } from "../services.ts";
import { isUploaded, urlKey } from "./image.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import {
  inReach,
  insertInto,
  LIMIT,
  type Param,
  placeholders,
  query,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";

/** How many products one write numbers because of their images. */
const TOUCH_LIMIT = 1_000;

const SHOWS = ["seller_no", "image_id", "product_id"];
const LINK = insertInto(
  "product_images",
  SHOWS,
  "ON CONFLICT (seller_no, image_id, product_id) DO NOTHING",
);

/** The images that a product shows. */
interface Showing {
  id: string;
  images: readonly { url: string }[];
}

/**
 * Records which images these products of a seller show now. `images` has every
 * URL that is new to one of them.
 */
export async function linkImages(
  tx: Tx,
  sellerNo: number,
  products: readonly { before: Showing | null; after: Showing | null }[],
  images: ReadonlyMap<string, { id: string }>,
): Promise<void> {
  const added: Param[][] = [];
  const removed: Param[][] = [];
  const uploaded: Param[][] = [];
  for (const { before, after } of products) {
    if (before?.images === after?.images) continue;
    const former = new Set(before?.images.map(({ url }) => url));
    for (const { url } of after?.images ?? []) {
      if (former.delete(url)) continue;
      const { id } = images.get(url)!;
      added.push([sellerNo, id, after!.id]);
      if (isUploaded(url)) uploaded.push([sellerNo, id]);
    }
    for (const url of former) {
      removed.push([sellerNo, before!.id, sellerNo, urlKey(url)]);
    }
  }
  await tx.runMany(
    `DELETE FROM product_images
     WHERE seller_no = ? AND product_id = ? AND image_id =
       (SELECT id FROM images WHERE seller_no = ? AND url_key = ?)`,
    removed,
    "any",
  );
  await tx.runMany(
    LINK,
    added,
    "any",
  );
  await tx.runMany(
    `UPDATE images SET state = 'stored'
     WHERE seller_no = ? AND id = ? AND state = 'uploaded'`,
    uploaded,
    "any",
  );
}

/**
 * Gives the products of a seller that show one of these images the next number.
 * The images are locked, so no write that shows one of them is in progress. If
 * there are very many products, `touchProductsForLater` handles the rest later,
 * so that one write does not block all others.
 */
export async function touchProductsOf(
  tx: Tx,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<void> {
  if (imageIds.length === 0) return;
  const { number } = await tx.takeChanges(1, sellerNo);
  let room = TOUCH_LIMIT;
  for (const list of splitIntoLists(imageIds)) {
    const products = await tx.all<{ id: string }>(
      `SELECT DISTINCT product_id AS id FROM product_images
       WHERE seller_no = ? AND image_id IN (${
        placeholders(list.length)
      }) ${LIMIT}`,
      [sellerNo, ...list, room + 1],
    );
    if (products.length > room) {
      await leaveProductsForLater(tx, sellerNo, list);
      continue;
    }
    room -= products.length;
    await setChange(tx, sellerNo, number, products);
  }
}

/** Locks products of a seller, and gives them a number. */
export async function setChange(
  tx: Tx,
  sellerNo: number,
  change: number,
  products: readonly { id: string }[],
): Promise<void> {
  const ids = products.map(({ id }) => id);
  for (const list of splitIntoLists(ids)) {
    const lock = `SELECT 1 FROM products
      WHERE seller_no = ? AND id IN (${placeholders(list.length)})
      ORDER BY sku FOR UPDATE`;
    await tx.runMany(
      { sqlite: "", postgres: lock },
      [[sellerNo, ...list]],
      "any",
    );
  }
  await tx.runMany(
    "UPDATE products SET change_no = ? WHERE seller_no = ? AND id = ?",
    ids.map((id) => [change, sellerNo, id]),
    "any",
  );
}

function leaveProductsForLater(
  tx: Tx,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<void> {
  return tx.runMany(
    insertInto(
      "changed_images",
      SHOWS,
      `ON CONFLICT (seller_no, image_id)
       DO UPDATE SET product_id = excluded.product_id`,
    ),
    Array.from(new Set(imageIds), (id) => [sellerNo, id, BEFORE_ALL_IDS]),
    1,
  );
}

/** Whether `touchProductsForLater` has work to do. */
async function hasProductsForLater(sql: Sql): Promise<boolean> {
  const row = await sql.get(
    `SELECT 1 FROM changed_images WHERE seller_no > 0 ${inReach()} LIMIT 1`,
  );
  return row !== undefined;
}

/**
 * Handles some of the products that `touchProductsOf` left. Returns how many
 * products got a number, or 1 if another process has handled them.
 */
export async function touchProductsForLater(tx: Tx): Promise<number> {
  const first = await tx.get<{ no: number; image: string }>(
    `SELECT seller_no AS no, image_id AS image FROM changed_images
     WHERE seller_no > 0 ${inReach()} ORDER BY seller_no, image_id LIMIT 1`,
  );
  if (first === undefined) return 0;
  const { no, image } = first;
  const rest = await tx.get<{ product: string }>(
    query(({ lock }) =>
      `SELECT product_id AS product FROM changed_images
       WHERE seller_no = ? AND image_id = ? ${lock("FOR UPDATE")}`
    ),
    [no, image],
  );
  // Another process has finished it.
  if (rest === undefined) return 1;
  const { product } = rest;
  const { number } = await tx.takeChanges(1, no);
  const products = await tx.all<{ id: string }>(
    `SELECT product_id AS id FROM product_images
     WHERE seller_no = ? AND image_id = ? AND product_id > ?
     ORDER BY product_id ${LIMIT}`,
    [no, image, product, TOUCH_LIMIT],
  );
  await setChange(tx, no, number, products);
  if (products.length < TOUCH_LIMIT) {
    await tx.runMany(
      "DELETE FROM changed_images WHERE seller_no = ? AND image_id = ?",
      [[no, image]],
      1,
    );
  } else {
    await tx.runMany(
      `UPDATE changed_images SET product_id = ?
       WHERE seller_no = ? AND image_id = ?`,
      [[products[products.length - 1].id, no, image]],
      1,
    );
  }
  return products.length;
}

/**
 * A job of `administration/maintenance.ts`: numbers the products that a change
 * of their images has left for later.
 */
export async function* finishImageChanges(
  { db }: Pick<Services, "db">,
): AsyncGenerator<number, void> {
  if (!await db.read(hasProductsForLater, { single: true })) return;
  yield* untilNoneInAnySection(db, touchProductsForLater);
}
