/** Chooses the cells to test. */
import type { Random } from "../support/random.ts";
import { ACTIVITIES } from "./activities.ts";
import {
  DATABASE_FAULTS,
  FAULTS,
  STORE_FAULTS,
  WORKER_FAULTS,
} from "./faults.ts";
import { type Cell, DURATIONS } from "./matrix.ts";

const ALL = Object.keys(ACTIVITIES);

/**
 * The cells of the tests: each fault at least once, during all activities. Two
 * faults at once affect unrelated parts, unless they last for different times.
 * `deno task faults` tests each fault alone, and many more cells.
 */
export const TRIED: readonly Cell[] = [
  ...[
    ["database read-only"],
    ["database slow"],
    ["image store refusing", "mail server away"],
    ["image store slow", "notices endpoint away"],
    ["worker dead"],
    ["worker hung"],
    ["worker out of memory"],
  ].map((faults) => ({ faults, activities: ALL, duration: "20 s" })),
  {
    faults: ["database locked", "image store away"],
    activities: ALL,
    duration: "80 h",
  },
  {
    faults: ["disk full", "image store full"],
    activities: ALL,
    duration: "1 s",
  },
];

/** Each fault alone during all activities, for this duration. */
export function eachFault(duration: string): Cell[] {
  return Object.keys(FAULTS).map((fault) => ({
    faults: [fault],
    activities: ALL,
    duration,
  }));
}

/** Each fault alone during each activity alone, for each duration. */
export function eachPart(): Cell[] {
  return Object.keys(DURATIONS).flatMap((duration) =>
    Object.keys(FAULTS).flatMap((fault) =>
      ALL.map((activity) => ({
        faults: [fault],
        activities: [activity],
        duration,
      }))
    )
  );
}

/**
 * Faults of the database, the store and the worker at once, such that each pair
 * of fault, fault, fault, activity and duration occurs in some cell.
 */
export function pairs(random: Random): Cell[] {
  const axes = [
    Object.keys(DATABASE_FAULTS),
    Object.keys(STORE_FAULTS),
    Object.keys(WORKER_FAULTS),
    ALL,
    Object.keys(DURATIONS),
  ];
  return pairwise(axes, random).map((row) => ({
    faults: row.slice(0, 3),
    activities: [row[3]],
    duration: row[4],
  }));
}

/** How many random rows are compared for each chosen one. */
const TRIES = 50;

/**
 * Rows with a value for each axis, in which every pair of values of two axes
 * occurs.
 */
export function pairwise(
  axes: readonly (readonly string[])[],
  random: Random,
): string[][] {
  const open = new Set(
    axes.flatMap((values, i) =>
      axes.slice(i + 1).flatMap((others, j) =>
        values.flatMap((a) => others.map((b) => keyOf(i, a, i + 1 + j, b)))
      )
    ),
  );
  const rows: string[][] = [];
  while (open.size > 0) {
    let best: { row: string[]; met: string[] } | null = null;
    for (let n = 0; n < TRIES || best === null; n++) {
      const row = axes.map((values) => values[random.below(values.length)]);
      const met = pairsOf(row).filter((pair) => open.has(pair));
      if (met.length > (best?.met.length ?? 0)) best = { row, met };
    }
    rows.push(best.row);
    for (const pair of best.met) open.delete(pair);
  }
  return rows;
}

function pairsOf(row: readonly string[]): string[] {
  return row.flatMap((a, i) =>
    row.slice(i + 1).map((b, j) => keyOf(i, a, i + 1 + j, b))
  );
}

function keyOf(i: number, a: string, j: number, b: string): string {
  return `${i} ${a} / ${j} ${b}`;
}
