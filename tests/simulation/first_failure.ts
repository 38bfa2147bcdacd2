/**
 * Runs seeds, one after the other, until one fails: `first_failure.ts SEED
 * COUNT`. Prints a line of JSON before each (`{ seed }`), and one for the
 * failure (`{ failed, rule }`).
 */
import { DataFolders } from "./data_folders.ts";
import { simulate } from "./simulation.ts";

/** A line of the output. */
export type Line = { seed: number } | { failed: number; rule: string };

const print = (line: Line) => console.log(JSON.stringify(line));

if (import.meta.main) {
  const [first, count] = Deno.args.map(Number);
  using folders = await DataFolders.open();
  for (let seed = first; seed < first + count; seed++) {
    print({ seed });
    const { failure } = await simulate(seed, { folders });
    if (failure === null) continue;
    print({ failed: seed, rule: failure.message });
    break;
  }
  Deno.exit();
}
