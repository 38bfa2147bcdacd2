/**
 * Rows of `import_images`: how many images of all transactions of an import are
 * in which state. Each change stands in the commit of the transactions that it
 * counts.
 */
import { inLists, marks, type Sql, type Tx } from "../database/db.ts";

/** What is added to the counts of images; negative: taken off. */
export interface ImagesChange {
  pending: number;
  stored?: number;
  reused?: number;
  failed?: number;
}

export async function insertImportImages(
  tx: Tx,
  sellerNo: number,
  importId: string,
): Promise<void> {
  await tx.run(
    "INSERT INTO import_images (seller_no, import_id) VALUES (?, ?)",
    [sellerNo, importId],
    1,
  );
}

/** Adds to the counts of an import. */
export async function addImportImages(
  tx: Tx,
  sellerNo: number,
  importId: string,
  change: ImagesChange,
  at: number,
): Promise<void> {
  await tx.runMany(ADD, [added(sellerNo, importId, change, at)], 1);
}

const ADD = `UPDATE import_images SET pending = pending + ?,
    stored = stored + ?, reused = reused + ?, failed = failed + ?,
    settled_at = CASE WHEN pending + ? = 0 THEN ? ELSE settled_at END
  WHERE seller_no = ? AND import_id = ?`;

function added(
  sellerNo: number,
  importId: string,
  { pending, stored = 0, reused = 0, failed = 0 }: ImagesChange,
  at: number,
) {
  const counts = [pending, stored, reused, failed, pending];
  return [...counts, at, sellerNo, importId];
}

/**
 * Adds changes of transactions, by id, to the counts of their imports, if they
 * are parts of any. All images are locked by then, and so are the transactions.
 */
export async function addImagesOfParts(
  tx: Tx,
  sellerNo: number,
  changes: ReadonlyMap<string, ImagesChange>,
  at: number,
): Promise<void> {
  const imports = await importsOf(tx, sellerNo, [...changes.keys()]);
  // In one order, so that no two writes wait for each other.
  const rows = imports.sort((a, b) => a.importId < b.importId ? -1 : 1)
    .map(({ id, importId }) => added(sellerNo, importId, changes.get(id)!, at));
  await tx.runMany(ADD, rows, 1);
}

/** The imports of those of these transactions that are parts of one. */
async function importsOf(
  sql: Sql,
  sellerNo: number,
  transactions: readonly string[],
): Promise<{ id: string; importId: string }[]> {
  const found: { id: string; importId: string }[] = [];
  for (const list of inLists(transactions)) {
    const rows = await sql.all<{ id: string; importId: string }>(
      `SELECT id, import_id AS "importId" FROM transactions
       WHERE seller_no = ? AND import_id IS NOT NULL
         AND id IN (${marks(list.length)})`,
      [sellerNo, ...list],
    );
    for (const row of rows) found.push(row);
  }
  return found;
}
