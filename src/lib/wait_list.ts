/** Who waits, and who may run; it looks again whenever something changes. */
import type { Holder } from "./holders.ts";
import { leastTimeFirst, type Limit, type Policy } from "./limits.ts";
import { type Ask, OwnerRegister, type Permit, Usage } from "./usage.ts";

export type { Ask, Permit } from "./usage.ts";

export interface WaitListOptions {
  policy: Policy;
  clock: { monotonic(): number };
  /**
   * Called when a permit is given back; its place stays taken until the result
   * has settled, so that other work runs in between. It never fails.
   */
  pause?: () => Promise<void> | void;
}

type Owner = string | undefined;

interface Waiter {
  ask: Ask;
  start(permit: Permit): void;
  /** Monotonic milliseconds. */
  askedAt: number;
}

/**
 * Grants permits as its policy says. What may run does so at once. What has to
 * wait is looked at again when a permit was granted or given back, a pause has
 * ended, or one that waited has left: by owner, then by the owner's keys in
 * turn, then in order of arrival.
 */
export class WaitList implements Holder {
  readonly usage: Usage;
  readonly #policy: Policy;
  readonly #clock: { monotonic(): number };
  readonly #pause: WaitListOptions["pause"];
  /** By owner, then by first key; who comes first has waited longest. */
  readonly #waiting = new Map<Owner, Map<string, Set<Waiter>>>();
  /** When a permit was last given back; monotonic milliseconds. */
  #freedAt = 0;

  constructor({ policy, clock, pause }: WaitListOptions) {
    this.usage = new Usage(new OwnerRegister(clock));
    this.#policy = policy;
    this.#clock = clock;
    this.#pause = pause;
  }

  /**
   * Runs `work` while it has a permit; returns or throws what it does. Work
   * that need not wait begins at once; `abort` is called only if it must.
   */
  async run<T>(
    ask: Ask,
    work: () => Promise<T>,
    abort?: () => AbortSignal,
  ): Promise<T> {
    using _permit = this.tryAdd(ask) ?? await this.#wait(ask, abort?.());
    return await work();
  }

  /**
   * Waits for a permit, which is held until it is disposed of.
   *
   * @throws the signal's reason, if it is aborted first; nothing is then held.
   */
  async add(ask: Ask, signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    return this.tryAdd(ask) ?? await this.#wait(ask, signal);
  }

  /** Grants a permit if it need not wait. */
  tryAdd(ask: Ask): Permit | undefined {
    const inTurn = this.#mayUse(ask) && this.#mayRun(ask);
    if (!inTurn && !this.#mayPass(ask)) return undefined;
    const permit = this.#grant(ask, !inTurn);
    this.#dispatch();
    return permit;
  }

  /** What it holds; all zero when nothing is in progress. */
  held() {
    const { total: used, pausing, users } = this.usage;
    let waiting = 0;
    for (const queues of this.#waiting.values()) {
      for (const { size } of queues.values()) waiting += size;
    }
    return { used, users, pausing, waiting };
  }

  /** As in `Holder`; a pause leaves its place free. */
  oldestWaitMs(): number {
    const { usage } = this;
    const { pausing } = usage;
    usage.pausing = 0;
    let askedAt = Infinity;
    for (const [key, owner] of this.#able()) {
      const [first] = this.#waiting.get(owner)!.get(key)!;
      askedAt = Math.min(askedAt, first.askedAt);
    }
    usage.pausing = pausing;
    if (askedAt === Infinity) return 0;
    return this.#clock.monotonic() - Math.max(askedAt, this.#freedAt);
  }

  /** Whether its owner may have more. */
  #mayRun(ask: Ask): boolean {
    return this.#fits(this.#policy.limit, ask);
  }

