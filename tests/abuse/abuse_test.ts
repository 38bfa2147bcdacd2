/**
 * A short run of `deno task abuse`: hostile sellers neither exhaust memory nor
 * stop the service. Only the task itself judges times, and memory with all
 * kinds of bodies, which take 900 MiB unless they share a budget.
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

Deno.test("an honest seller is served while others attack, and memory is bounded", async () => {
  // While other tests run, an attacker that yields the cores would never
  // attack.
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
