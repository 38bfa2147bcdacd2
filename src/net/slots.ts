/** Bounds how much runs at once, for each key and in total. */

interface Waiter {
  start(): void;
}

/**
 * A semaphore with a limit per key and one for all. Who waits is served in
 * order within a key, and the keys take turns: a key with a long queue does not
 * keep another one waiting, unless all the slots there are stand in use.
 */
export class Slots {
  readonly #perKey: number;
  readonly #total: number;
  readonly #active = new Map<string, number>();
  readonly #waiting = new Map<string, Waiter[]>();
  #used = 0;

  constructor(limits: { perKey: number; total: number }) {
    this.#perKey = limits.perKey;
    this.#total = limits.total;
  }

  /**
   * Waits for a slot. Each one must be given back once with `release`.
   *
   * @throws the signal's reason, if it is aborted first; then nothing is taken.
   */
  async acquire(key: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#used < this.#total && this.#free(key)) return this.#take(key);
    await new Promise<void>((resolve, reject) => {
      const queue = this.#waiting.get(key) ?? [];
      this.#waiting.set(key, queue);
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        queue.splice(queue.indexOf(waiter), 1);
        if (queue.length === 0) this.#waiting.delete(key);
        reject(signal?.reason);
      };
      queue.push(waiter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** Gives a slot of `key` back, which lets the next in line start. */
  release(key: string): void {
    this.#used--;
    const left = (this.#active.get(key) ?? 0) - 1;
    if (left > 0) this.#active.set(key, left);
    else this.#active.delete(key);
    while (this.#used < this.#total && this.#startNext());
  }

  #free(key: string): boolean {
    return (this.#active.get(key) ?? 0) < this.#perKey;
  }

  #take(key: string): void {
    this.#used++;
    this.#active.set(key, (this.#active.get(key) ?? 0) + 1);
  }

  #startNext(): boolean {
    for (const [key, queue] of this.#waiting) {
      if (!this.#free(key)) continue;
      const next = queue.shift();
      // To the end of the line of keys, so that all have their turn.
      this.#waiting.delete(key);
      if (queue.length > 0) this.#waiting.set(key, queue);
      if (next === undefined) continue;
      this.#take(key);
      next.start();
      return true;
    }
    return false;
  }
}
