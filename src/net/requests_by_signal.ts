/** Requests that end when a signal is aborted. */

import type { OutboundRequest } from "./request.ts";

/** The requests of one signal, and how to stop listening to it. */
interface Listening {
  calls: Set<OutboundRequest>;
  end: () => void;
}

/**
 * One listener for all requests of a signal: thousands may share one, and
 * adding or removing a listener compares it with all the others.
 */
export class RequestsBySignal {
  readonly #stop: (call: OutboundRequest) => void;
  readonly #listening = new WeakMap<AbortSignal, Listening>();

  /** `stop` is called with each request of an aborted signal. */
  constructor(stop: (call: OutboundRequest) => void) {
    this.#stop = stop;
  }

  /**
   * Stops the request when the signal is aborted, unless it has ended by then.
   */
  add(signal: AbortSignal, call: OutboundRequest): void {
    if (signal.aborted) return this.#stop(call);
    const { calls, end } = this.#listening.get(signal) ?? this.#listen(signal);
    calls.add(call);
    call.onEnd(() => {
      if (calls.delete(call) && calls.size === 0) end();
    });
  }

  /** How many requests of this signal have not ended. */
  count(signal: AbortSignal): number {
    return this.#listening.get(signal)?.calls.size ?? 0;
  }

  #listen(signal: AbortSignal): Listening {
    const calls = new Set<OutboundRequest>();
    const stopAll = () => {
      for (const call of calls) this.#stop(call);
    };
    // A combined signal (`AbortSignal.any`), as each image has one, stays in
    // the memory of its sources while anything listens to it.
    const end = () => {
      signal.removeEventListener("abort", stopAll);
      this.#listening.delete(signal);
    };
    signal.addEventListener("abort", stopAll);
    const listening = { calls, end };
    this.#listening.set(signal, listening);
    return listening;
  }
}
