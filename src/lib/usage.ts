/** Who uses how much of a limited resource, and for how long. */
import { RecentValues } from "./recent_values.ts";

/** A request of one piece of work for a limited resource. */
export interface Ask {
  /**
   * The owner of the work; limits by time do not apply to work without an
   * owner.
   */
  owner?: string;
  /** Keys with separate limits, such as hosts. */
  keys?: readonly string[];
  /** The amount, such as bytes; 1 by default. */
  amount?: number;
  /**
   * Whether it is served before other work of its owner with the same first
   * key; background work is served before other background work only.
   */
  first?: boolean;
  /**
   * Whether no request waits for it. Other work of the owner is served before
   * background work, but only a limited number of times in a row.
   */
  background?: boolean;
}

/** A clock without its timers. */
export interface Monotonic {
  /** Milliseconds. */
  monotonic(): number;
}

/** An owner's mean time covers about this many of its latest permits. */
const PERMITS = 64;
/**
 * The assumption about an owner before its first answer: eight requests of
 * eight seconds each. So the owner starts with an eighth of the free amount,
 * and has its full share after about sixty prompt answers.
 */
const ASSUMED = 8;
const ASSUMED_MS = 8_000;
/** An owner that holds permits no longer than this has its full share. */
const PROMPT_MS = 1_000;
/** How many owners are remembered. */
const OWNERS = 1_000;

/** The permits of one owner and their times; monotonic milliseconds. */
class OwnerTimes {
  /** The time of all its permits since the resource was last unused. */
  spentMs = 0;
  /** The number of its latest permit. */
  latestPermit = 0;
  #running = 0;
  #startsMs = 0;
  #ended = ASSUMED;
  #endedMs = ASSUMED * ASSUMED_MS;

  begin(now: number): void {
    this.#running++;
    this.#startsMs += now;
  }

  /** Undoes `begin`. */
  cancel(begunAt: number): void {
    this.#running--;
    this.#startsMs -= begunAt;
  }

