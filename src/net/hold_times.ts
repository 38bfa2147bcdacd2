/**
 * How long an owner's requests hold their slots, as a running mean, and how many
 * it may hold therefore.
 */
import type { Clock } from "../deps.ts";

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

/** How many owners without a slot are remembered. */
const OWNERS = 1_000;
/** An owner's part of a key's free slots, compared with that of all. */
const KEY_SHARE = 8;
/** What is assumed of an owner that was never heard of. */
const NEWCOMER = new HoldTimes();

/** A slot that is held; to be ended or cancelled, once. */
export interface Hold {
  end(): void;
  /** As if it had never been taken. */
  cancel(): void;
}

/**
 * The times of all owners. An owner may hold at most as many slots as are free
 * besides, times its share, but always one: this is the dynamic threshold of
 * shared-memory switches (Choudhury and Hahne, 1998). So n prompt owners hold
 * 1/(n + 1) of all each, and as much stays free for whoever comes next.
 */
export class OwnerTimes {
  readonly #clock: Clock;
  /** The one that began something last comes last. */
  readonly #times = new Map<string, HoldTimes>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many slots an owner holds. */
  held(owner: string): number {
    return this.#of(owner).running;
  }

  /** The most that an owner may hold where so many are free besides. */
  most(owner: string, free: number): number {
    return Math.max(1, this.#share(owner) * free);
  }

  /**
   * The same of one key's slots. Most keys have one owner, so that it may have
   * more of them.
   */
  mostOfKey(owner: string, free: number): number {
    return Math.max(1, KEY_SHARE * this.#share(owner) * free);
  }

  begin(owner: string): Hold {
    const startedAt = this.#clock.monotonic();
    const times = this.#times.get(owner) ?? new HoldTimes();
    this.#times.delete(owner);
    this.#times.set(owner, times);
    if (this.#times.size > OWNERS) this.#forgetOne();
    times.begin(startedAt);
    return {
      end: () => times.end(startedAt, this.#clock.monotonic()),
      cancel: () => times.cancel(startedAt),
    };
  }

  #of(owner: string): HoldTimes {
    return this.#times.get(owner) ?? NEWCOMER;
  }

  #share(owner: string): number {
    return this.#of(owner).share(this.#clock.monotonic());
  }

  #forgetOne(): void {
    const idle = this.#times.entries().find(([, { running }]) => running === 0);
    if (idle !== undefined) this.#times.delete(idle[0]);
  }
}
