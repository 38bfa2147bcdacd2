/** Calls that end when a signal is aborted. */

import type { Call } from "./call.ts";

/**
 * One listener for all calls of a signal: thousands may share one, and each
 * listener that is added or removed is compared with all the others.
 */
export class CallsBySignal {
  readonly #calls = new WeakMap<AbortSignal, Set<Call>>();

  /** Has the signal cancel the call, unless that has ended before. */
  add(signal: AbortSignal, call: Call): void {
    if (signal.aborted) return call.cancel();
    const calls = this.#calls.get(signal) ?? this.#listen(signal);
    calls.add(call);
    call.onEnd(() => calls.delete(call));
  }

  #listen(signal: AbortSignal): Set<Call> {
    const calls = new Set<Call>();
    this.#calls.set(signal, calls);
    const cancel = () => {
      for (const call of calls) call.cancel();
    };
    signal.addEventListener("abort", cancel, { once: true });
    return calls;
  }
}
