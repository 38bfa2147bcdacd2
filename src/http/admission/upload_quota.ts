/**
 * Limits uploads in progress. A seller without any waits a while for a slot, so
 * that it is not refused for what others upload.
 */
import type { Clock } from "../../deps.ts";
import { RecentValues } from "../../lib/recent_values.ts";
import { tooManyInProgress, whyAborted } from "./concurrency.ts";
import { SharedBudget } from "./shared_budget.ts";

/** From the end of the body to the answer. */
const UPLOADS = { perSeller: 16, total: 64, what: "uploads" };
/** How long an upload waits for a slot. */
const WAIT_MS = 5_000;
/** How many wait at most: the sellers whose latest slot was longest ago. */
const WAITING = 32;
/** Larger bodies do not wait. */
const WAITING_BYTES = 1_024 * 1_024;
/** Sellers whose latest slot is remembered. */
const REMEMBERED = 1_000;

export interface UploadRequest {
  seller: string;
  /** Bytes of its body, which was read. */
  bytes: number;
  /** Fires when the client disconnects or the service stops. */
  abort: () => AbortSignal;
  /** Fires when the service stops. */
  stopping: AbortSignal;
}

/** An upload that waits; one of each seller at most. */
interface Waiter {
  start: () => void;
  refuse: () => void;
  /** Monotonic milliseconds. */
  askedAt: number;
}

/** Slots for uploads; see the top of this file. */
export class UploadQuota {
  readonly #clock: Clock;
  readonly #slots = new SharedBudget(UPLOADS);
  /** By seller, in order of arrival. */
  readonly #waiting = new Map<string, Waiter>();
  /** By seller, the number of its latest slot. */
  readonly #latest = new RecentValues<number>(REMEMBERED);
  #granted = 0;
  /** When the last slot was given back; monotonic milliseconds. */
  #releasedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What it holds; all zero when nothing is in progress. */
  held(): { taken: number; sellers: number; waiting: number } {
    return { ...this.#slots.held(), waiting: this.#waiting.size };
  }

  /** As in `Holder`. */
  oldestWaitMs(): number {
    const [next] = this.#inLine();
    if (next === undefined || this.#slots.refusal(next, 1) !== null) return 0;
    const { askedAt } = this.#waiting.get(next)!;
    return this.#clock.monotonic() - Math.max(askedAt, this.#releasedAt);
  }

  /** Uploads in progress. */
  get taken(): number {
    return this.#slots.taken;
  }

  /**
   * Resolves to a slot, which is held until it is disposed of. Throws 429 if the
   * seller has no slot left; 503 if no seller has, at once to a seller that has
   * one or waits for one; 408 if the client disconnects while it waits, 503 if
   * the service stops.
   */
  async take(request: UploadRequest): Promise<Disposable> {
    const { seller } = request;
    const refusal = this.#slots.take(seller, 1);
    if (refusal === null) return this.#grant(seller);
    if (refusal === "seller" || !this.#mayWait(request)) {
      throw tooManyInProgress(refusal, UPLOADS);
    }
    return await this.#wait(request);
  }

  #mayWait({ seller, bytes }: UploadRequest): boolean {
    if (this.#slots.of(seller) > 0 || this.#waiting.has(seller)) return false;
    if (bytes > WAITING_BYTES) return false;
    if (this.#waiting.size < WAITING) return true;
    const last = this.#inLine().at(-1)!;
    if (this.#latestOf(seller) >= this.#latestOf(last)) return false;
    this.#waiting.get(last)!.refuse();
    return true;
  }

  /** Waiting sellers; the one whose latest slot was longest ago comes first. */
  #inLine(): string[] {
    return [...this.#waiting.keys()]
      .sort((a, b) => this.#latestOf(a) - this.#latestOf(b));
  }

  #latestOf(seller: string): number {
    return this.#latest.get(seller) ?? 0;
  }

  #wait({ seller, abort, stopping }: UploadRequest): Promise<Disposable> {
    const signal = abort();
    return new Promise((resolve, reject) => {
      const leave = () => {
        cancel();
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(seller);
      };
      const refuse = () => {
        leave();
        reject(tooManyInProgress("all", UPLOADS));
      };
      const start = () => {
        leave();
        resolve(this.#grant(seller));
      };
      const onAbort = () => {
        leave();
        reject(whyAborted(stopping));
      };
      const cancel = this.#clock.after(WAIT_MS, refuse);
      signal.addEventListener("abort", onAbort);
      const askedAt = this.#clock.monotonic();
      this.#waiting.set(seller, { start, refuse, askedAt });
      if (signal.aborted) onAbort();
    });
  }

  /** The slot that was taken for a seller. */
  #grant(seller: string): Disposable {
    this.#latest.set(seller, ++this.#granted);
    return {
      [Symbol.dispose]: () => {
        this.#slots.giveBack(seller, 1);
        this.#releasedAt = this.#clock.monotonic();
        this.#startNext();
      },
    };
  }

  #startNext(): void {
    const [next] = this.#inLine();
    if (next === undefined || this.#slots.take(next, 1) !== null) return;
    this.#waiting.get(next)!.start();
  }
}
