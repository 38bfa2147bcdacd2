/** Our own outages cost sellers time, and nothing else: one fault at a time. */
import { eachFault } from "./cover.ts";
import { nameOf, tryCell } from "./matrix.ts";
import { Stage } from "./stage.ts";

let stage: Stage;
Deno.test.beforeAll(async () => {
  stage = await Stage.open();
});
Deno.test.afterAll(() => stage[Symbol.asyncDispose]());

for (const cell of eachFault("20 s")) {
  Deno.test(nameOf(cell), async () => {
    await tryCell(stage, cell);
  });
}
