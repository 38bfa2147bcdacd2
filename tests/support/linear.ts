/** Asserts that work takes time in proportion to its input. */
import { assert } from "@std/assert";
import process from "node:process";

/** The larger input is this many times as long as the smaller one. */
const TIMES = 4;
/** Linear work takes up to 4 times as long, quadratic work 16 times. */
const ALLOWED = 10;
/** The least of several runs has the fewest collections of garbage. */
const RUNS = 3;
/** Times below this are counted as this: Deno counts in steps of 10 ms. */
const LEAST_MS = 20;

/**
 * `run` does the work on an input of this length; the processor times of
 * `length` and of four times as much are compared. The latter should take 50 ms
 * or more.
 */
export function assertLinear(
  name: string,
  length: number,
  run: (length: number) => void,
): void {
  const short = leastTime(() => run(length));
  const long = leastTime(() => run(length * TIMES));
  const ratio = long / Math.max(short, LEAST_MS);
  assert(ratio <= ALLOWED, `${name}: ${long} ms after ${short} ms`);
}

/**
 * Milliseconds of this thread, because the process runs other tests at the same
 * time.
 */
function leastTime(run: () => void): number {
  const times = Array.from({ length: RUNS }, () => {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
