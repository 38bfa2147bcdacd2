/** Limits the log lines of a failure that may last for hours. */
import type { Clock } from "../deps.ts";

/** The pause between two log lines of a lasting failure. */
const AGAIN_MS = 60_000;

export class OngoingFailure {
  readonly #clock: Clock;
  #reason: string | null = null;
  /** Monotonic milliseconds. */
  #loggedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether to log this failure: it is the first, its reason is new, or the
   * last line is a minute old.
   */
  shouldLog(reason: string): boolean {
    const now = this.#clock.monotonic();
    if (reason === this.#reason && now < this.#loggedAt + AGAIN_MS) {
      return false;
    }
    this.#reason = reason;
    this.#loggedAt = now;
    return true;
  }

  ended(): void {
    this.#reason = null;
  }
}
