/** Work of one owner, in order. */
type Queue = (() => Promise<void>)[];

export interface FairQueueOptions {
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Runs between two tasks; nothing unless given. */
  pause?: () => Promise<void> | void;
  /** How many tasks of different owners run at the same time; 1 by default. */
  atOnce?: number;
}

/**
 * An owner that has used so little more than another one (milliseconds) does
 * not wait for a pause, which is long where much else has to run: its request
 * has come in such a pause.
 */
const LITTLE_MS = 5;

/**
 * Runs one CPU-heavy task at a time, shared fairly among owners; or a few, of
 * which some wait for a database. The owner that has used the least time is
 * next; the tasks of one owner run in order. So an owner with many or long
 * tasks delays others by one task at a time.
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
  /** Owners of the tasks that run. */
  readonly #running = new Set<string>();
  #lanes = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Runs `work`; returns or throws what it does. */
  take<T>(work: () => Promise<T>, owner = ""): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const queue = this.#waiting.get(owner) ?? [];
      this.#waiting.set(owner, queue);
      queue.push(() => Promise.try(work).then(resolve, reject));
      if (!this.isBusy) void this.#run();
      else if (this.#mayRunInPause(owner, queue)) void this.#runFirst(owner);
    });
  }

  /** Whether a task would have to wait. */
  get isBusy(): boolean {
    return this.#lanes >= (this.#options.atOnce ?? 1);
  }

  /** Runs one task after the other. */
  async #run(): Promise<void> {
    this.#lanes++;
    for (let owner; (owner = this.#next()) !== undefined;) {
      this.#floor = this.#usedBy(owner);
      await this.#runFirst(owner);
      await this.#options.pause?.();
    }
    if (--this.#lanes > 0) return;
    this.#used.clear();
    this.#floor = 0;
  }

  #mayRunInPause(owner: string, { length }: Queue): boolean {
    return this.#running.size < (this.#options.atOnce ?? 1) &&
      !this.#running.has(owner) && length === 1 &&
      this.#usedBy(owner) <= this.#floor + LITTLE_MS;
  }

  /** Runs the owner's next task. */
  async #runFirst(owner: string): Promise<void> {
    const { now } = this.#options;
    const used = this.#usedBy(owner);
    const startedAt = now();
    this.#running.add(owner);
    await this.#takeFirst(owner)();
    this.#running.delete(owner);
    this.#used.set(owner, used + now() - startedAt);
  }

  #usedBy(owner: string): number {
    return Math.max(this.#used.get(owner) ?? 0, this.#floor);
  }

  #next(): string | undefined {
    let next: string | undefined;
    for (const owner of this.#waiting.keys()) {
      if (this.#running.has(owner)) continue;
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
