/** Which copies are stored, and which of them are still needed. */
import type { StoredFile } from "../image.ts";
import { touchProductsOf } from "../../catalogue/change_feed.ts";
import { ASKED, type AskedImage, askFor, isSettled } from "./askers.ts";
import {
  inLists,
  marks,
  type Param,
  type Sql,
  type Tx,
} from "../../database/db.ts";
import { byUrl } from "../requests.ts";
import { refundCopies } from "./quota.ts";

/** A stored copy, independent of its URLs. */
export interface StoredCopy extends StoredFile {
  bytes: number;
}

/** Whether a product or an upload needs a row of `images`. */
export const NEEDED = `(
  images.state = 'pending'
  OR EXISTS (SELECT 1 FROM product_images p WHERE p.image_id = images.id)
  OR EXISTS (SELECT 1 FROM transaction_images t
             WHERE t.image_id = images.id AND t.status = 'pending'))`;

/**
 * The copies whose SHA-256 starts with `prefix` (two hexadecimal digits), each
 * once, by SHA-256.
 */
export async function copiesUnder(
  sql: Sql,
  prefix: string,
): Promise<StoredCopy[]> {
  return await copiesWhere(sql, prefix, "sha256 IS NOT NULL");
}

/**
 * The copies of the next `limit` rows after a SHA-256, in order; several rows
 * may have the same copy.
 */
export async function copiesAfter(
  sql: Sql,
  sha256: string,
  limit: number,
): Promise<StoredCopy[]> {
  return await sql.all<StoredCopy>(
    `SELECT sha256, type, bytes FROM images WHERE sha256 > ?
     ORDER BY sha256 LIMIT ${limit}`,
    [sha256],
  );
}

/** Whether any copy is stored. */
export async function hasCopies(sql: Sql): Promise<boolean> {
  return (await copiesAfter(sql, "", 1)).length > 0;
}

/**
 * Those of `copiesUnder` that a product shows, that an unfinished upload may
 * show, or that `markUnneeded` found unneeded later than `since` (Unix
 * milliseconds), if at all.
 */
export async function neededCopiesUnder(
  sql: Sql,
  prefix: string,
  since = Infinity,
): Promise<StoredCopy[]> {
  if (since === Infinity) {
    return await copiesWhere(sql, prefix, `sha256 IS NOT NULL AND ${NEEDED}`);
  }
  return await copiesWhere(
    sql,
    prefix,
    `sha256 IS NOT NULL AND (${NEEDED} OR unneeded_since IS NULL
       OR unneeded_since > ?)`,
    [since],
  );
}

/** Whether there may be copies that are not among `neededCopiesUnder`. */
export async function hasUnneeded(
  sql: Sql,
  prefix: string,
  since: number,
): Promise<boolean> {
  const row = await sql.get(
    `SELECT 1 FROM images WHERE ${UNDER} AND unneeded_since <= ? LIMIT 1`,
    [...under(prefix), since],
  );
  return row !== undefined;
}

const UNDER = "sha256 >= ? AND sha256 < ?";

/** Parameters of `UNDER`; "g" sorts after every hexadecimal digit. */
function under(prefix: string): Param[] {
  return [prefix, `${prefix}g`];
}

async function copiesWhere(
  sql: Sql,
  prefix: string,
  condition: string,
  params: readonly Param[] = [],
): Promise<StoredCopy[]> {
  return await sql.all<StoredCopy>(
    `SELECT DISTINCT sha256, type, bytes FROM images
     WHERE ${condition} AND ${UNDER}
     ORDER BY sha256`,
    [...params, ...under(prefix)],
  );
}

/** The asker when the service itself needs an image; no seller's id. */
const OURSELVES = "service";

const NO_COPY = `sha256 = NULL, type = NULL, bytes = NULL, width = NULL,
  height = NULL, validator = NULL, stored_at = NULL`;

/**
 * Marks those of these copies that nothing needs as pruned. The rows stay for
 * the transactions that refer to them; a new request for such a URL fetches it
 * again.
 */
