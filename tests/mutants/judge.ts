/** Whether the tests of a mutant's folder notice it, or seeds do. */
import type { Line } from "../simulation/first_failure.ts";
import type { SourceCopy } from "../support/source_copy.ts";
import { type Coverage, enginesOf } from "./coverage.ts";
import type { Mutant } from "./drawing.ts";
import { mutated } from "./mutations.ts";
import {
  type Ended,
  type Engines,
  type Limits,
  type Run,
  runDeno,
  runOfSeeds,
  runOfTests,
} from "./runs.ts";

/** `why`: the test or the rule that failed, or what took too long. */
export type Verdict =
  | { is: "caught by tests" | "caught by seeds" | "not judged"; why: string }
  /** The types refuse it. */
  | { is: "no program"; why: string };

/** A busy machine may take so many times as long for the same work. */
const BUSY = 8;
/** A mutant may take so many times the processor time of what it changes. */
const SLOWER = 4;
const LEAST_CPU_MS = 10_000;
/** One seed takes about a second. */
const SEED_HANGS: Limits = { cpuMs: 20_000, wallMs: 20_000 * BUSY };
/** How often tests are run that fail, or hang, because the machine is busy. */
const TRIES = 3;
/** Fewer seeds judge nothing. */
const LEAST_SEEDS = 40;

export class Judge {
  readonly #copy: SourceCopy;
  readonly #coverage: Coverage;
  readonly #seeds: number;
  readonly #seedLimits: Limits;
  /** Whether a seed passes without a mutant. */
  readonly #sound = new Map<number, boolean>();

  /** @param cpuMs is the processor time that the seeds of a mutant have. */
  constructor(
    copy: SourceCopy,
    coverage: Coverage,
    { seeds, cpuMs }: { seeds: number; cpuMs: number },
  ) {
    this.#copy = copy;
    this.#coverage = coverage;
    this.#seeds = seeds;
    this.#seedLimits = { cpuMs, wallMs: cpuMs * BUSY };
  }

