/**
 * `deno task model [RUNS] [SEED]`: random changes and undos, compared with the
 * model; a hundred runs by default. `deno task model RUNS SEED engines`: random
 * requests to both engines, whose answers are compared. A failure prints the
 * seed, with which it fails again at once.
 */
import { boot } from "../support/app.ts";
import { PostgresServer } from "../support/postgres.ts";
import { leaveOut } from "../support/leave_out.ts";
import { Random, seedFrom } from "../support/random.ts";
import { OPERATOR } from "../processes/service.ts";
import { checkSometimes } from "../support/sometimes.ts";
import { TwinHistory } from "./engines.ts";
import { Run } from "./run.ts";

/** Requests in a run. */
const STEPS = 100;

/** How often each kind of request got each status. */
type Answers = ReadonlyMap<string, number>;

/** The numbers of each step are its own, so that steps can be left out. */
const randomOf = (seed: number, step: number) =>
  new Random(seed + step * 0x9e3779b9);

async function runModel(
  seed: number,
  without: ReadonlySet<number> = new Set(),
): Promise<Answers> {
  // The feed contains all sellers, so each run has its own application.
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  const { url, key } = app;
  const target = { url, key, operatorKey: OPERATOR };
  const run = new Run(randomOf(seed, 0), target);
  for (let step = 1; step <= STEPS; step++) {
    if (!without.has(step)) await run.step(randomOf(seed, step));
  }
  await run.finish();
  return run.answers;
}

/** The most attempts to leave out steps of a failed run. */
const TRIES = 60;

/** Prints the few steps that a failed run needs, and how it then fails. */
async function printSmallest(seed: number): Promise<void> {
  let failure: unknown;
  const fails = async (without: ReadonlySet<number>) => {
    const error = await runModel(seed, without).then(() => null, (e) => e);
    failure = error ?? failure;
    return error !== null;
  };
  const steps = Array.from({ length: STEPS }, (_, n) => n + 1);
  const without = await leaveOut(steps, fails, TRIES);
  const left = steps.filter((step) => !without.has(step));
  console.error(`fails with the steps ${left.join(", ")}: ${failure}`);
}

async function runBoth(seed: number, server: PostgresServer): Promise<Answers> {
  await using history = await TwinHistory.open(seed, await server.database());
  await history.run(STEPS);
  return history.answers;
}

const [count = "100", seedText, kind = ""] = Deno.args;
const runs = Number(count);
const first = seedFrom(seedText);
console.log(`seed ${first}, ${runs} runs`);
await using server = kind === "engines" ? await PostgresServer.start() : null;
const answers = new Map<string, number>();
for (let seed = first; seed < first + runs; seed++) {
  try {
    const run = server === null ? runModel(seed) : runBoth(seed, server);
    for (const [what, n] of await run) {
      answers.set(what, (answers.get(what) ?? 0) + n);
    }
  } catch (error) {
    console.error(`failed: deno task model 1 ${seed} ${kind}`);
    if (server === null) await printSmallest(seed);
    throw error;
  }
}
const other = server === null ? "the model" : "the other engine";
console.log(
  `the service did what ${other} does: ${
    [...answers].map(([what, n]) => `${n} ${what}`).sort().join(", ")
  }`,
);
// Rare paths of the model are those of its own requests.
Deno.exit(server !== null || checkSometimes("model", runs) ? 0 : 1);
