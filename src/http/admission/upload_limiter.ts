/**
 * Limits uploads in progress, of documents or of images. A seller without an
 * upload in progress waits a while for a slot, so that the uploads of others do
 * not make it fail.
 */
import type { Clock } from "../../deps.ts";
import type { Permit } from "../../lib/wait_list.ts";
import {
  ConcurrencyLimit,
  type ConcurrencyLimitOptions,
  permitFor,
  tooManyRequests,
} from "./concurrency_limit.ts";

/** Documents, which count from the end of their body to their answer. */
export const UPLOADS_IN_ALL = { perSeller: 16, total: 64, what: "uploads" };
/** Images, which count from the beginning of their body. */
export const IMAGES_IN_ALL = {
  perSeller: 16,
  total: 128,
  what: "uploads of images",
};
/** How long an upload waits for a slot. */
const WAIT_MS = 5_000;
/** Larger bodies do not wait. */
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

/** Slots for uploads; see the top of this file. */
export class UploadLimiter extends ConcurrencyLimit {
  readonly #clock: Clock;
  readonly #what: string;
  /** Sellers with an upload that waits; one upload of each. */
  readonly #waiting = new Set<string>();

  constructor(clock: Clock, options: ConcurrencyLimitOptions) {
    super(clock, options);
    this.#clock = clock;
    this.#what = options.what;
  }

  /**
   * Resolves to a slot, which is held until it is disposed of. Throws 429 if
   * the seller has used all its slots. If all slots are used, throws 503: at
   * once for a seller that has a slot or waits for one, otherwise after a wait.
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
    const refuse = () => refused.abort(tooManyRequests(this.#what));
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
