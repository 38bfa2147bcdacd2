/**
 * Proves that the simulation finds mistakes: `planted.ts [NAME-REGEX] [SEEDS]
 * [SEED]` plants each of `PLANTED_FAULTS` in a copy of the source, one at a
 * time, and plays seeds until one fails that passes without the fault.
 */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { inParallel } from "../../src/lib/in_parallel.ts";
import type { Line } from "./first_failure.ts";
import {
  planted,
  PLANTED_FAULTS,
  type PlantedFault,
} from "./planted_faults.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** What the simulation reads. */
const PARTS = ["src", "tests", "deno.json", "deno.lock", "main.ts"];
const PROGRAM = "tests/simulation/first_failure.ts";
const SEEDS = 300;
const FIRST_SEED = 1;
/** Processes at the same time. */
const AT_ONCE = 2;
/** A seed that takes longer hangs. */
const HANGS_MS = 300_000;

interface Failed {
  seed: number;
  rule: string;
}

/** How a fault was found; null if it was not. */
type Found = Failed & { seeds: number } | null;

/** A copy of the source in a temporary folder. */
class Copy implements Disposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "planted-" });

  static async make(): Promise<Copy> {
    const copy = new Copy();
    const { success } = await new Deno.Command("cp", {
      args: ["-r", ...PARTS.map((part) => `${ROOT}${part}`), copy.folder],
    }).output();
    if (!success) throw new Error("the source cannot be copied");
    return copy;
  }

  async plant(fault: PlantedFault): Promise<Disposable> {
    const file = `${this.folder}/src/${fault.file}`;
    const text = await Deno.readTextFile(file);
    await Deno.writeTextFile(file, await planted(fault, text));
    return { [Symbol.dispose]: () => Deno.writeTextFileSync(file, text) };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

/** Plays seeds in a process of its own; null if none fails. */
async function firstFailure(
  folder: string,
  first: number,
  count: number,
): Promise<Failed | null> {
  using process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", PROGRAM, `${first}`, `${count}`],
    cwd: folder,
    stdout: "piped",
    stderr: "piped",
  }).spawn() as Deno.ChildProcess & Disposable;
  const errors = new Response(process.stderr).text();
  const lines = createInterface({ input: Readable.from(process.stdout) });
  let seed = first;
  let hangs = false;
  const watch = () =>
    setTimeout(() => (hangs = true, process.kill()), HANGS_MS);
  let timer = watch();
  try {
    for await (const text of lines) {
      clearTimeout(timer);
      timer = watch();
      const line: Line = JSON.parse(text);
      if ("failed" in line) return { seed: line.failed, rule: line.rule };
      seed = line.seed;
    }
  } finally {
    clearTimeout(timer);
  }
  if (hangs) return { seed, rule: "it hangs" };
  const { success } = await process.status;
  return success ? null : { seed, rule: `it ends: ${await errors}` };
}

class Trial {
  readonly #first: number;
  readonly #count: number;
  /** Whether each seed passes without a fault. */
  readonly #sound = new Map<number, Promise<boolean>>();
  readonly unsound = new Set<number>();

  constructor(first: number, count: number) {
    this.#first = first;
    this.#count = count;
  }

  /** Looks for a seed that fails because of what was planted in a copy. */
  async find(copy: Copy): Promise<Found> {
    const end = this.#first + this.#count;
    for (let next = this.#first; next < end;) {
      const found = await firstFailure(copy.folder, next, end - next);
      if (found === null) return null;
      const { seed } = found;
      next = seed + 1;
      if (await this.#passes(seed)) {
        return { ...found, seeds: next - this.#first };
      }
      this.unsound.add(seed);
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

if (import.meta.main) {
  const [pattern = "", count = SEEDS, first = FIRST_SEED] = Deno.args;
  const wanted = PLANTED_FAULTS.filter(({ name }) =>
    new RegExp(pattern).test(name)
  );
  using copies = new DisposableStack();
  const free: Copy[] = [];
  for (let n = 0; n < Math.min(AT_ONCE, wanted.length); n++) {
    free.push(copies.use(await Copy.make()));
  }
  const trial = new Trial(Number(first), Number(count));
  const caught = await inParallel(AT_ONCE, wanted, async (fault) => {
    const copy = free.pop()!;
    using _planted = await copy.plant(fault);
    const found = await trial.find(copy);
    const words = found === null
      ? "NOT CAUGHT"
      : `caught by seed ${found.seed} after ${found.seeds} seeds: ` +
        found.rule.split("\n")[0].slice(0, 200);
    console.log(`${fault.name}: ${words}`);
    free.push(copy);
    return found !== null;
  });
  if (trial.unsound.size > 0) {
    const seeds = [...trial.unsound].join(", ");
    console.log(`without a fault these seeds fail, too: ${seeds}`);
  }
  const passed = caught.filter((isCaught) => isCaught).length;
  console.log(`${passed} passed, ${caught.length - passed} failed`);
  copies.dispose();
  Deno.exit(passed < caught.length ? 1 : 0);
}
