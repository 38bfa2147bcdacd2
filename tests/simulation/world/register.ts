/**
 * A value that several clients write and read at the same time. A read may show
 * what was written last, or what was being written meanwhile; nothing older,
 * and nothing that nobody wrote.
 */

interface Write<T> {
  value: T;
  begun: number;
  /** Infinity while it may still happen. */
  ended: number;
}

export class Register<T> {
  #writes: Write<T>[];
  /** Moments, in their order. */
  #ticks = 0;

  constructor(first: T) {
    this.#writes = [{ value: first, begun: -1, ended: -1 }];
  }

  /** A moment, for `possible`. */
  now(): number {
    return this.#ticks++;
  }

  /** A write begins; call one of the functions when it is known what it did. */
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

  /** What a read that began at `begun` and ends now may show. */
  possible(begun: number): T[] {
    return this.#writes.filter((write) =>
      !this.#writes.some((later) =>
        later.begun > write.ended && later.ended < begun
      )
    ).map(({ value }) => value);
  }

  /** What it may be now. */
  get values(): T[] {
    return this.possible(this.#ticks++);
  }

  /** Keeps a hundred of those that nothing can show any more. */
  #forget(): void {
    if (this.#writes.length > 200) this.#writes.splice(0, 100);
  }
}
