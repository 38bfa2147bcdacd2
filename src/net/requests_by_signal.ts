/** Calls that end when a signal is aborted. */

import type { Call } from "./request.ts";

/** The calls of one signal, and how to listen to it no more. */
interface Listening {
  calls: Set<Call>;
  end: () => void;
}

/**
 * One listener for all calls of a signal: thousands may share one, and each
 * listener that is added or removed is compared with all the others.
 */
export class RequestsBySignal {
  readonly #listening = new WeakMap<AbortSignal, Listening>();

  /** Has the signal cancel the call, unless that has ended before. */
  add(signal: AbortSignal, call: Call): void {
    if (signal.aborted) return call.cancel();
    const { calls, end } = this.#listening.get(signal) ?? this.#listen(signal);
    calls.add(call);
    call.onEnd(() => {
      if (calls.delete(call) && calls.size === 0) end();
    });
  }

  #listen(signal: AbortSignal): Listening {
    const calls = new Set<Call>();
    const cancel = () => {
      for (const call of calls) call.cancel();
    };
    // A signal made of others (`AbortSignal.any`), as each image has one, is
    // kept in memory by every one of those while anything listens to it.
    const end = () => {
      signal.removeEventListener("abort", cancel);
      this.#listening.delete(signal);
    };
    signal.addEventListener("abort", cancel);
    const listening = { calls, end };
    this.#listening.set(signal, listening);
    return listening;
  }
}
