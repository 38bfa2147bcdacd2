/**
 * Values shared by all writes of one commit. The first write that needs one
 * creates it; if that write is undone, the next one creates it again.
 */
export class SharedValues {
  readonly #values: Map<string, unknown>;
  /** Names of the values that this write created. */
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

  /** Called when the write is undone. */
  forget(): void {
    for (const name of this.#made) this.#values.delete(name);
  }
}
