/**
 * A queue of work that waits for permits. After every change, the queue decides
 * which work may run.
 */
import type { Holder } from "./holders.ts";
import type { RunStep } from "./steps.ts";
import { leastTimePolicy, type Limit, type Policy } from "./limits.ts";
import {
  type Ask,
  type Monotonic,
  Owners,
  type Permit,
  Usage,
} from "./usage.ts";

export type { Ask, Permit } from "./usage.ts";

interface Waiter {
  ask: Ask;
  start(permit: Permit): void;
  /** Monotonic milliseconds. */
  askedAt: number;
}

/**
 * Waiters by first key, in order of arrival. Each key has an array, because a
 * set takes long to find its first entry after many deletions.
 */
type WaitersByKey = Map<string, Waiter[]>;

/**
 * While background work waits, at most this many waiters of its owner are
 * served in a row before it.
 */
const BEFORE_BACKGROUND = 16;

/** The waiters of one owner. */
class OwnerWaiters {
  readonly #foreground: WaitersByKey = new Map();
  readonly #background: WaitersByKey = new Map();
  /** How many waiters were served in a row before waiting background work. */
  #servedBefore = 0;

  get isEmpty(): boolean {
    return this.#foreground.size + this.#background.size === 0;
  }

  get count(): number {
    return [this.#foreground, this.#background]
      .flatMap((lines) => [...lines.values()])
      .reduce((sum, { length }) => sum + length, 0);
  }

  /** The first waiter of each key, in the order in which they are served. */
  *firsts(): Generator<Waiter> {
    const lines = [this.#foreground, this.#background];
    if (this.#servedBefore >= BEFORE_BACKGROUND) lines.reverse();
    for (const byKey of lines) {
      for (const [first] of byKey.values()) yield first;
    }
  }

  add(waiter: Waiter): void {
    const { ask } = waiter;
    const lines = this.#linesOf(ask);
    const key = firstKeyOf(ask);
    const line = lines.get(key) ?? [];
    if (ask.first) {
      const after = line.findLastIndex(({ ask }) => ask.first);
      line.splice(after + 1, 0, waiter);
    } else line.push(waiter);
    lines.set(key, line);
  }

  remove(waiter: Waiter): void {
    const lines = this.#linesOf(waiter.ask);
    const key = firstKeyOf(waiter.ask);
    const line = lines.get(key)!;
    line.splice(line.indexOf(waiter), 1);
    if (line.length === 0) lines.delete(key);
  }

  /** Removes a waiter that is served; the other keys are served next. */
  serve(waiter: Waiter): void {
    const { ask } = waiter;
    moveToEnd(this.#linesOf(ask), firstKeyOf(ask));
    this.remove(waiter);
    const passes = !ask.background && this.#background.size > 0;
    this.#servedBefore = passes ? this.#servedBefore + 1 : 0;
  }

  #linesOf({ background }: Ask): WaitersByKey {
    return background ? this.#background : this.#foreground;
  }
}

/**
 * Grants permits according to its policy. Work that may run starts at once.
 * Waiting work is checked again when a permit was granted or returned, a pause
 * has ended, or a waiter has left: by owner, then by the owner's keys in turn.
 */
export class WaitList implements Holder {
  readonly usage: Usage;
  readonly #clock: Monotonic;
  readonly #policy: Policy;
  readonly #pause: () => Promise<void> | void;
  /** Waiters by owner, in the order of the owners' last turns. */
  readonly #waiting = new Map<string, OwnerWaiters>();
  /** When a permit was last returned; monotonic milliseconds. */
  #freedAt = 0;

  /**
   * @param pause is called when a permit is returned. The permit's slot stays
   * taken until the result has settled, so that other work runs between two
   * permits. The result must never reject.
   */
  constructor(
    clock: Monotonic,
    policy: Policy,
    pause: () => Promise<void> | void = () => {},
  ) {
    this.usage = new Usage(new Owners(clock));
    this.#clock = clock;
    this.#policy = policy;
    this.#pause = pause;
  }

  /**
   * Runs `work` with a permit, at once if it need not wait; returns its result
   * or throws its error. The signal ends the wait, as in `acquire`.
   */
  async run<T>(
    ask: Ask,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    using _permit = this.tryAcquire(ask) ?? await this.waitFor(ask, signal);
    return await work();
  }

  /**
   * Waits for a permit. The caller holds the permit until it disposes of it.
   *
   * @throws the signal's reason, if it is aborted first; nothing is then held.
   */
  async acquire(ask: Ask, signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    return this.tryAcquire(ask) ?? await this.waitFor(ask, signal);
  }

  /** Like `acquire`, after `tryAcquire` has just returned nothing. */
  waitFor(ask: Ask, signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const start = (permit: Permit) => {
        signal?.removeEventListener("abort", leave);
        resolve(permit);
      };
      const waiter = { ask, start, askedAt: this.#clock.monotonic() };
      const leave = () => {
        this.#remove(waiter);
        reject(signal!.reason);
        this.#dispatch();
      };
      const { owner = "" } = ask;
      const waiters = this.#waiting.get(owner) ?? new OwnerWaiters();
      waiters.add(waiter);
      this.#waiting.set(owner, waiters);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** Grants a permit if the work need not wait. */
  tryAcquire(ask: Ask): Permit | undefined {
    const { keyLimit, limit, outOfTurn = () => 0 } = this.#policy;
    if (!this.#fits(keyLimit, ask)) return undefined;
    const inTurn = this.#fits(limit, ask);
    const mayRunOutOfTurn = () =>
      !this.#waiting.has(ask.owner ?? "") && this.#fits(outOfTurn, ask);
    if (!inTurn && !mayRunOutOfTurn()) return undefined;
    const permit = this.usage.acquire(ask, this.#freed, inTurn);
    this.#dispatch();
    return permit;
  }

  /** Starts work that may run now; call it after a limit was relaxed. */
  recheck(): void {
    this.#dispatch();
  }

  /** All zero when nothing is in progress. */
  inUse() {
    const waiting = [...this.#waiting.values()]
      .reduce((sum, { count }) => sum + count, 0);
    return { used: this.usage.used(), pausing: this.usage.pausing, waiting };
  }

  /** See `Holder`. A slot in its pause counts as free here. */
  oldestWaitMs(): number {
    const { pausing } = this.usage;
    this.usage.pausing = 0;
    const runnable = [...this.#runnable()];
    this.usage.pausing = pausing;
    const askedAt = runnable.reduce(
      (oldest, [first]) => Math.min(oldest, first.askedAt),
      Infinity,
    );
    if (runnable.length === 0) return 0;
    return this.#clock.monotonic() - Math.max(askedAt, this.#freedAt);
  }

  #fits(limit: Limit | undefined, ask: Ask): boolean {
    if (limit === undefined) return true;
    return limit(ask, this.usage) >= (ask.amount ?? 1);
  }

  readonly #freed = (ask: Ask): void => {
    this.#freedAt = this.#clock.monotonic();
    // No pause while other work's pauses take all slots.
    const pause = this.#fits(this.#policy.limit, ask) && this.#pause();
    if (pause) void this.#countPause(pause);
    this.#dispatch();
  };

  async #countPause(pause: Promise<void>): Promise<void> {
    this.usage.pausing++;
    await pause;
    this.usage.pausing--;
    this.#dispatch();
  }

  #remove(waiter: Waiter): void {
    const { owner = "" } = waiter.ask;
    const waiters = this.#waiting.get(owner)!;
    waiters.remove(waiter);
    if (waiters.isEmpty) this.#waiting.delete(owner);
  }

  /** Starts all work that may run; called after every change. */
  #dispatch(): void {
    while (this.#waiting.size > 0 && this.#startNext());
    const { usage } = this;
    if (usage.used() + usage.pausing === 0) usage.owners.forgetDifferences();
  }

  #startNext(): boolean {
    const { rank } = this.#policy;
    const { owners } = this.usage;
    let next: [Waiter, string] | undefined;
    let least = Infinity;
    for (const runnable of this.#runnable()) {
      const ranked = rank?.(runnable[1], owners) ?? 0;
      if (next === undefined || ranked < least) {
        [next, least] = [runnable, ranked];
      }
      if (rank === undefined) break;
    }
    if (next === undefined) return false;
    const [waiter, owner] = next;
    const waiters = moveToEnd(this.#waiting, owner);
    waiters.serve(waiter);
    if (waiters.isEmpty) this.#waiting.delete(owner);
    waiter.start(this.usage.acquire(waiter.ask, this.#freed));
    return true;
  }

  /** For each owner, the waiter that may run first. */
  *#runnable(): Generator<[first: Waiter, owner: string]> {
    const { limit, keyLimit } = this.#policy;
    for (const [owner, waiters] of this.#waiting) {
      for (const first of waiters.firsts()) {
        if (!this.#fits(limit, first.ask)) break;
        if (!this.#fits(keyLimit, first.ask)) continue;
        yield [first, owner];
        break;
      }
    }
  }
}

function firstKeyOf({ keys = [""] }: Ask): string {
  return keys[0];
}

/** Moves an entry to the end. */
function moveToEnd<V>(line: Map<string, V>, of: string): V {
  const value = line.get(of)!;
  line.delete(of);
  line.set(of, value);
  return value;
}

/**
 * The owner of a seller's heavy work: its documents, plans and writes have one
 * owner, so that no seller gets two turns.
 */
export function heavyOwner({ no }: { no: number }): string {
  return `${no}`;
}

/**
 * Runs steps of CPU-heavy work when their seller may run; null: steps that
 * belong to no seller.
 */
export function heavySteps(
  heavy: Pick<WaitList, "run">,
  seller: { no: number } | null,
): RunStep {
  const owner = seller === null ? undefined : heavyOwner(seller);
  return (step) => heavy.run({ owner }, step);
}

/**
 * A list for the CPU-heavy work of one thread, shared fairly among sellers;
 * small requests run in between.
 */
export function heavyWorkList(
  { clock, yieldToIo }: {
    clock: Monotonic;
    yieldToIo: () => Promise<void>;
  },
): WaitList {
  return new WaitList(clock, leastTimePolicy(), yieldToIo);
}
