/**
 * A short run of `deno task abuse`: what hostile sellers send costs neither
 * memory without a bound nor the service. Times are judged by the task alone.
 */
import { assert, assertEquals, assertLess } from "@std/assert";
import { ATTACKS } from "./attacks.ts";
import { MEMORY_MIB, tryAttacks } from "./trial.ts";

const MS = 2_000;

Deno.test("beside all hostile sellers at once, an honest one is served within 700 MiB", async () => {
  const { alive, peakMiB, fare, readyMs } = await tryAttacks(
    Object.keys(ATTACKS),
    MS,
  );
  assert(alive, "it died");
  assertLess(peakMiB, MEMORY_MIB);
  assert(fare.uploads > 0);
  const wrong = fare.failures.filter((failure) => !/: 503 /.test(failure));
  assertEquals(wrong, []);
  assert(readyMs !== null, "it was not ready again");
});
