/** Limits the total size of all bodies and documents in progress. */
import { BODY_COST, SELLER_BODY_SHARE } from "../config.ts";
import { ServiceError } from "../lib/errors.ts";

/**
 * A budget of bytes that sellers share. A seller may have at most a quarter of
 * it, and at most as much as is left for all others (a dynamic threshold, as
 * for shared switch buffers): however many sellers take all they can, the next
 * one finds as much room as each of them has.
 */
export class BodyBudget {
  readonly #total: number;
  readonly #taken = new Map<string, number>();
  #free: number;

  /** @param total bytes */
  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  /** Opens a request's share, which is returned when it is disposed of. */
  open(seller: string): BodyShare {
    return new BodyShare(
      (bytes) => this.#take(seller, BODY_COST * bytes),
      (bytes) => this.#giveBack(seller, BODY_COST * bytes),
    );
  }

  #take(seller: string, bytes: number): void {
    const taken = (this.#taken.get(seller) ?? 0) + bytes;
    const most = Math.min(this.#total * SELLER_BODY_SHARE, this.#free - bytes);
    if (taken > most) {
      throw new ServiceError(
        "unavailable",
        "The service has too many bytes of request bodies in progress; " +
          "nothing of this request was stored. Send it again.",
        { headers: { "Retry-After": "2" } },
      );
    }
    this.#taken.set(seller, taken);
    this.#free -= bytes;
  }

  #giveBack(seller: string, bytes: number): void {
    const left = (this.#taken.get(seller) ?? 0) - bytes;
    if (left > 0) this.#taken.set(seller, left);
    else this.#taken.delete(seller);
    this.#free += bytes;
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
