/**
 * The queue of deliveries: those that wait and those under a lease.
 * `outcomes.ts` records how an attempt ended; `../delivery_log.ts` is the log
 * for sellers and operators. The table `TRANSITIONS` defines the state changes.
 */
import {
  DELIVERIES,
  type DeliveryState,
  KEPT_ATTEMPTS,
  type Secrets,
  type Transition,
  TRANSITIONS,
  type WebhookFormat,
  type WebhookState,
} from "../webhook.ts";
import {
  inReach,
  insertInto,
  type Param,
  placeholders,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../../database/db.ts";
import {
  claimRows,
  type Leased,
  ofWaitingSellers,
} from "../../jobs/lease_queue.ts";
import { readSecrets, SECRETS, type SecretsRow } from "../secrets.ts";

/** The key of a delivery. */
export interface DeliveryKey {
  sellerNo: number;
  id: string;
}

/** The key of a webhook. */
export type WebhookKey = DeliveryKey;

/**
 * The SQL condition that a transition is possible. It uses literals and `=`,
 * because neither parameters nor an IN of one value would match a partial
 * index.
 */
function stateIn({ from }: Transition): string {
  const states = from.map((state) => `'${state}'`);
  return states.length === 1
    ? `state = ${states[0]}`
    : `state IN (${states.join(", ")})`;
}

/**
 * Inserts a delivery of an event, due `now` (Unix milliseconds) or held, if the
 * event exists; with `expected` 1 it must exist. The caller has locked the
 * webhook.
 */
export async function insertDelivery(
  tx: Tx,
  { sellerNo, id }: DeliveryKey,
  eventId: string,
  webhook: WebhookState,
  now: number,
  expected: 1 | "any",
): Promise<void> {
  const start = initialState(webhook, TRANSITIONS.free.to, now);
  await tx.runMany(
    `INSERT INTO deliveries (id, event_id, seller_no, trigger_name, webhook_id,
       state, due_at, settled_at, attempts, failures, created_at)
     SELECT ?, id, seller_no, trigger_name, ?, ?, ?, ?, 0, 0, ? FROM events
     WHERE seller_no = ? AND id = ?`,
    [[id, ...start, now, sellerNo, eventId]],
    expected,
  );
}

/**
 * Makes a delivery due now, with a new retry schedule, or holds it if the
 * webhook is disabled; false if the transition is not possible.
 */
export async function requeueDelivery(
  tx: Tx,
  { sellerNo, id }: DeliveryKey,
  transition: Transition,
  webhook: WebhookState,
  now: number,
): Promise<boolean> {
  const start = initialState(webhook, transition.to, now);
  const changed = await tx.run(
    `UPDATE deliveries SET webhook_id = ?, state = ?, due_at = ?,
       settled_at = ?, failures = 0
     WHERE seller_no = ? AND id = ? AND ${stateIn(transition)}`,
    [...start, sellerNo, id],
    "any",
  );
  return changed > 0;
}

/** Webhook, state, due time and end of a delivery that starts now, or is held. */
function initialState(
  { id, disabledAt }: WebhookState,
  to: DeliveryState,
  now: number,
): Param[] {
  if (disabledAt === null) return [id, to, now, null];
  return [id, TRANSITIONS.hold.to, null, now];
}

/** Makes all waiting deliveries of a webhook due now. */
export async function makeDeliveriesDue(
  tx: Tx,
  { sellerNo, id }: WebhookKey,
  now: number,
): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET due_at = ?
     WHERE seller_no = ? AND webhook_id = ? AND due_at > ?`,
    [now, sellerNo, id, now],
    "any",
  );
}

/**
 * Applies a transition to waiting or held deliveries of a webhook, which makes
 * them due now or ends them; deliveries under a lease do not change.
 */
export async function transitionDeliveries(
  tx: Tx,
  { sellerNo, id }: WebhookKey,
  transition: Transition,
  now: number,
): Promise<void> {
  const { from, to } = transition;
  const isDue = to === "pending";
  // A statement for each index.
  const waits = from.includes("pending") ? ["due_at IS NOT NULL"] : [];
  const held = from.includes("held") ? ["state = 'held'"] : [];
  for (const condition of [...waits, ...held]) {
    await tx.run(
      `UPDATE deliveries SET state = '${to}', due_at = ?, settled_at = ?
       WHERE seller_no = ? AND webhook_id = ? AND ${condition} AND ${
        stateIn(transition)
      }`,
      [isDue ? now : null, isDue ? null : now, sellerNo, id],
      "any",
    );
  }
}

/** A webhook with waiting deliveries. */
export interface QueueHead {
  sellerNo: number;
  webhookId: string;
  sellerId: string;
  url: string;
  /** Whether its last attempt failed. */
  failing: boolean;
  /** When its first delivery is due, in Unix milliseconds. */
  dueAt: number;
}

const QUEUE_HEADS = ofWaitingSellers(
  DELIVERIES,
  ({ waiting }) =>
    `WITH ${waiting}, heads AS (
       SELECT webhooks.seller_no, webhooks.id, webhooks.url, webhooks.failures,
         sellers.id AS seller_id,
         (SELECT MIN(due_at) FROM deliveries
          WHERE deliveries.seller_no = webhooks.seller_no
            AND deliveries.webhook_id = webhooks.id
            AND due_at IS NOT NULL ${inReach("deliveries.seller_no")}) AS due_at
       FROM waiting JOIN sellers ON sellers.seller_no = waiting.seller_no
         JOIN webhooks ON webhooks.seller_no = sellers.seller_no
       WHERE sellers.status = 'active' ${inReach("webhooks.seller_no")}
     )
     SELECT seller_no AS "sellerNo", id AS "webhookId",
       seller_id AS "sellerId", url, failures, due_at AS "dueAt"
     FROM heads WHERE due_at <= ? ORDER BY due_at, id`,
);

/**
 * The webhooks of active sellers with a delivery due up to `horizon`, the
 * longest due first. Reads one entry of the index for each webhook of a seller
 * with waiting deliveries, so that the time does not grow with a backlog.
 */
export async function queueHeads(
  sql: Sql,
  horizon: number,
): Promise<QueueHead[]> {
  const rows = await sql.all<QueueHead & { failures: number }>(QUEUE_HEADS, [
    0,
    horizon,
  ]);
  return rows.map(({ failures, ...head }) => ({
    ...head,
    failing: failures > 0,
  }));
}

/** A delivery under a lease. */
export interface Claim extends Leased {
  /** Number of this attempt, from 1. */
  attempt: number;
}

const INSERT_ATTEMPTS = insertInto(
  "delivery_attempts",
  ["seller_no", "delivery_id", "number", "url", "started_at"],
);

/**
 * Claims the deliveries that have been due longest and records the start of
 * their attempts; none if the webhook has another URL by now or its seller is
 * not active.
 */
export async function claimDeliveries(
  tx: Tx,
  { sellerNo, webhookId, url, limit, lease, now }:
    & Pick<QueueHead, "sellerNo" | "webhookId" | "url">
    & { limit: number; lease: string; now: number },
): Promise<Claim[]> {
  const rows = await claimRows<{ id: string; attempt: number }>(
    tx,
    DELIVERIES,
    {
      sellerNo,
      lease,
      of: `webhook_id = ? AND due_at <= ? AND ${stateIn(TRANSITIONS.claim)}
      AND EXISTS (SELECT 1 FROM webhooks
                  JOIN sellers ON sellers.seller_no = webhooks.seller_no
                  WHERE webhooks.seller_no = ? AND webhooks.id = ?
                    AND webhooks.url = ? AND sellers.status = 'active')`,
      params: [webhookId, now, sellerNo, webhookId, url],
      limit,
    },
    {
      set: `, state = '${TRANSITIONS.claim.to}', attempts = attempts + 1`,
      returning: "id, attempts AS attempt",
    },
  );
  await tx.runMany(
    INSERT_ATTEMPTS,
    rows.map(({ id, attempt }) => [sellerNo, id, attempt, url, now]),
    1,
  );
  await tx.runMany(
    `DELETE FROM delivery_attempts
     WHERE seller_no = ? AND delivery_id = ? AND number <= ?`,
    rows.filter(({ attempt }) => attempt > KEPT_ATTEMPTS)
      .map(({ id, attempt }) => [sellerNo, id, attempt - KEPT_ATTEMPTS]),
    "any",
  );
  return rows.map((row) => ({ ...row, sellerNo, lease }));
}

/** What a claimed delivery sends. */
export interface Payload {
  id: string;
  eventId: string;
  /** The body as it is stored. */
  body: Uint8Array;
  /** The format in which it is sent. */
  format: WebhookFormat;
  /** Unix milliseconds of the event. */
  createdAt: number;
  secrets: Secrets;
}

type PayloadRow = Omit<Payload, "secrets"> & SecretsRow;

/** Returns the payloads of claimed deliveries of a seller, by delivery id. */
export async function loadPayloads(
  sql: Sql,
  sellerNo: number,
  ids: readonly string[],
): Promise<Map<string, Payload>> {
  const payloads = new Map<string, Payload>();
  for (const list of splitIntoLists(ids)) {
    const rows = await sql.all<PayloadRow>(
      `SELECT deliveries.id, events.id AS "eventId", events.body,
         events.created_at AS "createdAt",
         COALESCE(webhooks.format, 'xml') AS format, ${SECRETS}
       FROM deliveries
       JOIN events ON events.seller_no = deliveries.seller_no
         AND events.id = deliveries.event_id
       JOIN sellers ON sellers.seller_no = deliveries.seller_no
       LEFT JOIN webhooks ON webhooks.seller_no = deliveries.seller_no
         AND webhooks.id = deliveries.webhook_id
       WHERE deliveries.seller_no = ?
         AND deliveries.id IN (${placeholders(list.length)})`,
      [sellerNo, ...list],
    );
    for (const { secret, former, ...payload } of rows) {
      const secrets = readSecrets({ secret, former });
      payloads.set(payload.id, { ...payload, secrets });
    }
  }
  return payloads;
}
