/** A short run of `deno task crash`. */
import { assert } from "@std/assert";
import { seedFrom } from "../support/random.ts";
import { crash } from "./crash.ts";

Deno.test("a service killed at random moments keeps what it acknowledged", async () => {
  const seed = seedFrom(Deno.env.get("CRASH_SEED"));
  console.log(`CRASH_SEED=${seed}`);
  const figures = await crash({
    kills: 4,
    seed,
    hasten: true,
    settleMs: 15_000,
  });
  assert(figures.uploads + figures.updates + figures.events > 0);
});
