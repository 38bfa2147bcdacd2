/** Choices from random numbers. */
import type { Random } from "../../support/random.ts";

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)];
}

/** True in `share` of all cases. */
export function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

/** A whole number from `least` to `most`, inclusive. */
export function between(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

/** One of the names, with these weights. */
export function weighted<T extends string>(
  random: Random,
  lots: Readonly<Partial<Record<T, number>>>,
): T {
  const entries = Object.entries(lots) as [T, number][];
  const total = entries.reduce((sum, [, n]) => sum + n, 0);
  let left = random.next() * total;
  for (const [name, n] of entries) {
    left -= n;
    if (left < 0) return name;
  }
  return entries[entries.length - 1][0];
}
