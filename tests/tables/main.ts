/**
 * Plays merchants' files: `main.ts [SEEDS] [SEED] [--seconds S] [--jobs N]`.
 *
 * For one seed it prints its file. For several it prints what went wrong in
 * each that failed, and the smallest file that still fails. `--seconds` plays
 * those that failed before, then new seeds for this long.
 */
import {
  inProcesses,
  isOfOneSeed,
  seedsOf,
  type SeedWish,
  wishOf,
} from "../support/seed_runner.ts";
import { VERDICTS } from "./judge.ts";
import { play, type Played } from "./play.ts";
import { FAILED_ONCE } from "./seeds.ts";
import { faultsOf, smallest } from "./shrink.ts";
import { textOf } from "./write.ts";

const DEFAULT_SEEDS = 300;

interface Asked extends SeedWish {
  /** Failures are not reduced, and the faults of each feature are counted. */
  brief: boolean;
}

/** The results of some seeds. */
class Sum {
  passed = 0;
  failed = 0;
  cells: Record<string, number> = Object.fromEntries(
    VERDICTS.map((name) => [name, 0]),
  );
  /** How many files needed each number of questions. */
  asked: number[] = [];
  refusedFiles = 0;
  /** How many files had each fault, by field and feature. */
  faults: Record<string, number> = {};

  add({ outcome, grid }: Played): void {
    const faults = faultsOf(outcome);
    if (faults.length === 0) this.passed++;
    else this.failed++;
    for (const name of VERDICTS) this.cells[name] += outcome.counts[name];
    const { length } = outcome.asked;
    this.asked[length] = (this.asked[length] ?? 0) + 1;
    if (outcome.refusal !== null) this.refusedFiles++;
    for (const fault of faults) {
      for (const feature of grid.features.length > 0 ? grid.features : ["-"]) {
        const key = `${feature}: ${fault}`;
        this.faults[key] = (this.faults[key] ?? 0) + 1;
      }
    }
  }

  join(
    other: Pick<Sum, "passed" | "failed" | "cells" | "asked" | "refusedFiles">,
  ) {
    this.passed += other.passed;
    this.failed += other.failed;
    this.refusedFiles += other.refusedFiles;
    for (const name of VERDICTS) this.cells[name] += other.cells[name];
    other.asked.forEach((files, i) =>
      this.asked[i] = (this.asked[i] ?? 0) + (files ?? 0)
    );
  }

  toString(): string {
    const files = this.passed + this.failed;
    const counts = Array.from(this.asked, (files) => files ?? 0);
    const all = counts.reduce((sum, files, i) => sum + files * i, 0);
    let half = files / 2;
    const median = counts.findIndex((files) => (half -= files) <= 0);
    const cells = VERDICTS.map((name) => `${name} ${this.cells[name]}`);
    return `values: ${cells.join(", ")}\n` +
      `${files} files, ${this.refusedFiles} refused; questions a file: ` +
      `median ${median}, mean ${(all / Math.max(1, files)).toFixed(2)}`;
  }
}

async function report({ seed, outcome, grid }: Played, brief: boolean) {
  console.log(`seed ${seed} failed: ${faultsOf(outcome).join(", ")}`);
  console.log(`  features: ${grid.features.join(", ")}`);
  const least = brief ? grid : await smallest(grid);
  const again = brief ? outcome : (await play(seed, least)).outcome;
  for (
    const { sku, field, sent, wanted, verdict } of again.findings
      .filter(({ verdict }) => verdict === "wrong" || verdict === "lost")
      .slice(0, 3)
  ) {
    console.log(
      `  ${verdict} ${field} of ${sku}: ${JSON.stringify(sent)} instead of ` +
        JSON.stringify(wanted),
    );
  }
  if (again.asked.length > 0) {
    console.log(`  asked: ${again.asked.join(" / ")}`);
  }
  if (!brief) {
    console.log(`  ${JSON.stringify(least.writing)}`);
    for (const line of textOf(least).split(/[\r\n]+/)) {
      console.log(`  | ${line.slice(0, 300)}`);
    }
  }
}

async function run(wish: Asked): Promise<Sum> {
  const sum = new Sum();
  const until = performance.now() + (wish.seconds ?? Infinity) * 1_000;
  for (const seed of seedsOf(wish, FAILED_ONCE)) {
    if (performance.now() > until) break;
    const played = await play(seed);
    sum.add(played);
    if (faultsOf(played.outcome).length > 0) await report(played, wish.brief);
  }
  return sum;
}

/** Plays parts of the seeds in separate processes. */
async function inParallel(wish: Asked): Promise<Sum> {
  const sum = new Sum();
  for (const part of await inProcesses<Sum>(import.meta.url, wish)) {
    sum.join(part);
  }
  return sum;
}

if (import.meta.main) {
  const wish: Asked = {
    ...wishOf(Deno.args, DEFAULT_SEEDS),
    brief: Deno.args.at(-1) === "--brief",
  };
  if (wish.part === null) console.log(`seeds from ${wish.seed}`);
  if (isOfOneSeed(wish)) {
    const { outcome, grid } = await play(wish.seed);
    console.log(grid.features.join(", "));
    console.log(JSON.stringify(grid.writing));
    console.log(textOf(grid));
    for (const one of outcome.asked) console.log(`asked: ${one}`);
  }
  const sum = wish.jobs > 1 ? await inParallel(wish) : await run(wish);
  if (wish.part !== null) console.log(JSON.stringify(sum));
  else {
    if (wish.brief) {
      for (
        const [fault, files] of Object.entries(sum.faults).sort((a, b) =>
          b[1] - a[1]
        )
      ) {
        console.log(`${files} ${fault}`);
      }
    }
    console.log(`${sum}`);
    console.log(`${sum.passed} passed, ${sum.failed} failed`);
  }
  Deno.exit(sum.failed > 0 ? 1 : 0);
}
