/** Which stored copies there are, and which of them are still of use. */
import type { ImageType, StoredFile } from "../image.ts";
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

/** A stored copy, whichever URLs it came from. */
export interface StoredCopy extends StoredFile {
  bytes: number;
}

/** Whether a row of `images` is of use to a product or an upload. */
const NEEDED = `(
  images.state = 'pending'
  OR EXISTS (SELECT 1 FROM product_images p WHERE p.image_id = images.id)
  OR EXISTS (SELECT 1 FROM transaction_images t
             WHERE t.image_id = images.id AND t.status = 'pending'))`;

/**
 * The copies whose SHA-256 begins with `prefix` (two hexadecimal digits), each
 * once, by SHA-256.
 */
export async function copiesUnder(
  sql: Sql,
  prefix: string,
): Promise<StoredCopy[]> {
  return await copiesWhere(sql, prefix, "sha256 IS NOT NULL");
}

/**
 * Those of `copiesUnder` that a product shows, that an upload which is not final
 * may show yet, or that `markUnneeded` found unneeded later than `since` (Unix
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

/** What `UNDER` compares with; "g" comes after every hexadecimal digit. */
function under(prefix: string): Param[] {
  return [prefix, `${prefix}g`];
}

async function copiesWhere(
  sql: Sql,
  prefix: string,
  condition: string,
  params: readonly Param[] = [],
): Promise<StoredCopy[]> {
  return await sql.all<{ sha256: string; type: ImageType; bytes: number }>(
    `SELECT DISTINCT sha256, type, bytes FROM images
     WHERE ${condition} AND ${UNDER}
     ORDER BY sha256`,
    [...params, ...under(prefix)],
  );
}

/** Whose turn it is when the service itself wants an image; no seller's id. */
const OURSELVES = "service";

const NO_COPY = `sha256 = NULL, type = NULL, bytes = NULL, width = NULL,
  height = NULL, validator = NULL, stored_at = NULL`;

/**
 * Gives up those of these copies that nothing needs any more. The rows stay,
 * for the transactions that tell of them; whoever asks for such a URL again has
 * it fetched anew.
 */
export async function forgetUnneeded(
  tx: Tx,
  sha256s: readonly string[],
): Promise<void> {
  for (const list of inLists(sha256s)) {
    // An UPDATE, so that no upload can take one of them between this look and
    // the commit.
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
    await refundCopies(tx, unneeded);
    await tx.runMany(
      `UPDATE images SET state = 'pruned', payer_id = NULL, ${NO_COPY}
       WHERE id = ?`,
      unneeded.map((id) => [id]),
    );
  }
}

/** Rows of `images` that one step of `markUnneeded` looks at. */
const MARK_ROWS = 250;

interface MarkedImage {
  id: string;
  url: string;
  unneeded_since: number | null;
  needed: number;
  /** Nothing names the row, and it has no copy. */
  loose: number;
}

/**
 * Notes of the next images behind the id `after` since when nothing needs them:
 * `now`, if that is new. Rows without a copy that nothing has needed since
 * `since`, and that no upload names any more, are deleted. Answers the id of the
 * last image looked at, null at the end, and how many rows were deleted. Times
 * in Unix milliseconds.
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
    image.unneeded_since !== null && image.unneeded_since <= since;
  const changed = images.filter(({ unneeded_since, needed }) =>
    (unneeded_since === null) === (needed === 0)
  );
  await tx.runMany(
    "UPDATE images SET unneeded_since = ? WHERE id = ?",
    changed.map(({ id, needed }) => [needed === 1 ? null : now, id]),
  );
  const old = images.filter(isOld);
  // Whoever asks for one meanwhile makes it pending.
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
 * Forgets copies whose file is gone or damaged, and has their URLs fetched
 * again. Answers how many URLs that are.
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
    // Who pays for a copy pays for the next one.
    await refundCopies(tx, images.map(({ id }) => id));
    await tx.run(
      `UPDATE images SET ${NO_COPY} WHERE ${gone}`,
      list,
    );
    await touchProductsOf(tx, images.map(({ id }) => id));
  }
  return urls;
}
