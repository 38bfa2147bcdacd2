/**
 * Proves that the simulation finds mistakes: `planted.ts [NAME-REGEX]` plants
 * each of `PLANTED_FAULTS` in a copy of the source, one at a time, and runs
 * seeds until one fails that passes without the fault: first the seed that
 * found it last time, then `SEEDS` in order. The seeds found are stored in
 * `planted/seeds.json`.
 */
import { SourceCopies, type SourceCopy } from "../support/source_copy.ts";
import { type Failed, firstFailure, HANGS } from "./seeds_of_copy.ts";
import KNOWN from "./planted/seeds.json" with { type: "json" };
import { planted, PLANTED_FAULTS } from "./planted_faults.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const KNOWN_FILE = new URL("./planted/seeds.json", import.meta.url);
const SEEDS = 300;
/** How many processes run at the same time. */
const AT_ONCE = 2;

class Trial {
  /** Whether each seed passes without a fault. */
  readonly #sound = new Map<number, Promise<boolean>>();
  readonly unsound = new Set<number>();

  /** Finds a seed that fails because of the mistake planted in a copy. */
  async find(copy: SourceCopy, name: string): Promise<Failed | null> {
    const known = (KNOWN as Record<string, number>)[name];
    return known === undefined
      ? await this.#first(copy, 1, SEEDS)
      : await this.#first(copy, known, 1) ?? await this.#first(copy, 1, SEEDS);
  }

  async #first(copy: SourceCopy, from: number, count: number) {
    for (let next = from; next < from + count;) {
      const found = await firstFailure(copy.folder, next, from + count - next);
      if (found === null) return null;
      if (await this.#passes(found.seed)) {
        const confirmed = await confirm(copy, found);
        if (confirmed !== null) return confirmed;
      } else this.unsound.add(found.seed);
      next = found.seed + 1;
    }
    return null;
  }

  /** Whether a seed passes without a fault. */
  #passes(seed: number): Promise<boolean> {
    const known = this.#sound.get(seed) ??
      firstFailure(ROOT, seed, 1).then((failed) => failed === null);
    this.#sound.set(seed, known);
    return known;
  }
}

/**
 * Repeats a seed that hangs, because a process that another program stopped
 * looks like one that hangs; null if the seed does not fail again.
 */
async function confirm(
  copy: SourceCopy,
  found: Failed,
): Promise<Failed | null> {
  return found.rule === HANGS
    ? await firstFailure(copy.folder, found.seed, 1)
    : found;
}

/** Several runs at the same time may each find some seeds. */
function keep(found: ReadonlyMap<string, number>): void {
  const known = JSON.parse(Deno.readTextFileSync(KNOWN_FILE));
  const seeds = PLANTED_FAULTS.map(({ name }) =>
    [name, found.get(name) ?? known[name]] as const
  );
  const text = JSON.stringify(Object.fromEntries(seeds), null, 2);
  Deno.writeTextFileSync(KNOWN_FILE, `${text}\n`);
}

if (import.meta.main) {
  const [pattern = ""] = Deno.args;
  const wanted = PLANTED_FAULTS.filter(({ name }) =>
    new RegExp(pattern).test(name)
  );
  const count = Math.min(AT_ONCE, wanted.length);
  using copies = await SourceCopies.make(count, "planted-");
  const trial = new Trial();
  const seeds = new Map<string, number>();
  await copies.forEach(wanted, async (fault, copy) => {
    using _planted = await copy.change(
      fault.file,
      (text) => planted(fault, text),
    );
    const found = await trial.find(copy, fault.name);
    if (found !== null) seeds.set(fault.name, found.seed);
    const words = found === null
      ? "NOT CAUGHT"
      : `caught by seed ${found.seed}: ` +
        found.rule.split("\n")[0].slice(0, 200);
    console.log(`${fault.name}: ${words}`);
  });
  keep(seeds);
  if (trial.unsound.size > 0) {
    const seeds = [...trial.unsound].join(", ");
    console.log(`without a fault these seeds fail, too: ${seeds}`);
  }
  const failed = wanted.length - seeds.size;
  console.log(`${seeds.size} passed, ${failed} failed`);
  copies[Symbol.dispose]();
  Deno.exit(failed > 0 ? 1 : 0);
}
