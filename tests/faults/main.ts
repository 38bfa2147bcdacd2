/**
 * `deno task faults [SEED]`: every fault alone beside each activity for each
 * duration, then pairs of everything.
 */
import { Random, seedFrom } from "../support/random.ts";
import { eachFault, eachPart, pairs } from "./cover.ts";
import { DURATIONS, nameOf, tryCell } from "./matrix.ts";
import { Stage } from "./stage.ts";

const seed = seedFrom(Deno.args[0]);
const cells = [
  ...Object.keys(DURATIONS).flatMap(eachFault),
  ...eachPart(),
  ...pairs(new Random(seed)),
];
console.log(`seed ${seed}, ${cells.length} cells`);
let failed = 0;
let stage = await Stage.open();
for (const [n, cell] of cells.entries()) {
  const began = performance.now();
  const how = await tryCell(stage, cell).then(() => "ok", (error) => {
    failed++;
    return `FAILED: ${error.message}`;
  });
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.log(`${n + 1} ${nameOf(cell)}: ${how} (${seconds} s)`);
  if (how === "ok") continue;
  // What went wrong would go on.
  await stage[Symbol.asyncDispose]().catch(() => {});
  stage = await Stage.open();
}
await stage[Symbol.asyncDispose]();
console.log(`${cells.length - failed} of ${cells.length} cells passed`);
Deno.exit(failed === 0 ? 0 : 1);
