/** Asserts that work takes time in proportion to its input. */
import { assert } from "@std/assert";
import process from "node:process";

/** The larger input is this many times as long as the smaller one. */
const TIMES = 4;
/** Linear work takes up to 4 times as long, quadratic work 16 times. */
const ALLOWED = 10;
/** The least of several runs is not disturbed by other work. */
const RUNS = 3;

/**
 * `run` does the work on an input of this length; the processor time of
 * `length` and of four times as much are compared.
 */
export function assertLinear(
  name: string,
  length: number,
  run: (length: number) => void,
): void {
  const short = leastTime(() => run(length));
  const long = leastTime(() => run(length * TIMES));
  // Below a millisecond, the clock is too coarse.
  const ratio = long / Math.max(short, 1_000);
  assert(ratio <= ALLOWED, `${name}: ${long} µs after ${short} µs`);
}

/** Microseconds of processor time. */
function leastTime(run: () => void): number {
  const times = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...times);
}
