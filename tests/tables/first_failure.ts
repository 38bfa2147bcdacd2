/**
 * Plays seeds, one after the other, until one fails: `first_failure.ts SEED
 * COUNT`. Prints the failure as JSON; null if no seed fails.
 */
import { play } from "./play.ts";
import { faultsOf } from "./shrink.ts";

/** A planted fault may break a whole module, not only a value. */
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
