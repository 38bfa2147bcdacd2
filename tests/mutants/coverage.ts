/**
 * Which lines of the source the tests of a folder run, and some seeds of the
 * simulation. Measured once for each commit, and kept in the folder for
 * temporary files.
 */
import { tmpdir } from "node:os";

/** What is measured: the tests of this folder, or the simulation. */
type Measured = string;
const SIMULATION: Measured = "simulation";
/** Seeds that reach most of what the simulation reaches. */
const SEEDS = 40;

export class Coverage {
  readonly #source: string;
  readonly #kept: string;
  /** By what was measured: the lines that ran, by file. */
  readonly #lines = new Map<Measured, Promise<Map<string, Set<number>>>>();

  /** @param source is the folder of the source at this commit. */
  constructor(source: string, commit: string) {
    this.#source = source;
    this.#kept = `${tmpdir()}/mutants-${commit}`;
  }

  /** Whether a line of a file of `src/` is run by its tests, or by a seed. */
  async has(file: string, line: number): Promise<boolean> {
    const [folder] = file.split("/");
    // Its tests are measured only where no seed runs the line.
    for (const measured of [SIMULATION, folder]) {
      const lines = await this.#of(measured);
      if (lines.get(file)?.has(line)) return true;
    }
    return false;
  }

  #of(measured: Measured): Promise<Map<string, Set<number>>> {
    const known = this.#lines.get(measured) ?? this.#read(measured);
    this.#lines.set(measured, known);
    return known;
  }

  async #read(measured: Measured): Promise<Map<string, Set<number>>> {
    const file = `${this.#kept}/${measured}.lcov`;
    try {
      return linesRun(await Deno.readTextFile(file));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    console.log(`measuring what ${measured} runs`);
    const text = await this.#measure(measured);
    await Deno.mkdir(this.#kept, { recursive: true });
    await Deno.writeTextFile(file, text);
    return linesRun(text);
  }

  async #measure(measured: Measured): Promise<string> {
    const profile = await Deno.makeTempDir({ prefix: "coverage-" });
    const option = `--coverage=${profile}`;
    const args = measured === SIMULATION
      ? [
        "run",
        "-A",
        "--no-check",
        option,
        "tests/simulation/main.ts",
        `${SEEDS}`,
        "1",
      ]
      : ["test", "-A", "--no-check", "--parallel", option, `tests/${measured}`];
    try {
      await this.#run(args);
      return await this.#run([
        "coverage",
        "--lcov",
        "--include=/src/",
        profile,
      ]);
    } finally {
      await Deno.remove(profile, { recursive: true });
    }
  }

  async #run(args: readonly string[]): Promise<string> {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd: this.#source,
      stderr: "null",
    }).output();
    const text = new TextDecoder().decode(stdout);
    if (success) return text;
    throw new Error(`deno ${args.join(" ")} fails: ${text.slice(-2_000)}`);
  }
}

/** The lines that ran, by file of `src/`, in a report of `lcov`. */
export function linesRun(report: string): Map<string, Set<number>> {
  const run = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const text of report.split("\n")) {
    if (text.startsWith("SF:")) {
      lines = new Set();
      run.set(text.slice(text.indexOf("/src/") + "/src/".length), lines);
    } else if (text.startsWith("DA:")) {
      const [line, times] = text.slice("DA:".length).split(",").map(Number);
      if (times > 0) lines.add(line);
    }
  }
  return run;
}
