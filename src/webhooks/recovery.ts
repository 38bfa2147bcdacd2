/** Delivers again the events that a webhook missed in a period. */
import type { Tx } from "../database/db.ts";
import { type RunStep, withoutYielding } from "../lib/steps.ts";
import type { Services } from "../services.ts";
import {
  eventsInPeriod,
  type Period,
  setDelivery,
  type TimedEvent,
} from "./event_feed.ts";
import { insertDelivery, requeueDelivery } from "./rows/queue.ts";
import { findWebhook, lockWebhook } from "./webhook_rows.ts";
import { TRANSITIONS, type Webhook } from "./webhook.ts";
import type { Trigger } from "./trigger.ts";

/** The events of one step; few, because other writes wait meanwhile. */
const STEP_EVENTS = 250;

export interface RecoveryRequest {
  sellerNo: number;
  trigger: Trigger;
  period: Period;
}

export interface Recovered {
  queued: number;
  /** The queued deliveries that wait until the webhook is registered again. */
  held: number;
}

/**
 * Queues events whose delivery is exhausted, cancelled, retrying or missing,
 * with a new retry schedule; a disabled webhook holds them. Returns null if no
 * webhook is registered. Each step is a separate write and counts no delivery
 * twice, so an interrupted recovery can be repeated.
 */
export async function recoverDeliveries(
  { db, deps, signals }: Pick<Services, "db" | "deps" | "signals">,
  request: RecoveryRequest,
  runStep: RunStep = withoutYielding,
): Promise<Recovered | null> {
  const { sellerNo, trigger, period } = request;
  const registered = await db.of(sellerNo).read((sql) =>
    findWebhook(sql, sellerNo, trigger)
  );
  if (registered === undefined) return null;
  const recovered = { queued: 0, held: 0 };
  let after: TimedEvent | null = null;
  const readStep = () =>
    db.of(sellerNo).read((sql) =>
      eventsInPeriod(sql, request, period, after, STEP_EVENTS)
    );
  for (;;) {
    const events = await runStep(readStep);
    const missed = events.filter(isMissed);
    if (missed.length > 0) {
      const step = await db.of(sellerNo).write(async (tx) => {
        const webhook = await lockWebhook(tx, sellerNo, trigger);
        if (webhook === undefined) return { queued: 0, held: 0 };
        tx.onCommit(() => signals.deliveries.announce());
        const owned = { ...webhook, sellerNo };
        const queued = await queueMissed(tx, deps, owned, missed);
        return { queued, held: webhook.disabledAt === null ? 0 : queued };
      }, { heavy: true });
      recovered.queued += step.queued;
      recovered.held += step.held;
      await deps.maybe?.("deliveries recovered in part");
    }
    if (events.length < STEP_EVENTS) return recovered;
    after = events[STEP_EVENTS - 1];
  }
}

function isMissed({ deliveryId, state }: TimedEvent): boolean {
  if (state === null) return deliveryId === null;
  return state === "held" ||
    (TRANSITIONS.recover.from as readonly string[]).includes(state);
}

type OwnedWebhook = Webhook & { sellerNo: number };

/** Queues or holds the deliveries of missed events; returns how many. */
async function queueMissed(
  tx: Tx,
  { clock, ids }: Pick<Services["deps"], "clock" | "ids">,
  webhook: OwnedWebhook,
  missed: readonly TimedEvent[],
): Promise<number> {
  const now = clock.now();
  let queued = 0;
  for (const { id, deliveryId, state } of missed) {
    const isQueued = state === "held" ||
      (deliveryId === null
        ? await deliverForFirstTime(tx, webhook, id, ids.uuid(), now)
        : await requeueDelivery(
          tx,
          { sellerNo: webhook.sellerNo, id: deliveryId },
          TRANSITIONS.recover,
          webhook,
          now,
        ));
    if (isQueued) queued++;
  }
  return queued;
}

async function deliverForFirstTime(
  tx: Tx,
  webhook: OwnedWebhook,
  eventId: string,
  id: string,
  now: number,
): Promise<boolean> {
  const key = { sellerNo: webhook.sellerNo, id };
  if (!await setDelivery(tx, eventId, key)) return false;
  await insertDelivery(tx, key, eventId, webhook, now, 1);
  return true;
}
