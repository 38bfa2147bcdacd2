/**
 * The numbers of a seller's events: the order in which the seller reads them.
 *
 * An event gets its number when its seller requests events, not when it is
 * stored. Numbering in the write that stores an event would need a lock until
 * the commit, so all writes of events for one seller would wait for each other.
 * The later numbering locks the seller's counter. So a reader that sees a
 * number also sees all smaller numbers, and an event that is committed later
 * gets a greater number. Events that are numbered together are numbered in the
 * order of their times.
 */
import { LIMIT, type Tx } from "../database/db.ts";

/** The most events that one write numbers. */
export const NUMBERED_AT_ONCE = 1_000;

/**
 * The value of `event_no` until the event is numbered: negative, in the order
 * of time (Unix milliseconds).
 */
export function unnumbered(createdAt: number): number {
  return Number.MIN_SAFE_INTEGER + createdAt;
}

/** Events of a seller (`?`) that have no number yet, in order. */
export const UNNUMBERED = `FROM events
  WHERE seller_no = ? AND event_no < 0
    AND event_no IS NOT NULL AND body IS NOT NULL
  ORDER BY event_no ${LIMIT}`;

const NUMBER = `UPDATE events SET event_no = numbered.n
  FROM (SELECT id AS event_id,
          (SELECT last_event_no FROM seller_counters WHERE seller_no = ?) +
            ROW_NUMBER() OVER (ORDER BY event_no, id) AS n
        FROM (SELECT id, event_no ${UNNUMBERED}) AS first) AS numbered
  WHERE seller_no = ? AND id = numbered.event_id RETURNING event_no AS number`;

const LOCK_SELLER = {
  sqlite: "",
  postgres:
    "SELECT 1 FROM seller_counters WHERE seller_no = ? FOR NO KEY UPDATE",
};

/**
 * Numbers the seller's first events that have no number; returns how many, at
 * most `NUMBERED_AT_ONCE`.
 */
export async function numberEvents(tx: Tx, sellerNo: number): Promise<number> {
  await tx.runMany(LOCK_SELLER, [[sellerNo]], "any");
  const events = await tx.returning<{ number: number }>(NUMBER, [
    sellerNo,
    sellerNo,
    NUMBERED_AT_ONCE,
    sellerNo,
  ], "any");
  if (events.length === 0) return 0;
  const last = events.reduce((last, { number }) => Math.max(last, number), 0);
  const update =
    "UPDATE seller_counters SET last_event_no = ? WHERE seller_no = ?";
  await tx.runMany(update, [[last, sellerNo]], 1);
  return events.length;
}
