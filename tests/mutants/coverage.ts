/**
 * Which lines of the source each test file runs, and some seeds of the
 * simulation. A test file is measured when it is first needed.
 */
import { basename } from "node:path";
import { testFiles } from "../shards/shard.ts";
import type { Kept } from "./kept.ts";
import {
  type Engines,
  type Run,
  runDeno,
  runOfSeeds,
  runOfTests,
} from "./runs.ts";

/** Seeds that reach most of what the simulation reaches. */
const SEEDS = 40;
const SIMULATION = "simulation";

/** The lines that ran, by file of `src/`. */
type Lines = Record<string, number[]>;

export class Coverage {
  readonly #source: string;
  readonly #kept: Kept;
  readonly #measured = new Map<string, Promise<Lines>>();

  /** @param source is the folder of the source that `kept` describes. */
  constructor(source: string, kept: Kept) {
    this.#source = source;
    this.#kept = kept;
  }

  /** Whether a seed of the simulation runs a line of a file of `src/`. */
  async simulationRuns(file: string, line: number): Promise<boolean> {
    const measured = await this.#of(SIMULATION, runOfSeeds(1, SEEDS));
    return runs(measured, file, line);
  }

  /** The test files of a file's folder that name it. */
  async testsNear(file: string): Promise<string[]> {
    return (await this.#testsOf(file)).near;
  }

  /** All other test files. */
  async testsFar(file: string): Promise<string[]> {
    return (await this.#testsOf(file)).far;
  }

  /** The test files that run a line. */
  async thatRun(
    tests: readonly string[],
    file: string,
    line: number,
  ): Promise<string[]> {
    const found: string[] = [];
    for (const test of tests) {
      const run = runOfTests([test], enginesOf(file));
      if (runs(await this.#of(test, run), file, line)) found.push(test);
    }
    return found;
  }

  async #testsOf(file: string): Promise<{ near: string[]; far: string[] }> {
    const [folder] = file.split("/");
    const name = basename(file, ".ts");
    const near: string[] = [];
    const far: string[] = [];
    for (const test of testFiles(`${folder}/`)) {
      if (enginesOf(test) !== enginesOf(file)) continue;
      const text = await Deno.readTextFile(`${this.#source}/tests/${test}`);
      const isNear = basename(test) === `${name}_test.ts` ||
        text.includes(`/src/${file}"`);
      (isNear ? near : far).push(test);
    }
    return { near, far };
  }

  #of(name: string, run: Run): Promise<Lines> {
    const known = this.#measured.get(name) ??
      this.#kept.get(`lines of ${name}`, () => this.#measure(run));
    this.#measured.set(name, known);
    return known;
  }

  async #measure(run: Run): Promise<Lines> {
    const profile = await Deno.makeTempDir({ prefix: "coverage-" });
    try {
      const env = { ...run.env, DENO_COVERAGE_DIR: profile };
      await runDeno(this.#source, { ...run, env });
      const { output } = await runDeno(this.#source, {
        args: ["coverage", "--lcov", "--include=/src/", profile],
      });
      return linesRun(output);
    } finally {
      await Deno.remove(profile, { recursive: true });
    }
  }
}

/** Tests that cover both engines are run on SQLite alone, with exceptions. */
export function enginesOf(file: string): Engines {
  return file.includes("postgres") ? "both" : "sqlite";
}

function runs(lines: Lines, file: string, line: number): boolean {
  return lines[file]?.includes(line) ?? false;
}

/** The lines that ran, by file of `src/`, in a report of `lcov`. */
export function linesRun(report: string): Lines {
  const run: Lines = {};
  let lines: number[] = [];
  for (const text of report.split("\n")) {
    if (text.startsWith("SF:")) {
      lines = [];
      run[text.slice(text.indexOf("/src/") + "/src/".length)] = lines;
    } else if (text.startsWith("DA:")) {
      const [line, times] = text.slice("DA:".length).split(",").map(Number);
      if (times > 0) lines.push(line);
    }
  }
  return run;
}
