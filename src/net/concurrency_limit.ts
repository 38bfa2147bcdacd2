/**
 * Limits how much runs at once, for each key and in total, and shares the slots
 * among owners by how long each holds them (`hold_times.ts`).
 *
 * An owner whose requests hang has a small share: ten such owners leave a
 * prompt one a quarter of all slots. A seller's slow hosts therefore delay only
 * that seller. The same holds within a key, because several sellers may use one
 * host. A fixed quota would either waste slots or leave none free.
 *
 * The share of an owner beside many busy ones is small, so that a few requests
 * would need several rounds. For those there are bursts, with slots of their
 * own: an owner that keeps none waiting has some at once.
 */

import type { Clock } from "../deps.ts";
import { type Hold, OwnerTimes } from "./hold_times.ts";

export interface ConcurrencyLimits {
  perKey: number;
  total: number;
  /**
   * Most slots of a prompt owner at which it gets another one beyond its share,
   * while none of its requests waits; 0 by default. All bursts together have as
   * many slots as `total`, besides those.
   */
  burst?: number;
  clock: Clock;
}

/** A slot that is held; releasing it twice has no effect. */
export interface Slot extends Disposable {
  /** Releases it without counting the time for which it was held. */
  cancel(): void;
}

interface Waiter {
  start(slot: Slot): void;
  /** Monotonic milliseconds. */
  askedAt: number;
}

/** Waiters in order of arrival, by key. */
type Queues = Map<string, Waiter[]>;

/** For whom a slot is taken; undefined for requests without an owner. */
type Owner = string | undefined;

/**
 * A semaphore; see the top of this file. Waiting owners are served round-robin,
 * and so are the keys of each; the waiters of one key are served in order.
 * Requests without an owner are bound by the limits alone.
 */
export class ConcurrencyLimit {
  readonly #limits: ConcurrencyLimits;
  readonly #clock: Clock;
  readonly #times: OwnerTimes;
  readonly #usedByKey = new Map<string, number>();
  /** By owner, then by key. */
  readonly #heldByKey = new Map<string, Map<string, number>>();
  readonly #waiting = new Map<Owner, Queues>();
  /** Slots in use: shared ones, and those of bursts. */
  readonly #shared = { used: 0 };
  readonly #bursts = { used: 0 };
  /** When the last slot was released; monotonic milliseconds. */
  #releasedAt = 0;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
    this.#clock = limits.clock;
    this.#times = new OwnerTimes(limits.clock);
  }

  /**
   * Waits for a slot, which is held until it is disposed of.
   *
   * @throws the signal's reason, if it is aborted first; no slot is then taken.
   */
  async acquire(
    key: string,
    signal?: AbortSignal,
    owner?: string,
  ): Promise<Slot> {
    signal?.throwIfAborted();
    const slot = this.tryAcquire(key, owner);
    if (slot !== undefined) return slot;
    return await new Promise<Slot>((resolve, reject) => {
      const queues: Queues = this.#waiting.get(owner) ?? new Map();
      this.#waiting.set(owner, queues);
      const queue = queues.get(key) ?? [];
      queues.set(key, queue);
      const waiter: Waiter = {
        start: (slot) => {
          signal?.removeEventListener("abort", leave);
          resolve(slot);
        },
        askedAt: this.#clock.monotonic(),
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

  /** Takes a slot if one is free now. */
  tryAcquire(key: string, owner?: string): Slot | undefined {
    const slots = this.#slotsFor(key, owner);
    if (slots === undefined) return;
    const slot = this.#take(key, owner, slots);
    // One more request lowers the mean time of the owner's requests in
    // progress, so another one of them may begin now.
    while (this.#startNext());
    return slot;
  }

  #slotsFor(key: string, owner: Owner): { used: number } | undefined {
    if (!this.#mayUse(key, owner)) return;
    if (this.#mayHoldMore(owner)) return this.#shared;
    if (this.#mayBurst(owner)) return this.#bursts;
  }

  /** What it holds; all zero when nothing is in progress. */
  held(): { used: number; waiting: number } {
    let waiting = 0;
    for (const queues of this.#waiting.values()) {
      for (const { length } of queues.values()) waiting += length;
    }
    return { used: this.#shared.used + this.#bursts.used, waiting };
  }

  /** As in `Holder`. */
  oldestWaitMs(): number {
    let askedAt = Infinity;
    for (const [owner, queues] of this.#waiting) {
      if (!this.#mayHoldMore(owner)) continue;
      for (const [key, [first]] of queues) {
        if (this.#mayUse(key, owner)) {
          askedAt = Math.min(askedAt, first.askedAt);
        }
      }
    }
    if (askedAt === Infinity) return 0;
    return this.#clock.monotonic() - Math.max(askedAt, this.#releasedAt);
  }

  #mayBurst(owner: Owner): boolean {
    const { burst = 0, total } = this.#limits;
    return owner !== undefined && this.#bursts.used < total &&
      this.#times.held(owner) < burst && !this.#waiting.has(owner) &&
      this.#times.isPrompt(owner);
  }

  #mayHoldMore(owner: Owner): boolean {
    const free = this.#limits.total - this.#shared.used;
    if (owner === undefined || free <= 0) return free > 0;
    return this.#times.held(owner) < this.#times.most(owner, free);
  }

  #mayUse(key: string, owner: Owner): boolean {
    const free = this.#limits.perKey - (this.#usedByKey.get(key) ?? 0);
    if (owner === undefined || free <= 0) return free > 0;
    const held = this.#heldByKey.get(owner)?.get(key) ?? 0;
    return held < this.#times.mostOfKey(owner, free);
  }

  #take(key: string, owner: Owner, slots: { used: number }): Slot {
    slots.used++;
    countUp(this.#usedByKey, key);
    const hold = owner === undefined ? undefined : this.#begin(key, owner);
    let isHeld = true;
    const giveBack = (end: () => void) => {
      if (!isHeld) return;
      isHeld = false;
      slots.used--;
      countDown(this.#usedByKey, key);
      end();
      this.#releasedAt = this.#clock.monotonic();
      while (this.#startNext());
    };
    return {
      cancel: () => giveBack(() => hold?.cancel()),
      [Symbol.dispose]: () => giveBack(() => hold?.end()),
    };
  }

  #begin(key: string, owner: string): Hold {
    const byKey = this.#heldByKey.get(owner) ?? new Map<string, number>();
    this.#heldByKey.set(owner, byKey);
    countUp(byKey, key);
    const hold = this.#times.begin(owner);
    const leave = () => {
      countDown(byKey, key);
      if (byKey.size === 0) this.#heldByKey.delete(owner);
    };
    return {
      end: () => (leave(), hold.end()),
      cancel: () => (leave(), hold.cancel()),
    };
  }

  #startNext(): boolean {
    for (const [owner, queues] of this.#waiting) {
      if (!this.#mayHoldMore(owner)) continue;
      const key = queues.keys().find((key) => this.#mayUse(key, owner));
      if (key === undefined) continue;
      const queue = queues.get(key)!;
      const next = queue.shift()!;
      moveToEnd(queues, key, queue.length > 0 ? queue : undefined);
      moveToEnd(this.#waiting, owner, queues.size > 0 ? queues : undefined);
      next.start(this.#take(key, owner, this.#shared));
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

/** Moves a key to the end of the round-robin order, or removes it if empty. */
function moveToEnd<K, V>(line: Map<K, V>, of: K, rest: V | undefined): void {
  line.delete(of);
  if (rest !== undefined) line.set(of, rest);
}
