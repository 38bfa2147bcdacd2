/**
 * The queue of deliveries: those that wait and those under a lease.
 * `outcomes.ts` records how an attempt ended; the log for people is in
 * `../delivery_log.ts`. The table `TRANSITIONS` defines the state changes.
 */
import {
  KEPT_ATTEMPTS,
  type Secrets,
  type Transition,
  TRANSITIONS,
  type WebhookState,
} from "../webhook.ts";
import { inLists, marks, type Sql, type Tx } from "../../database/db.ts";
import { BEFORE_ALL_IDS } from "../../lib/ids.ts";
import { readSecrets, SECRETS, type SecretsRow } from "../secrets.ts";

/**
 * The SQL condition that a transition is possible. It uses literals and `=`,
 * because neither parameters nor an IN of one value would match a partial
 * index.
 */
export function stateIn({ from }: Transition): string {
  const states = from.map((state) => `'${state}'`);
  return states.length === 1
    ? `state = ${states[0]}`
    : `state IN (${states.join(", ")})`;
}

/**
 * Inserts a delivery of an event, due `now` (Unix milliseconds) or held, if the
 * event exists. Its webhook is locked.
 */
export async function insertDelivery(
  tx: Tx,
  id: string,
  eventId: string,
  webhook: WebhookState,
  now: number,
): Promise<void> {
  const held = webhook.disabledAt !== null;
  await tx.exec(
    `INSERT INTO deliveries (id, event_id, seller_no, trigger_name, webhook_id,
       state, due_at, attempts, failures, created_at, settled_at)
     SELECT ?, id, seller_no, trigger_name, ?, ?, ?, 0, 0, ?, ? FROM events
     WHERE id = ?`,
    [
      id,
      webhook.id,
      held ? TRANSITIONS.hold.to : TRANSITIONS.free.to,
      held ? null : now,
      now,
      held ? now : null,
      eventId,
    ],
  );
}

/**
 * Makes a delivery due now, with a new retry schedule, or holds it if the
 * webhook is disabled; false if the transition is not possible.
 */
export async function queueAnew(
  tx: Tx,
  id: string,
  transition: Transition,
  webhook: WebhookState,
  now: number,
): Promise<boolean> {
  const held = webhook.disabledAt !== null;
  const changed = await tx.run(
    `UPDATE deliveries SET state = ?, webhook_id = ?, due_at = ?,
       settled_at = ?, failures = 0
     WHERE id = ? AND ${stateIn(transition)}`,
    [
      held ? TRANSITIONS.hold.to : transition.to,
      webhook.id,
      held ? null : now,
      held ? now : null,
      id,
    ],
  );
  return changed > 0;
}

/** Makes all waiting deliveries of a webhook due now. */
export async function hastenDeliveries(
  tx: Tx,
  webhookId: string,
  now: number,
): Promise<void> {
  await tx.run(
    "UPDATE deliveries SET due_at = ? WHERE webhook_id = ? AND due_at > ?",
    [now, webhookId, now],
  );
}

/** Holds the waiting deliveries of a webhook until it is enabled. */
export async function holdDeliveries(
  tx: Tx,
  webhookId: string,
  now: number,
): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET state = '${TRANSITIONS.hold.to}', due_at = NULL,
       settled_at = ?
     WHERE webhook_id = ? AND due_at IS NOT NULL AND ${
      stateIn(TRANSITIONS.hold)
    }`,
    [now, webhookId],
  );
}

/** Makes the held deliveries of a webhook due now. */
export async function freeDeliveries(
  tx: Tx,
  webhookId: string,
  now: number,
): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET state = '${TRANSITIONS.free.to}', due_at = ?,
       settled_at = NULL
     WHERE webhook_id = ? AND ${stateIn(TRANSITIONS.free)}`,
    [now, webhookId],
  );
}

/** Cancels the waiting and held deliveries of a webhook. */
export async function cancelDeliveries(
  tx: Tx,
  webhookId: string,
  now: number,
): Promise<void> {
  // Two statements, because each has an index of its own.
  for (const waiting of ["due_at IS NOT NULL", "state = 'held'"]) {
    await tx.run(
      `UPDATE deliveries SET state = '${TRANSITIONS.cancel.to}', due_at = NULL,
         settled_at = ?
       WHERE webhook_id = ? AND ${waiting} AND ${stateIn(TRANSITIONS.cancel)}`,
      [now, webhookId],
    );
  }
}

/** A webhook with waiting deliveries. */
export interface QueueHead {
  webhookId: string;
  sellerId: string;
  url: string;
  /** Its last attempt failed. */
  failing: boolean;
  /** When its first delivery is due, in Unix milliseconds. */
  dueAt: number;
}

/**
 * The webhooks of active sellers with a delivery due up to `horizon`, the
 * longest due first. Jumps from webhook to webhook in the index, so that one
 * webhook's backlog costs nothing.
 */
