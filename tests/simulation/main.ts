/**
 * Runs the simulation: `main.ts [SEEDS] [SEED] [--seconds S] [--jobs N]`.
 *
 * With one seed it prints its trace. With several it prints for each that
 * failed the broken rule, the last steps, and the smallest world that still
 * fails. `--seconds` takes new seeds for so long, after those that failed once.
 */
import { cpuUsage } from "node:process";
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

/** What came of a part of the seeds. */
interface Sum {
  passed: number;
  failed: number;
  virtualMs: number;
  /** Of all cores. */
  processorMs: number;
}

class Run {
  readonly #folders: DataFolders;
  readonly #sum = { passed: 0, failed: 0, virtualMs: 0 };

  constructor(folders: DataFolders) {
    this.#folders = folders;
  }

  get sum(): Sum {
    const { user, system } = cpuUsage();
    return { ...this.#sum, processorMs: (user + system) / 1_000 };
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

  /** Plays these seeds; after `forMs` real milliseconds it begins no other. */
  async play(seeds: Iterable<number>, forMs: number): Promise<void> {
    const until = performance.now() + forMs;
    for (const seed of seeds) {
      if (performance.now() > until) return;
      const outcome = await simulate(seed, { folders: this.#folders });
      if (seed % TWICE === 0) {
        const again = await simulate(seed, { folders: this.#folders });
        this.#sum.virtualMs += again.virtualMs;
        if (again.digest !== outcome.digest) {
          outcome.failure ??= new Error(
            "same: two runs of this seed do not go the same way",
          );
        }
      }
      this.#count(outcome);
      if (outcome.failure !== null) await this.#report(outcome);
    }
  }

  #count({ failure, virtualMs }: Outcome): void {
    this.#sum.virtualMs += virtualMs;
    if (failure === null) this.#sum.passed++;
    else this.#sum.failed++;
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

/** The seeds that were asked for, or those of one part of the work. */
function* seedsOf({ count, seed, seconds, part }: Asked): Iterable<number> {
  let n = 0;
  const isOwn = () => part === null || n++ % part.of === part.number;
  if (seconds !== null) {
    for (const [failed] of FAILED_ONCE) if (isOwn()) yield failed;
  }
  const end = seconds === null ? seed + count : Infinity;
  for (let next = seed; next < end; next++) if (isOwn()) yield next >>> 0;
}

/** Has processes of their own play parts of the seeds. */
async function inParallel({ count, seed, seconds, jobs }: Asked): Promise<Sum> {
  const time = seconds === null ? [] : ["--seconds", `${seconds}`];
  const parts = Array.from({ length: jobs }, async (_, job) => {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        import.meta.url,
        `${count}`,
        `${seed}`,
        ...time,
        "--part",
        `${job}/${jobs}`,
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
    processorMs: sum.processorMs + part.processorMs,
  }));
}

interface Asked {
  count: number;
  seed: number;
  seconds: number | null;
  jobs: number;
  /**
   * Plays every n-th seed, and prints its sum as JSON for the process that
   * started it.
   */
  part: { number: number; of: number } | null;
}

function asked(args: readonly string[]): Asked {
  const option = (name: string) => {
    const at = args.indexOf(`--${name}`);
    return at === -1 ? null : args[at + 1];
  };
  const plain = args.filter((arg, i) =>
    !arg.startsWith("--") && !args[i - 1]?.startsWith("--")
  );
  const seconds = option("seconds");
  const [number, of] = (option("part") ?? "").split("/").map(Number);
  return {
    count: plain[0] === undefined ? DEFAULT_SEEDS : Number(plain[0]),
    seed: seedFrom(plain[1]),
    seconds: seconds === null ? null : Number(seconds),
    jobs: Number(option("jobs") ?? 1),
    part: of === undefined ? null : { number, of },
  };
}

async function run(wish: Asked): Promise<Sum> {
  const { count, seed, seconds, jobs, part } = wish;
  if (jobs > 1) return await inParallel(wish);
  using folders = await DataFolders.open();
  const run = new Run(folders);
  const isOne = count === 1 && seconds === null && part === null;
  if (isOne) await run.show(seed);
  else {
    const forMs = seconds === null ? Infinity : seconds * 1_000;
    await run.play(seedsOf(wish), forMs);
  }
  return run.sum;
}

if (import.meta.main) {
  const wish = asked(Deno.args);
  if (wish.part === null) console.log(`seeds from ${wish.seed}`);
  const sum = await run(wish);
  const { passed, failed, virtualMs, processorMs } = sum;
  let isRare = true;
  if (wish.part !== null) {
    console.log(JSON.stringify({ ...sum, reached: reachedPaths() }));
  } else {
    const paths = (["simulate", "kills"] as const)
      .map((runner) => checkSometimes(runner, passed + failed));
    isRare = !paths.includes(false);
    const seconds = (ms: number) => Math.round(ms / 1_000);
    console.log(
      `virtual ${seconds(virtualMs)} s, real ${seconds(processorMs)} s of ` +
        `one core: ${Math.round(virtualMs / processorMs)} to 1`,
    );
    console.log(`${passed} passed, ${failed} failed`);
  }
  Deno.exit(failed > 0 || !isRare ? 1 : 0);
}
