/** Deletes the events and deliveries of a removed seller. */
import { LIMIT, type Tx } from "../database/db.ts";
import { deleteDeliveries } from "./delivery_log.ts";
import type { Seller } from "../sellers/seller.ts";

/** The most rows that one write deletes. */
const ROWS = 250;

/** Deletes some of the seller's deliveries with their tries; returns how many. */
export async function removeDeliveries(
  tx: Tx,
  { no }: Pick<Seller, "no">,
): Promise<number> {
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM deliveries WHERE seller_no = ? ${LIMIT}`,
    [no, ROWS],
  );
  await deleteDeliveries(tx, rows.map(({ id }) => ({ sellerNo: no, id })));
  return rows.length;
}

/** Deletes some of the seller's events; returns how many. */
export function removeEvents(
  tx: Tx,
  { no }: Pick<Seller, "no">,
): Promise<number> {
  return tx.run(
    `DELETE FROM events WHERE seller_no = ? AND id IN (
       SELECT id FROM events WHERE seller_no = ? LIMIT ${ROWS})`,
    [no, no],
  );
}
