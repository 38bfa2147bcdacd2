/** Leaves steps out of a world that failed, as long as it still fails. */
import { type Outcome, type RunOptions, simulate } from "./simulation.ts";
import type { Step } from "./world/world.ts";

/** How often it tries at most. */
const TRIES = 60;

/** The steps that are needed for the same failure, or nearly so. */
export async function smallestWorld(
  { seed, world, failure }: Outcome,
  options: RunOptions,
): Promise<readonly Step[]> {
  const all = world.steps.map(({ id }) => id);
  let kept: readonly string[] = all;
  let tries = 0;
  const fails = async (ids: readonly string[]) => {
    tries++;
    const without = new Set(all.filter((id) => !ids.includes(id)));
    const outcome = await simulate(seed, { ...options, without });
    return ruleOf(outcome.failure) === ruleOf(failure);
  };
  // Half of the steps, then a quarter, and so on.
  for (let size = Math.ceil(all.length / 2); size >= 1;) {
    let hasShrunk = false;
    for (let at = 0; at < kept.length && tries < TRIES;) {
      const fewer = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (await fails(fewer)) {
        kept = fewer;
        hasShrunk = true;
      } else at += size;
    }
    if (tries >= TRIES || (size === 1 && !hasShrunk)) break;
    size = size > 1 ? Math.ceil(size / 2) : 1;
  }
  const ids = new Set(kept);
  return world.steps.filter(({ id }) => ids.has(id));
}

/** The first line of a failure names the rule that was broken. */
function ruleOf(failure: Error | null): string | null {
  return failure === null
    ? null
    : failure.message.split("\n")[0].replace(/[\d.]+/g, "#").slice(0, 80);
}
