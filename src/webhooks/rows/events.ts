/**
 * Rows of events. Only `src/webhooks/ingest.ts` imports this file, so that no
 * other use case can create an event.
 */
import type { Trigger } from "../trigger.ts";
import type { Sql, Tx } from "../../database/db.ts";

export interface NewEvent {
  id: string;
  sellerNo: number;
  trigger: Trigger;
  /** The emitter's own id of the event; null for a test event. */
  reference: string | null;
  /** The body as it is signed and sent. */
  body: Uint8Array;
  /** Null if no webhook is registered, so that nothing is to be delivered. */
  deliveryId: string | null;
  /** Unix milliseconds. */
  createdAt: number;
  /** Its number among the seller's events; null for a test event. */
  number: number | null;
}

/**
 * Returns the number of a seller's next event. The seller's row stays locked
 * until the commit, so a reader that sees a number also sees all smaller ones.
 * It is the first lock that an event takes. null: the
 * seller has been removed.
 */
export async function takeEventNumber(
  tx: Tx,
  sellerNo: number,
): Promise<number | null> {
  const row = await tx.get<{ n: number }>(
    `UPDATE sellers SET last_event_no = last_event_no + 1
     WHERE seller_no = ? AND status <> 'removed'
     RETURNING last_event_no AS n`,
    [sellerNo],
  );
  return row?.n ?? null;
}

/** Inserts an event; false if (seller, trigger, reference) exists already. */
export async function insertEvent(tx: Tx, event: NewEvent): Promise<boolean> {
  const changed = await tx.run(
    `INSERT INTO events (id, seller_no, trigger_name, reference, body,
       delivery_id, created_at, event_no) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (seller_no, trigger_name, reference) DO NOTHING`,
    [
      event.id,
      event.sellerNo,
      event.trigger,
      event.reference,
      event.body,
      event.deliveryId,
      event.createdAt,
      event.number,
    ],
  );
  return changed > 0;
}

/** The most events that one write of a sweep deletes. */
const SWEEP_EVENTS = 500;

/**
 * Deletes some events of `before` or earlier (Unix milliseconds) that have no
 * body any more; returns how many.
 */
export function deleteReferences(tx: Tx, before: number): Promise<number> {
  return tx.run(
    `DELETE FROM events WHERE id IN (
       SELECT id FROM events WHERE body IS NULL AND created_at <= ?
       ORDER BY created_at LIMIT ? /* FOR UPDATE SKIP LOCKED */)`,
    [before, SWEEP_EVENTS],
  );
}

/** Finds an event by its reference. */
export function findEvent(
  sql: Sql,
  sellerNo: number,
  trigger: Trigger,
  reference: string,
): Promise<{ eventId: string; deliveryId: string | null } | undefined> {
  return sql.get(
    `SELECT id AS "eventId", delivery_id AS "deliveryId" FROM events
     WHERE seller_no = ? AND trigger_name = ? AND reference = ?`,
    [sellerNo, trigger, reference],
  );
}
