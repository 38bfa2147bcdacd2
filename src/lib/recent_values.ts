/** Keeps the values used last, up to a total size. */
export class RecentValues<V> {
  readonly #limit: number;
  /** The one unused for longest comes first. */
  readonly #values = new Map<string, { value: V; size: number }>();
  #size = 0;

  /** `limit` in the unit of the sizes; without sizes, a number of values. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): V | undefined {
    const kept = this.#values.get(key);
    if (kept === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, kept);
    return kept.value;
  }

  /** A value larger than a quarter of the limit is not kept. */
  set(key: string, value: V, size = 1): void {
    this.delete(key);
    if (size > this.#limit / 4) return;
    this.#values.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#limit) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#values.get(key)?.size ?? 0;
    this.#values.delete(key);
  }
}
