/** Bounds how much runs at once, for each key and owner and in total. */

interface Waiter {
  start(): void;
}

/** Waiters in their order, by key. */
type Queues = Map<string, Waiter[]>;

/** For whom a slot is taken; without one, for nobody in particular. */
type Owner = string | undefined;

export interface ConcurrencyLimits {
  perKey: number;
  /** What one owner may have; nobody in particular may have all. */
  perOwner?: number;
  total: number;
}

/**
 * A semaphore with a limit per key, one per owner and one for all. Owners take
 * turns, and so do the keys of each, and who waits for a key is served in
 * order: however much an owner asks for, and from however many keys, another
 * one waits for no more than its turn.
 */
export class ConcurrencyLimit {
  readonly #limits: Required<ConcurrencyLimits>;
  readonly #activeKeys = new Map<string, number>();
  readonly #activeOwners = new Map<Owner, number>();
  readonly #waiting = new Map<Owner, Queues>();
  #used = 0;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = { perOwner: limits.total, ...limits };
  }

  /**
   * Waits for a slot. Each one must be given back once with `release`.
   *
   * @throws the signal's reason, if it is aborted first; then nothing is taken.
   */
  async acquire(
    key: string,
    signal?: AbortSignal,
    owner?: string,
  ): Promise<void> {
    signal?.throwIfAborted();
    if (this.#used < this.#limits.total && this.#free(key, owner)) {
      return this.#take(key, owner);
    }
    await new Promise<void>((resolve, reject) => {
      const queues: Queues = this.#waiting.get(owner) ?? new Map();
      this.#waiting.set(owner, queues);
      const queue = queues.get(key) ?? [];
      queues.set(key, queue);
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        queue.splice(queue.indexOf(waiter), 1);
        if (queue.length === 0) queues.delete(key);
        if (queues.size === 0) this.#waiting.delete(owner);
        reject(signal?.reason);
      };
      queue.push(waiter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** Gives a slot of `key` and `owner` back, so that the next may start. */
  release(key: string, owner?: string): void {
    this.#used--;
    countDown(this.#activeKeys, key);
    countDown(this.#activeOwners, owner);
    while (this.#used < this.#limits.total && this.#startNext());
  }

  #free(key: string, owner: Owner): boolean {
    return this.#hasRoom(owner) &&
      (this.#activeKeys.get(key) ?? 0) < this.#limits.perKey;
  }

  #hasRoom(owner: Owner): boolean {
    return owner === undefined ||
      (this.#activeOwners.get(owner) ?? 0) < this.#limits.perOwner;
  }

  #take(key: string, owner: Owner): void {
    this.#used++;
    countUp(this.#activeKeys, key);
    countUp(this.#activeOwners, owner);
  }

  #startNext(): boolean {
    for (const [owner, queues] of this.#waiting) {
      if (!this.#hasRoom(owner)) continue;
      const key = queues.keys().find((key) => this.#free(key, owner));
      if (key === undefined) continue;
      const queue = queues.get(key)!;
      const next = queue.shift()!;
      moveToEnd(queues, key, queue.length > 0 ? queue : undefined);
      moveToEnd(this.#waiting, owner, queues.size > 0 ? queues : undefined);
      this.#take(key, owner);
      next.start();
      return true;
    }
    return false;
  }
}

function countUp<K>(counts: Map<K, number>, of: K): void {
  counts.set(of, (counts.get(of) ?? 0) + 1);
}

function countDown<K>(counts: Map<K, number>, of: K): void {
  const left = (counts.get(of) ?? 0) - 1;
  if (left > 0) counts.set(of, left);
  else counts.delete(of);
}

/** To the end of the line, so that all have their turn; out of it if empty. */
function moveToEnd<K, V>(line: Map<K, V>, of: K, rest: V | undefined): void {
  line.delete(of);
  if (rest !== undefined) line.set(of, rest);
}
