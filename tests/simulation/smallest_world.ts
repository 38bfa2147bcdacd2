/** Removes steps from a failed world as long as it still fails. */
import { type Outcome, type RunOptions, simulate } from "./simulation.ts";
import { leaveOut } from "../support/leave_out.ts";
import type { Step } from "./world/plan.ts";

/** The most attempts. */
const TRIES = 60;

/** The steps that are needed for the same failure, or few more. */
export async function smallestWorld(
  { seed, world, failure }: Outcome,
  options: RunOptions,
): Promise<readonly Step[]> {
  const fails = async (without: ReadonlySet<string>) => {
    const outcome = await simulate(seed, { ...options, without });
    return ruleOf(outcome.failure) === ruleOf(failure);
  };
  const ids = world.steps.map(({ id }) => id);
  const without = await leaveOut(ids, fails, TRIES);
  return world.steps.filter(({ id }) => !without.has(id));
}

/** The first line of a failure names the rule that was broken. */
function ruleOf(failure: Error | null): string | null {
  return failure === null
    ? null
    : failure.message.split("\n")[0].replace(/[\d.]+/g, "#").slice(0, 80);
}
