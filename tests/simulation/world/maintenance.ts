/** Each portion of maintenance is done once, by one process, in time. */
import { MINUTE_MS } from "../../../src/lib/durations.ts";
import type { Portion } from "../machine.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";

/** Jobs with one portion in each run, with the time between two runs. */
const EVERY_MS: Readonly<Record<string, number>> = { image_parts: MINUTE_MS };
/** How late a run may begin, because other jobs of the role come first. */
const LATE_MS = 15_000;
/** A fault up to this long ago may have made a run fail. */
const AFTERMATH_MS = 90_000;

export function checkMaintenance(scene: Scene): void {
  const byJob = Map.groupBy(scene.stage.portions(), ({ job }) => job);
  for (const [job, portions] of byJob) {
    const lives = Map.groupBy(portions, ({ life }) => life);
    checkOneAtATime(job, [...lives.values()]);
    const everyMs = EVERY_MS[job];
    if (everyMs === undefined) continue;
    for (const own of lives.values()) checkInterval(scene, own, everyMs);
  }
}

/**
 * The first portion of a process comes after the last one of any other process.
 */
function checkOneAtATime(job: string, lives: readonly Portion[][]): void {
  // Sorted by their first portions.
  for (const [n, own] of lives.entries()) {
    const later = lives.slice(n + 1).filter(([{ at }]) => at < own.at(-1)!.at);
    hold(later.length === 0, "true", `${job} is done by one process`, {
      own,
      later,
    });
  }
}

function checkInterval(
  { trouble }: Scene,
  portions: readonly Portion[],
  everyMs: number,
): void {
  for (const [n, { job, at }] of portions.entries()) {
    const former = portions[n - 1]?.at;
    if (former === undefined) continue;
    if (trouble.anyWithin(former - AFTERMATH_MS, at)) continue;
    hold(
      at - former >= everyMs && at - former <= everyMs + LATE_MS,
      "true",
      `${job} is done every ${everyMs / 1_000} s`,
      { former, at },
    );
  }
}
