/** The events of a seller in order, independent of their deliveries. */
import type { DeliveryState } from "./webhook.ts";
import type { Trigger } from "./trigger.ts";
import type { Sql, Tx } from "../database/db.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";

export interface FeedEvent {
  /** Its number among the seller's events, from 1; numbers may be missing. */
  number: number;
  /** As it is or would be delivered. */
  body: Uint8Array;
}

/** The number of a seller's last event; 0 when there was none. */
export async function lastEventNumber(
  sql: Sql,
  sellerNo: number,
): Promise<number> {
  const row = await sql.get<{ n: number }>(
    "SELECT last_event_no AS n FROM sellers WHERE seller_no = ?",
    [sellerNo],
  );
  return row?.n ?? 0;
}

/**
 * The next `limit` events after a number, of one trigger or of all. Excludes
 * test events and those without a body.
 */
export function eventsAfter(
  sql: Sql,
  sellerNo: number,
  { after, trigger, limit }: {
    after: number;
    trigger: Trigger | null;
    limit: number;
  },
): Promise<FeedEvent[]> {
  const ofTrigger = trigger === null ? "" : "AND trigger_name = ?";
  const triggers = trigger === null ? [] : [trigger];
  return sql.all<FeedEvent>(
    `SELECT event_no AS number, body FROM events
     WHERE seller_no = ? ${ofTrigger} AND event_no > ?
       AND event_no IS NOT NULL AND body IS NOT NULL
     ORDER BY event_no LIMIT ?`,
    [sellerNo, ...triggers, after, limit],
  );
}

/** An event of a time, and how its delivery stands. */
export interface TimedEvent {
  id: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** null: there was no webhook. */
  deliveryId: string | null;
  /** null: there is no delivery. */
  state: DeliveryState | null;
}

/** Both ends belong to it; Unix milliseconds. */
export interface Period {
  since: number;
  until: number;
}

/**
 * The next `limit` events of a trigger in a period, in order of time, after one
 * of them; from the first with null.
 */
export function eventsOfTime(
  sql: Sql,
  { sellerNo, trigger }: { sellerNo: number; trigger: Trigger },
  { since, until }: Period,
  after: TimedEvent | null,
  limit: number,
): Promise<TimedEvent[]> {
  return sql.all<TimedEvent>(
    `SELECT events.id, events.created_at AS "createdAt",
       events.delivery_id AS "deliveryId", deliveries.state
     FROM events LEFT JOIN deliveries ON deliveries.event_id = events.id
     WHERE events.seller_no = ? AND events.trigger_name = ?
       AND (events.created_at, events.id) > (?, ?) AND events.created_at <= ?
       AND events.event_no IS NOT NULL AND events.body IS NOT NULL
     ORDER BY events.created_at, events.id LIMIT ?`,
    [
      sellerNo,
      trigger,
      after?.createdAt ?? since,
      after?.id ?? BEFORE_ALL_IDS,
      until,
      limit,
    ],
  );
}

/**
 * Records the first delivery of an event that had no webhook; false if it has
 * one now.
 */
export async function setDelivery(
  tx: Tx,
  eventId: string,
  deliveryId: string,
): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE events SET delivery_id = ? WHERE id = ? AND delivery_id IS NULL",
    [deliveryId, eventId],
  );
  return changed > 0;
}
