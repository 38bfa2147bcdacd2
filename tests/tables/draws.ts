import { Random } from "../support/random.ts";

/** Random choices. */
export class Draws extends Random {
  chance(share: number): boolean {
    return this.next() < share;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)];
  }

  /** From `least` to `most` of them, in their original order. */
  some<T>(choices: readonly T[], least: number, most: number): T[] {
    const count = least + this.below(most - least + 1);
    const left = [...choices.keys()];
    const taken = Array.from(
      { length: Math.min(count, left.length) },
      () => left.splice(this.below(left.length), 1)[0],
    );
    return taken.sort((a, b) => a - b).map((i) => choices[i]);
  }

  shuffled<T>(all: readonly T[]): T[] {
    const left = [...all];
    return all.map(() => left.splice(this.below(left.length), 1)[0]);
  }
}
