/**
 * The mean time for which an owner's requests hold their slots, and how many
 * slots it may hold because of it.
 */
import type { Clock } from "../deps.ts";

/** How many of the latest requests count. */
const REMEMBERED = 64;
/**
 * What is assumed of an owner before its first answer: eight requests of eight
 * seconds. It starts with an eighth of what is free, and has its full share
 * after about fifty prompt answers.
 */
const ASSUMED = 8;
const ASSUMED_MS = 8_000;
/** An owner that holds slots no longer than this has its full share. */
const PROMPT_MS = 1_000;

/** Times are milliseconds of a monotonic clock. */
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
   * The part of the free slots that the owner may hold, above 0 and at most 1:
   * the longer its requests hold slots, the smaller. Running requests count
   * with their time so far once that raises the mean.
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
/** An owner's weight within a key, relative to its weight in total. */
const KEY_SHARE = 8;
/** What is assumed of an unknown owner. */
const NEWCOMER = new HoldTimes();

/** A slot that is held; end or cancel it once. */
export interface Hold {
  end(): void;
  /** Ends it without counting its time. */
  cancel(): void;
}

/**
 * The times of all owners. An owner may hold at most the number of free slots
 * times its share, but always one: this is the dynamic threshold of
 * shared-memory switches (Choudhury and Hahne, 1998). n prompt owners hold 1/(n
 * + 1) of the slots each, and as many stay free for the next.
 */
export class OwnerTimes {
  readonly #clock: Clock;
  /** In order of each owner's latest request. */
  readonly #times = new Map<string, HoldTimes>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many slots an owner holds. */
  held(owner: string): number {
    return this.#of(owner).running;
  }

  /** The most slots that an owner may hold while `free` others are free. */
  most(owner: string, free: number): number {
    return Math.max(1, this.#share(owner) * free);
  }

  /**
   * The same within one key. Most keys have one owner, so it may hold more of
   * them.
   */
  mostOfKey(owner: string, free: number): number {
    return Math.max(1, KEY_SHARE * this.#share(owner) * free);
  }

  /** Whether it has its full share, as it holds slots for a short time. */
  isPrompt(owner: string): boolean {
    return this.#share(owner) === 1;
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
