/**
 * Notices that this thread stood still: the process was stopped, or the machine
 * slept or gave it no time. Every time-out is then due at once, and says nothing
 * about whoever was waited for.
 */
import type { Clock } from "../deps.ts";

const TICK_MS = 1_000;
/** A tick that comes this late tells of a stall. */
const LATE_MS = 3_000;

export class StallWatch {
  readonly #clock: Clock;
  /** Monotonic milliseconds, as the others. */
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

  /** Whether the thread stood still since then (monotonic milliseconds). */
  since(time: number): boolean {
    // An answer may come before the tick that is late.
    this.#look();
    return this.#stalledAt >= time;
  }

  #look(): void {
    const now = this.#clock.monotonic();
    if (now - this.#seenAt > TICK_MS + LATE_MS) this.#stalledAt = now;
    this.#seenAt = now;
  }
}
