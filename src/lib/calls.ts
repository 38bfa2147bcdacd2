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
