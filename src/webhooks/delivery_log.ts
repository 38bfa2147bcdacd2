/** The log of deliveries: lists, shows, replays and deletes them. */
import { lockOld } from "../database/old_rows.ts";
import {
  type DeliveryState,
  RETENTION,
  type SettledState,
  TRANSITIONS,
} from "./webhook.ts";
import { type Trigger, TRIGGERS } from "./trigger.ts";
import {
  inReach,
  LIMIT,
  placeholders,
  query,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";
import {
  type ListPage,
  type ListPlace,
  scan,
  SCAN_ROWS,
} from "../database/scan.ts";
import { where } from "../database/where.ts";
import type { SellerStatus } from "../sellers/seller.ts";
import { BEFORE_ALL_IDS, readId } from "../lib/ids.ts";
import { type DeliveryKey, queueHeads, requeueDelivery } from "./rows/queue.ts";

export interface LoggedDelivery {
  id: string;
  eventId: string;
  /** The reference of the event; null for a test event. */
  reference: string | null;
  seller: string;
  sellerNo: number;
  /** A suspended seller's deliveries wait until it is active again. */
  sellerStatus: SellerStatus;
  trigger: Trigger;
  state: DeliveryState;
  attempts: number;
  /** Status of the last answer, or why there was none. */
  lastAnswer: string | null;
  createdAt: number;
  /**
   * The time of the next attempt; null unless the delivery only waits for this
   * time.
   */
  dueAt: number | null;
  /** When the delivery reached a final state. */
  settledAt: number | null;
}

export interface LoggedAttempt {
  deliveryId: string;
  /** Number of the attempt, from 1. */
  number: number;
  url: string;
  startedAt: number;
  /** null while the attempt is in progress. */
  durationMs: number | null;
  status: number | null;
  error: string | null;
  address: string | null;
  answer: string | null;
}

export interface DeliveryFilter {
  sellerNo?: number;
  trigger?: string;
  state?: DeliveryState;
  /** Only deliveries created before the one with this id. */
  before?: string;
  limit: number;
}

const DELIVERY = `
  SELECT deliveries.id, deliveries.event_id AS "eventId", events.reference,
    sellers.name AS seller, deliveries.seller_no AS "sellerNo",
    sellers.status AS "sellerStatus",
    deliveries.trigger_name AS "trigger", deliveries.state,
    deliveries.attempts, deliveries.last_answer AS "lastAnswer",
    deliveries.created_at AS "createdAt",
    CASE WHEN sellers.status = 'active' THEN deliveries.due_at END AS "dueAt",
    deliveries.settled_at AS "settledAt"
  FROM deliveries JOIN sellers ON sellers.seller_no = deliveries.seller_no
    AND sellers.status <> 'removed' ${inReach("deliveries.seller_no")}
  JOIN events ON events.seller_no = deliveries.seller_no
    AND events.id = deliveries.event_id`;

/** Deliveries, the newest first. */
export function listDeliveries(
  sql: Sql,
  { sellerNo, trigger, state, before, limit }: DeliveryFilter,
): Promise<LoggedDelivery[]> {
  const wanted = where({
    "deliveries.seller_no = ?": sellerNo,
    "deliveries.trigger_name = ?": trigger,
    "deliveries.state = ?": state,
    "deliveries.id < ?": before,
  });
  return sql.all<LoggedDelivery>(
    `${DELIVERY} ${wanted.where} ORDER BY deliveries.id DESC ${LIMIT}`,
    [...wanted.params, limit],
  );
}

/** Which deliveries of a seller; null for any trigger or state. */
export interface DeliveryQuery {
  sellerNo: number;
  trigger: Trigger | null;
  state: DeliveryState | null;
  /** The reference of the event; null for any. */
  reference: string | null;
}

/**
 * A seller's deliveries made before `after` (null: from the newest), the newest
 * first. With a state, the search stops after `SCAN_ROWS` rows, so it may
 * return few deliveries or none although more follow.
 */
export async function sellerDeliveries(
  sql: Sql,
  { sellerNo, trigger, state, reference }: DeliveryQuery,
  { after, limit }: ListPlace,
): Promise<ListPage<LoggedDelivery>> {
  const triggers = trigger === null ? TRIGGERS : [trigger];
  const wanted = { sellerNo, triggers, reference, before: after };
  let ids: readonly string[] = [];
  return await scan(
    {
      endAfter: async (rows) => {
        const newest = await newestIds(sql, wanted, rows + 1);
        ids = newest.slice(0, rows);
        return newest.length > rows ? ids[rows - 1] : null;
      },
      matching: (_, most) => deliveriesIn(sql, sellerNo, ids, state, most),
    },
    limit,
    state === null ? limit : SCAN_ROWS,
  );
}

/**
 * Reads each trigger separately, because the index orders the deliveries of one
 * trigger. With a reference, a trigger has at most one delivery, which the
 * event names.
 */
async function newestIds(
  sql: Sql,
  { sellerNo, triggers, reference, before }: {
    sellerNo: number;
    triggers: readonly Trigger[];
    reference: string | null;
    before: string | null;
  },
  limit: number,
): Promise<string[]> {
  const place = before === null ? [] : [before];
  const [table, id, references] = reference === null
    ? ["deliveries", "id", []]
    : ["events", "delivery_id", [reference]];
  const ofTrigger = `SELECT id FROM (SELECT ${id} AS id FROM ${table}
    WHERE seller_no = ? AND trigger_name = ?
      ${references.map(() => "AND reference = ? AND delivery_id IS NOT NULL")}
      ${place.map(() => `AND ${id} < ?`)}
    ORDER BY ${id} DESC ${LIMIT}) AS newest`;
  const params = triggers.flatMap(
    (trigger) => [sellerNo, trigger, ...references, ...place, limit],
  );
  const rows = await sql.all<{ id: string }>(
    `${triggers.map(() => ofTrigger).join(" UNION ALL ")}
     ORDER BY id DESC ${LIMIT}`,
    [...params, limit],
  );
  return rows.map(({ id }) => id);
}

/** Deliveries in the state, or all for null; the newest first. */
async function deliveriesIn(
  sql: Sql,
  sellerNo: number,
  ids: readonly string[],
  state: DeliveryState | null,
  limit: number,
): Promise<LoggedDelivery[]> {
  const lists: LoggedDelivery[][] = [];
  for (const list of splitIntoLists(ids)) {
    lists.push(
      await sql.all<LoggedDelivery>(
        `${DELIVERY} WHERE deliveries.seller_no = ?
           AND deliveries.id IN (${placeholders(list.length)})
         ${state === null ? "" : "AND deliveries.state = ?"}
         ORDER BY deliveries.id DESC`,
        [sellerNo, ...list, ...(state === null ? [] : [state])],
      ),
    );
  }
  return lists.flat().slice(0, limit);
}

/** Finds a delivery of this seller; of any seller if `sellerNo` is null. */
export async function findDelivery(
  sql: Sql,
  sellerNo: number | null,
  text: string,
): Promise<LoggedDelivery | undefined> {
  const id = readId(text);
  if (id === null) return undefined;
  const wanted = where({
    "deliveries.id = ?": id,
    "deliveries.seller_no = ?": sellerNo,
  });
  return await sql.get<LoggedDelivery>(
    `${DELIVERY} ${wanted.where}`,
    wanted.params,
  );
}

/** The `last` attempts of each delivery of a seller, in chronological order. */
export async function listAttempts(
  sql: Sql,
  sellerNo: number,
  deliveryIds: readonly string[],
  last: number,
): Promise<LoggedAttempt[]> {
  const lists: LoggedAttempt[][] = [];
  for (const ids of splitIntoLists(deliveryIds)) {
    lists.push(
      await sql.all<LoggedAttempt>(
        `SELECT delivery_id AS "deliveryId", number, url,
           started_at AS "startedAt", duration_ms AS "durationMs", status,
           error, address, answer
         FROM deliveries d JOIN delivery_attempts a
           ON a.seller_no = d.seller_no AND delivery_id = id
           AND number > attempts - ?
         WHERE d.seller_no = ? AND id IN (${placeholders(ids.length)})
         ORDER BY delivery_id, number`,
        [last, sellerNo, ...ids],
      ),
    );
  }
  return lists.flat();
}

/**
 * The result of a replay: due now; held, because the webhook is disabled; or
 * refused, because no webhook is registered or the delivery is being sent or
 * held.
 */
export type Replay = "due" | "held" | "no_webhook" | "not_now";

/**
 * Replays a delivery: the current webhook of the seller for the trigger
 * receives it with the same `webhook-id`, and the retry schedule starts again.
 */
export async function replayDelivery(
  tx: Tx,
  key: DeliveryKey,
  now: number,
): Promise<Replay> {
  const webhook = await tx.get<{ id: string; disabledAt: number | null }>(
    query(({ lock }) =>
      `SELECT webhooks.id, webhooks.disabled_at AS "disabledAt"
       FROM deliveries JOIN webhooks
         ON webhooks.seller_no = deliveries.seller_no
         AND webhooks.trigger_name = deliveries.trigger_name
       WHERE deliveries.seller_no = ? AND deliveries.id = ?
       ${lock("FOR SHARE OF webhooks")}`
    ),
    [key.sellerNo, key.id],
  );
  if (webhook === undefined) return "no_webhook";
  const changed = await requeueDelivery(
    tx,
    key,
    TRANSITIONS.replay,
    webhook,
    now,
  );
  if (!changed) return "not_now";
  return webhook.disabledAt === null ? "due" : "held";
}

/**
 * Deliveries that reached a final state at `since` (Unix milliseconds) or
 * later: the next `limit` after the delivery `after`.
 */
export function settledDeliveries(
  sql: Sql,
  state: SettledState,
  since: number,
  limit: number,
  after = BEFORE_ALL_IDS,
): Promise<DeliveryKey[]> {
  return sql.all<DeliveryKey>(
    `SELECT seller_no AS "sellerNo", id FROM deliveries
     WHERE state = ? AND settled_at >= ? AND id > ? ${inReach()}
     ORDER BY id ${LIMIT}`,
    [state, since, after, limit],
  );
}

/**
 * The due time of the delivery that has been due longest at `now`, in Unix
 * milliseconds; null if none is due.
 */
export async function oldestDueDelivery(
  sql: Sql,
  now: number,
): Promise<number | null> {
  const [head] = await queueHeads(sql, now);
  return head?.dueAt ?? null;
}

/** Rows of one write of a sweep; few, because other writes wait meanwhile. */
const SWEEP_ROWS = 100;

/**
 * Deletes some of the deliveries whose retention has ended, with their
 * attempts, and the bodies of their events. The rows of events stay, so that
 * their references are recognised; test events have no reference and are
 * deleted. `keptMs` is the retention of delivered deliveries. Returns how many
 * deliveries and events were handled.
 */
export async function sweepDeliveries(
  tx: Tx,
  now: number,
  keptMs: number,
): Promise<number> {
  for (const [state, times] of Object.entries(RETENTION)) {
    const old = await lockOld(tx, {
      table: "deliveries",
      condition: "state = ? AND settled_at <= ?",
      params: [state, now - times * keptMs],
      order: "settled_at",
      limit: SWEEP_ROWS,
    });
    if (old.length === 0) continue;
    const condition = `seller_no = ? AND id =
      (SELECT event_id FROM deliveries WHERE seller_no = ? AND id = ?)`;
    const events = old.map(({ sellerNo, id }) => [sellerNo, sellerNo, id]);
    await tx.runMany(
      `DELETE FROM events WHERE ${condition} AND reference IS NULL`,
      events,
      "any",
    );
    await tx.runMany(
      `UPDATE events SET body = NULL WHERE ${condition}`,
      events,
      "any",
    );
    await deleteDeliveries(tx, old);
    return old.length;
  }
  // Events without a webhook are kept as long as delivered events.
  const old = await lockOld(tx, {
    table: "events",
    condition: "delivery_id IS NULL AND body IS NOT NULL AND created_at <= ?",
    params: [now - keptMs],
    order: "created_at",
    limit: SWEEP_ROWS,
  });
  await tx.runMany(
    "UPDATE events SET body = NULL WHERE seller_no = ? AND id = ?",
    old.map(({ sellerNo, id }) => [sellerNo, id]),
    1,
  );
  return old.length;
}

/** Deletes deliveries with their attempts. */
async function deleteDeliveries(
  tx: Tx,
  deliveries: readonly DeliveryKey[],
): Promise<void> {
  const keys = deliveries.map(({ sellerNo, id }) => [sellerNo, id]);
  await tx.runMany(
    "DELETE FROM delivery_attempts WHERE seller_no = ? AND delivery_id = ?",
    keys,
    "any",
  );
  await tx.runMany(
    "DELETE FROM deliveries WHERE seller_no = ? AND id = ?",
    keys,
    1,
  );
}
