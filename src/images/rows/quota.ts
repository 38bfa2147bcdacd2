/**
 * The image quota of a seller: the bytes of the stored copies, counted once for
 * each URL until the copy is deleted.
 */
import {
  placeholders,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../../database/db.ts";
import { addUsage, lockUsage, quotaOf } from "../../sellers/usage_rows.ts";

/** The bytes of a seller's quota that its stored copies leave free. */
export async function imageRoom(
  sql: Sql,
  sellerNo: number,
  defaultQuota: number,
): Promise<number> {
  const { limit, used } = await quotaOf(
    sql,
    sellerNo,
    "image_quota",
    defaultQuota,
  );
  return limit - used;
}

/**
 * A new copy of an image, and by how many bytes it is larger than the former
 * copy.
 */
export interface NewCopy {
  id: string;
  more: number;
}

/**
 * The ids of a seller's new copies that exceed the quota. Locks the usage, to
 * which the caller adds the other copies.
 */
export async function copiesBeyondQuota(
  tx: Tx,
  sellerNo: number,
  copies: readonly NewCopy[],
  defaultQuota: number,
): Promise<Set<string>> {
  const refused = new Set<string>();
  if (copies.length === 0) return refused;
  await lockUsage(tx, sellerNo, "image_bytes");
  let room = await imageRoom(tx, sellerNo, defaultQuota);
  for (const { id, more } of copies) {
    if (more > room) refused.add(id);
    else room -= more;
  }
  return refused;
}

/**
 * Stops counting the copies of these images, whose rows the caller has locked.
 */
export async function refundCopies(
  tx: Tx,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<void> {
  let bytes = 0;
  for (const list of splitIntoLists(imageIds)) {
    const row = await tx.get<{ bytes: number | null }>(
      `SELECT CAST(SUM(bytes) AS BIGINT) AS bytes FROM images
       WHERE seller_no = ? AND id IN (${placeholders(list.length)})`,
      [sellerNo, ...list],
    );
    bytes += row?.bytes ?? 0;
  }
  await addUsage(tx, sellerNo, "image_bytes", -bytes);
}
