/** Work of one owner, in order. */
type Queue = (() => Promise<void>)[];

export interface FairQueueOptions {
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Runs between two tasks; nothing unless given. */
  pause?: () => Promise<void>;
}

/**
 * Runs one CPU-heavy task at a time, shared fairly among owners. The owner that
 * has used the least time is next; the tasks of one owner run in order. So an
 * owner with many or long tasks delays others by one task at a time.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** By owner; the owner that has waited longest comes first. */
  readonly #waiting = new Map<string, Queue>();
  /** Milliseconds used by each owner since the queue was last empty. */
  readonly #used = new Map<string, number>();
  /**
   * The time with which a new owner starts, so that idle time cannot be saved
   * up.
   */
  #floor = 0;
  #running = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Runs `work`; returns or throws what it does. */
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

  /**
   * Takes the owner's next task and moves the owner to the end of the queue.
   */
  #takeFirst(owner: string): () => Promise<void> {
    const queue = this.#waiting.get(owner)!;
    const work = queue.shift()!;
    this.#waiting.delete(owner);
    if (queue.length > 0) this.#waiting.set(owner, queue);
    return work;
  }
}
