export interface FairQueueOptions {
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Runs between two tasks, and never fails; nothing unless given. */
  pause?: () => Promise<void> | void;
  /** How many tasks of different owners run at the same time; 1 by default. */
  atOnce?: number;
}

interface Task {
  work: () => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Monotonic milliseconds. */
  askedAt: number;
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
 *
 * A place is taken by a task, then by the pause after it. A waiting task starts
 * as soon as a place is free and none of its owner runs; the queue looks for
 * one whenever either may have changed. A task that ran in a pause has none of
 * its own unless it outlasted that one.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #atOnce: number;
  /** By owner; the owner that has waited longest comes first. */
  readonly #waiting = new Map<string, Task[]>();
  /** Milliseconds used by each owner since the queue was last empty. */
  readonly #used = new Map<string, number>();
  /**
   * The time with which a new owner starts, so that idle time cannot be saved
   * up.
   */
  #floor = 0;
  /** Owners of the tasks that run. */
  readonly #running = new Set<string>();
  /** Pauses in progress. */
  #pausing = 0;
  /** When the last task ended; monotonic milliseconds. */
  #endedAt = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#atOnce = options.atOnce ?? 1;
  }

  /** Runs `work`; returns or throws what it does. */
  take<T>(work: () => Promise<T>, owner = ""): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const askedAt = this.#options.now();
      const task = { work, resolve, reject, askedAt } as Task;
      if (!this.mustWait(owner)) void this.#run(task, owner);
      else if (this.#waiting.has(owner)) this.#waiting.get(owner)!.push(task);
      else this.#waiting.set(owner, [task]);
    });
  }

  /** Whether a task of this owner would have to wait. */
  mustWait(owner = ""): boolean {
    if (this.#running.has(owner) || this.#waiting.has(owner)) return true;
    if (this.#places < this.#atOnce) return false;
    const inPause = this.#running.size < this.#atOnce &&
      this.#usedBy(owner) <= this.#floor + LITTLE_MS;
    return !inPause;
  }

  /** What it holds; all zero when nothing is to be done. */
  held(): { running: number; pausing: number; waiting: number } {
    let waiting = 0;
    for (const { length } of this.#waiting.values()) waiting += length;
    const { size: running } = this.#running;
    return { running, pausing: this.#pausing, waiting };
  }

  /** As in `Holder`; a pause leaves its place free. */
  oldestWaitMs(): number {
    if (this.#running.size >= this.#atOnce) return 0;
    let askedAt = Infinity;
    for (const [owner, [first]] of this.#waiting) {
      if (this.#running.has(owner)) continue;
      askedAt = Math.min(askedAt, first.askedAt);
    }
    if (askedAt === Infinity) return 0;
    return this.#options.now() - Math.max(askedAt, this.#endedAt);
  }

  get #places(): number {
    return this.#running.size + this.#pausing;
  }

  async #run({ work, resolve, reject }: Task, owner: string): Promise<void> {
    const { now } = this.#options;
    const used = this.#usedBy(owner);
    if (this.#places < this.#atOnce) this.#floor = used;
    this.#running.add(owner);
    const startedAt = now();
    await Promise.try(work).then(resolve, reject);
    this.#endedAt = now();
    this.#used.set(owner, used + this.#endedAt - startedAt);
    this.#running.delete(owner);
    const pause = this.#places < this.#atOnce && this.#options.pause?.();
    if (pause) void this.#wait(pause);
    this.#startWaiting();
  }

  async #wait(pause: Promise<void>): Promise<void> {
    this.#pausing++;
    await pause;
    this.#pausing--;
    this.#startWaiting();
  }

  /** Starts every task that may run; called after every task and pause. */
  #startWaiting(): void {
    while (this.#places < this.#atOnce) {
      const owner = this.#next();
      if (owner === undefined) break;
      void this.#run(this.#takeFirst(owner), owner);
    }
    if (this.#places > 0) return;
    this.#used.clear();
    this.#floor = 0;
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
  #takeFirst(owner: string): Task {
    const tasks = this.#waiting.get(owner)!;
    const task = tasks.shift()!;
    this.#waiting.delete(owner);
    if (tasks.length > 0) this.#waiting.set(owner, tasks);
    return task;
  }
}
