/**
 * Runs the simulation: `main.ts [SEEDS] [SEED] [--seconds S] [--jobs N]`.
 *
 * With one seed it prints its trace. With several it prints for each that
 * failed the broken rule, the last steps, and the smallest world that still
 * fails. `--seconds` takes new seeds for so long, after those that failed once.
 */
import { seedFrom } from "../support/random.ts";
import {
  checkSometimes,
  reachedPaths,
  sometimesInPart,
} from "../support/sometimes.ts";
import { DataFolders } from "./data_folders.ts";
import { FAILED_ONCE } from "./seeds.ts";
import { smallestWorld } from "./smallest_world.ts";
import { type Outcome, simulate } from "./simulation.ts";

/** One seed in so many is played twice, and has to go the same way. */
const TWICE = 20;
const DEFAULT_SEEDS = 100;

interface Plan {
  seeds: Iterable<number>;
  /** Real milliseconds after which no other seed begins. */
  forMs: number;
}

/** What came of a part of the seeds. */
interface Sum {
  passed: number;
  failed: number;
  virtualMs: number;
}

class Run {
  readonly #folders: DataFolders;
  readonly sum: Sum = { passed: 0, failed: 0, virtualMs: 0 };

  constructor(folders: DataFolders) {
    this.#folders = folders;
  }

  /** Plays one seed, with its trace. */
  async show(seed: number): Promise<void> {
    const write = (line: string) => console.log(line);
    const outcome = await simulate(seed, { folders: this.#folders, write });
    this.#count(outcome);
    if (outcome.failure !== null) {
      console.log(`seed ${seed} failed: ${outcome.failure.stack}`);
    }
  }

  async play({ seeds, forMs }: Plan): Promise<void> {
    const until = performance.now() + forMs;
    for (const seed of seeds) {
      if (performance.now() > until) return;
      const outcome = await simulate(seed, { folders: this.#folders });
      const again = seed % TWICE === 0
        ? await simulate(seed, { folders: this.#folders })
        : outcome;
      if (again.digest !== outcome.digest) {
        outcome.failure ??= new Error(
          "same: two runs of this seed do not go the same way",
        );
      }
      this.#count(outcome);
      if (outcome.failure !== null) await this.#report(outcome);
    }
  }

  #count({ failure, virtualMs }: Outcome): void {
    this.sum.virtualMs += virtualMs;
    if (failure === null) this.sum.passed++;
    else this.sum.failed++;
  }

  async #report(outcome: Outcome): Promise<void> {
    const { seed, failure, lastLines } = outcome;
    const lines = [
      `seed ${seed} failed: ${failure!.message}`,
      ...lastLines.map((line) => `  ${line}`),
    ];
    console.log(lines.join("\n"));
    const steps = await smallestWorld(outcome, { folders: this.#folders });
    console.log(
      `seed ${seed}: the smallest world that still fails has ` +
        `${steps.length} of ${outcome.world.steps.length} steps`,
    );
    for (const { id, kind } of steps) console.log(`  ${id}: ${kind}`);
  }
}

function* endless(seed: number): Iterable<number> {
  yield* FAILED_ONCE.map(([failed]) => failed);
  for (;;) yield seed++ >>> 0;
}

function range(count: number, seed: number): number[] {
  return Array.from({ length: count }, (_, i) => (seed + i) >>> 0);
}

/** Plays parts of the seeds in processes of their own. */
async function inParallel(
  jobs: number,
  count: number,
  seed: number,
): Promise<Sum> {
  const each = Math.ceil(count / jobs);
  const parts = Array.from({ length: jobs }, async (_, job) => {
    const own = Math.max(0, Math.min(each, count - job * each));
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        import.meta.url,
        `${own}`,
        `${(seed + job * each) >>> 0}`,
        "--part",
      ],
      stderr: "inherit",
    }).output();
    const text = new TextDecoder().decode(stdout).trimEnd();
    const at = text.lastIndexOf("\n") + 1;
    if (at > 0) console.log(text.slice(0, at).trimEnd());
    if (!success && !text.slice(at).startsWith("{")) {
      throw new Error(`a process of the simulation failed`);
    }
    const { reached, ...sum } = JSON.parse(text.slice(at));
    sometimesInPart(reached);
    return sum as Sum;
  });
  const sums = await Promise.all(parts);
  return sums.reduce((sum, part) => ({
    passed: sum.passed + part.passed,
    failed: sum.failed + part.failed,
    virtualMs: sum.virtualMs + part.virtualMs,
  }));
}

interface Asked {
  count: number;
  seed: number;
  seconds: number | null;
  jobs: number;
  /** Prints its sum as JSON, for the process that started it. */
  isPart: boolean;
}

function asked(args: readonly string[]): Asked {
  const option = (name: string) => {
    const at = args.indexOf(`--${name}`);
    return at === -1 ? null : Number(args[at + 1]);
  };
  const plain = args.filter((arg, i) =>
    !arg.startsWith("--") && !/^--(seconds|jobs)$/.test(args[i - 1] ?? "")
  );
  return {
    count: plain[0] === undefined ? DEFAULT_SEEDS : Number(plain[0]),
    seed: seedFrom(plain[1]),
    seconds: option("seconds"),
    jobs: option("jobs") ?? 1,
    isPart: args.includes("--part"),
  };
}

async function run(
  { count, seed, seconds, jobs, isPart }: Asked,
): Promise<Sum> {
  if (jobs > 1) return await inParallel(jobs, count, seed);
  using folders = await DataFolders.open();
  const run = new Run(folders);
  if (seconds !== null) {
    await run.play({ seeds: endless(seed), forMs: seconds * 1_000 });
  } else if (count === 1 && !isPart) await run.show(seed);
  else await run.play({ seeds: range(count, seed), forMs: Infinity });
  return run.sum;
}

if (import.meta.main) {
  const begun = performance.now();
  const wish = asked(Deno.args);
  if (!wish.isPart) console.log(`seeds from ${wish.seed}`);
  const sum = await run(wish);
  const { passed, failed, virtualMs } = sum;
  let isRare = true;
  if (wish.isPart) {
    console.log(JSON.stringify({ ...sum, reached: reachedPaths() }));
  } else {
    isRare = checkSometimes("simulate", passed + failed);
    const seconds = (ms: number) => Math.round(ms / 1_000);
    const real = performance.now() - begun;
    console.log(`virtual ${seconds(virtualMs)} s, real ${seconds(real)} s`);
    console.log(`${passed} passed, ${failed} failed`);
  }
  Deno.exit(failed > 0 || !isRare ? 1 : 0);
}