  /** Whether a seed runs what a mutant changes, or a test that names its file. */
  async isRun({ file, mutation: { line } }: Mutant): Promise<boolean> {
    return await this.#coverage.simulationRuns(file, line) ||
      (await this.#coverage.testsThatRun(file, line, "near")).length > 0;
  }

  /** The tests near to its file first, then others of its folder. */
  async byTests(mutant: Mutant): Promise<Verdict | null> {
    const { file, mutation: { line } } = mutant;
    for (const where of ["near", "far"] as const) {
      const tests = await this.#coverage.testsThatRun(file, line, where);
      const verdict = tests.length > 0 && await this.#byTests(mutant, tests);
      if (verdict) return verdict;
    }
    return await this.#byTypes(mutant);
  }

  /** null: they pass, or none runs it. */
  async bySeeds(mutant: Mutant): Promise<Verdict | null> {
    const { file, mutation: { line } } = mutant;
    return await this.#coverage.simulationRuns(file, line)
      ? await this.#bySeeds(mutant)
      : null;
  }

  async #byTests(
    mutant: Mutant,
    tests: readonly string[],
  ): Promise<Verdict | null> {
    const sound = await Promise.all(
      tests.map((test) => this.#coverage.ofTest(test)),
    );
    const sum = sound.reduce((sum, { cpuMs }) => sum + cpuMs, LEAST_CPU_MS);
    const limits = { cpuMs: sum * SLOWER, wallMs: sum * BUSY };
    const engines = enginesOf(mutant.file);
    const run = runOfTests(tests, engines);
    const runMutant = (run: Run) =>
      this.#run(mutant, () => runDeno(this.#copy.folder, run, limits));
    for (let n = 0; n < TRIES; n++) {
      const ended = await runMutant(run);
      if (ended.success) return null;
      if (ended.isOver) {
        const sound = await runDeno(this.#copy.folder, run, limits);
        const why = `they hang: ${oneLine(ended.output.slice(-100))}`;
        if (sound.success) return { is: "caught by tests", why };
        continue;
      }
      const failed = failedTest(ended.output);
      if (failed === null) {
        return { is: "caught by tests", why: oneLine(ended.output) };
      }
      if ((await runMutant(failed.run(engines))).success) continue;
      return { is: "caught by tests", why: failed.why };
    }
    return { is: "not judged", why: tests.join(" ") };
  }

  async #byTypes(mutant: Mutant): Promise<Verdict | null> {
    const args = ["check", `src/${mutant.file}`];
    const { success, output } = await this.#run(
      mutant,
      () => runDeno(this.#copy.folder, { args }),
    );
    return success
      ? null
      : { is: "no program", why: /TS\d+ .*/.exec(output)?.[0] ?? output };
  }

  async #bySeeds(mutant: Mutant): Promise<Verdict | null> {
    const { cpuMs, wallMs } = this.#seedLimits;
    const left = { cpuMs, wallMs };
    for (let first = 1; first <= this.#seeds;) {
      const run = runOfSeeds(first, this.#seeds + 1 - first);
      const ended = await this.#run(
        mutant,
        () => runDeno(this.#copy.folder, run, left),
      );
      const { seed, rule } = outcomeOf(ended);
      if (rule !== null && await this.#isSound(seed)) {
        return { is: "caught by seeds", why: `seed ${seed}: ${oneLine(rule)}` };
      }
      if (ended.isOver) return await this.#whenOver(mutant, seed);
      if (rule === null) return null;
      left.cpuMs -= ended.cpuMs;
      left.wallMs -= ended.wallMs;
      first = seed + 1;
    }
    return null;
  }

  /** Tells a seed that hangs from one that had no time. */
  async #whenOver(mutant: Mutant, seed: number): Promise<Verdict | null> {
    const alone = await this.#run(
      mutant,
      () => runDeno(this.#copy.folder, runOfSeeds(seed, 1), SEED_HANGS),
    );
    if (alone.isOver && await this.#isSound(seed)) {
      return { is: "caught by seeds", why: `seed ${seed} hangs` };
    }
    return seed > LEAST_SEEDS
      ? null
      : { is: "not judged", why: `there was time for ${seed} seeds` };
  }

  async #isSound(seed: number): Promise<boolean> {
    const known = this.#sound.get(seed);
    if (known !== undefined) return known;
    const ended = await runDeno(
      this.#copy.folder,
      runOfSeeds(seed, 1),
      SEED_HANGS,
    );
    const isSound = !ended.isOver && outcomeOf(ended).rule === null;
    this.#sound.set(seed, isSound);
    return isSound;
  }

  async #run<T>({ file, mutation }: Mutant, run: () => Promise<T>): Promise<T> {
    using _changed = await this.#copy.change(
      file,
      (text) => mutated(text, mutation),
    );
    return await run();
  }
}

/** The last seed that was played, and the rule that it broke. */
function outcomeOf(
  { output, isOver, success }: Ended,
): { seed: number; rule: string | null } {
  const lines: Line[] = output.split("\n")
    .filter((text) => /^\{"(seed|failed)":/.test(text))
    .map((text) => JSON.parse(text));
  const last = lines.at(-1);
  if (last !== undefined && "failed" in last) {
    return { seed: last.failed, rule: last.rule };
  }
  return { seed: last?.seed ?? 1, rule: success || isOver ? null : output };
}

/** The first test that failed; null: the tests did not begin. */
function failedTest(
  output: string,
): { why: string; run(engines: Engines): Run } | null {
  const [, name, file] =
    /^(.*) => \.?\/?tests\/(.*_test\.ts):\d+:\d+$/m.exec(output) ?? [];
  if (name === undefined) return null;
  const error = /^error: .*/m.exec(output)?.[0] ?? "";
  return {
    why: oneLine(`${file}: ${name}: ${error}`),
    run(engines) {
      const { args, env } = runOfTests([file], engines);
      return { args: [...args, "--filter", name.split(" ... ")[0]], env };
    },
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 160);
}