export async function queueHeads(
  sql: Sql,
  horizon: number,
): Promise<QueueHead[]> {
  const rows = await sql.all<QueueHead & { failures: number }>(
    `WITH RECURSIVE queue (webhook_id) AS (
       SELECT (SELECT deliveries.webhook_id FROM deliveries
               WHERE deliveries.due_at IS NOT NULL
                 AND deliveries.webhook_id > ?
               ORDER BY deliveries.webhook_id LIMIT 1)
       UNION ALL
       SELECT (SELECT deliveries.webhook_id FROM deliveries
               WHERE deliveries.due_at IS NOT NULL
                 AND deliveries.webhook_id > queue.webhook_id
               ORDER BY deliveries.webhook_id LIMIT 1)
       FROM queue WHERE queue.webhook_id IS NOT NULL
     ), heads AS (
       SELECT webhook_id, (SELECT MIN(deliveries.due_at) FROM deliveries
                           WHERE deliveries.webhook_id = queue.webhook_id
                             AND deliveries.due_at IS NOT NULL) AS due_at
       FROM queue WHERE webhook_id IS NOT NULL
     )
     SELECT heads.webhook_id AS "webhookId", heads.due_at AS "dueAt",
       sellers.id AS "sellerId", webhooks.url, webhooks.failures
     FROM heads JOIN webhooks ON webhooks.id = heads.webhook_id
       JOIN sellers ON sellers.seller_no = webhooks.seller_no
     WHERE heads.due_at <= ? AND sellers.status = 'active'
     ORDER BY heads.due_at, heads.webhook_id`,
    [BEFORE_ALL_IDS, horizon],
  );
  return rows.map(({ failures, ...head }) => ({
    ...head,
    failing: failures > 0,
  }));
}

export interface ClaimRequest {
  webhookId: string;
  url: string;
  limit: number;
  leaseId: string;
  /** Unix milliseconds. */
  leaseUntil: number;
  now: number;
}

/** A delivery under a lease. */
export interface Claim {
  id: string;
  leaseId: string;
  /** Number of this attempt, from 1. */
  attempt: number;
}

/**
 * Claims the deliveries that have been due longest and records the start of
 * their attempts; none if the webhook has another URL by now or its seller is
 * not active.
 */
export async function claimDeliveries(
  tx: Tx,
  request: ClaimRequest,
): Promise<Claim[]> {
  const { webhookId, url, limit, leaseId, leaseUntil, now } = request;
  const claims = await tx.all<Omit<Claim, "leaseId">>(
    `UPDATE deliveries SET state = '${TRANSITIONS.claim.to}', due_at = NULL,
       lease_id = ?, lease_until = ?, attempts = attempts + 1
     WHERE id IN (SELECT id FROM deliveries
                  WHERE webhook_id = ? AND due_at <= ?
                  ORDER BY due_at, id LIMIT ? /* FOR UPDATE SKIP LOCKED */)
       AND ${stateIn(TRANSITIONS.claim)}
       AND EXISTS (SELECT 1 FROM webhooks
                   JOIN sellers ON sellers.seller_no = webhooks.seller_no
                   WHERE webhooks.id = ? AND webhooks.url = ?
                     AND sellers.status = 'active')
     RETURNING id, attempts AS attempt`,
    [leaseId, leaseUntil, webhookId, now, limit, webhookId, url],
  );
  await tx.runMany(
    `INSERT INTO delivery_attempts (delivery_id, number, url, started_at)
     VALUES (?, ?, ?, ?)`,
    claims.map(({ id, attempt }) => [id, attempt, url, now]),
  );
  await tx.runMany(
    "DELETE FROM delivery_attempts WHERE delivery_id = ? AND number <= ?",
    claims.filter(({ attempt }) => attempt > KEPT_ATTEMPTS)
      .map(({ id, attempt }) => [id, attempt - KEPT_ATTEMPTS]),
  );
  return claims.map((claim) => ({ ...claim, leaseId }));
}

/** What a claimed delivery sends. */
export interface Payload {
  id: string;
  eventId: string;
  body: Uint8Array;
  /** Unix milliseconds of the event. */
  createdAt: number;
  secrets: Secrets;
}

type PayloadRow = Omit<Payload, "secrets"> & SecretsRow;

/** Returns the payloads of claimed deliveries, by delivery id. */
export async function loadPayloads(
  sql: Sql,
  ids: readonly string[],
): Promise<Map<string, Payload>> {
  const payloads = new Map<string, Payload>();
  for (const list of inLists(ids)) {
    const rows = await sql.all<PayloadRow>(
      `SELECT deliveries.id, events.id AS "eventId", events.body,
         events.created_at AS "createdAt", ${SECRETS}
       FROM deliveries
       JOIN events ON events.id = deliveries.event_id
       JOIN sellers ON sellers.seller_no = deliveries.seller_no
       LEFT JOIN webhooks ON webhooks.id = deliveries.webhook_id
       WHERE deliveries.id IN (${marks(list.length)})`,
      list,
    );
    for (const { secret, former, ...payload } of rows) {
      const secrets = readSecrets({ secret, former });
      payloads.set(payload.id, { ...payload, secrets });
    }
  }
  return payloads;
}

/** Extends the leases that are still held. */
export function renewDeliveryLeases(
  tx: Tx,
  claims: readonly Claim[],
  leaseUntil: number,
): Promise<void> {
  return tx.runMany(
    "UPDATE deliveries SET lease_until = ? WHERE id = ? AND lease_id = ?",
    claims.map(({ id, leaseId }) => [leaseUntil, id, leaseId]),
  );
}

/**
 * Claims whose lease ended at `now` or before; with `Infinity`, every claim.
 */
export function endedLeases(sql: Sql, now: number): Promise<Claim[]> {
  return sql.all<Claim>(
    `SELECT id, lease_id AS "leaseId", attempts AS attempt FROM deliveries
     WHERE lease_until <= ? ORDER BY lease_until, id LIMIT 256`,
    [Math.min(now, Number.MAX_SAFE_INTEGER)],
  );
}
