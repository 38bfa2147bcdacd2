/**
 * `deno task faults [SEED] [PART]`: every fault alone during each activity for
 * each duration, then pairs of everything. With PART, a regular expression,
 * only cells whose name matches. `deno task faults nth` is another run.
 */
import { Random, seedFrom } from "../support/random.ts";
import { eachFault, eachPart, pairs } from "./cover.ts";
import { DURATIONS, nameOf, tryCell } from "./matrix.ts";
import { checkSometimes } from "../support/sometimes.ts";
import { tryAll } from "./nth.ts";
import { Stage } from "./stage.ts";

if (Deno.args[0] === "nth") {
  const passed = await tryAll(...Deno.args.slice(1, 3));
  Deno.exit(passed ? 0 : 1);
}

const seed = seedFrom(Deno.args[0]);
const part = new RegExp(Deno.args[1] ?? "");
const cells = [
  ...Object.keys(DURATIONS).flatMap(eachFault),
  ...eachPart(),
  ...pairs(new Random(seed)),
].filter((cell) => part.test(nameOf(cell)));
console.log(`seed ${seed}, ${cells.length} cells`);
const failures: string[] = [];
const beganAll = performance.now();
let stage = await Stage.open();
for (const [n, cell] of cells.entries()) {
  const began = performance.now();
  const outcome = await tryCell(stage, cell).catch((error) => error as Error);
  const failed = outcome instanceof Error;
  const how = failed
    ? `FAILED: ${outcome.message}`
    : `all goes on after ${seconds(outcome.recovery)}, /healthz in ` +
      `${seconds(outcome.health)} at most`;
  const took = seconds(performance.now() - began);
  const line = `${n + 1} ${nameOf(cell)}: ${how} (${took})`;
  console.log(line);
  if (!failed) continue;
  failures.push(line);
  // Otherwise the fault would continue.
  await stage[Symbol.asyncDispose]().catch(() => {});
  stage = await Stage.open();
}
await stage.noteRarePaths();
await stage[Symbol.asyncDispose]();
for (const line of failures) console.log(line);
const passed = cells.length - failures.length;
const took = seconds(performance.now() - beganAll);
console.log(`${passed} of ${cells.length} cells passed in ${took}`);
const isWhole = Deno.args[1] === undefined;
const isRare = checkSometimes("faults", isWhole ? 1 : 0);
Deno.exit(failures.length === 0 && isRare ? 0 : 1);

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
