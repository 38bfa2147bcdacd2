/** Pseudo-random numbers that depend only on the seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to `end`, exclusive. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }
}

/** The given seed, or a random one. */
export function seedFrom(text: string | undefined): number {
  return text === undefined || text === ""
    ? crypto.getRandomValues(new Uint32Array(1))[0]
    : Number(text) >>> 0;
}
