/**
 * One at a time for each key, in the order in which they came: for work that
 * takes much of what all share.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does `work` as soon as what came before it under `key` is over. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }
}
