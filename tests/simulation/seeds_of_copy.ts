/** Runs seeds with a copy of the source. */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { Line } from "./first_failure.ts";

const PROGRAM = "tests/simulation/first_failure.ts";
/** A seed that takes longer counts as hanging. */
const HANGS_MS = 300_000;

/** The rule that a seed breaks if it takes longer than `HANGS_MS`. */
export const HANGS = "it hangs";

export interface Failed {
  seed: number;
  rule: string;
}

/** Runs seeds in a separate process; null if none fails. */
export async function firstFailure(
  folder: string,
  first: number,
  count: number,
): Promise<Failed | null> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", PROGRAM, `${first}`, `${count}`],
    cwd: folder,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(process.stderr).text();
  const lines = createInterface({ input: Readable.from(process.stdout) });
  let seed = first;
  let hangs = false;
  const watch = () =>
    setTimeout(() => (hangs = true, process.kill("SIGKILL")), HANGS_MS);
  let timer = watch();
  try {
    for await (const text of lines) {
      clearTimeout(timer);
      timer = watch();
      const line: Line = JSON.parse(text);
      if ("failed" in line) return { seed: line.failed, rule: line.rule };
      seed = line.seed;
    }
  } finally {
    clearTimeout(timer);
  }
  if (hangs) return { seed, rule: HANGS };
  const { success } = await process.status;
  return success ? null : { seed, rule: `it ends: ${await errors}` };
}
