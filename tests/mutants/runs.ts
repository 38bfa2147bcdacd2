/** Runs of Deno in a copy of the source, with limits. */
import { cpuSecondsOf } from "../support/cpu.ts";

const LOOK_EVERY_MS = 500;

/**
 * When a run is killed. Processor time is the better limit, because a busy
 * machine does not change it; but a run that waits for ever uses none.
 */
export interface Limits {
  cpuMs: number;
  wallMs: number;
}
const NO_LIMITS: Limits = { cpuMs: Infinity, wallMs: Infinity };

export interface Run {
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface Ended {
  success: boolean;
  /** It was killed at a limit. */
  isOver: boolean;
  output: string;
  wallMs: number;
  cpuMs: number;
}

export async function runDeno(
  folder: string,
  { args, env }: Run,
  limits = NO_LIMITS,
): Promise<Ended> {
  const began = performance.now();
  const process = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: folder,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let cpuMs = 0;
  let isOver = false;
  const wallMs = () => performance.now() - began;
  const look = async () => {
    cpuMs = Math.max(cpuMs, await cpuSecondsOf(process.pid) * 1_000);
    if (isOver || cpuMs < limits.cpuMs && wallMs() < limits.wallMs) return;
    isOver = true;
    process.kill("SIGKILL");
  };
  // It may have ended meanwhile.
  const timer = setInterval(() => look().catch(() => {}), LOOK_EVERY_MS);
  try {
    const { success, stdout, stderr } = await process.output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    const output = text(stdout) + text(stderr);
    return { success, isOver, output, wallMs: wallMs(), cpuMs };
  } finally {
    clearInterval(timer);
  }
}

/** The engine of tests that have both. */
export type Engines = "sqlite" | "both";

/**
 * Runs test files, given as paths from `tests/`, until the first failure;
 * `filter` is a part of the names of tests.
 */
export function runOfTests(
  tests: readonly string[],
  engines: Engines,
  filter = "",
): Run {
  return {
    args: [
      ...["test", "-A", "--no-check", "--fail-fast"],
      ...["--filter", filter],
      "tests/mutants/given_tests.ts",
    ],
    env: { MUTANTS_TESTS: tests.join(" "), MUTANTS_ENGINES: engines },
  };
}

/** Runs seeds of the simulation until one fails. */
export function runOfSeeds(first: number, count: number): Run {
  return {
    args: [
      ...["run", "-A", "--no-check", "--v8-flags=--max-semi-space-size=64"],
      ...["tests/simulation/first_failure.ts", `${first}`, `${count}`],
    ],
  };
}
