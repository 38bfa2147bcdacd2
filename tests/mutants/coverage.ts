/**
 * Which lines of the source each test file runs, and some seeds of the
 * simulation. A test file is measured when it is first asked for; what was
 * measured is kept for each commit, in the folder for temporary files.
 */
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { testFiles } from "../shards/shard.ts";
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

/** The distance of a test file that does not name a file of the source. */
const FAR = 3;

/** What a run of the unchanged source did. */
export interface Measured {
  /** A run that fails without a mutant cannot judge one. */
  passed: boolean;
  wallMs: number;
  cpuMs: number;
  /** The lines that ran, by file of `src/`. */
  lines: Record<string, number[]>;
}

export class Coverage {
  readonly #source: string;
  readonly #kept: string;
  readonly #measured = new Map<string, Promise<Measured>>();

  /** @param source is the folder of the source at this commit. */
  constructor(source: string, commit: string) {
    this.#source = source;
    this.#kept = `${tmpdir()}/mutants-${commit}`;
  }

  /** Whether a seed of the simulation runs a line of a file of `src/`. */
  async simulationRuns(file: string, line: number): Promise<boolean> {
    const measured = await this.#of(SIMULATION, runOfSeeds(1, SEEDS));
    return runs(measured, file, line);
  }

  /**
   * The test files of a file's folder that run a line: those that name the file
   * are near. They pass without a mutant.
   */
  async testsThatRun(
    file: string,
    line: number,
    where: "near" | "far",
  ): Promise<string[]> {
    const found: string[] = [];
    for (const [test, distance] of await this.#testsOf(file)) {
      if ((distance < FAR) !== (where === "near")) continue;
      const measured = await this.ofTest(test);
      if (measured.passed && runs(measured, file, line)) found.push(test);
    }
    return found;
  }

  ofTest(test: string): Promise<Measured> {
    return this.#of(test, runOfTests([test], enginesOf(test)));
  }

  /** Those of its folder, with their distance, the nearest first. */
  async #testsOf(file: string): Promise<[test: string, distance: number][]> {
    const [folder] = file.split("/");
    const name = basename(file, ".ts");
    const tests = testFiles(`${folder}/`).map(async (test) => {
      const text = await Deno.readTextFile(`${this.#source}/tests/${test}`);
      const distance = test === file.replace(/\.ts$/, "_test.ts")
        ? 0
        : basename(test) === `${name}_test.ts`
        ? 1
        : text.includes(`/${name}.ts"`)
        ? 2
        : FAR;
      return [test, distance] as [string, number];
    });
    return (await Promise.all(tests)).sort(([, a], [, b]) => a - b);
  }

  #of(name: string, run: Run): Promise<Measured> {
    const known = this.#measured.get(name) ?? this.#keptOr(name, run);
    this.#measured.set(name, known);
    return known;
  }

  async #keptOr(name: string, run: Run): Promise<Measured> {
    const file = `${this.#kept}/${name.replaceAll("/", "-")}.json`;
    try {
      return JSON.parse(await Deno.readTextFile(file));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    const measured = await this.#measure(run);
    if (!measured.passed) console.log(`${name} fails without a mutant`);
    await Deno.mkdir(this.#kept, { recursive: true });
    await Deno.writeTextFile(file, JSON.stringify(measured));
    return measured;
  }

  async #measure(run: Run): Promise<Measured> {
    const profile = await Deno.makeTempDir({ prefix: "coverage-" });
    try {
      const env = { ...run.env, DENO_COVERAGE_DIR: profile };
      const ended = await runDeno(this.#source, { ...run, env });
      const report = await runDeno(this.#source, {
        args: ["coverage", "--lcov", "--include=/src/", profile],
      });
      return {
        passed: ended.success && !ended.output.includes('{"failed":'),
        wallMs: ended.wallMs,
        cpuMs: ended.cpuMs,
        lines: linesRun(report.output),
      };
    } finally {
      await Deno.remove(profile, { recursive: true });
    }
  }
}

/** One engine judges what is of both. */
export function enginesOf(file: string): Engines {
  return file.includes("postgres") ? "both" : "sqlite";
}

function runs({ lines }: Measured, file: string, line: number): boolean {
  return lines[file]?.includes(line) ?? false;
}

/** The lines that ran, by file of `src/`, in a report of `lcov`. */
export function linesRun(report: string): Record<string, number[]> {
  const run: Record<string, number[]> = {};
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
