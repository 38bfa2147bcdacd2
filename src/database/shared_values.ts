/**
 * Values shared by all writes of one commit. The first write that needs one
 * creates it; if that write is undone, the next one creates it again.
 */
export class SharedValues {
  readonly #values: Map<string, Promise<unknown>>;
  /** Names of the values that this write created. */
  readonly #made: string[] = [];

  /** `values`: one map for all writes of a commit. */
  constructor(values: Map<string, Promise<unknown>>) {
    this.#values = values;
  }

  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    let value = this.#values.get(name);
    if (value === undefined) {
      value = make();
      this.#values.set(name, value);
      this.#made.push(name);
    }
    return value as Promise<T>;
  }

  /** Called when the write is undone. */
  forget(): void {
    for (const name of this.#made) this.#values.delete(name);
  }
}
