/** Deletes the images of a removed seller; files that others show stay. */
import type { Tx } from "../database/db.ts";
import type { Seller } from "../sellers/seller.ts";
import { markUnnamed } from "./retention.ts";

/** The most rows that one write deletes. */
const ROWS = 250;

/**
 * Deletes some of the seller's images, which no product shows and no upload
 * names any more; returns how many.
 */
export async function removeImages(
  tx: Tx,
  { no }: Pick<Seller, "no">,
): Promise<number> {
  const deleted = await tx.run(
    `DELETE FROM images WHERE seller_no = ? AND id IN (
       SELECT id FROM images WHERE seller_no = ? LIMIT ${ROWS})`,
    [no, no],
  );
  if (deleted > 0) await markUnnamed(tx);
  return deleted;
}
