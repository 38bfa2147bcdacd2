/**
 * Records how an attempt to deliver ended, and updates delivery and webhook.
 */
import {
  DELIVERIES,
  type DeliveryState,
  RETRIES,
  shouldDisable,
  type Transition,
  TRANSITIONS,
  type WebhookHealth,
} from "../webhook.ts";
import { query, type Tx } from "../../database/db.ts";
import { retryDelay } from "../../jobs/retry_schedule.ts";
import { type Leased, settleRows } from "../../jobs/lease_queue.ts";
import { transitionDeliveries } from "./queue.ts";
import { countInHour } from "../../monitoring/hourly_counts.ts";

export interface Outcome {
  /** Status of the answer; null if there was none. */
  status: number | null;
  /** Why there was no answer: a kind of `OutboundError`, or `interrupted`. */
  error: string | null;
  address: string | null;
  durationMs: number;
  /** Beginning of the answer's body. */
  answer: string | null;
  /** How long the endpoint asked to wait (`Retry-After`), in milliseconds. */
  retryAfter: number;
}

/** The result is unknown: the attempt is repeated and does not count. */
export const INTERRUPTED: Outcome = {
  status: null,
  error: "interrupted",
  address: null,
  durationMs: 0,
  answer: null,
  retryAfter: 0,
};

export interface Settlement {
  now: number;
  /** 0…1, for the retry's jitter. */
  fraction: number;
}

interface ClaimedDelivery {
  sellerNo: number;
  attempt: number;
  failures: number;
  webhookId: string;
  url: string;
}

/** The webhook as it is now; `url` is null if it was deleted. */
interface CurrentWebhook {
  url: string | null;
  disabledAt: number | null;
}

interface NextState {
  transition: Transition;
  failures: number;
  dueAt: number | null;
  webhook: Pick<Settled, "webhookFailures" | "webhookDisabled">;
}

export interface Settled {
  state: DeliveryState;
  /** Failed attempts of the webhook since its last success. */
  webhookFailures: number;
  webhookDisabled: boolean;
}

const CLAIMED = query(({ lock }) =>
  `SELECT deliveries.seller_no AS "sellerNo", deliveries.attempts AS attempt,
     deliveries.failures, deliveries.webhook_id AS "webhookId",
     delivery_attempts.url
   FROM deliveries
   JOIN delivery_attempts
     ON delivery_attempts.seller_no = deliveries.seller_no
     AND delivery_attempts.delivery_id = deliveries.id
     AND delivery_attempts.number = deliveries.attempts
   WHERE deliveries.seller_no = ? AND deliveries.id = ?
     AND deliveries.lease_id = ? ${lock("FOR UPDATE OF deliveries")}`
);

/**
 * Records how an attempt ended, and updates the delivery and its webhook.
 * Returns null, with no effect, if the lease is no longer held.
 */
export async function settleDelivery(
  tx: Tx,
  leased: Leased,
  outcome: Outcome,
  settlement: Settlement,
): Promise<Settled | null> {
  const claimed = await tx.get<ClaimedDelivery>(CLAIMED, [
    leased.sellerNo,
    leased.id,
    leased.lease,
  ]);
  if (claimed === undefined) return null;
  const next = isAccepted(outcome)
    ? await settleAccepted(tx, claimed)
    : await settleNotAccepted(tx, claimed, outcome, settlement);
  await recordNext(tx, leased, next, outcome, settlement.now);
  await recordAttempt(tx, leased, claimed.attempt, outcome);
  if (outcome.error !== INTERRUPTED.error) {
    const name = isAccepted(outcome)
      ? "deliveries_delivered"
      : "deliveries_failed";
    await countInHour(tx, settlement.now, name);
  }
  return { state: next.transition.to, ...next.webhook };
}

export function isAccepted({ status }: Outcome): boolean {
  return status !== null && status >= 200 && status < 300;
}

const HEALTHY = { webhookFailures: 0, webhookDisabled: false };

async function settleAccepted(
  tx: Tx,
  claimed: ClaimedDelivery,
): Promise<NextState> {
  await tx.runMany(
    `UPDATE webhooks SET failures = 0, failing_since = NULL, last_error = NULL
     WHERE seller_no = ? AND id = ? AND url = ? AND failures > 0`,
    [[claimed.sellerNo, claimed.webhookId, claimed.url]],
    "any",
  );
  const { failures } = claimed;
  return {
    transition: TRANSITIONS.accept,
    failures,
    dueAt: null,
    webhook: HEALTHY,
  };
}

