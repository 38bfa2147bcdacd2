/** Long work runs in steps. */
import { assertEquals } from "@std/assert";
import {
  inSteps,
  mapInSteps,
  portionsOf,
  type RowWork,
  STEP_ROWS,
  yieldingBetweenSteps,
} from "../../src/lib/steps.ts";

/** How many rows each step has, for work on this many rows. */
async function stepsOf(rows: number): Promise<[steps: number[], sum: number]> {
  let done = 0;
  function* work(): RowWork<number> {
    for (let n = 0; n < rows; n++) {
      done++;
      yield;
    }
    return rows;
  }
  const steps: number[] = [];
  const sum = await inSteps(work(), async (step) => {
    const before = done;
    const result = await step();
    steps.push(done - before);
    return result;
  });
  return [steps, sum];
}

Deno.test("work runs in steps of 250 rows, to its end", async () => {
  assertEquals(STEP_ROWS, 250);
  assertEquals(await stepsOf(0), [[0], 0]);
  assertEquals(await stepsOf(249), [[249], 249]);
  assertEquals(await stepsOf(250), [[250], 250]);
  assertEquals(await stepsOf(600), [[251, 251, 98], 600]);
});

Deno.test("a list is cut into portions of 250 rows", () => {
  const sizes = (length: number) =>
    [...portionsOf(Array.from({ length }))].map(({ length }) => length);
  assertEquals(sizes(0), []);
  assertEquals(sizes(250), [250]);
  assertEquals(sizes(501), [250, 250, 1]);
});

Deno.test("a write lets others in between its steps, but not before the first", async () => {
  let yields = 0;
  const runStep = yieldingBetweenSteps({
    yieldToIo() {
      yields++;
      return Promise.resolve();
    },
  });
  const double = (n: number) => 2 * n;
  const numbers = Array.from({ length: 600 }, (_, n) => n);
  const few = numbers.slice(0, 250);
  assertEquals(await mapInSteps(few, double, runStep), few.map(double));
  assertEquals(yields, 0);
  const doubled = await mapInSteps(numbers, double, runStep);
  assertEquals(doubled, numbers.map(double));
  assertEquals(yields, 3);
});
