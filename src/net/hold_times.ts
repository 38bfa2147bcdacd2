/** How long an owner's requests hold their slots, as a running mean. */

/** As many of the latest requests count. */
const REMEMBERED = 64;
/**
 * What is assumed of an owner before its first answer: eight requests of eight
 * seconds. It begins with an eighth of what is free, and has its full share
 * after some fifty prompt answers.
 */
const ASSUMED = 8;
const ASSUMED_MS = 8_000;
/** Whoever holds slots no longer than this has its full share. */
const PROMPT_MS = 1_000;

/** Times are milliseconds of a clock that never goes back. */
export class HoldTimes {
  #ended = ASSUMED;
  #endedMs = ASSUMED * ASSUMED_MS;
  #running = 0;
  #startsMs = 0;

  /** How many slots are held. */
  get running(): number {
    return this.#running;
  }

  begin(now: number): void {
    this.#running++;
    this.#startsMs += now;
  }

  /** Undoes `begin`. */
  cancel(startedAt: number): void {
    this.#running--;
    this.#startsMs -= startedAt;
  }

  end(startedAt: number, now: number): void {
    this.cancel(startedAt);
    const keep = Math.min(1, (REMEMBERED - 1) / this.#ended);
    this.#ended = this.#ended * keep + 1;
    this.#endedMs = this.#endedMs * keep + now - startedAt;
  }

  /**
   * The part of what is free that the owner may hold, above 0 and at most 1:
   * the longer its requests hold slots, the fewer it may hold. Those that are
   * still running count, with their time so far, as soon as that makes the mean
   * longer.
   */
  share(now: number): number {
    const runningMs = this.#running * now - this.#startsMs;
    const mean = Math.max(
      this.#endedMs / this.#ended,
      (this.#endedMs + runningMs) / (this.#ended + this.#running),
    );
    return Math.min(1, PROMPT_MS / mean);
  }
}
