/**
 * Work under one key is done one at a time, in the order in which it came. Work
 * under different keys does not wait for each other.
 */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does `work` as soon as what came before it under the key is over. */
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
