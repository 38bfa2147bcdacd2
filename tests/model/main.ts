/**
 * `deno task model [RUNS] [SEED]`: random changes and undos against the model,
 * a hundred runs unless told. A failure prints the seed, with which it fails
 * again at once.
 */
import { boot } from "../support/app.ts";
import { Random, seedFrom } from "../support/random.ts";
import { OPERATOR } from "../support/service.ts";
import { checkSometimes } from "../support/sometimes.ts";
import { Run } from "./run.ts";

/** Requests of a run. */
const STEPS = 100;

const runs = Number(Deno.args[0] ?? "100");
const first = seedFrom(Deno.args[1]);
console.log(`seed ${first}, ${runs} runs`);
const answers = new Map<string, number>();
for (let seed = first; seed < first + runs; seed++) {
  // The feed is that of all sellers: each run has an application of its own.
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  const { url, key } = app;
  const run = new Run(new Random(seed), { url, key, operatorKey: OPERATOR });
  try {
    for (let i = 0; i < STEPS; i++) await run.step();
    await run.finish();
  } catch (error) {
    console.error(`failed: deno task model 1 ${seed}`);
    throw error;
  }
  for (const [what, n] of run.answers) {
    answers.set(what, (answers.get(what) ?? 0) + n);
  }
}
console.log(
  `the service did what the model does: ${
    [...answers].map(([what, n]) => `${n} ${what}`).sort().join(", ")
  }`,
);
Deno.exit(checkSometimes("model", runs) ? 0 : 1);
