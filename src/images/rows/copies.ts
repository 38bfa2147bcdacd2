/** Which stored copies there are, and which of them are still of use. */
import type { ImageType, StoredFile } from "../image.ts";
import { touchProductsOf } from "../../catalogue/change_feed.ts";
import { ASKED, type AskedImage, askFor, isSettled } from "./askers.ts";
import { inLists, marks, type Sql, type Tx } from "../../database/db.ts";
import { refundCopies } from "./quota.ts";

/** A stored copy, whichever URLs it came from. */
export interface StoredCopy extends StoredFile {
  bytes: number;
}

/** Whether a row of `images` is of use to a product or an upload. */
const NEEDED = `(
  images.state NOT IN ('stored', 'failed')
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
 * Those of `copiesUnder` that a product shows, or that an upload which is not
 * final may show yet.
 */
export async function neededCopiesUnder(
  sql: Sql,
  prefix: string,
): Promise<StoredCopy[]> {
  return await copiesWhere(sql, prefix, `sha256 IS NOT NULL AND ${NEEDED}`);
}

async function copiesWhere(
  sql: Sql,
  prefix: string,
  condition: string,
): Promise<StoredCopy[]> {
  return await sql.all<{ sha256: string; type: ImageType; bytes: number }>(
    `SELECT DISTINCT sha256, type, bytes FROM images
     WHERE ${condition} AND sha256 >= ? AND sha256 < ?
     ORDER BY sha256`,
    // "g" comes after every hexadecimal digit.
    [prefix, `${prefix}g`],
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
