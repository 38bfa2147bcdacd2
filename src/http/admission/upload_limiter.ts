/**
 * Limits uploads in progress, of documents or of images. An upload of a seller
 * that has none in progress waits a while for a slot, so that it does not fail
 * because of other sellers.
 */
import type { Clock } from "../../deps.ts";
import type { Permit } from "../../lib/wait_list.ts";
import {
  ConcurrencyLimit,
  type ConcurrencyLimitOptions,
  permitFor,
  serviceIsBusy,
} from "./concurrency_limit.ts";

/** Uploads of documents, which count from the end of the body to the answer. */
export const UPLOADS_IN_ALL = { perSeller: 16, total: 64, what: "uploads" };
/** Uploads of images, which count from the beginning of the body. */
export const IMAGES_IN_ALL = {
  perSeller: 16,
  total: 128,
  what: "uploads of images",
};
/** How long an upload waits for a slot. */
const WAIT_MS = 5_000;
/** An upload with a larger body does not wait, because it occupies memory. */
const WAITING_BYTES = 1_024 * 1_024;

export interface UploadRequest {
  seller: string;
  /** Bytes of the body that have been read. */
  bytes: number;
  /**
   * Returns a signal that fires when the client disconnects or the service
   * stops.
   */
  abort: () => AbortSignal;
}

export class UploadLimiter extends ConcurrencyLimit {
  readonly #clock: Clock;
  readonly #what: string;
  /** Sellers with an upload that waits; each has only one. */
  readonly #waiting = new Set<string>();

  constructor(clock: Clock, options: ConcurrencyLimitOptions) {
    super(clock, options);
    this.#clock = clock;
    this.#what = options.what;
  }

  /**
   * Resolves to a slot, which is free again when it is disposed of. Throws 429
   * if the seller uses all its slots. If all slots are in use, throws 503: at
   * once for a large body, and for a seller that uses a slot or waits for one;
   * otherwise after a wait.
   * Throws 408 if the client disconnects during the wait, 503 if the service
   * stops.
   */
  async begin(request: UploadRequest): Promise<Permit> {
    const { seller } = request;
    const slot = this.list.tryAcquire({ owner: seller });
    if (slot !== undefined) return slot;
    if (this.#mayWait(request)) return await this.#wait(request);
    throw this.refusal(seller);
  }

  #mayWait({ seller, bytes }: UploadRequest): boolean {
    return bytes <= WAITING_BYTES && !this.#waiting.has(seller) &&
      this.list.usage.used(undefined, seller) === 0;
  }

  async #wait({ seller, abort }: UploadRequest): Promise<Permit> {
    const refused = new AbortController();
    const refuse = () => refused.abort(serviceIsBusy(this.#what));
    const cancel = this.#clock.after(WAIT_MS, refuse);
    const refusedOrGone = () => AbortSignal.any([refused.signal, abort()]);
    this.#waiting.add(seller);
    try {
      return await permitFor(this.list, seller, refusedOrGone);
    } finally {
      cancel();
      this.#waiting.delete(seller);
    }
  }
}