  end(begunAt: number, now: number): void {
    this.cancel(begunAt);
    const keep = Math.min(1, (PERMITS - 1) / this.#ended);
    this.#ended = this.#ended * keep + 1;
    this.#endedMs = this.#endedMs * keep + now - begunAt;
    this.spentMs += now - begunAt;
  }

  /**
   * The owner's share. The time of permits that are still held counts if it
   * raises the mean.
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

/** The assumption about an unknown owner. */
const NEWCOMER = new OwnerTimes();

/** The times of all owners. */
export class Owners {
  readonly clock: Monotonic;
  /** The owners with the latest permits; only a permit counts as a use. */
  readonly #known = new RecentValues<OwnerTimes>(OWNERS);
  /**
   * The time with which a new owner starts, so that idle time cannot be saved
   * up.
   */
  #floor = 0;
  /** The most time that any owner has spent. */
  #most = 0;
  #granted = 0;

  constructor(clock: Monotonic) {
    this.clock = clock;
  }

  /**
   * The share of the free amount that an owner may have, above 0 and at most 1.
   * The share shrinks with the mean time for which the owner holds a permit.
   */
  share(owner: string): number {
    return this.#of(owner).share(this.clock.monotonic());
  }

  /**
   * How much more time the owner has used than the owner that was last served
   * in turn, in milliseconds.
   */
  extraMs(owner: string): number {
    return Math.max(0, this.#of(owner).spentMs - this.#floor);
  }

  /**
   * The number of the owner's latest permit; numbers increase with each permit.
   */
  latestPermit(owner: string): number {
    return this.#of(owner).latestPermit;
  }

  /** Begins a permit; `inTurn`: the owner was next. */
  begin(owner: string, inTurn: boolean, now: number): OwnerTimes {
    const times = this.#known.get(owner) ?? new OwnerTimes();
    this.#known.set(owner, times);
    times.spentMs = Math.max(times.spentMs, this.#floor);
    times.latestPermit = ++this.#granted;
    if (inTurn) this.#floor = times.spentMs;
    times.begin(now);
    return times;
  }

  /** Ends a permit and counts its time. */
  end(times: OwnerTimes, begunAt: number): void {
    times.end(begunAt, this.clock.monotonic());
    this.#most = Math.max(this.#most, times.spentMs);
  }

  /** Forgets that some owners have spent more time than others. */
  forgetDifferences(): void {
    this.#floor = this.#most;
  }

  #of(owner: string): OwnerTimes {
    return this.#known.peek(owner) ?? NEWCOMER;
  }
}

/** The key under which all usage is counted. */
const ALL_KEYS = "";

/** What is in use, by key and by owner. */
export class Usage {
  readonly owners: Owners;
  /** Pauses in progress; each keeps one slot free. */
  pausing = 0;
  /** The amount that was granted out of turn. */
  outOfTurn = 0;
  /**
   * Amounts by key, then by owner; the owner undefined stands for all owners.
   */
  readonly #amounts = new Map<string, Map<string | undefined, number>>();

  constructor(owners: Owners) {
    this.owners = owners;
  }

  /** A copy to try out what would fit; shares the times of owners. */
  copyForPlan(): Usage {
    const plan = new Usage(this.owners);
    for (const [key, amounts] of this.#amounts) {
      plan.#amounts.set(key, new Map(amounts));
    }
    return plan;
  }

  /**
   * The amount in use of one key or of all keys, by one owner or by all owners.
   */
  used(key = ALL_KEYS, owner?: string): number {
    return this.#amounts.get(key)?.get(owner) ?? 0;
  }

  /**
   * Counts an amount as used; in a copy for a plan, the original does not
   * change.
   */
  add({ owner = "", keys = [], amount = 1 }: Ask): void {
    for (const key of [ALL_KEYS, ...keys]) {
      const amounts = this.#amounts.get(key) ?? new Map();
      this.#amounts.set(key, amounts);
      addAmount(amounts, undefined, amount);
      addAmount(amounts, owner, amount);
      if (amounts.size === 0) this.#amounts.delete(key);
    }
  }

  /** Grants a permit; `onEnd` is called when the permit is returned. */
  acquire(ask: Ask, onEnd?: (ask: Ask) => void, inTurn = true): Permit {
    return new Permit(this, ask, inTurn, onEnd);
  }
}

/** A granted permit. Disposing of it again has no effect. */
export class Permit implements Disposable {
  readonly #times: OwnerTimes;
  readonly #begunAt: number;
  #isTimed = true;
  #isHeld = true;

  constructor(
    private readonly usage: Usage,
    private readonly ask: Ask,
    private readonly inTurn: boolean,
    private readonly onEnd: ((ask: Ask) => void) | undefined,
  ) {
    this.#begunAt = usage.owners.clock.monotonic();
    this.#times = usage.owners.begin(ask.owner ?? "", inTurn, this.#begunAt);
    this.#change(1);
  }

  /** Returns the permit; the time for which it was held does not count. */
  cancel(): void {
    if (this.#isTimed) this.#times.cancel(this.#begunAt);
    this.#isTimed = false;
    this[Symbol.dispose]();
  }

  /** Stops counting time before the permit is returned. */
  stopTime(): void {
    if (this.#isTimed) this.usage.owners.end(this.#times, this.#begunAt);
    this.#isTimed = false;
  }

  [Symbol.dispose](): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.stopTime();
    this.#change(-1);
    this.onEnd?.(this.ask);
  }

  #change(sign: number): void {
    const amount = sign * (this.ask.amount ?? 1);
    this.usage.add({ ...this.ask, amount });
    if (!this.inTurn) this.usage.outOfTurn += amount;
  }
}

/** Adds an amount; deletes an entry that becomes 0. */
function addAmount<K>(amounts: Map<K, number>, of: K, amount: number): void {
  const sum = (amounts.get(of) ?? 0) + amount;
  if (sum === 0) amounts.delete(of);
  else amounts.set(of, sum);
}