export async function forgetUnneeded(
  tx: Tx,
  sha256s: readonly string[],
): Promise<void> {
  for (const list of inLists(sha256s)) {
    // An UPDATE, so that no upload can request one of them before the commit.
    const images = await tx.all<{ id: string; sha256: string }>(
      `UPDATE images SET state = state WHERE sha256 IN (${marks(list.length)})
       RETURNING id, sha256`,
      list,
    );
    const needed = await tx.all<{ sha256: string }>(
      `SELECT DISTINCT sha256 FROM images
       WHERE sha256 IN (${marks(list.length)}) AND ${NEEDED} ORDER BY sha256`,
      list,
    );
    const kept = new Set(needed.map(({ sha256 }) => sha256));
    const unneeded = images.filter(({ sha256 }) => !kept.has(sha256))
      .map(({ id }) => id);
    await forgetCopies(tx, unneeded);
  }
}

/** Gives up the copies of these images, whose rows are locked. */
export async function forgetCopies(
  tx: Tx,
  imageIds: readonly string[],
): Promise<void> {
  await refundCopies(tx, imageIds);
  await tx.runMany(
    `UPDATE images SET state = 'pruned', payer_id = NULL, ${NO_COPY}
     WHERE id = ?`,
    imageIds.map((id) => [id]),
  );
}

/** How many rows of `images` one step of `markUnneeded` reads. */
const MARK_ROWS = 250;

interface MarkedImage {
  id: string;
  url: string;
  unneeded_since: number | null;
  needed: number;
  /** Nothing refers to the row, and it has no copy. */
  loose: number;
}

/**
 * Records for the next images after the id `after` since when nothing needs
 * them: `now`, if that is new. Deletes rows without a copy that nothing has
 * needed since `since` and that no upload refers to. Returns the id of the last
 * image read, null at the end, and how many rows were deleted. Times in Unix
 * milliseconds.
 */
export async function markUnneeded(
  tx: Tx,
  after: string,
  { now, since }: { now: number; since: number },
): Promise<{ last: string | null; deleted: number }> {
  const images = await tx.all<MarkedImage>(
    `SELECT id, url, unneeded_since,
       CASE WHEN ${NEEDED} THEN 1 ELSE 0 END AS needed,
       CASE WHEN sha256 IS NULL AND NOT EXISTS (
              SELECT 1 FROM transaction_images t WHERE t.image_id = images.id)
         THEN 1 ELSE 0 END AS loose
     FROM images WHERE id > ? ORDER BY id LIMIT ${MARK_ROWS}`,
    [after],
  );
  images.sort(byUrl);
  const isOld = (image: MarkedImage) =>
    image.loose === 1 && image.needed === 0 &&
    (image.unneeded_since ?? now) <= since;
  // Those of a removed seller are marked with 0 until they are looked at.
  const changed = images.filter(({ unneeded_since, needed }) =>
    unneeded_since !== 0 && (unneeded_since === null) === (needed === 0)
  );
  await tx.runMany(
    "UPDATE images SET unneeded_since = ? WHERE id = ?",
    changed.map(({ id, needed }) => [needed === 1 ? null : now, id]),
  );
  const old = images.filter(isOld);
  // A request made meanwhile turns one pending.
  await tx.runMany(
    `DELETE FROM images WHERE id = ? AND state <> 'pending'
       AND sha256 IS NULL`,
    old.map(({ id }) => [id]),
  );
  const last = images.length < MARK_ROWS
    ? null
    : images.reduce((last, { id }) => id > last ? id : last, after);
  return { last, deleted: old.length };
}

/**
 * Forgets copies whose file is missing or damaged, and fetches their URLs
 * again. Returns how many URLs.
 */
export async function refetchCopies(
  tx: Tx,
  sha256s: readonly string[],
  at: number,
): Promise<number> {
  let urls = 0;
  for (const list of inLists(sha256s)) {
    const gone = `sha256 IN (${marks(list.length)})`;
    const images = await tx.all<AskedImage>(
      `SELECT ${ASKED} FROM images WHERE ${gone} ORDER BY url /* FOR UPDATE */`,
      list,
    );
    const settled = images.filter(isSettled);
    const asks = settled.map((image) => ({ image, sellerId: OURSELVES }));
    await askFor(tx, asks, at);
    urls += settled.length;
    // The seller that pays for a copy pays for the next one.
    await refundCopies(tx, images.map(({ id }) => id));
    await tx.run(
      `UPDATE images SET ${NO_COPY} WHERE ${gone}`,
      list,
    );
    await touchProductsOf(tx, images.map(({ id }) => id));
  }
  return urls;
}
