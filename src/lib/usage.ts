/** Who uses what of something limited at present, and for how long so far. */

/** What is limited, as one piece of work needs it. */
export interface Ask {
  /**
   * For whom the work is done. Without one, the limits of owners that go by
   * time do not apply.
   */
  owner?: string;
  /** What each has a limit of its own, such as hosts. */
  keys?: readonly string[];
  /** How much of it, such as bytes; 1 by default. */
  amount?: number;
}

/** As much of a clock as is needed here; milliseconds. */
interface MonotonicClock {
  monotonic(): number;
}

/** What was granted. It is given back once, however often that is called. */
export interface Permit extends Disposable {
  /** Gives it back; the time for which it was held does not count. */
  cancel(): void;
  /** The time that counts ends here, before it is given back. */
  stopTime(): void;
}

/** How many of the latest permits count. */
const REMEMBERED = 64;
/**
 * What is assumed of an owner before its first answer: eight requests of eight
 * seconds. It starts with an eighth of what is free, and has its full share
 * after about fifty prompt answers.
 */
const ASSUMED = 8;
const ASSUMED_MS = 8_000;
/** An owner that holds permits no longer than this has its full share. */
const PROMPT_MS = 1_000;
/** How many owners without a permit are remembered. */
const OWNERS = 1_000;

/** One owner's permits and their times in milliseconds. */
class OwnerTimes {
  /** Of all its permits since nothing was in use. */
  spent = 0;
  /** The number of its latest permit. */
  latest = 0;
  /** Permits whose time counts. */
  running = 0;
  #startsMs = 0;
  #ended = ASSUMED;
  #endedMs = ASSUMED * ASSUMED_MS;

  begin(now: number): void {
    this.running++;
    this.#startsMs += now;
  }

  /** Undoes `begin`. */
  cancel(begunAt: number): void {
    this.running--;
    this.#startsMs -= begunAt;
  }

  end(begunAt: number, now: number): void {
    this.cancel(begunAt);
    const keep = Math.min(1, (REMEMBERED - 1) / this.#ended);
    this.#ended = this.#ended * keep + 1;
    this.#endedMs = this.#endedMs * keep + now - begunAt;
    this.spent += now - begunAt;
  }

  /**
   * The share of what is free that the owner may have, above 0 and at most 1:
   * the longer it holds permits, the smaller. Those that it holds count with
   * their time so far once that raises the mean.
   */
  share(now: number): number {
    const runningMs = this.running * now - this.#startsMs;
    const mean = Math.max(
      this.#endedMs / this.#ended,
      (this.#endedMs + runningMs) / (this.#ended + this.running),
    );
    return Math.min(1, PROMPT_MS / mean);
  }
}

/** What is assumed of an unknown owner. */
const NEWCOMER = new OwnerTimes();

/** The times of all owners. */
export class OwnerRegister {
  readonly #clock: MonotonicClock;
  /** In order of each owner's latest permit. */
  readonly #known = new Map<string | undefined, OwnerTimes>();
  /**
   * The time with which a new owner starts, so that idle time cannot be saved
   * up.
   */
  #floor = 0;
  /** The most that any owner has spent. */
  #most = 0;
  #granted = 0;

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  of(owner: string | undefined): OwnerTimes {
    return this.#known.get(owner) ?? NEWCOMER;
  }

  share(owner: string): number {
    return this.of(owner).share(this.#clock.monotonic());
  }

  spent(owner: string | undefined): number {
    return Math.max(this.of(owner).spent, this.#floor);
  }

  /** How much more the owner has spent than the one that was next. */
  ahead(owner: string | undefined): number {
    return this.spent(owner) - this.#floor;
  }

  /** `passing`: it is not its turn. */
  begin(
    owner: string | undefined,
    passing: boolean,
  ): Pick<Permit, "cancel" | "stopTime"> {
    const begunAt = this.#clock.monotonic();
    const spent = this.spent(owner);
    if (!passing) this.#floor = spent;
    const times = this.#known.get(owner) ?? new OwnerTimes();
    this.#known.delete(owner);
    this.#known.set(owner, times);
    if (this.#known.size > OWNERS) this.#forgetOne();
    times.latest = ++this.#granted;
    times.spent = spent;
    times.begin(begunAt);
    return {
      cancel: () => times.cancel(begunAt),
      stopTime: () => {
        times.end(begunAt, this.#clock.monotonic());
        this.#most = Math.max(this.#most, times.spent);
      },
    };
  }

  /** Forgets who has spent more than others. */
  level(): void {
    this.#floor = this.#most;
  }

  #forgetOne(): void {
    const idle = this.#known.entries().find(([, { running }]) => running === 0);
    if (idle !== undefined) this.#known.delete(idle[0]);
  }
}

/** Numbers by name; those that are 0 are not kept. */
class Counts<K> extends Map<K, number> {
  of(name: K): number {
    return this.get(name) ?? 0;
  }

  add(name: K, amount: number): void {
    const sum = this.of(name) + amount;
    if (sum === 0) this.delete(name);
    else this.set(name, sum);
  }
}

/** What is in use, by owner and by key. */
export class Usage {
  readonly owners: OwnerRegister;
  /** All that is in use. */
  total = 0;
  /** The part of it that was granted beyond an owner's turn. */
  passing = 0;
  /** Pauses in progress, each of which keeps one place free. */
  pausing = 0;
  #byOwner = new Counts<string | undefined>();
  #byKey = new Counts<string>();
  #byBoth = new Counts<string>();

  constructor(owners: OwnerRegister) {
    this.owners = owners;
  }

  /** A copy to try out what would fit; the times of owners are shared. */
  plan(): Usage {
    const plan = new Usage(this.owners);
    plan.total = this.total;
    plan.#byOwner = new Counts(this.#byOwner);
    plan.#byKey = new Counts(this.#byKey);
    plan.#byBoth = new Counts(this.#byBoth);
    return plan;
  }

  /** How many owners use something. */
  get users(): number {
    return this.#byOwner.size;
  }

  of(owner: string | undefined): number {
    return this.#byOwner.of(owner);
  }

  /** What is in use at a key, by all or by one owner. */
  at(key: string, owner?: string): number {
    return owner === undefined
      ? this.#byKey.of(key)
      : this.#byBoth.of(`${key}\n${owner}`);
  }

  /** Counts as used; a plan gives nothing back. */
  add({ owner, keys = [], amount = 1 }: Ask, sign: 1 | -1 = 1): void {
    const change = sign * amount;
    this.total += change;
    this.#byOwner.add(owner, change);
    for (const key of keys) {
      this.#byKey.add(key, change);
      if (owner !== undefined) this.#byBoth.add(`${key}\n${owner}`, change);
    }
  }

  /** `onEnd` is called when it was given back. */
  take(ask: Ask, onEnd: () => void = () => {}, passing = false): Permit {
    this.add(ask);
    if (passing) this.passing += ask.amount ?? 1;
    const time = this.owners.begin(ask.owner, passing);
    let isHeld = true;
    let isTimed = true;
    const stop = (stopTime: () => void) => {
      if (isTimed) stopTime();
      isTimed = false;
    };
    const giveBack = (stopTime: () => void) => {
      stop(stopTime);
      if (!isHeld) return;
      isHeld = false;
      if (passing) this.passing -= ask.amount ?? 1;
      this.add(ask, -1);
      onEnd();
    };
    return {
      stopTime: () => stop(time.stopTime),
      cancel: () => giveBack(time.cancel),
      [Symbol.dispose]: () => giveBack(time.stopTime),
    };
  }
}
