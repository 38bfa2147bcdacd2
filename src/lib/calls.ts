/**
 * Calls in progress, whose end can be awaited. They are only counted, because a
 * set of their promises costs each request more.
 */
export class Calls {
  #size = 0;
  #waiting: (() => void)[] = [];

  get size(): number {
    return this.#size;
  }

  /** Counts the call until it has ended; returns the call. */
  add<T>(call: Promise<T>): Promise<T> {
    this.begin();
    const end = () => this.end();
    call.then(end, end);
    return call;
  }

  /** Counts a call until `end`. */
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
