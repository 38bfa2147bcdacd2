/**
 * A value that several clients write and read at the same time. A read may show
 * the last value, or one that was being written meanwhile; never an older one,
 * or one that nobody wrote.
 */

interface Write<T> {
  value: T;
  begun: number;
  /** Infinity while the write may still happen. */
  ended: number;
}

export class Register<T> {
  #writes: Write<T>[];
  /** Counts moments. */
  #ticks = 0;

  constructor(first: T) {
    this.#writes = [{ value: first, begun: -1, ended: -1 }];
  }

  /** The current moment, for `possible`. */
  now(): number {
    return this.#ticks++;
  }

  /**
   * A write begins; call one of the returned functions once its outcome is
   * known.
   */
  write(value: T): { done: () => void; refused: () => void } {
    const write = { value, begun: this.#ticks++, ended: Infinity };
    this.#writes.push(write);
    return {
      done: () => {
        write.ended = this.#ticks++;
        this.#forget();
      },
      refused: () => {
        this.#writes = this.#writes.filter((one) => one !== write);
      },
    };
  }

  /** The values that a read may show which began at `begun` and ends now. */
  possible(begun: number): T[] {
    return this.#writes.filter((write) =>
      !this.#writes.some((later) =>
        later.begun > write.ended && later.ended < begun
      )
    ).map(({ value }) => value);
  }

  /** The possible values now. */
  get values(): T[] {
    return this.possible(this.#ticks++);
  }

  /** Keeps a hundred of the values that no read can show any more. */
  #forget(): void {
    if (this.#writes.length > 200) this.#writes.splice(0, 100);
  }
}
