/** Our own outages cost sellers time, and nothing else: one fault at a time. */
import { eachFault } from "./cover.ts";
import { nameOf, tryCell } from "./matrix.ts";
import { Stage } from "./stage.ts";

Deno.test("one thing goes wrong, for longer than most retries", async (t) => {
  await using stage = await Stage.open();
  for (const cell of eachFault("20 s")) {
    await t.step(nameOf(cell), async () => {
      await tryCell(stage, cell);
    });
  }
});
