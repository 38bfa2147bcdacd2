/**
 * Finds stored copies of images, and deletes copies that are no longer needed.
 */
import type { StoredFile } from "../image.ts";
import { touchProductsOf } from "../shown_images.ts";
import {
  EVERY_SELLER,
  inReach,
  type Param,
  placeholders,
  query,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../../database/db.ts";
import { groupBySeller } from "../../jobs/lease_queue.ts";
import {
  enqueue,
  isFinished,
  LOCKED_IMAGE_COLUMNS,
  type LockedImage,
} from "../requests.ts";
import { refundCopies } from "./quota.ts";

/** A stored copy, independent of its URLs. */
export interface StoredCopy extends StoredFile {
  bytes: number;
}

/** The condition that another table has rows for a row of `images`. */
const existsIn = (table: string, more = "") =>
  `EXISTS (SELECT 1 FROM ${table} o
   WHERE o.seller_no = images.seller_no AND o.image_id = images.id${more})`;

/**
 * The condition that a product or an upload needs a row of `images`, or that
 * the row is an uploaded image which a product may still name.
 */
const NEEDED = `(images.state IN ('pending', 'arriving', 'uploaded')
  OR ${existsIn("product_images")}
  OR ${existsIn("transaction_images", " AND o.status = 'pending'")})`;

const NAMED = existsIn("transaction_images");

/**
 * The copies whose SHA-256 starts with `prefix` (two hexadecimal digits), each
 * once, in the order of their SHA-256.
 */
export async function copiesUnder(
  sql: Sql,
  prefix: string,
): Promise<StoredCopy[]> {
  return await copiesWhere(sql, prefix, "sha256 IS NOT NULL");
}

/** Like `copiesUnder`, without copies whose file may not be stored yet. */
export async function storedCopiesUnder(
  sql: Sql,
  prefix: string,
): Promise<StoredCopy[]> {
  return await copiesWhere(
    sql,
    prefix,
    `sha256 IS NOT NULL AND ${HAS_FILE}`,
  );
}

const HAS_FILE = "state <> 'arriving'";

/**
 * The copies of the next `limit` rows after a SHA-256, in order; several rows
 * may have the same copy. Leaves out copies whose file may not be stored yet.
 */
export async function copiesAfter(
  sql: Sql,
  sha256: string,
  limit: number,
): Promise<StoredCopy[]> {
  return await sql.all<StoredCopy>(
    `SELECT sha256, type, bytes FROM images
     WHERE sha256 > ? AND ${HAS_FILE} ${EVERY_SELLER}
     ORDER BY sha256 LIMIT ${limit}`,
    [sha256],
  );
}

/** Whether any copy is stored. */
export async function hasCopies(sql: Sql): Promise<boolean> {
  return (await copiesAfter(sql, "", 1)).length > 0;
}

/** The copies of `copiesUnder` that something needs; see `NEEDED`. */
export async function neededCopiesUnder(
  sql: Sql,
  prefix: string,
): Promise<StoredCopy[]> {
  return await copiesWhere(sql, prefix, `sha256 IS NOT NULL AND ${NEEDED}`);
}

const UNDER = "sha256 >= ? AND sha256 < ?";

/** Parameters of `UNDER`; "g" sorts after every hexadecimal digit. */
function prefixRange(prefix: string): Param[] {
  return [prefix, `${prefix}g`];
}

async function copiesWhere(
  sql: Sql,
  prefix: string,
  condition: string,
): Promise<StoredCopy[]> {
  return await sql.all<StoredCopy>(
    `SELECT DISTINCT sha256, type, bytes FROM images
     WHERE ${condition} AND ${UNDER} ${EVERY_SELLER}
     ORDER BY sha256`,
    prefixRange(prefix),
  );
}

const NO_COPY = `sha256 = NULL, type = NULL, bytes = NULL, width = NULL,
  height = NULL, validator = NULL, stored_at = NULL`;

/** How many rows of `images` one step of `forgetUnneeded` reads. */
const STEP_ROWS = 250;

/** The key of an image. */
export interface ImageKey {
  sellerNo: number;
  id: string;
}

interface ExaminedImage extends ImageKey {
  url_key: string;
  unneeded_since: number | null;
  needed: number;
  /**
   * Whether there is something to delete: a copy, or a row that no upload uses.
   */
  isDeletable: number;
}

/**
 * Processes the next images after `after`: records `now` for images that have
 * just become unneeded. Deletes the copies of images that nothing has needed
 * since `since`, and their rows if no upload uses them. Returns the last image
 * read (null at the end), and for how many images something was deleted. Times
 * in Unix milliseconds.
 */
export async function forgetUnneeded(
  tx: Tx,
  after: ImageKey,
  { now, since }: { now: number; since: number },
): Promise<{ last: ImageKey | null; forgotten: number }> {
  const images = await tx.all<ExaminedImage>(
    `SELECT seller_no AS "sellerNo", id, url_key, unneeded_since,
       CASE WHEN ${NEEDED} THEN 1 ELSE 0 END AS needed,
       CASE WHEN sha256 IS NOT NULL OR NOT ${NAMED}
         THEN 1 ELSE 0 END AS "isDeletable"
     FROM images WHERE (seller_no, id) > (?, ?) ${inReach()}
     ORDER BY seller_no, id LIMIT ${STEP_ROWS}`,
    [after.sellerNo, after.id],
  );
  const last = images.length < STEP_ROWS ? null : images[STEP_ROWS - 1];
  // All writes lock the images of a seller in this order.
  images.sort((a, b) =>
    a.sellerNo - b.sellerNo || (a.url_key < b.url_key ? -1 : 1)
  );
  await tx.runMany(
    "UPDATE images SET unneeded_since = ? WHERE seller_no = ? AND id = ?",
    images
      .filter(({ unneeded_since, needed }) =>
        (unneeded_since === null) === (needed === 0)
      )
      .map(({ sellerNo, id, needed }) => [
        needed === 1 ? null : now,
        sellerNo,
        id,
      ]),
    1,
  );
  const old = images.filter((image) =>
    image.needed === 0 && image.isDeletable === 1 &&
    (image.unneeded_since ?? now) <= since
  );
  for (const [sellerNo, rows] of groupBySeller(old)) {
    await deleteUnneeded(tx, sellerNo, rows.map(({ id }) => id));
  }
  return { last, forgotten: old.length };
}

/**
 * Deletes the copies and rows of the images in this list that nothing needs
 * now.
 */
async function deleteUnneeded(
  tx: Tx,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<void> {
  // The images are locked first, so that no upload can request one of them
  // before the commit.
  await tx.runMany(
    "UPDATE images SET state = state WHERE seller_no = ? AND id = ?",
    imageIds.map((id) => [sellerNo, id]),
    1,
  );
  for (const list of splitIntoLists(imageIds)) {
    const images = await tx.all<{ id: string; named: number }>(
      `SELECT id, CASE WHEN ${NAMED} THEN 1 ELSE 0 END AS named FROM images
       WHERE seller_no = ? AND id IN (${placeholders(list.length)})
         AND NOT ${NEEDED}`,
      [sellerNo, ...list],
    );
    await refundCopies(tx, sellerNo, images.map(({ id }) => id));
    const keys = (wanted: number) =>
      images.filter(({ named }) => named === wanted)
        .map(({ id }) => [sellerNo, id]);
    await tx.runMany(
      `UPDATE images SET state = 'pruned', ${NO_COPY}
       WHERE seller_no = ? AND id = ?`,
      keys(1),
      1,
    );
    await tx.runMany(
      "DELETE FROM images WHERE seller_no = ? AND id = ?",
      keys(0),
      1,
    );
  }
}

/** Times in Unix milliseconds. */
export interface UnnamedTimes {
  /**
   * Uploaded images that were stored by this time and are not named are
   * deleted.
   */
  uploadedBy: number;
  /** The same for images whose file did not arrive. */
  arrivingBy: number;
}

const UNNAMED = `stored_at IS NOT NULL AND state IN ('arriving', 'uploaded')
  AND (state = 'uploaded' AND stored_at <= ?
    OR state = 'arriving' AND stored_at <= ?)`;

/** Whether `forgetUnnamed` has work to do. */
export async function hasUnnamed(
  sql: Sql,
  { uploadedBy, arrivingBy }: UnnamedTimes,
): Promise<boolean> {
  const row = await sql.get(
    `SELECT 1 FROM images WHERE ${UNNAMED} ${inReach()} LIMIT 1`,
    [uploadedBy, arrivingBy],
  );
  return row !== undefined;
}

/**
 * Deletes some rows of uploaded images that no product has named; returns how
 * many it has found.
 */
export async function forgetUnnamed(
  tx: Tx,
  { uploadedBy, arrivingBy }: UnnamedTimes,
): Promise<number> {
  const times = [uploadedBy, arrivingBy];
  const images = await tx.all<{ sellerNo: number; id: string }>(
    `SELECT seller_no AS "sellerNo", id FROM images
     WHERE ${UNNAMED} ${inReach()}
     ORDER BY seller_no, url_key LIMIT ${STEP_ROWS}`,
    times,
  );
  for (const [sellerNo, rows] of groupBySeller(images)) {
    // The images are locked first, because a product may name one of them.
    await tx.runMany(
      "UPDATE images SET state = state WHERE seller_no = ? AND id = ?",
      rows.map(({ id }) => [sellerNo, id]),
      "any",
    );
    const unnamed: string[] = [];
    for (const list of splitIntoLists(rows.map(({ id }) => id))) {
      const found = await tx.all<{ id: string }>(
        `SELECT id FROM images WHERE seller_no = ?
           AND id IN (${placeholders(list.length)}) AND ${UNNAMED}`,
        [sellerNo, ...list, ...times],
      );
      for (const { id } of found) unnamed.push(id);
    }
    await refundCopies(tx, sellerNo, unnamed);
    await tx.runMany(
      "DELETE FROM images WHERE seller_no = ? AND id = ?",
      unnamed.map((id) => [sellerNo, id]),
      1,
    );
  }
  return images.length;
}

/**
 * Records that copies have no file, because the file is missing or damaged, and
 * fetches their URLs again. Returns the number of URLs.
 */
export async function refetchCopies(
  tx: Tx,
  sha256s: readonly string[],
  at: number,
): Promise<number> {
  let urls = 0;
  for (const list of splitIntoLists(sha256s)) {
    const gone = `sha256 IN (${placeholders(list.length)}) AND ${HAS_FILE}`;
    const sellers = await tx.all<{ sellerNo: number }>(
      `SELECT DISTINCT seller_no AS "sellerNo" FROM images
       WHERE sha256 IS NOT NULL AND ${gone} ${inReach()} ORDER BY 1`,
      list,
    );
    for (const { sellerNo } of sellers) {
      const images = await tx.all<LockedImage>(
        query(({ lock }) =>
          `SELECT ${LOCKED_IMAGE_COLUMNS} FROM images
           WHERE sha256 IS NOT NULL AND ${gone} AND seller_no = ?
           ORDER BY url_key || '' ${lock("FOR UPDATE")}`
        ),
        [...list, sellerNo],
      );
      const ids = images.map(({ id }) => id);
      const finished = images.filter(isFinished);
      await enqueue(tx, sellerNo, finished, at);
      urls += finished.length;
      await refundCopies(tx, sellerNo, ids);
      await tx.runMany(
        `UPDATE images SET ${NO_COPY} WHERE seller_no = ? AND id = ?`,
        ids.map((id) => [sellerNo, id]),
        1,
      );
      await touchProductsOf(tx, sellerNo, ids);
    }
  }
  return urls;
}
