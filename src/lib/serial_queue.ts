/**
 * One at a time, in the order in which they came: for work that takes much of
 * what all share. Work under different keys does not wait for each other.
 */
export class SerialQueue {
  readonly #pause: () => Promise<void>;
  readonly #last = new Map<string, Promise<unknown>>();

  /** Between two turns lies a pause; none unless given. */
  constructor(pause: () => Promise<void> = () => Promise.resolve()) {
    this.#pause = pause;
  }

  /** Does `work` as soon as what came before it under the key is over. */
  async take<T>(work: () => Promise<T>, key = ""): Promise<T> {
    const before = this.#last.get(key);
    const turn = before === undefined ? work() : before.then(work);
    const end = turn.catch(() => {}).then(this.#pause);
    this.#last.set(key, end);
    end.then(() => {
      if (this.#last.get(key) === end) this.#last.delete(key);
    });
    return await turn;
  }
}
