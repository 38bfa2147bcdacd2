import { LRUCache } from "lru-cache";

/** Keeps the most recently used values, up to a total size. */
// deno-lint-ignore ban-types -- any value but null and undefined
export class RecentValues<V extends {}> {
  readonly #values: LRUCache<string, V>;

  /**
   * @param limit at least 4, in the unit of the sizes; without sizes, a number
   * of values
   */
  constructor(limit: number) {
    this.#values = new LRUCache({
      maxSize: limit,
      maxEntrySize: Math.floor(limit / 4),
    });
  }

  /** Counts as a use. */
  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  /** Does not count as a use. */
  peek(key: string): V | undefined {
    return this.#values.peek(key);
  }

  /** A value larger than a quarter of the limit is not kept. */
  set(key: string, value: V, size = 1): void {
    this.#values.set(key, value, { size });
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
