/** `deno task soak [MINUTES] [SEED]`: ten minutes unless told. */
import { seedFrom } from "../support/random.ts";
import { soak } from "./soak.ts";

const minutes = Number(Deno.args[0] ?? "10");
const seed = seedFrom(Deno.args[1]);
console.log(`seed ${seed}, ${minutes} minutes`);
const problems = await soak({ minutes, seed });
for (const problem of problems) console.log(`PROBLEM ${problem}`);
console.log(`${problems.length} problems`);
Deno.exit(problems.length === 0 ? 0 : 1);
