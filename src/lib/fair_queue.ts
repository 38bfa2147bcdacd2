/** Work of one owner, in order. */
type Queue = (() => Promise<void>)[];

export interface FairQueueOptions {
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
  /** Lies between two pieces of work; none unless given. */
  pause?: () => Promise<void>;
}

/**
 * One piece of work at a time, for work that takes much of what all share. Of
 * the owners that wait, the one that has used the least time is next; the work
 * of one owner is done in order. So an owner with much or long work delays
 * others by one piece of it at a time, and itself by all of it.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** By owner; the one that waits longest comes first. */
  readonly #waiting = new Map<string, Queue>();
  /** Milliseconds that owners have used since there was last nothing to do. */
  readonly #used = new Map<string, number>();
  /** Where newcomers begin: what they did not use before is not saved up. */
  #floor = 0;
  #running = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Does `work`; answers or throws what that does. */
  take<T>(work: () => Promise<T>, owner = ""): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const queue = this.#waiting.get(owner) ?? [];
      this.#waiting.set(owner, queue);
      queue.push(() => Promise.try(work).then(resolve, reject));
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    const { now, pause } = this.#options;
    this.#running = true;
    for (let owner; (owner = this.#next()) !== undefined;) {
      const used = this.#usedBy(owner);
      const startedAt = now();
      await this.#takeFirst(owner)();
      this.#floor = used;
      this.#used.set(owner, used + now() - startedAt);
      await pause?.();
    }
    this.#used.clear();
    this.#floor = 0;
    this.#running = false;
  }

  #usedBy(owner: string): number {
    return Math.max(this.#used.get(owner) ?? 0, this.#floor);
  }

  #next(): string | undefined {
    let next: string | undefined;
    for (const owner of this.#waiting.keys()) {
      if (next === undefined || this.#usedBy(owner) < this.#usedBy(next)) {
        next = owner;
      }
    }
    return next;
  }

  /** The owner's next work; the owner goes to the end of those that wait. */
  #takeFirst(owner: string): () => Promise<void> {
    const queue = this.#waiting.get(owner)!;
    const work = queue.shift()!;
    this.#waiting.delete(owner);
    if (queue.length > 0) this.#waiting.set(owner, queue);
    return work;
  }
}
