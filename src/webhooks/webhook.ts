/**
 * The rules of webhooks: signatures, retries, when a webhook is disabled, and
 * the states of a delivery.
 */
import { createHmac } from "node:crypto";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/durations.ts";
import { ServiceError } from "../lib/errors.ts";
import type { LeaseQueue } from "../jobs/lease_queue.ts";
import { longestDelayMs, type RetrySchedule } from "../jobs/retry_schedule.ts";
import type { Trigger } from "./trigger.ts";

/** The formats of deliveries. */
export const WEBHOOK_FORMATS = ["xml", "json"] as const;
export type WebhookFormat = typeof WEBHOOK_FORMATS[number];

/** What a seller registers. */
export interface WebhookRegistration {
  trigger: Trigger;
  url: string;
  format: WebhookFormat;
}

/** The URL that is called for one trigger of one seller. */
export interface Webhook extends WebhookRegistration {
  /** UUID; a webhook that is deleted and registered again gets another. */
  id: string;
  /** Unix milliseconds; null while the webhook is enabled. */
  disabledAt: number | null;
  /** Unix milliseconds of the first failed attempt since the last success. */
  failingSince: number | null;
  /**
   * The result of the last failed attempt: a status, or why there was no
   * answer.
   */
  lastError: string | null;
}

/** The webhook as its seller sees it. */
export type ShownWebhook = Omit<Webhook, "id">;

/** The part of a webhook that deliveries depend on. */
export type WebhookState = Pick<Webhook, "id" | "disabledAt">;

export const DELIVERY_STATES = [
  "pending", // not tried yet, or to be tried again
  "sending", // a process holds it under a lease
  "retrying", // an attempt failed, and another one is due
  "delivered", // an attempt was answered with a 2xx
  "exhausted", // every attempt of the schedule failed
  "held", // the webhook is disabled
  "cancelled", // the webhook was deleted
] as const;
export type DeliveryState = typeof DELIVERY_STATES[number];

export interface Transition {
  from: readonly DeliveryState[];
  to: DeliveryState;
}

/**
 * Every state transition of a delivery; the statements in
 * `webhooks/rows/queue.ts` are generated from this table.
 */
export const TRANSITIONS = {
  /** A process claims the delivery under a lease. */
  claim: { from: ["pending", "retrying"], to: "sending" },
  /** The endpoint answered 2xx. */
  accept: { from: ["sending"], to: "delivered" },
  /**
   * The attempt failed and the schedule has another attempt, or the outcome is
   * unknown.
   */
  retry: { from: ["sending"], to: "retrying" },
  /** The last attempt of the schedule failed. */
  exhaust: { from: ["sending"], to: "exhausted" },
  /** The webhook was disabled. */
  hold: { from: ["pending", "retrying", "sending"], to: "held" },
  /** The webhook was enabled again. */
  free: { from: ["held"], to: "pending" },
  /** The webhook was deleted. */
  cancel: { from: ["pending", "retrying", "held", "sending"], to: "cancelled" },
  /**
   * A seller or the operator replays the delivery; the retry schedule starts
   * again.
   */
  replay: {
    from: ["pending", "retrying", "delivered", "exhausted", "cancelled"],
    to: "pending",
  },
  /** The seller recovers missed deliveries. */
  recover: { from: ["retrying", "exhausted", "cancelled"], to: "pending" },
} as const satisfies Record<string, Transition>;

/** How long an endpoint may take to answer. */
export const ANSWER_TIMEOUT_MS = 20 * SECOND_MS;

