/**
 * `deno task fuzz [SECONDS] [SEED]`: generated documents, requests and values,
 * by default for a minute. A failure ends it and prints the seed, with which it
 * fails again at once.
 */
import { assert } from "@std/assert";
import { Random, seedFrom } from "../support/random.ts";
import {
  checkGenerated,
  checkMistakes,
  checkMutated,
  checkPieces,
  checkSpelling,
} from "./decoder.ts";
import { bootForFuzz, REQUEST_CHECKS } from "./requests.ts";

const DOCUMENT_CHECKS = [
  checkMistakes,
  checkSpelling,
  checkMutated,
  checkGenerated,
];
/** Documents for each request, because requests take longer. */
const DOCUMENTS = 10;
/** Rounds between two checks of the memory. */
const LOOK_EVERY = 500;
/** By how much the heap may grow during the whole run. */
const GROWTH_BYTES = 100_000_000;

const seconds = Number(Deno.args[0] ?? "60");
const first = seedFrom(Deno.args[1]);
console.log(`seed ${first}, ${seconds} s`);

await using app = await bootForFuzz();
const end = performance.now() + seconds * 1_000;
let seed = first;
let documents = 0;
let requests = 0;
let heap = Infinity;
try {
  for (; performance.now() < end; seed++) {
    for (let n = 0; n < DOCUMENTS; n++) {
      for (const check of DOCUMENT_CHECKS) {
        check(new Random(seed * DOCUMENTS + n));
      }
      documents += DOCUMENT_CHECKS.length;
    }
    checkPieces(new Random(seed));
    documents++;
    for (const check of REQUEST_CHECKS) {
      await check(app, new Random(seed));
      requests++;
    }
    if ((seed - first) % LOOK_EVERY === 0) look();
  }
} catch (error) {
  console.error(`failed: deno task fuzz ${seconds} ${seed}`);
  throw error;
}
look();
console.log(
  `${documents} documents and ${requests} requests: nothing failed, ` +
    "nothing hung, nothing grew",
);

/** The service counted no answer as a failure, and nothing accumulates. */
function look(): void {
  const failed = app.log.filter(({ status }) => Number(status) >= 500);
  assert(failed.length === 0, JSON.stringify(failed[0]));
  app.log.length = 0;
  const { heapUsed } = Deno.memoryUsage();
  heap = Math.min(heap, heapUsed);
  assert(heapUsed - heap < GROWTH_BYTES, `the heap grew to ${heapUsed}`);
}
