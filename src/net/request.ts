/** The life of one outbound request: clock, abort, clean-up. */

import type { Clock } from "../deps.ts";
import { limitTime, type TimeLimit } from "./time_limit.ts";
import {
  OutboundError,
  type OutboundErrorKind,
  secondsText,
} from "./errors.ts";
import type { HttpConnection } from "./http_connection.ts";
import type { PacedRequest, ReservedSlot } from "./pace.ts";

/** How far a request has come, which decides the message of a time-out. */
type Phase = "connect" | "answer" | "body";

const TIMEOUT_MESSAGES: Record<Phase, string> = {
  connect: "did not accept a connection",
  answer: "did not answer",
  body: "did not send the whole body",
};

/** Ends exactly once, by success, failure, time-out or abort. */
export class OutboundRequest {
  readonly url: URL;
  readonly origin: string;
  phase: Phase = "connect";
  /** Addresses of the host's name, all of them allowed. */
  addresses: readonly string[] = [];
  /** The address that was dialled. */
  address: string | undefined;
  /**
   * The pace of the host; null before the request begins, or if requests to the
   * host are not limited.
   */
  pace: PacedRequest | null = null;
  /**
   * The reserved slot in which the request is repeated if its connection
   * breaks.
   */
  retrySlot: ReservedSlot | null = null;
  onTimeout: (() => void) | null = null;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #cleanUp: ((keep: HttpConnection | undefined) => void)[] = [];
  #started: number;
  #limit: TimeLimit | null = null;
  #ended = false;

  constructor(url: URL, clock: Clock) {
    this.url = url;
    this.origin = url.origin;
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /** Aborted by the time-out, the caller or `Outbound.close()`. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get elapsedMs(): number {
    return this.#clock.monotonic() - this.#started;
  }

  /** Starts the time limit, once the request has its slot. */
  start(timeoutMs: number): void {
    this.#started = this.#clock.monotonic();
    this.#limit = this.limit(timeoutMs);
    this.onEnd(this.#limit.cancel);
  }

  /** Whether the thread stalled since the request started; see `TimeLimit`. */
  get hasStalled(): boolean {
    return this.#limit?.hasStalled() ?? false;
  }

  /**
   * Ends the request with a time-out after `ms`, unless the limit is cancelled.
   */
  limit(ms: number): TimeLimit {
    return limitTime(this.#clock, ms, (stalled) => {
      const what = `${this.url.host} ${TIMEOUT_MESSAGES[this.phase]}`;
      const kind = stalled ? "stalled" : "timeout";
      this.#stop(kind, `${what} within ${secondsText(ms)}.`);
    });
  }

  /** Aborts the request, even while it waits for a slot. */
  cancel(): void {
    this.#stop("aborted", "The request was cancelled.");
  }

  /** Ends the request if it still waits for a slot. */
  stopWaiting(): void {
    if (this.#limit !== null) return;
    this.#stop("queued", "The request waited too long for earlier requests.");
  }

  /** Whether the caller aborted the request; false after a time-out. */
  get cancelled(): boolean {
    return this.signal.aborted && this.signal.reason.kind === "aborted";
  }

  /** The promise's outcome, unless the request is aborted first. */
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

  /** Calls `fn` when the request ends, with the connection to keep, if any. */
  onEnd(fn: (keep: HttpConnection | undefined) => void): void {
    if (this.#ended) fn(undefined);
    else this.#cleanUp.push(fn);
  }

  /**
   * Calls `fn` when the signal is aborted, unless the request has already
   * ended.
   */
  onAbort(signal: AbortSignal | undefined, fn: () => void): void {
    if (signal?.aborted) return fn();
    signal?.addEventListener("abort", fn);
    // The sources of a combined signal (`AbortSignal.any`) keep it in memory as
    // long as anything listens to it. Each image has such a signal.
    this.onEnd(() => signal?.removeEventListener("abort", fn));
  }

  /** Ends the request; later calls have no effect. */
  end(keep?: HttpConnection): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const fn of this.#cleanUp) fn(keep);
  }

  /**
   * The error to throw for a failure: the reason of the abort, if the request
   * was aborted. If the connection broke, the host gets fewer requests at once,
   * unless this process stalled: then the service is at fault.
   */
  failure(error: unknown): unknown {
    const real = this.signal.aborted ? this.signal.reason : error;
    if (!(real instanceof OutboundError)) return real;
    const isOurs = real.kind === "reset" && this.hasStalled;
    const kind = isOurs ? "stalled" : real.kind;
    if (kind === "reset" && !this.#ended) this.pace?.failed(this.retrySlot);
    return new OutboundError(kind, real.message, {
      cause: real.cause,
      address: this.address,
      elapsedMs: this.elapsedMs,
      atOnce: this.pace?.atOnce,
    });
  }

  #stop(kind: OutboundErrorKind, message: string): void {
    if (this.#ended) return;
    this.#abort.abort(new OutboundError(kind, message));
    if (kind === "timeout") {
      this.pace?.failed();
      this.onTimeout?.();
    }
    this.end();
  }
}
