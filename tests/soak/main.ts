/** `deno task soak [MINUTES] [SEED]`: ten minutes by default. */
import { seedFrom } from "../support/random.ts";
import { checkSometimes } from "../support/sometimes.ts";
import { soak } from "./soak.ts";

const minutes = Number(Deno.args[0] ?? "10");
const seed = seedFrom(Deno.args[1]);
console.log(`seed ${seed}, ${minutes} minutes`);
const { problems, load } = await soak({ minutes, seed });
for (const line of load) console.log(`LOAD ${line}`);
for (const line of problems) console.log(`PROBLEM ${line}`);
console.log(
  `${problems.length} problems; ${load.length} delays by the machine's load`,
);
const isRare = checkSometimes("soak", minutes);
Deno.exit(problems.length === 0 && isRare ? 0 : 1);
