/** Which stored copies there are, and which of them are still of use. */
import type { ImageType, StoredFile } from "../domain/image.ts";
import { touchProductsOf } from "./changes.ts";
import { inLists, marks, type Sql, type Tx } from "./db.ts";

/** A stored copy, whichever URLs it came from. */
export interface StoredCopy extends StoredFile {
  bytes: number;
}

/**
 * The copies whose SHA-256 begins with `prefix` (two hexadecimal digits), each
 * once, by SHA-256.
 */
export async function copiesUnder(
  sql: Sql,
  prefix: string,
): Promise<StoredCopy[]> {
  return await sql.all<{ sha256: string; type: ImageType; bytes: number }>(
    `SELECT DISTINCT sha256, type, bytes FROM images
     WHERE sha256 IS NOT NULL AND sha256 >= ? AND sha256 < ?
     ORDER BY sha256`,
    // "g" comes after every hexadecimal digit.
    [prefix, `${prefix}g`],
  );
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
    const images = await tx.all<{ id: string }>(
      `SELECT id FROM images WHERE ${gone} ORDER BY id`,
      list,
    );
    await touchProductsOf(tx, images.map(({ id }) => id));
    urls += await tx.run(
      `UPDATE images SET state = 'pending', due_at = ?, attempts = 0,
         crashes = 0, code = NULL, message = NULL
       WHERE ${gone} AND state IN ('stored', 'failed')`,
      [at, ...list],
    );
    await tx.run(
      `UPDATE images SET sha256 = NULL, type = NULL, bytes = NULL,
         width = NULL, height = NULL, validator = NULL, stored_at = NULL
       WHERE ${gone}`,
      list,
    );
  }
  return urls;
}