/** When a delivery is tried again. */
export const RETRIES: RetrySchedule = {
  delaysMs: [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  retryAfterMs: 24 * HOUR_MS,
};

/** The queue of deliveries; new deliveries are never postponed. */
export const DELIVERIES: LeaseQueue = {
  table: "deliveries",
  order: "id",
  longestPauseMs: longestDelayMs(RETRIES),
  neverPostponed: "failures = 0",
};

export interface WebhookHealth {
  /** Failed attempts since the last success or registration. */
  failures: number;
  /**
   * Unix milliseconds of the first of these failures; null if there are none.
   */
  failingSince: number | null;
}

/**
 * Longer than the whole schedule of `RETRIES`, so that, without a
 * `Retry-After`, one failing delivery alone does not disable a webhook.
 */
export const DISABLE_AFTER_MS = 5 * DAY_MS;
/**
 * Counts attempts of all deliveries together, so it is independent of
 * `RETRIES`.
 */
const DISABLE_AFTER_TRIES = 10;

/**
 * Whether a webhook is to be disabled at `now`. Its health includes the current
 * attempt, which failed with `status` (null if there was no answer).
 */
export function shouldDisable(
  health: WebhookHealth,
  status: number | null,
  now: number,
): boolean {
  if (status === 410) return true;
  return health.failures >= DISABLE_AFTER_TRIES &&
    health.failingSince !== null &&
    now - health.failingSince >= DISABLE_AFTER_MS;
}

/**
 * How long a delivery is kept in a final state, as a multiple of
 * SELLER_KEEP_EVENTS_DAYS.
 */
export const RETENTION = {
  delivered: 1,
  cancelled: 1,
  exhausted: 3,
  held: 3,
};
export type SettledState = keyof typeof RETENTION;

/** How many attempts of a delivery are kept, however often it is replayed. */
export const KEPT_ATTEMPTS = 100;

const SECRET_PREFIX = "whsec_";
/** How long a former secret also signs. */
const SECRET_OVERLAP_MS = 24 * HOUR_MS;
/**
 * The most former secrets that sign at the same time, because each adds a
 * signature.
 */
const FORMER_SECRETS = 4;

/** A secret, and until when it signs, in Unix milliseconds. */
export type FormerSecret = readonly [secret: string, until: number];

/** The current secret, and former ones that still sign. */
export interface Secrets {
  current: string;
  former: readonly FormerSecret[];
}

/** The secrets that sign at `now`, the current one first. */
export function signingSecrets(
  { current, former }: Secrets,
  now: number,
): string[] {
  return [current, ...stillSigning(former, now).map(([secret]) => secret)];
}

/**
 * Replaces the current secret by `next`. The replaced secret signs for another
 * 24 hours; older secrets sign until their promised time. Throws 429 if too
 * many former secrets still sign.
 */
export function rotateSecrets(
  { current, former }: Secrets,
  next: string,
  now: number,
): Secrets {
  const signing = stillSigning(former, now);
  if (signing.length >= FORMER_SECRETS) {
    const seconds = Math.ceil((signing[0][1] - now) / SECOND_MS);
    throw new ServiceError(
      "rate_limited",
      `${FORMER_SECRETS} former secrets still sign, which is the maximum; the ` +
        `first of them stops signing at ${
          new Date(signing[0][1]).toISOString()
        }. ` +
        "Rotate the secret then.",
      { headers: { "Retry-After": String(seconds) } },
    );
  }
  return {
    current: next,
    former: [...signing, [current, now + SECRET_OVERLAP_MS]],
  };
}

/** The former secrets that sign at `now`. */
export function stillSigning(former: readonly FormerSecret[], now: number) {
  return former.filter(([, until]) => now < until);
}

/**
 * The value of `webhook-signature` (https://www.standardwebhooks.com): one
 * `v1,` HMAC-SHA256 over `id.timestamp.body` for each secret. `timestamp` is
 * in Unix seconds.
 */
export function webhookSignature(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: Uint8Array,
): string {
  return secrets.map((secret) => {
    const key = Uint8Array.fromBase64(secret.slice(SECRET_PREFIX.length));
    const digest = createHmac("sha256", key)
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest("base64");
    return `v1,${digest}`;
  }).join(" ");
}
