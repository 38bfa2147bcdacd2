/** Calls in progress, whose end can be awaited. */
export class Calls {
  readonly #calls = new Set<Promise<unknown>>();

  get size(): number {
    return this.#calls.size;
  }

  /** Returns the call. */
  add<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    const end = () => void this.#calls.delete(call);
    call.then(end, end);
    return call;
  }

  /** Resolves when no call is in progress. */
  async ended(): Promise<void> {
    while (this.size > 0) await Promise.allSettled(this.#calls);
  }
}

/**
 * Like `Calls`, for many short calls: it counts them, which costs less than a
 * set of their promises.
 */
export class CallCount {
  #size = 0;
  #waiting: (() => void)[] = [];

  get size(): number {
    return this.#size;
  }

  begin(): void {
    this.#size++;
  }

  /** Ends one call that has begun. */
  end(): void {
    this.#size--;
    if (this.#size > 0 || this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when no call is in progress. */
  async ended(): Promise<void> {
    while (this.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      // bounded: one for each caller that waits for the end
      this.#waiting.push(resolve);
      await promise;
    }
  }
}
