/**
 * Rows of `import_images`: an import's images, counted by state over all its
 * transactions. The counts change in the same commits as the transactions.
 */
import {
  placeholders,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";

/** Amounts to add to the counts of images; may be negative. */
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
  await tx.runMany(ADD, [addStatement(sellerNo, importId, change, at)], 1);
}

const ADD = `UPDATE import_images SET pending = pending + ?,
    stored = stored + ?, reused = reused + ?, failed = failed + ?,
    settled_at = CASE WHEN pending + ? = 0 THEN ? ELSE settled_at END
  WHERE seller_no = ? AND import_id = ?`;

function addStatement(
  sellerNo: number,
  importId: string,
  { pending, stored = 0, reused = 0, failed = 0 }: ImagesChange,
  at: number,
) {
  const counts = [pending, stored, reused, failed, pending];
  return [...counts, at, sellerNo, importId];
}

/**
 * Adds the changes of transactions, by id, to the counts of their imports;
 * returns the ids of these imports. A write calls it last, after it has locked
 * images, transactions and products.
 */
export async function addImagesOfParts(
  tx: Tx,
  sellerNo: number,
  changes: readonly (readonly [id: string, change: ImagesChange])[],
  at: number,
): Promise<string[]> {
  const ids = new Set(changes.map(([id]) => id));
  const importOf = await importsOf(tx, sellerNo, [...ids]);
  // In a fixed order, so that two writes never wait for each other.
  const rows = changes.flatMap(([id, change]) => {
    const importId = importOf.get(id);
    return importId === undefined ? [] : [{ importId, change }];
  }).sort((a, b) => a.importId < b.importId ? -1 : 1)
    .map(({ importId, change }) =>
      addStatement(sellerNo, importId, change, at)
    );
  await tx.runMany(ADD, rows, 1);
  return [...importOf.values()];
}

/**
 * Whether an import that stores nothing more still waits for images. Then the
 * write that settles the last image ends the import. The row is locked, so that
 * write is either committed before this one, or sees what this one has
 * recorded.
 */
export async function endsWithImages(
  tx: Tx,
  sellerNo: number,
  importId: string,
): Promise<boolean> {
  const [{ waits }] = await tx.returning<{ waits: number }>(
    `UPDATE import_images
     SET ends_with_images = CASE WHEN pending > 0 THEN 1 ELSE 0 END
     WHERE seller_no = ? AND import_id = ?
     RETURNING ends_with_images AS waits`,
    [sellerNo, importId],
    1,
  );
  return waits === 1;
}

/**
 * The imports of this list that this write ends; no other write returns them.
 */
export async function endedWithImages(
  tx: Tx,
  sellerNo: number,
  importIds: readonly string[],
): Promise<string[]> {
  const ended: string[] = [];
  for (const list of splitIntoLists([...new Set(importIds)].sort())) {
    const rows = await tx.returning<{ id: string }>(
      `UPDATE import_images SET ends_with_images = 0
       WHERE seller_no = ? AND ends_with_images = 1 AND pending = 0
         AND import_id IN (${placeholders(list.length)})
       RETURNING import_id AS id`,
      [sellerNo, ...list],
      "any",
    );
    for (const { id } of rows) ended.push(id);
  }
  return ended;
}

/**
 * The import of each transaction, by id; transactions of no import are left
 * out.
 */
async function importsOf(
  sql: Sql,
  sellerNo: number,
  transactions: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const list of splitIntoLists(transactions)) {
    const rows = await sql.all<{ id: string; importId: string }>(
      `SELECT id, import_id AS "importId" FROM transactions
       WHERE seller_no = ? AND import_id IS NOT NULL
         AND id IN (${placeholders(list.length)})`,
      [sellerNo, ...list],
    );
    for (const { id, importId } of rows) found.set(id, importId);
  }
  return found;
}
