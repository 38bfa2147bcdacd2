/** A failure that may go on for hours, and what the log has of it. */
import type { Clock } from "../deps.ts";

/** A failure that goes on is a line of the log again after this long. */
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
   * Whether this failure is one for the log: it is the first, for another
   * reason than the last, or a minute after the last one logged.
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
