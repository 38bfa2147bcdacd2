/**
 * Events as rows. Nothing but `src/webhooks/ingest.ts` imports this file, so that no
 * other use case can bring an event into being.
 */
import type { Trigger } from "../trigger.ts";
import type { Sql, Tx } from "../../database/db.ts";

export interface NewEvent {
  id: string;
  sellerId: string;
  trigger: Trigger;
  /** The emitter's own name for it; null for a test event. */
  reference: string | null;
  /** As it is signed and sent. */
  body: Uint8Array;
  /** null: no webhook is registered, so nothing is to be delivered. */
  deliveryId: string | null;
  /** Unix milliseconds. */
  createdAt: number;
  /** Its place among the events of the seller; null for a test event. */
  number: number | null;
}

/**
 * The number of a seller's next event. The seller's row stays locked until the
 * commit: another event of the seller gets its number only then, so whoever
 * sees a number sees all before it. It is the first lock of an event.
 */
export async function takeEventNumber(
  tx: Tx,
  sellerId: string,
): Promise<number> {
  const row = await tx.get<{ n: number }>(
    `UPDATE sellers SET last_event_no = last_event_no + 1 WHERE id = ?
     RETURNING last_event_no AS n`,
    [sellerId],
  );
  return row!.n;
}

/** Inserts an event; false when (seller, trigger, reference) is known. */
export async function insertEvent(tx: Tx, event: NewEvent): Promise<boolean> {
  const changed = await tx.run(
    `INSERT INTO events (id, seller_id, trigger_name, reference, body,
       delivery_id, created_at, event_no) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (seller_id, trigger_name, reference) DO NOTHING`,
    [
      event.id,
      event.sellerId,
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

/** Events that one write of a sweep deletes at most. */
const SWEEP_EVENTS = 500;

/**
 * Deletes some events of `before` or earlier (Unix milliseconds) that have no
 * body any more; answers how many.
 */
export function deleteReferences(tx: Tx, before: number): Promise<number> {
  return tx.run(
    `DELETE FROM events WHERE id IN (
       SELECT id FROM events WHERE body IS NULL AND created_at <= ?
       ORDER BY created_at LIMIT ? /* FOR UPDATE SKIP LOCKED */)`,
    [before, SWEEP_EVENTS],
  );
}

/** The event that a reference stands for. */
export function findEvent(
  sql: Sql,
  sellerId: string,
  trigger: Trigger,
  reference: string,
): Promise<{ eventId: string; deliveryId: string | null } | undefined> {
  return sql.get(
    `SELECT id AS "eventId", delivery_id AS "deliveryId" FROM events
     WHERE seller_id = ? AND trigger_name = ? AND reference = ?`,
    [sellerId, trigger, reference],
  );
}
