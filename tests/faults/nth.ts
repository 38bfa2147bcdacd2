/**
 * `deno task faults nth [PART] [FROM-TO]`: lets every call of the database and
 * the image store fail, one in each life of the service, with every error. With
 * PART, a regular expression, only calls whose name matches; with FROM-TO, only
 * those with these numbers.
 */
import { checkSometimes } from "../support/sometimes.ts";
import { faultsOf, nameOf, Nursery } from "./nth_call.ts";

/** Returns whether all went well. */
export async function tryAll(part = "", range?: string): Promise<boolean> {
  await using nursery = await Nursery.open();
  const all = faultsOf(await nursery.calls());
  const chosen = all
    .filter((fault) => new RegExp(part).test(nameOf(fault)));
  const [from, to] = range?.split("-").map(Number) ?? [1, chosen.length];
  const faults = chosen.slice(from - 1, to);
  console.log(`${faults.length} of ${chosen.length} faults`);
  let passed = 0;
  let reached = 0;
  for (const [n, fault] of faults.entries()) {
    try {
      const life = await nursery.try(fault);
      passed++;
      if (life.reached) reached++;
    } catch (error) {
      console.log(`${from + n} ${nameOf(fault)}: FAILED: ${error}`);
    }
    if ((n + 1) % 100 === 0) console.log(`${n + 1} tried`);
  }
  console.log(
    `${passed} of ${faults.length} faults passed; ${reached} were reached`,
  );
  const isRare = checkSometimes("nth", faults.length === all.length ? 1 : 0);
  return passed === faults.length && isRare;
}
