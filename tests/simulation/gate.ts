/** Between a simulated process or thread and all that reaches it. */
import type { Clock } from "../../src/deps.ts";

/** Calls `fn` inside a process: at once, later if it hangs, or never. */
export type Enter = (fn: () => void) => void;

export class Gate {
  readonly #held: (() => void)[] = [];
  #state: "open" | "held" | "closed" = "open";

  readonly enter: Enter = (fn) => {
    if (this.#state === "open") fn();
    else if (this.#state === "held") this.#held.push(fn);
  };

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  /** It hangs: what reaches it waits. */
  hold(): void {
    if (this.#state === "open") this.#state = "held";
  }

  /** It goes on, with what has reached it meanwhile. */
  release(): void {
    if (this.#state !== "held") return;
    this.#state = "open";
    // One of them may make it hang again.
    while (this.#state === "open" && this.#held.length > 0) {
      this.#held.shift()!();
    }
  }

  /** It has ended: nothing reaches it any more. */
  close(): void {
    this.#state = "closed";
    this.#held.length = 0;
  }

  /** A clock whose timers fire through the gate. */
  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, fn) => {
        let isCancelled = false;
        const cancel = clock.after(ms, () =>
          this.enter(() => {
            // The thread may have cancelled it while it was held.
            if (!isCancelled) fn();
          }));
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }

  /** The outcome of `promise`, which comes through the gate. */
  pass<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) =>
      promise.then(
        (value) => this.enter(() => resolve(value)),
        (error) => this.enter(() => reject(error)),
      )
    );
  }
}
