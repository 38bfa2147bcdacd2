/**
 * A FIFO mutex for each key: work under one key runs one at a time in order of
 * arrival; different keys do not wait for each other.
 */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when the earlier work under the key has ended. */
  async take<T>(work: () => Promise<T>, key = ""): Promise<T> {
    const before = this.#last.get(key);
    const turn = before === undefined ? work() : before.then(work);
    const end = turn.catch(() => {});
    this.#last.set(key, end);
    end.then(() => {
      if (this.#last.get(key) === end) this.#last.delete(key);
    });
    return await turn;
  }
}
