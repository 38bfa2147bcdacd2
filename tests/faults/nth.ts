/**
 * `deno task faults nth [PART]`: lets every call of the database and the image
 * store fail, one in each life of the service, with every error; with PART, a
 * regular expression, only those of which it matches the name.
 */
import { checkSometimes } from "../support/sometimes.ts";
import { faultsOf, nameOf, Nursery } from "./nth_call.ts";

/** Answers whether all went well. */
export async function tryAll(part: string): Promise<boolean> {
  await using nursery = await Nursery.open();
  const faults = faultsOf(await nursery.calls())
    .filter((fault) => new RegExp(part).test(nameOf(fault)));
  console.log(`${faults.length} faults`);
  let passed = 0;
  let reached = 0;
  for (const [n, fault] of faults.entries()) {
    try {
      const life = await nursery.try(fault);
      passed++;
      if (life.reached) reached++;
    } catch (error) {
      console.log(`${n + 1} ${nameOf(fault)}: FAILED: ${error}`);
    }
    if ((n + 1) % 100 === 0) console.log(`${n + 1} tried`);
  }
  console.log(
    `${passed} of ${faults.length} faults passed; ${reached} were reached`,
  );
  const isRare = checkSometimes("nth", part === "" ? 1 : 0);
  return passed === faults.length && isRare;
}
