/**
 * Limits uploads in progress. A seller without any waits a while for a slot, so
 * that it is not refused for what others upload.
 */
import type { Clock } from "../../deps.ts";
import type { Holder } from "../../lib/holders.ts";
import { type Permit, WaitList } from "../../lib/wait_list.ts";
import {
  limitOf,
  refusalOf,
  requestQuota,
  whyAborted,
} from "./seller_quota.ts";

/** From the end of the body to the answer. */
const UPLOADS = requestQuota({ perSeller: 16, total: 64, what: "uploads" });
/** How long an upload waits for a slot. */
const WAIT_MS = 5_000;
/** How many wait at most: the sellers whose latest slot was longest ago. */
const WAITING = 32;
/** Larger bodies do not wait. */
const WAITING_BYTES = 1_024 * 1_024;

export interface UploadRequest {
  seller: string;
  /** Bytes of its body, which was read. */
  bytes: number;
  /** Fires when the client disconnects or the service stops. */
  abort: () => AbortSignal;
  /** Fires when the service stops. */
  stopping: AbortSignal;
}

/** Slots for uploads; see the top of this file. */
export class UploadQuota implements Holder {
  readonly #clock: Clock;
  readonly #slots: WaitList;
  /** How to refuse each seller's upload that waits; a seller has one at most. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#slots = new WaitList({
      policy: {
        limit: limitOf(UPLOADS),
        rank: (seller, { owners }) => owners.of(seller).latest,
      },
      clock,
    });
  }

  /** What it holds; all zero when nothing is in progress. */
  held() {
    return this.#slots.held();
  }

  /** As in `Holder`. */
  oldestWaitMs(): number {
    return this.#slots.oldestWaitMs();
  }

  /** Uploads in progress. */
  get taken(): number {
    return this.#slots.usage.total;
  }

  /**
   * Resolves to a slot, which is held until it is disposed of. Throws 429 if the
   * seller has no slot left; 503 if no seller has, at once to a seller that has
   * one or waits for one; 408 if the client disconnects while it waits, 503 if
   * the service stops.
   */
  async take(request: UploadRequest): Promise<Permit> {
    const ask = { owner: request.seller };
    const permit = this.#slots.tryAdd(ask);
    if (permit !== undefined) return permit;
    if (this.#mayWait(request)) return await this.#wait(request);
    throw refusalOf(UPLOADS, this.#slots, ask);
  }

  #mayWait({ seller, bytes }: UploadRequest): boolean {
    const isFirst = this.#slots.usage.of(seller) === 0 &&
      !this.#waiting.has(seller);
    if (!isFirst || bytes > WAITING_BYTES) return false;
    if (this.#waiting.size < WAITING) return true;
    const [last] = [...this.#waiting.keys()]
      .sort((a, b) => this.#latestOf(b) - this.#latestOf(a));
    if (this.#latestOf(seller) >= this.#latestOf(last)) return false;
    this.#waiting.get(last)!.abort(UPLOADS.refusal("all"));
    return true;
  }

  #latestOf(seller: string): number {
    return this.#slots.usage.owners.of(seller).latest;
  }

  async #wait({ seller, abort, stopping }: UploadRequest): Promise<Permit> {
    const refused = new AbortController();
    const refuse = () => refused.abort(UPLOADS.refusal("all"));
    const cancel = this.#clock.after(WAIT_MS, refuse);
    this.#waiting.set(seller, refused);
    try {
      const gone = AbortSignal.any([refused.signal, abort()]);
      return await this.#slots.add({ owner: seller }, gone);
    } catch {
      const { aborted, reason } = refused.signal;
      throw aborted ? reason : whyAborted(stopping);
    } finally {
      cancel();
      this.#waiting.delete(seller);
    }
  }
}
