/** Bounds how much is in progress at once, for a seller and in all. */
import { ServiceError } from "../lib/errors.ts";

export interface ConcurrencyQuotaOptions {
  perSeller: number;
  total: number;
  /** What takes a place, in the plural, as the refusal names it. */
  what: string;
}

export class ConcurrencyQuota {
  readonly #options: ConcurrencyQuotaOptions;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(options: ConcurrencyQuotaOptions) {
    this.#options = options;
  }

  /**
   * Takes a place until what is answered is called, once. Throws 429 when the
   * seller has none left, 503 when nobody has.
   */
  take(seller: string): () => void {
    const { perSeller, total, what } = this.#options;
    const taken = this.#taken.get(seller) ?? 0;
    if (taken >= perSeller) {
      throw new ServiceError(
        "rate_limited",
        `${perSeller} ${what} of yours are in progress, which is the most; ` +
          "wait for one of them.",
        LATER,
      );
    }
    if (this.#total >= total) {
      throw new ServiceError(
        "unavailable",
        `The service has as many ${what} in progress as it can take; nothing ` +
          "of this request was stored. Send it again.",
        LATER,
      );
    }
    this.#taken.set(seller, taken + 1);
    this.#total++;
    return () => this.#leave(seller);
  }

  #leave(seller: string): void {
    this.#total--;
    const left = (this.#taken.get(seller) ?? 0) - 1;
    if (left > 0) this.#taken.set(seller, left);
    else this.#taken.delete(seller);
  }
}

const LATER = { headers: { "Retry-After": "1" } };
