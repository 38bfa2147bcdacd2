/** Rows of events. Every event is created by `src/webhooks/ingest.ts`. */
import type { Trigger } from "../trigger.ts";
import type { WebhookState } from "../webhook.ts";
import { type Dialect, query, type Sql, type Tx } from "../../database/db.ts";
import { unnumbered } from "../event_numbers.ts";

export interface NewEvent {
  id: string;
  sellerNo: number;
  trigger: Trigger;
  /** The emitter's own id of the event; null for a test event. */
  reference: string | null;
  /** The body of a delivery in the format of the event's data. */
  body: Uint8Array;
  /** The delivery to create; null if no webhook is registered. */
  delivery: { id: string; webhook: WebhookState } | null;
  createdAt: number;
}

const insertIf = (condition: (dialect: Dialect) => string) =>
  query((dialect) =>
    `INSERT INTO events (id, seller_no, trigger_name, reference, body,
     delivery_id, created_at, event_no)
   SELECT ?, seller_no, ?, ?, ?, ?, ?, ? FROM seller_counters
   WHERE seller_no = ? AND removed = 0 ${condition(dialect)}
   ${dialect.lock("FOR KEY SHARE")}
   ON CONFLICT (seller_no, trigger_name, reference) DO NOTHING`
  );
const INSERT = insertIf(() => "");
const INSERT_AS_REGISTERED = insertIf(({ lock }) =>
  `AND (SELECT id FROM webhooks
        WHERE seller_no = ? AND id = ? AND COALESCE(disabled_at, 0) = ?
        ${lock("FOR SHARE")}) IS NOT NULL`
);

/**
 * Inserts an event, unless (seller, trigger, reference) already exists, the
 * seller was removed, or the webhook was deleted, disabled or enabled. Until
 * the commit the webhook cannot change, so its queue sees the new delivery. The
 * webhook of a test event, which gets no number, is already locked. Returns how
 * many events were inserted.
 */
export function insertEvent(tx: Tx, event: NewEvent): Promise<number> {
  const { sellerNo, reference, delivery, createdAt } = event;
  const isTest = reference === null;
  const params = [
    event.id,
    event.trigger,
    reference,
    event.body,
    delivery?.id ?? null,
    createdAt,
    isTest ? null : unnumbered(createdAt),
    sellerNo,
  ];
  if (delivery === null || isTest) return tx.run(INSERT, params, "any");
  const { id, disabledAt } = delivery.webhook;
  const webhook = [sellerNo, id, disabledAt ?? 0];
  return tx.run(INSERT_AS_REGISTERED, [...params, ...webhook], "any");
}

/**
 * The seller's event of this trigger with this reference. Its body is null once
 * the body is no longer kept.
 */
export function findEvent(
  sql: Sql,
  sellerNo: number,
  trigger: Trigger,
  reference: string,
): Promise<
  | { eventId: string; deliveryId: string | null; body: Uint8Array | null }
  | undefined
> {
  return sql.get(
    `SELECT id AS "eventId", delivery_id AS "deliveryId", body FROM events
     WHERE seller_no = ? AND trigger_name = ? AND reference = ?`,
    [sellerNo, trigger, reference],
  );
}
