/** Calls that a signal ends when it is aborted. */

import type { OutboundRequest } from "./request.ts";

/** The calls of one signal, and how to listen to it no more. */
interface Listening {
  calls: Set<OutboundRequest>;
  end: () => void;
}

/**
 * One listener for all calls of a signal: thousands may share one, and each
 * listener that is added or removed is compared with all the others.
 */
export class RequestsBySignal {
  readonly #stop: (call: OutboundRequest) => void;
  readonly #listening = new WeakMap<AbortSignal, Listening>();

  /** `stop` is what an aborted signal does to its calls. */
  constructor(stop: (call: OutboundRequest) => void) {
    this.#stop = stop;
  }

  /** Has the signal stop the call, unless that has ended before. */
  add(signal: AbortSignal, call: OutboundRequest): void {
    if (signal.aborted) return this.#stop(call);
    const { calls, end } = this.#listening.get(signal) ?? this.#listen(signal);
    calls.add(call);
    call.onEnd(() => {
      if (calls.delete(call) && calls.size === 0) end();
    });
  }

  #listen(signal: AbortSignal): Listening {
    const calls = new Set<OutboundRequest>();
    const stopAll = () => {
      for (const call of calls) this.#stop(call);
    };
    // A signal made of others (`AbortSignal.any`), as each image has one, is
    // kept in memory by every one of those while anything listens to it.
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
