/** One outbound request from its turn to its end: clock, abort, clean-up. */

import type { Clock } from "../deps.ts";
import { limitTime } from "./time_limit.ts";
import { duration, OutboundError, type OutboundErrorKind } from "./errors.ts";
import type { HttpConnection } from "./http_connection.ts";

/** How far a request has come; it decides what a time-out is blamed on. */
type Phase = "connect" | "answer" | "body";

const LATE: Record<Phase, string> = {
  connect: "did not accept a connection",
  answer: "did not answer",
  body: "did not send the whole body",
};

/** Ends exactly once, whichever comes first: success, failure, time, abort. */
export class OutboundRequest {
  readonly url: URL;
  readonly origin: string;
  phase: Phase = "connect";
  /** What the host's name leads to, all of it allowed. */
  addresses: readonly string[] = [];
  /** The one that was dialled. */
  address: string | undefined;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #cleanUp: ((keep: HttpConnection | undefined) => void)[] = [];
  #started: number;
  #waiting = true;
  #ended = false;

  constructor(url: URL, clock: Clock) {
    this.url = url;
    this.origin = url.origin;
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /** Aborted by time, by the caller or by the door's closing. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get elapsedMs(): number {
    return this.#clock.monotonic() - this.#started;
  }

  /** Starts the clock: the call has its turn. */
  start(timeoutMs: number): void {
    this.#waiting = false;
    this.#started = this.#clock.monotonic();
    this.onEnd(this.limit(timeoutMs));
  }

  /** Lets the call time out after `ms`; the answer takes that back. */
  limit(ms: number): () => void {
    return limitTime(this.#clock, ms, (stalled) => {
      const what = `${this.url.host} ${LATE[this.phase]}`;
      const kind = stalled ? "stalled" : "timeout";
      this.#stop(kind, `${what} within ${duration(ms)}.`);
    });
  }

  /** Aborts the call, also while it waits for its turn. */
  cancel(): void {
    this.#stop("aborted", "The request was cancelled.");
  }

  /** Ends the call if it still waits for its turn. */
  stopWaiting(): void {
    if (!this.#waiting) return;
    this.#stop("queued", "The request waited too long for its turn.");
  }

  /** Whether it was aborted by somebody, and not by its time running out. */
  get cancelled(): boolean {
    return this.signal.aborted && this.signal.reason.kind === "aborted";
  }

  /** The promise's outcome, unless the call is aborted before. */
  async unlessAborted<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    const aborted = Promise.withResolvers<never>();
    const leave = () => aborted.reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave);
    try {
      return await Promise.race([promise, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** Has `fn` run when the call ends, with the connection worth keeping. */
  onEnd(fn: (keep: HttpConnection | undefined) => void): void {
    if (this.#ended) fn(undefined);
    else this.#cleanUp.push(fn);
  }

  /** Ends the call; later calls of this do nothing. */
  end(keep?: HttpConnection): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const fn of this.#cleanUp) fn(keep);
  }

  /** What to throw for a failure: why the call was aborted, if it was. */
  failure(error: unknown): unknown {
    const real = this.signal.aborted ? this.signal.reason : error;
    if (!(real instanceof OutboundError)) return real;
    return new OutboundError(real.kind, real.message, {
      cause: real.cause,
      address: this.address,
      elapsedMs: this.elapsedMs,
    });
  }

  #stop(kind: OutboundErrorKind, message: string): void {
    if (this.#ended) return;
    this.#abort.abort(new OutboundError(kind, message));
    this.end();
  }
}
