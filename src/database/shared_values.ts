/**
 * Values shared by all writes of one commit. The first write that needs one
 * makes it; if it fails to, the next one that needs it does.
 */
export class SharedValues {
  readonly #values = new Map<string, Promise<unknown>>();

  async once<T>(name: string, make: () => Promise<T>): Promise<T> {
    // bounded: each time another write has failed to make it
    for (let value; (value = this.#values.get(name)) !== undefined;) {
      try {
        return await value as T;
      } catch {
        if (this.#values.get(name) === value) this.#values.delete(name);
      }
    }
    const value = make();
    this.#values.set(name, value);
    return await value;
  }
}
