/** What sellers share, such as bytes of bodies; refused at once if too much. */
import { BODY_COST, SELLER_BODY_SHARE } from "../../config.ts";
import type { Clock } from "../../deps.ts";
import { ServiceError, serviceStopping } from "../../lib/errors.ts";
import type { Holder } from "../../lib/holders.ts";
import { all, leavesAsMuch, type Limit, perOwner } from "../../lib/limits.ts";
import { type Permit, WaitList } from "../../lib/wait_list.ts";

/** What is in progress ends soon. */
export const RETRY_SOON = { headers: { "Retry-After": "1" } };

export interface QuotaOptions {
  total: number;
  perSeller: number;
  /** The refusal, by whose limit was reached. */
  refusal: (whose: "seller" | "all") => ServiceError;
}

/**
 * A seller may have so much, and as much as it leaves for all others. Nobody
 * waits here.
 */
export class SellerQuota implements Holder {
  readonly #options: QuotaOptions;
  readonly #list: WaitList;

  constructor(clock: Clock, options: QuotaOptions) {
    this.#options = options;
    this.#list = new WaitList({ policy: { limit: limitOf(options) }, clock });
  }

  /** Throws if there is no room. */
  take(seller: string, amount = 1): Permit {
    const ask = { owner: seller, amount };
    const permit = this.#list.tryAdd(ask);
    if (permit !== undefined) return permit;
    throw refusalOf(this.#options, this.#list, ask);
  }

  /** What it holds; all zero when nothing is in progress. */
  held() {
    return this.#list.held();
  }

  /** What all sellers have. */
  get taken(): number {
    return this.#list.usage.total;
  }
}

export function limitOf(
  { perSeller, total }: Pick<QuotaOptions, "perSeller" | "total">,
): Limit {
  return all(perOwner(perSeller), leavesAsMuch(total));
}

/** Why a seller has no room in a list with the limit of these options. */
export function refusalOf(
  { perSeller, refusal }: QuotaOptions,
  { usage }: WaitList,
  { owner, amount = 1 }: { owner: string; amount?: number },
): ServiceError {
  return refusal(usage.of(owner) + amount > perSeller ? "seller" : "all");
}

/**
 * A number of requests: 429 if the seller has no place left, 503 if no seller
 * has. The message names them by `what`, in the plural.
 */
export function requestQuota(
  { perSeller, total, what }: {
    perSeller: number;
    total: number;
    what: string;
  },
): QuotaOptions {
  const refusal = (whose: "seller" | "all") =>
    whose === "seller"
      ? new ServiceError(
        "rate_limited",
        `You have ${perSeller} ${what} in progress, the most allowed; wait ` +
          "until one has ended.",
        RETRY_SOON,
      )
      : new ServiceError(
        "unavailable",
        `The service has too many ${what} in progress; nothing of this ` +
          "request was stored. Send it again.",
        RETRY_SOON,
      );
  return { perSeller, total, refusal };
}

/**
 * The size of all bodies and documents in progress, of which a seller may have
 * a quarter.
 *
 * @param total bytes, `BODY_COST` for each of a body
 */
export function bodyBudget(total: number): QuotaOptions {
  return {
    total,
    perSeller: total * SELLER_BODY_SHARE,
    refusal: () =>
      new ServiceError(
        "unavailable",
        "The service has too many bytes of request bodies in progress; " +
          "nothing of this request was stored. Send it again.",
        { headers: { "Retry-After": "2" } },
      ),
  };
}

/**
 * Takes from the body budget what a request's body needs, block by block, until
 * `held` is disposed of.
 */
export function bodyShare(
  budget: SellerQuota,
  seller: string,
  held: DisposableStack,
): (bytes: number) => void {
  return (bytes) => void held.use(budget.take(seller, BODY_COST * bytes));
}

/**
 * Why a request was aborted: 503 if the service stops, else 408 for a client
 * that has disconnected, which only the log shows.
 */
export function whyAborted(stopping: AbortSignal): ServiceError {
  if (stopping.aborted) return serviceStopping();
  return new ServiceError(
    "request_timeout",
    "The connection was closed before the answer was ready.",
  );
}
