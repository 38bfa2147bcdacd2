/** Single calls that fail: some of those that `deno task faults nth` tests. */
import { assert } from "@std/assert";
import { faultsOf, nameOf, Nursery, someOf } from "./nth_call.ts";

const FAULTS = 12;

Deno.test("any call of the database or the store may fail, and everything continues after it", async () => {
  await using nursery = await Nursery.open();
  const faults = someOf(faultsOf(await nursery.calls()), FAULTS);
  let reached = 0;
  for (const fault of faults) {
    const life = await nursery.try(fault).catch((error) => {
      throw new Error(nameOf(fault), { cause: error });
    });
    if (life.reached) reached++;
  }
  // Some timers may not have fired.
  assert(reached > 0.8 * FAULTS, `only ${reached} of ${FAULTS} were reached`);
});
