/**
 * Whether the tests of a mutant's folder, or seeds, notice it. A failed run is
 * repeated with the mutant and without: on a busy machine a test may fail
 * because it is slow, and such a failure proves nothing.
 */
import type { Line } from "../simulation/first_failure.ts";
import type { SourceCopy } from "../support/source_copy.ts";
import { type Coverage, enginesOf } from "./coverage.ts";
import type { Mutant } from "./drawing.ts";
import { type Kind, mutated } from "./mutations.ts";
import {
  type Ended,
  type Limits,
  runDeno,
  runOfSeeds,
  runOfTests,
} from "./runs.ts";

/** `why`: the test or rule that failed, or what took too long. */
export type Verdict =
  | { is: "caught by tests" | "caught by seeds" | "not judged"; why: string }
  /** The type check refuses it. */
  | { is: "no program"; why: string };

/** A busy machine may take this many times as long for the same work. */
const BUSY = 4;
/** Tests that read the source, by the kind of mutant that they may notice. */
const SOURCE_TESTS: Partial<Record<Kind, readonly string[]>> = {
  "an await left out": ["lint/floating_promises_test.ts"],
};
/** A test file that takes longer hangs; most take less than 5 s. */
const LEAST_CPU_MS = 20_000;
const CPU_MS_OF_FILE = 5_000;
/** One seed takes about a second. */
const SEED_HANGS: Limits = { cpuMs: 20_000, wallMs: 20_000 * BUSY };
/** How often tests are run that fail or hang because the machine is busy. */
const TRIES = 3;
/** Fewer seeds prove nothing. */
const LEAST_SEEDS = 40;

export class Judge {
  readonly #copy: SourceCopy;
  readonly #coverage: Coverage;
  readonly #seeds: number;
  readonly #seedLimits: Limits;
  /** Whether tests and seeds that failed pass without a mutant. */
  readonly #sound = new Map<string, boolean>();

  /** @param cpuMs is the processor time for the seeds of a mutant. */
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

  /** Whether a seed runs the line of a mutant, or a test names its file. */
  async isRun({ file, mutation: { line } }: Mutant): Promise<boolean> {
    if (await this.#coverage.simulationRuns(file, line)) return true;
    const near = await this.#coverage.testsNear(file);
    return (await this.#coverage.thatRun(near, file, line)).length > 0;
  }

  /** What notices a mutant, the quickest check first; null if nothing does. */
  readonly stages: Readonly<
    Record<string, (mutant: Mutant) => Promise<Verdict | null>>
  > = {
    "tests that name the file": async (mutant) => {
      const tests = await this.#coverage.testsNear(mutant.file);
      return await this.#byTests(mutant, tests);
    },
    "other tests of the folder": async (mutant) => {
      const { file, mutation: { line, kind } } = mutant;
      const far = await this.#coverage.testsFar(file);
      const tests = await this.#coverage.thatRun(far, file, line);
      return await this.#byTests(mutant, tests) ??
        await this.#byTests(mutant, SOURCE_TESTS[kind] ?? []);
    },
    "types": (mutant) => this.#byTypes(mutant),
    "seeds": async (mutant) => {
      const { file, mutation: { line } } = mutant;
      return await this.#coverage.simulationRuns(file, line)
        ? await this.#bySeeds(mutant)
        : null;
    },
  };

  async #byTests(
    mutant: Mutant,
    tests: readonly string[],
  ): Promise<Verdict | null> {
    if (tests.length === 0) return null;
    const engines = enginesOf(mutant.file);
    const cpuMs = LEAST_CPU_MS + CPU_MS_OF_FILE * tests.length;
    const limits = { cpuMs, wallMs: cpuMs * BUSY };
    const run = (tests: readonly string[], filter?: string) =>
      runDeno(this.#copy.folder, runOfTests(tests, engines, filter), limits);
    for (let n = 0; n < TRIES; n++) {
      const ended = await this.#change(mutant, () => run(tests));
      if (ended.success) return null;
      const failed = ended.isOver ? null : failedTest(ended.output);
      if (failed === null) {
        if (!(await run(tests)).success) continue;
        const why = ended.isOver ? "they hang" : errorIn(ended.output);
        return { is: "caught by tests", why };
      }
      const { file, name, why } = failed;
      const again = () => run([file], name);
      if ((await this.#change(mutant, again)).success) continue;
      if (!await this.#passes(`${file} ${name}`, again)) continue;
      return { is: "caught by tests", why };
    }
    return { is: "not judged", why: `tests fail, or hang: ${tests.join(" ")}` };
  }

  /** Whether a run that failed with a mutant passes without it. */
  async #passes(name: string, run: () => Promise<Ended>): Promise<boolean> {
    const known = this.#sound.get(name) ?? (await run()).success;
    this.#sound.set(name, known);
    return known;
  }

  async #byTypes(mutant: Mutant): Promise<Verdict | null> {
    const args = ["check", `src/${mutant.file}`];
    const { success, output } = await this.#change(
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
      const ended = await this.#change(
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

  /** Distinguishes a seed that hangs from one that had too little time. */
  async #whenOver(mutant: Mutant, seed: number): Promise<Verdict | null> {
    const alone = await this.#change(
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

  #isSound(seed: number): Promise<boolean> {
    return this.#passes(`seed ${seed}`, async () => {
      const run = runOfSeeds(seed, 1);
      const ended = await runDeno(this.#copy.folder, run, SEED_HANGS);
      return { ...ended, success: outcomeOf(ended).rule === null };
    });
  }

  async #change<T>(
    { file, mutation }: Mutant,
    run: () => Promise<T>,
  ): Promise<T> {
    using _changed = await this.#copy.change(
      file,
      (text) => mutated(text, mutation),
    );
    return await run();
  }
}

/** The last seed that ran, and the rule that it broke. */
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

/** The first test that failed; null if the tests did not begin. */
function failedTest(
  output: string,
): { file: string; name: string; why: string } | null {
  const [, names, file] =
    /^(.*) => \.?\/?tests\/(.*_test\.ts):\d+:\d+$/m.exec(output) ?? [];
  if (names === undefined) return null;
  const [name] = names.split(" ... "); // of the test, without a step
  return { file, name, why: oneLine(`${file}: ${name}: ${errorIn(output)}`) };
}

function errorIn(output: string): string {
  return oneLine(/^(?:error: )?\w*Error: .*/m.exec(output)?.[0] ?? output);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 160);
}