  /** Whether its key has room. */
  #mayUse(ask: Ask): boolean {
    return this.#fits(this.#policy.keyLimit, ask);
  }

  #mayPass(ask: Ask): boolean {
    const { passing = () => 0 } = this.#policy;
    return !this.#waiting.has(ask.owner) && this.#fits(passing, ask) &&
      this.#mayUse(ask);
  }

  #fits(limit: Limit | undefined, ask: Ask): boolean {
    if (limit === undefined) return true;
    return limit(ask, this.usage) >= (ask.amount ?? 1);
  }

  #grant(ask: Ask, passing = false): Permit {
    return this.usage.take(ask, () => this.#freed(ask), passing);
  }

  /** A permit that was granted during a pause may have none of its own. */
  #freed(ask: Ask): void {
    this.#freedAt = this.#clock.monotonic();
    const pause = this.#pause !== undefined && this.#mayRun(ask) &&
      this.#pause();
    if (pause) void this.#waitFor(pause);
    this.#dispatch();
  }

  async #waitFor(pause: Promise<void>): Promise<void> {
    this.usage.pausing++;
    await pause;
    this.usage.pausing--;
    this.#dispatch();
  }

  #wait(ask: Ask, signal?: AbortSignal): Promise<Permit> {
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
      this.#queueOf(ask).add(waiter);
      signal?.addEventListener("abort", leave, { once: true });
      if (signal?.aborted) leave();
    });
  }

  #queueOf({ owner, keys = [""] }: Ask): Set<Waiter> {
    const queues = this.#waiting.get(owner) ?? new Map();
    const queue = queues.get(keys[0]) ?? new Set();
    this.#waiting.set(owner, queues.set(keys[0], queue));
    return queue;
  }

  #remove(waiter: Waiter): void {
    const { owner, keys = [""] } = waiter.ask;
    const queues = this.#waiting.get(owner)!;
    const queue = queues.get(keys[0])!;
    queue.delete(waiter);
    if (queue.size === 0) queues.delete(keys[0]);
    if (queues.size === 0) this.#waiting.delete(owner);
  }

  /** Starts all that may run; called after every change. */
  #dispatch(): void {
    while (this.#waiting.size > 0 && this.#startNext());
    const { total, pausing, owners } = this.usage;
    if (total + pausing === 0) owners.level();
  }

  #startNext(): boolean {
    const { usage } = this;
    const { rank } = this.#policy;
    let next: [string, Owner] | undefined;
    for (const able of this.#able()) {
      if (next === undefined) next = able;
      else if (rank!(able[1], usage) < rank!(next[1], usage)) next = able;
      if (rank === undefined) break;
    }
    if (next === undefined) return false;
    this.#startFirst(...next);
    return true;
  }

  /** Each owner of which something may run, with the key of that. */
  *#able(): Generator<[key: string, owner: Owner]> {
    for (const [owner, queues] of this.#waiting) {
      for (const [key, [{ ask }]] of queues) {
        if (!this.#mayRun(ask)) break;
        if (!this.#mayUse(ask)) continue;
        yield [key, owner];
        break;
      }
    }
  }

  /** Starts the first of a queue; its key and its owner come last then. */
  #startFirst(key: string, owner: Owner): void {
    const queues = this.#waiting.get(owner)!;
    const queue = queues.get(key)!;
    const [first] = queue;
    this.#remove(first);
    if (queue.size > 0) {
      queues.delete(key);
      queues.set(key, queue);
    }
    if (queues.size > 0) {
      this.#waiting.delete(owner);
      this.#waiting.set(owner, queues);
    }
    first.start(this.#grant(first.ask));
  }
}

/**
 * A list for the CPU-heavy work of one thread, shared fairly among sellers;
 * small requests run in between.
 */
export function heavyWork(
  { clock, yieldToIo }: {
    clock: WaitListOptions["clock"];
    yieldToIo: () => Promise<void>;
  },
): WaitList {
  const policy = leastTimeFirst();
  return new WaitList({ policy, clock, pause: yieldToIo });
}
