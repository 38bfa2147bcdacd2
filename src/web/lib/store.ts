/** A value whose changes redraw the views that use it. */
import { useLayoutEffect, useState } from "preact/hooks";

export class Store<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /**
   * Calls `listener` after each change until the returned function is called.
   */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Returns the store's value; each change of the value redraws the view. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(() => store.value);
  useLayoutEffect(() => {
    const update = () => setValue(() => store.value);
    update();
    return store.listen(update);
  }, [store]);
  return value;
}
