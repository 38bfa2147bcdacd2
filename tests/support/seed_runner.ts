/**
 * Command lines that run seeds: `main.ts [SEEDS] [SEED] [--seconds S] [--jobs
 * N]`. `--seconds` runs seeds that failed before, and then new ones for this
 * time.
 */
import { seedFrom } from "./random.ts";

/** A parsed command line. */
export interface SeedWish {
  count: number;
  seed: number;
  seconds: number | null;
  jobs: number;
  /**
   * Run every n-th seed only, and print the sum as JSON for the parent process.
   */
  part: { number: number; of: number } | null;
}

/** Parses a command line; the default count is `seeds`. */
export function wishOf(args: readonly string[], seeds: number): SeedWish {
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
    count: plain[0] === undefined ? seeds : Number(plain[0]),
    seed: seedFrom(plain[1]),
    seconds: seconds === null ? null : Number(seconds),
    jobs: Number(option("jobs") ?? 1),
    part: of === undefined ? null : { number, of },
  };
}

/** Whether it asks for one seed, whose run is printed in full. */
export function isOfOneSeed({ count, seconds, part }: SeedWish): boolean {
  return count === 1 && seconds === null && part === null;
}

/** The requested seeds, or those of one part of the work. */
export function* seedsOf(
  { count, seed, seconds, part }: SeedWish,
  failedOnce: Iterable<readonly [seed: number, ...rest: unknown[]]>,
): Iterable<number> {
  let n = 0;
  const isOwn = () => part === null || n++ % part.of === part.number;
  if (seconds !== null) {
    for (const [failed] of failedOnce) if (isOwn()) yield failed;
  }
  const end = seconds === null ? seed + count : Infinity;
  for (let next = seed; next < end; next++) if (isOwn()) yield next >>> 0;
}

/**
 * Runs `main` in several processes, each with a part of the seeds, and prints
 * their output; returns the sums, which each process prints last.
 */
export async function inProcesses<T>(
  main: string,
  { count, seed, seconds, jobs }: SeedWish,
): Promise<T[]> {
  const time = seconds === null ? [] : ["--seconds", `${seconds}`];
  const parts = Array.from({ length: jobs }, async (_, job) => {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", main, `${count}`, `${seed}`],
        ...time,
        ...["--part", `${job}/${jobs}`],
      ],
      stderr: "inherit",
    }).output();
    const text = new TextDecoder().decode(stdout).trimEnd();
    const at = text.lastIndexOf("\n") + 1;
    if (at > 0) console.log(text.slice(0, at).trimEnd());
    if (!success && !text.slice(at).startsWith("{")) {
      throw new Error(`a process of ${main} failed`);
    }
    return JSON.parse(text.slice(at)) as T;
  });
  return await Promise.all(parts);
}
