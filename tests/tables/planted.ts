/**
 * Proves that the simulation of files finds mistakes: `planted.ts [NAME-REGEX]`
 * plants each of `PLANTED_FAULTS` in a copy of the source, one at a time, and
 * plays seeds until one fails. It records that seed in `planted/seeds.json`.
 */
import { SourceCopies } from "../support/source_copy.ts";
import { planted } from "../simulation/planted_faults.ts";
import KNOWN from "./planted/seeds.json" with { type: "json" };
import { PLANTED_FAULTS } from "./planted_faults.ts";

const KNOWN_FILE = new URL("./planted/seeds.json", import.meta.url);
const SEEDS = 300;
/** Concurrent processes. */
const AT_ONCE = 2;

/**
 * The first of these seeds that fails in a copy of the source; null if none
 * does.
 */
async function firstFailure(
  folder: string,
  first: number,
  count: number,
): Promise<number | null> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-check", "tests/tables/first_failure.ts"],
      ...[`${first}`, `${count}`],
    ],
    cwd: folder,
    stderr: "inherit",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

if (import.meta.main) {
  const [pattern = ""] = Deno.args;
  const wanted = PLANTED_FAULTS.filter(({ name }) =>
    new RegExp(pattern).test(name)
  );
  const seeds: Record<string, number> = { ...KNOWN };
  using copies = await SourceCopies.make(AT_ONCE, "planted-");
  let missed = 0;
  await copies.forEach(wanted, async (fault, copy) => {
    const { folder } = copy;
    using _planted = await copy.change(
      fault.file,
      (text) => planted(fault, text),
    );
    const known = seeds[fault.name];
    const found = (known && await firstFailure(folder, known, 1)) ||
      await firstFailure(folder, 1, SEEDS);
    console.log(`${fault.name}: ${found ?? "not found"}`);
    if (found === null) missed++;
    else seeds[fault.name] = found;
  });
  const kept = PLANTED_FAULTS.flatMap(({ name }) =>
    name in seeds ? [[name, seeds[name]]] : []
  );
  const text = JSON.stringify(Object.fromEntries(kept), null, 2);
  await Deno.writeTextFile(KNOWN_FILE, `${text}\n`);
  console.log(`${wanted.length - missed} passed, ${missed} failed`);
  copies[Symbol.dispose]();
  Deno.exit(missed > 0 ? 1 : 0);
}
