/**
 * Plays seeds, one after the other, until one fails: `first_failure.ts SEED
 * COUNT`. Prints it as JSON; null: none does.
 */
import { play } from "./play.ts";
import { faultsOf } from "./shrink.ts";

/** A fault may break a module, not a value alone. */
async function fails(seed: number): Promise<boolean> {
  try {
    return faultsOf((await play(seed)).outcome).length > 0;
  } catch {
    return true;
  }
}

if (import.meta.main) {
  const [first, count] = Deno.args.map(Number);
  let seed = first;
  while (seed < first + count && !await fails(seed)) seed++;
  console.log(JSON.stringify(seed < first + count ? seed : null));
  Deno.exit();
}
