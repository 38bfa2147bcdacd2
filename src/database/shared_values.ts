/**
 * What all writes of one commit share: made by the first that asks, and again
 * where what made it was undone.
 */
export class SharedValues {
  readonly #values: Map<string, unknown>;
  /** Names of what this write made. */
  readonly #made: string[] = [];

  /** `values`: one map for all writes of a commit. */
  constructor(values: Map<string, unknown>) {
    this.#values = values;
  }

  async once<T>(name: string, make: () => Promise<T>): Promise<T> {
    if (!this.#values.has(name)) {
      this.#values.set(name, await make());
      this.#made.push(name);
    }
    return this.#values.get(name) as T;
  }

  /** To be called when the write is undone. */
  forget(): void {
    for (const name of this.#made) this.#values.delete(name);
  }
}
