/** The events of a seller in order, independent of their deliveries. */
import type { DeliveryState } from "./webhook.ts";
import type { Deps } from "../deps.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Services } from "../services.ts";
import { type Trigger, TRIGGERS } from "./trigger.ts";
import {
  type Db,
  DbError,
  LIMIT,
  placeholders,
  type Sql,
  type Tx,
} from "../database/db.ts";
import type { DeliveryKey } from "./rows/queue.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { NUMBERED_AT_ONCE, numberEvents, UNNUMBERED } from "./event_numbers.ts";

export interface FeedEvent {
  /**
   * The event's number among the seller's events, from 1; some numbers are
   * skipped.
   */
  number: number;
  /** The body that a delivery of the event sends, or would send. */
  body: Uint8Array;
}

export interface EventsQuery {
  /** The number after which the list begins. */
  after: number;
  /** Only events of this trigger; null: of all. */
  trigger: Trigger | null;
  /** Only events with this reference; null: with any. */
  reference: string | null;
  /** Only the event with this id; null: any. */
  id: string | null;
  limit: number;
}

/** The numbers of a seller's events that can be listed. */
export interface Listable {
  /** How many numbered events match the query, up to its limit. */
  count: number;
  /** The greatest number; 0 if there are none. */
  last: number;
  /** The first event without a number; null if there is none. */
  unnumbered: string | null;
}

/** The longest time that a request numbers events. */
const NUMBERING_MS = 5_000;

/**
 * Numbers new events of a seller until the query has enough or all events are
 * numbered. If the numbering fails, the events that have numbers can be listed;
 * if none of them match, throws the `DbError`, or 503 if the numbering takes
 * long.
 */
export async function makeListable(
  { db, deps: { clock } }: Pick<Services, "db"> & { deps: Pick<Deps, "clock"> },
  { no }: { no: number },
  wanted: EventsQuery,
): Promise<Listable> {
  const until = clock.monotonic() + NUMBERING_MS;
  for (let hasMore = true;;) {
    const found = await readListable(db, no, wanted);
    const isFull = found.count === wanted.limit;
    if (isFull || !hasMore || found.unnumbered === null) return found;
    if (clock.monotonic() > until) {
      if (found.count > 0) return found;
      throw tooManyUnnumbered();
    }
    try {
      // A separate queue, because the seller's other writes may take long.
      const count = await db.of(no).write((tx) => numberEvents(tx, no), {
        queue: "event numbers",
      });
      hasMore = count === NUMBERED_AT_ONCE;
    } catch (error) {
      if (error instanceof DbError && found.count > 0) return found;
      throw error;
    }
  }
}

function tooManyUnnumbered(): ServiceError {
  return new ServiceError(
    "unavailable",
    "You have not read your events for a long time, and they are still being " +
      "numbered. Send the request again.",
    { headers: { "Retry-After": "1" } },
  );
}

async function readListable(
  db: Db,
  sellerNo: number,
  wanted: EventsQuery,
): Promise<Listable> {
  const { from, params } = numbered(sellerNo, wanted);
  const found = await db.of(sellerNo).read((sql) =>
    sql.get<Listable>(
      `SELECT last_event_no AS last,
         (SELECT COUNT(*) FROM (SELECT 1 ${from}) AS listed) AS count,
         (SELECT id ${UNNUMBERED}) AS unnumbered
       FROM seller_counters WHERE seller_no = ?`,
      [...params, sellerNo, 1, sellerNo],
    ), { single: true });
  return found ?? { last: 0, count: 0, unnumbered: null };
}

/**
 * The numbered events of a query, in order. Each trigger has at most one event
 * with a reference, which the unique index of references finds.
 */
function numbered(
  sellerNo: number,
  { after, trigger, reference, id, limit }: EventsQuery,
) {
  const named = trigger === null ? TRIGGERS : [trigger];
  const [triggers, references] = reference === null
    ? [trigger === null ? [] : named, []]
    : [named, [reference]];
  const ofTrigger = triggers.length === 0
    ? ""
    : `AND trigger_name IN (${placeholders(triggers.length)})`;
  const ofReference = reference === null ? "" : "AND reference = ?";
  const ofId = id === null ? "" : "AND id = ?";
  // The unary plus keeps SQLite from using the indexes of numbers.
  const isSingleEvent = reference !== null || id !== null;
  const number = isSingleEvent ? "+event_no" : "event_no";
  return {
    from: `FROM events WHERE seller_no = ? ${ofTrigger} ${ofReference} ${ofId}
       AND ${number} > ? AND ${number} IS NOT NULL AND body IS NOT NULL
       ORDER BY ${number} ${LIMIT}`,
    params: [
      sellerNo,
      ...triggers,
      ...references,
      ...id === null ? [] : [id],
      after,
      limit,
    ],
  };
}

/**
 * The next numbered events of a query, in order. Excludes test events and
 * events without a body.
 */
export function eventsAfter(
  sql: Sql,
  sellerNo: number,
  wanted: EventsQuery,
): Promise<FeedEvent[]> {
  const { from, params } = numbered(sellerNo, wanted);
  return sql.all<FeedEvent>(`SELECT event_no AS number, body ${from}`, params);
}

/** An event with its time and the state of its delivery. */
export interface TimedEvent {
  id: string;
  createdAt: number;
  /** null: no webhook was registered. */
  deliveryId: string | null;
  /** null: there is no delivery. */
  state: DeliveryState | null;
}

/** Unix milliseconds, inclusive. */
export interface Period {
  since: number;
  until: number;
}

/**
 * The next `limit` events of a trigger in a period, in the order of time, after
 * the event `after`; null: from the first.
 */
export function eventsInPeriod(
  sql: Sql,
  { sellerNo, trigger }: { sellerNo: number; trigger: Trigger },
  { since, until }: Period,
  after: TimedEvent | null,
  limit: number,
): Promise<TimedEvent[]> {
  return sql.all<TimedEvent>(
    `SELECT events.id, events.created_at AS "createdAt",
       events.delivery_id AS "deliveryId", deliveries.state
     FROM events LEFT JOIN deliveries
       ON deliveries.seller_no = events.seller_no
       AND deliveries.id = events.delivery_id
     WHERE events.seller_no = ? AND events.trigger_name = ?
       AND (events.created_at, events.id) > (?, ?) AND events.created_at <= ?
       AND events.event_no IS NOT NULL AND events.body IS NOT NULL
     ORDER BY events.created_at, events.id ${LIMIT}`,
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
 * Records the first delivery of an event that had no webhook; false if the
 * event has a delivery by now.
 */
export async function setDelivery(
  tx: Tx,
  eventId: string,
  { sellerNo, id }: DeliveryKey,
): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE events SET delivery_id = ?
     WHERE seller_no = ? AND id = ? AND delivery_id IS NULL`,
    [id, sellerNo, eventId],
    "any",
  );
  return changed > 0;
}
