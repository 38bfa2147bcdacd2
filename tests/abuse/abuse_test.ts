/**
 * A short run of `deno task abuse`: what hostile sellers send costs neither
 * memory without a bound nor the service. The task alone judges times, and
 * memory with all kinds; without a budget of bodies these take 900 MiB.
 */
import { assert, assertEquals, assertLess } from "@std/assert";
import { MEMORY_MIB, tryAttacks } from "./trial.ts";

const MS = 2_000;
const ATTACKS = [
  "images of empty comments",
  "images of nested boxes",
  "ETags of 12 KB",
  "bombs of carriage returns",
  "bombs of character references",
  "bombs of comments",
  "bombs of CDATA",
  "bombs of elements",
  "readers that do not read",
  "a status of long URLs",
  "slow bodies",
];

Deno.test("beside hostile sellers an honest one is served, and memory is bounded", async () => {
  // Beside other tests, who yields does not come to attack.
  const { alive, peakMiB, fare, readyMs } = await tryAttacks(ATTACKS, MS, {
    yields: false,
  });
  assert(alive, "it died");
  assertLess(peakMiB, MEMORY_MIB);
  assert(fare.uploads > 0);
  const wrong = fare.failures.filter((failure) => !/: 503 /.test(failure));
  assertEquals(wrong, []);
  assert(readyMs !== null, "it was not ready again");
});
