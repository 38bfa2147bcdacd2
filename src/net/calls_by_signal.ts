/** Calls that end when a signal is aborted. */

import type { Call } from "./call.ts";

/** The calls of one signal, and what listens to it on their behalf. */
interface Listening {
  calls: Set<Call>;
  cancel: () => void;
}

/**
 * One listener for all calls of a signal: thousands may share one, and each
 * listener that is added or removed is compared with all the others.
 */
export class CallsBySignal {
  readonly #listening = new WeakMap<AbortSignal, Listening>();

  /** Has the signal cancel the call, unless that has ended before. */
  add(signal: AbortSignal, call: Call): void {
    if (signal.aborted) return call.cancel();
    const { calls } = this.#listening.get(signal) ?? this.#listen(signal);
    calls.add(call);
    call.onEnd(() => {
      calls.delete(call);
      if (calls.size === 0) this.#leave(signal);
    });
  }

  #listen(signal: AbortSignal): Listening {
    const calls = new Set<Call>();
    const cancel = () => {
      for (const call of calls) call.cancel();
    };
    signal.addEventListener("abort", cancel);
    const listening = { calls, cancel };
    this.#listening.set(signal, listening);
    return listening;
  }

  /**
   * A signal made of others (`AbortSignal.any`) is kept in memory by each of
   * those for as long as anything listens to it.
   */
  #leave(signal: AbortSignal): void {
    const listening = this.#listening.get(signal);
    if (listening === undefined) return;
    signal.removeEventListener("abort", listening.cancel);
    this.#listening.delete(signal);
  }
}
