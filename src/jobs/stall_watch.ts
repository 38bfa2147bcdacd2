/**
 * Detects that this thread stood still because the process was stopped or the
 * machine slept or was overloaded. Afterwards every time-out is due at once,
 * which says nothing about the remote host.
 */
import type { Clock } from "../deps.ts";

const TICK_MS = 1_000;
/** A tick this late counts as a stall. */
const LATE_MS = 3_000;

export class StallWatch {
  readonly #clock: Clock;
  /** Monotonic milliseconds, like the other times. */
  #seenAt: number;
  #stalledAt = -Infinity;
  #cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#seenAt = clock.monotonic();
  }

  start(): void {
    this.#look();
    this.#cancel = this.#clock.after(TICK_MS, () => this.start());
  }

  stop(): void {
    this.#cancel();
  }

  /** Whether the thread has stood still since then (monotonic milliseconds). */
  since(time: number): boolean {
    // A caller may ask before the late tick has run.
    this.#look();
    return this.#stalledAt >= time;
  }

  #look(): void {
    const now = this.#clock.monotonic();
    if (now - this.#seenAt > TICK_MS + LATE_MS) this.#stalledAt = now;
    this.#seenAt = now;
  }
}
