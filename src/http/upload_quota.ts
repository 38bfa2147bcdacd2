/**
 * Limits uploads in progress. A seller without any waits a while for a place, so
 * that it is not refused for what others upload.
 */
import type { Clock } from "../deps.ts";
import { serviceStopping } from "../lib/errors.ts";
import { connectionClosed, tooManyInProgress } from "./concurrency.ts";
import { SharedBudget } from "./shared_budget.ts";

/** From the end of the body to the answer. */
const UPLOADS = { perSeller: 16, total: 64, what: "uploads" };
/** How long an upload waits for a place. */
const WAIT_MS = 5_000;
/** How many wait at most; the sellers whose latest place was longest ago. */
const WAITING = 32;
/** Larger bodies do not wait. */
const WAITING_BYTES = 1_024 * 1_024;
/** How many sellers are remembered by when they last had a place. */
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
}

/** Places of uploads; see the top of this file. */
export class UploadQuota {
  readonly #clock: Clock;
  readonly #places = new SharedBudget(UPLOADS);
  /** By seller, in order of arrival. */
  readonly #waiting = new Map<string, Waiter>();
  /** The number of each seller's latest place, in their order. */
  readonly #latest = new Map<string, number>();
  #given = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Uploads in progress. */
  get taken(): number {
    return this.#places.taken;
  }

  /**
   * Resolves to a place, which is given back when it is disposed of. Throws 429
   * if the seller has no place left; 503 if nobody has, at once to a seller that
   * has one or waits for one; 408 if the client disconnects while it waits.
   */
  async take(request: UploadRequest): Promise<Disposable> {
    const { seller } = request;
    const refusal = this.#places.take(seller, 1);
    if (refusal === null) return this.#place(seller);
    if (refusal === "seller" || !this.#mayWait(request)) {
      throw tooManyInProgress(refusal, UPLOADS);
    }
    return await this.#wait(request);
  }

  #mayWait({ seller, bytes }: UploadRequest): boolean {
    if (this.#places.of(seller) > 0 || this.#waiting.has(seller)) return false;
    if (bytes > WAITING_BYTES) return false;
    if (this.#waiting.size < WAITING) return true;
    const last = this.#inLine().at(-1)!;
    if (this.#latestOf(seller) >= this.#latestOf(last)) return false;
    this.#waiting.get(last)!.refuse();
    return true;
  }

  /** Waiting sellers; the one whose latest place was longest ago comes first. */
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
        resolve(this.#place(seller));
      };
      const onAbort = () => {
        leave();
        reject(stopping.aborted ? serviceStopping() : connectionClosed());
      };
      const cancel = this.#clock.after(WAIT_MS, refuse);
      signal.addEventListener("abort", onAbort);
      this.#waiting.set(seller, { start, refuse });
      if (signal.aborted) onAbort();
    });
  }

  /** A place that was taken. */
  #place(seller: string): Disposable {
    this.#latest.delete(seller);
    this.#latest.set(seller, ++this.#given);
    if (this.#latest.size > REMEMBERED) {
      const [oldest] = this.#latest.keys();
      this.#latest.delete(oldest);
    }
    return {
      [Symbol.dispose]: () => {
        this.#places.giveBack(seller, 1);
        this.#startNext();
      },
    };
  }

  #startNext(): void {
    const [next] = this.#inLine();
    if (next === undefined || this.#places.take(next, 1) !== null) return;
    this.#waiting.get(next)!.start();
  }
}
