/**
 * A gate between a simulated process or thread and everything that reaches it.
 */
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

  /** The process hangs: calls are held back. */
  hold(): void {
    if (this.#state === "open") this.#state = "held";
  }

  /** The process continues, and gets the calls held back. */
  release(): void {
    if (this.#state !== "held") return;
    this.#state = "open";
    // A call may make it hang again.
    while (this.#state === "open" && this.#held.length > 0) {
      this.#held.shift()!();
    }
  }

  /** The process has ended: no call reaches it any more. */
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
            // The thread may have cancelled the timer while it was held back.
            if (!isCancelled) fn();
          }));
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }

  /** The outcome of `promise`, passed through the gate. */
  pass<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) =>
      promise.then(
        (value) => this.enter(() => resolve(value)),
        (error) => this.enter(() => reject(error)),
      )
    );
  }
}
