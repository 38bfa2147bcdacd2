/**
 * The limits of deliveries in flight, shared among sellers by how long their
 * endpoints take.
 */
import type { Clock } from "../../deps.ts";
import {
  firstKeyLimit,
  leastOf,
  type Limit,
  limitOfKey,
  timeShareLimit,
} from "../../lib/limits.ts";
import { type Ask, Owners, type Permit, Usage } from "../../lib/usage.ts";
import type { QueueHead } from "../rows/queue.ts";

/** The most attempts in flight to one URL, for all webhooks together. */
const PER_ENDPOINT = 4;
/** The limit for a failing webhook. */
const PER_FAILING_ENDPOINT = 1;
/** The most attempts in flight in total. */
export const ATTEMPTS_IN_ALL = 256;
/**
 * The most attempts of all failing webhooks together; the other slots are
 * reserved for working webhooks.
 */
const FAILING_ATTEMPTS_IN_ALL = 192;

/** How many deliveries of a webhook may be claimed. */
export interface ClaimShare {
  head: QueueHead;
  limit: number;
}

/** The key of all attempts of failing webhooks. */
const FAILING = "failing";

const failingAt = (url: string) => `failing ${url}`;

function deliveryAsk({ webhookId, sellerId, url, failing }: QueueHead): Ask {
  const keys = failing
    ? [url, webhookId, FAILING, failingAt(url)]
    : [url, webhookId];
  return { owner: sellerId, keys };
}

const COMMON_LIMIT = leastOf(
  timeShareLimit(ATTEMPTS_IN_ALL),
  firstKeyLimit(PER_ENDPOINT),
);

function deliveryLimit({ webhookId, url, failing }: QueueHead): Limit {
  if (!failing) return COMMON_LIMIT;
  return leastOf(
    COMMON_LIMIT,
    limitOfKey(FAILING, FAILING_ATTEMPTS_IN_ALL),
    limitOfKey(failingAt(url), PER_FAILING_ENDPOINT),
    // Deliveries that began before the webhook failed count, too.
    limitOfKey(webhookId, PER_FAILING_ENDPOINT),
  );
}

export class InFlight {
  readonly #usage: Usage;

  constructor(clock: Clock) {
    this.#usage = new Usage(new Owners(clock));
  }

  /**
   * Acquires a permit for a delivery of a webhook, in the state in which the
   * delivery was claimed.
   */
  acquire(head: QueueHead): Permit {
    return this.#usage.acquire(deliveryAsk(head));
  }

  /**
   * How many deliveries each webhook may send, in the order of `heads`, within
   * all limits.
   */
  shares(heads: readonly QueueHead[]): ClaimShare[] {
    const shares: ClaimShare[] = [];
    const plan = this.#usage.copyForPlan();
    for (const head of heads) {
      const ask = deliveryAsk(head);
      const limit = deliveryLimit(head)(ask, plan);
      if (limit <= 0) continue;
      plan.add({ ...ask, amount: limit });
      shares.push({ head, limit });
    }
    return shares;
  }
}
