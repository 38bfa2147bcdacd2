/**
 * The image quota of a seller: the bytes of the stored copies of its URLs, each
 * counted once for each URL until the copy is given up.
 */
import { inLists, marks, type Sql, type Tx } from "../../database/db.ts";
import { addUsage, lockUsage, quotaOf } from "../../sellers/usage_rows.ts";

/** Bytes that a seller's quota leaves beside its stored copies. */
export async function roomOf(
  sql: Sql,
  sellerNo: number,
  defaultQuota: number,
): Promise<number> {
  const { limit, used } = await quotaOf(
    sql,
    sellerNo,
    "image_bytes",
    defaultQuota,
  );
  return limit - used;
}

/** A copy that was downloaded. */
export interface NewCopy {
  id: string;
  bytes: number;
}

/**
 * Counts new copies of a seller; their rows are locked and not yet changed.
 * Returns the ids of those for which there is no room; they count as before.
 */
export async function chargeCopies(
  tx: Tx,
  sellerNo: number,
  copies: readonly NewCopy[],
  defaultQuota: number,
): Promise<Set<string>> {
  const refused = new Set<string>();
  if (copies.length === 0) return refused;
  await lockUsage(tx, sellerNo, "image_bytes");
  const room = await roomOf(tx, sellerNo, defaultQuota);
  const former = await copyBytes(tx, sellerNo, copies.map(({ id }) => id));
  let added = 0;
  for (const { id, bytes } of copies) {
    const more = bytes - (former.get(id) ?? 0);
    if (added + more <= room) added += more;
    else refused.add(id);
  }
  await addUsage(tx, sellerNo, "image_bytes", added);
  return refused;
}

/** Bytes of the stored copies of these images. */
async function copyBytes(
  sql: Sql,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const list of inLists(imageIds)) {
    const rows = await sql.all<{ id: string; bytes: number }>(
      `SELECT id, bytes FROM images
       WHERE seller_no = ? AND id IN (${marks(list.length)})
         AND bytes IS NOT NULL`,
      [sellerNo, ...list],
    );
    for (const { id, bytes } of rows) found.set(id, bytes);
  }
  return found;
}

/** Stops counting the copies of these images; their rows are locked. */
export async function refundCopies(
  tx: Tx,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<void> {
  const copies = await copyBytes(tx, sellerNo, imageIds);
  const bytes = copies.values().reduce((sum, bytes) => sum + bytes, 0);
  await addUsage(tx, sellerNo, "image_bytes", -bytes);
}