async function settleNotAccepted(
  tx: Tx,
  claimed: ClaimedDelivery,
  outcome: Outcome,
  { now, fraction }: Settlement,
): Promise<NextState> {
  const current = await lockCurrent(tx, claimed);
  const isInterrupted = outcome.error === INTERRUPTED.error;
  const failures = claimed.failures + (isInterrupted ? 0 : 1);
  const replaced = current.url !== claimed.url;
  // Failures of a former URL do not count against its replacement.
  const webhook = isInterrupted || replaced
    ? HEALTHY
    : await countFailure(tx, claimed, outcome, now);
  const unchanged = { failures, dueAt: null, webhook };
  if (current.url === null) {
    return { transition: TRANSITIONS.cancel, ...unchanged };
  }
  const delay = isInterrupted
    ? 0
    : retryDelay(RETRIES, failures, fraction, outcome.retryAfter);
  if (delay === null) return { transition: TRANSITIONS.exhaust, ...unchanged };
  if (current.disabledAt !== null || webhook.webhookDisabled) {
    return { transition: TRANSITIONS.hold, ...unchanged };
  }
  const dueAt = replaced ? now : now + delay;
  return { ...unchanged, transition: TRANSITIONS.retry, dueAt };
}

/**
 * Locks the webhook, so that it can be neither deleted nor disabled until the
 * commit. A later delete or disable then sees the delivery that this write
 * queues again.
 */
async function lockCurrent(
  tx: Tx,
  { sellerNo, webhookId }: ClaimedDelivery,
): Promise<CurrentWebhook> {
  return await tx.get<CurrentWebhook>(
    query(({ lock }) =>
      `SELECT url, disabled_at AS "disabledAt" FROM webhooks
       WHERE seller_no = ? AND id = ? ${lock("FOR NO KEY UPDATE")}`
    ),
    [sellerNo, webhookId],
  ) ?? { url: null, disabledAt: null };
}

/** Counts a failure of a webhook, and disables it after too many. */
async function countFailure(
  tx: Tx,
  { sellerNo, webhookId }: ClaimedDelivery,
  outcome: Outcome,
  now: number,
): Promise<NextState["webhook"]> {
  const [health] = await tx.returning<
    WebhookHealth & { disabledAt: number | null }
  >(
    `UPDATE webhooks SET failures = failures + 1,
       failing_since = COALESCE(failing_since, ?), last_error = ?
     WHERE seller_no = ? AND id = ?
     RETURNING failures, failing_since AS "failingSince",
       disabled_at AS "disabledAt"`,
    [now, lastAnswer(outcome), sellerNo, webhookId],
    "any",
  );
  if (health === undefined) return HEALTHY;
  const webhookDisabled = health.disabledAt === null &&
    shouldDisable(health, outcome.status, now);
  if (webhookDisabled) {
    await tx.runMany(
      "UPDATE webhooks SET disabled_at = ? WHERE seller_no = ? AND id = ?",
      [[now, sellerNo, webhookId]],
      1,
    );
    const key = { sellerNo, id: webhookId };
    await transitionDeliveries(tx, key, TRANSITIONS.hold, now);
  }
  return { webhookFailures: health.failures, webhookDisabled };
}

/** The status of the answer, or why there was none. */
function lastAnswer({ status, error }: Outcome): string | null {
  return status === null ? error : String(status);
}

async function recordNext(
  tx: Tx,
  leased: Leased,
  { transition, failures, dueAt }: NextState,
  outcome: Outcome,
  now: number,
): Promise<void> {
  const settledAt = dueAt === null ? now : null;
  const values = [transition.to, failures, lastAnswer(outcome), settledAt];
  await settleRows(
    tx,
    DELIVERIES,
    [{ ...leased, dueAt, values }],
    1,
    ", state = ?, failures = ?, last_answer = ?, settled_at = ?",
  );
}

async function recordAttempt(
  tx: Tx,
  { sellerNo, id }: Leased,
  attempt: number,
  outcome: Outcome,
): Promise<void> {
  const { status, error, address, durationMs, answer } = outcome;
  const end = [durationMs, status, error, address, answer];
  await tx.runMany(
    `UPDATE delivery_attempts SET duration_ms = ?, status = ?, error = ?,
       address = ?, answer = ?
     WHERE seller_no = ? AND delivery_id = ? AND number = ?`,
    [[...end, sellerNo, id, attempt]],
    1,
  );
}
