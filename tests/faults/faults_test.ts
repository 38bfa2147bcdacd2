/** Faults of the service cost sellers time, and nothing else. */
import { assertEquals } from "@std/assert";
import { TRIED } from "./cover.ts";
import { FAULTS } from "./faults.ts";
import { nameOf, tryCell } from "./matrix.ts";
import { Stage } from "./stage.ts";

Deno.test("faults outlast most retries", async (t) => {
  await using stage = await Stage.open();
  for (const cell of TRIED) {
    await t.step(nameOf(cell), async () => {
      await tryCell(stage, cell);
    });
  }
});

Deno.test("every fault is tried", () => {
  const tried = TRIED.flatMap(({ faults }) => faults);
  assertEquals(tried.sort(), Object.keys(FAULTS).sort());
});
