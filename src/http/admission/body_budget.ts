/** Limits the total size of all bodies and documents in progress. */
import { BODY_COST, SELLER_BODY_SHARE } from "../../config.ts";
import { ServiceError } from "../../lib/errors.ts";
import type { Held } from "../../lib/holders.ts";
import { SharedBudget } from "./shared_budget.ts";

/** A seller may have at most a quarter of it, and as `SharedBudget` says. */
export class BodyBudget {
  readonly #bytes: SharedBudget;

  /** @param total bytes */
  constructor(total: number) {
    const perSeller = total * SELLER_BODY_SHARE;
    this.#bytes = new SharedBudget({ total, perSeller });
  }

  /** What it holds; all zero when no body is in progress. */
  held(): Held {
    return this.#bytes.held();
  }

  /** Opens a request's share, which is returned when it is disposed of. */
  open(seller: string): BodyShare {
    return new BodyShare(
      (bytes) => this.#take(seller, BODY_COST * bytes),
      (bytes) => this.#bytes.giveBack(seller, BODY_COST * bytes),
    );
  }

  #take(seller: string, bytes: number): void {
    if (this.#bytes.take(seller, bytes) === null) return;
    throw new ServiceError(
      "unavailable",
      "The service has too many bytes of request bodies in progress; " +
        "nothing of this request was stored. Send it again.",
      { headers: { "Retry-After": "2" } },
    );
  }
}

/** One request's share of the budget. */
export class BodyShare implements Disposable {
  readonly #take: (bytes: number) => void;
  readonly #giveBack: (bytes: number) => void;
  #bytes = 0;

  constructor(
    take: (bytes: number) => void,
    giveBack: (bytes: number) => void,
  ) {
    this.#take = take;
    this.#giveBack = giveBack;
  }

  /** Throws 503 if there is no room for so many more bytes of the body. */
  take(bytes: number): void {
    this.#take(bytes);
    this.#bytes += bytes;
  }

  [Symbol.dispose](): void {
    if (this.#bytes > 0) this.#giveBack(this.#bytes);
    this.#bytes = 0;
  }
}
