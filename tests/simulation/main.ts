/**
 * Runs the simulation: `main.ts [SEEDS] [SEED] [--seconds S] [--jobs N]`.
 *
 * With one seed it prints the trace. With several it prints, for each failed
 * seed, the broken rule, the last steps, and the smallest world that still
 * fails. `--seconds` runs seeds that failed before, and then new ones for this
 * time.
 */
import { cpuUsage } from "node:process";
import {
  inProcesses,
  isOfOneSeed,
  seedsOf,
  type SeedWish,
  wishOf,
} from "../support/seed_runner.ts";
import {
  checkSometimes,
  reachedPaths,
  sometimesInPart,
} from "../support/sometimes.ts";
import { DataFolders } from "./data_folders.ts";
import { FAILED_ONCE } from "./seeds.ts";
import { smallestWorld } from "./smallest_world.ts";
import { type Outcome, simulate } from "./simulation.ts";

/** One in this many seeds is run twice, and both runs must be equal. */
const TWICE = 20;
const DEFAULT_SEEDS = 100;

/** The results of a part of the seeds. */
interface Sum {
  passed: number;
  failed: number;
  virtualMs: number;
  /** Processor time of all cores. */
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

  /** Runs one seed and prints its trace. */
  async show(seed: number): Promise<void> {
    const write = (line: string) => console.log(line);
    const outcome = await simulate(seed, { folders: this.#folders, write });
    this.#count(outcome);
    if (outcome.failure !== null) {
      console.log(`seed ${seed} failed: ${outcome.failure.stack}`);
    }
  }

  /** Runs these seeds; starts no other after `forMs` real milliseconds. */
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

/** Runs parts of the seeds in separate processes. */
async function inParallel(wish: SeedWish): Promise<Sum> {
  const sums = await inProcesses<
    Sum & { reached: ReturnType<typeof reachedPaths> }
  >(
    import.meta.url,
    wish,
  );
  for (const { reached } of sums) sometimesInPart(reached);
  return sums.reduce<Sum>((sum, part) => ({
    passed: sum.passed + part.passed,
    failed: sum.failed + part.failed,
    virtualMs: sum.virtualMs + part.virtualMs,
    processorMs: sum.processorMs + part.processorMs,
  }), { passed: 0, failed: 0, virtualMs: 0, processorMs: 0 });
}

async function run(wish: SeedWish): Promise<Sum> {
  const { seed, seconds, jobs } = wish;
  if (jobs > 1) return await inParallel(wish);
  using folders = await DataFolders.open();
  const run = new Run(folders);
  if (isOfOneSeed(wish)) await run.show(seed);
  else {
    const forMs = seconds === null ? Infinity : seconds * 1_000;
    await run.play(seedsOf(wish, FAILED_ONCE), forMs);
  }
  return run.sum;
}

if (import.meta.main) {
  const wish = wishOf(Deno.args, DEFAULT_SEEDS);
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
