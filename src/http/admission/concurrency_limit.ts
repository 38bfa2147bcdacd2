/**
 * Limits resources that sellers share, such as slots for requests or bytes of
 * bodies.
 */
import { BODY_COST, SELLER_BODY_SHARE } from "../../config.ts";
import type { Clock } from "../../deps.ts";
import { connectionClosed, ServiceError } from "../../lib/errors.ts";
import type { Holder, InUse } from "../../lib/holders.ts";
import { dynamicThreshold, leastOf, ownerLimit } from "../../lib/limits.ts";
import { type Permit, WaitList } from "../../lib/wait_list.ts";

/** Headers of an error at a limit. Work in progress ends soon, so retry soon. */
export const RETRY_SOON = { headers: { "Retry-After": "1" } };

export interface ConcurrencyLimitOptions {
  total: number;
  perSeller: number;
  /** What is limited, in the plural, for error messages. */
  what: string;
}

/**
 * Limits how much of a resource is in use. A seller may use up to `perSeller`,
 * and at most as much as is free for all others together. A request for more is
 * refused at once.
 */
export class ConcurrencyLimit implements Holder {
  /** The waiter whose seller has had no permit for the longest time is next. */
  readonly list: WaitList;
  readonly #options: ConcurrencyLimitOptions;

  constructor(clock: Clock, options: ConcurrencyLimitOptions) {
    const { perSeller, total } = options;
    this.#options = options;
    this.list = new WaitList(clock, {
      limit: leastOf(ownerLimit(perSeller), dynamicThreshold(total)),
      rank: (seller, owners) => owners.latestPermit(seller),
    });
  }

  /** Acquires an amount; throws 429 or 503 if it is not free. */
  acquire(seller: string, amount = 1): Permit {
    const permit = this.list.tryAcquire({ owner: seller, amount });
    if (permit !== undefined) return permit;
    throw this.refusal(seller, amount);
  }

  /** The error 429 if the seller's own limit is reached, otherwise 503. */
  refusal(seller: string, amount = 1): ServiceError {
    const { perSeller, what } = this.#options;
    const wanted = this.list.usage.used(undefined, seller) + amount;
    if (wanted <= perSeller) return serviceIsBusy(what);
    return new ServiceError(
      "rate_limited",
      `You have ${perSeller} ${what} in progress, the most allowed; wait ` +
        "until one has ended.",
      RETRY_SOON,
    );
  }

  /** The amounts in use; all zero when nothing is in progress. */
  inUse(): InUse {
    return this.list.inUse();
  }

  /** The amount that all sellers use together. */
  get acquired(): number {
    return this.list.usage.used();
  }
}

/** The error 503 of a concurrency limit. */
export function serviceIsBusy(
  what: string,
  options = RETRY_SOON,
): ServiceError {
  return new ServiceError(
    "unavailable",
    `The service has too many ${what} in progress; nothing of this ` +
      "request was stored. Send it again.",
    options,
  );
}

/** Limits the bytes of all bodies and documents in progress. */
export class BodyBudget extends ConcurrencyLimit {
  /** @param total bytes of memory; each byte of a body takes `BODY_COST` */
  constructor(clock: Clock, total: number) {
    const perSeller = total * SELLER_BODY_SHARE;
    super(clock, { total, perSeller, what: "bytes of request bodies" });
  }

  /** Reserves memory for a body of `bytes` until `held` is disposed of. */
  takeFor(held: DisposableStack, seller: string, bytes: number): void {
    held.use(this.acquire(seller, BODY_COST * bytes));
  }

  override refusal(): ServiceError {
    const headers = { "Retry-After": "2" };
    return serviceIsBusy("bytes of request bodies", { headers });
  }
}

/**
 * Waits for a permit of an owner. `abort` is called only if no permit is free.
 * When its signal fires, throws the signal's reason if that is a `ServiceError`;
 * otherwise a 408, which only the log shows, because the client has
 * disconnected.
 */
export async function permitFor(
  list: WaitList,
  owner: string,
  abort: () => AbortSignal,
): Promise<Permit> {
  try {
    return list.tryAcquire({ owner }) ?? await list.waitFor({ owner }, abort());
  } catch (reason) {
    if (reason instanceof ServiceError) throw reason;
    throw connectionClosed();
  }
}
