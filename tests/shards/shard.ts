/**
 * A test file that is given to `deno test` has an isolate of its own, which
 * loads and compiles the whole service: most files take less than that. So
 * `deno task test` is given a few shards, and each imports its share of them.
 */
import { statSync } from "node:fs";

const TESTS = new URL("../", import.meta.url);
export const SHARDS = 4;

/**
 * Folders whose files have isolates of their own: they have hooks, which would
 * go for all of the shard, or take long and run first.
 */
export const APART: readonly string[] = [
  "abuse",
  "crash",
  "database",
  "faults",
  "images/worker",
  "web",
];

/** The files of a shard, as paths from `tests/`. */
export function filesOf(shard: number): string[] {
  const size = (path: string) => statSync(new URL(path, TESTS)).size;
  return testFiles()
    .filter((path) => !APART.some((folder) => path.startsWith(`${folder}/`)))
    .map((path) => ({ path, bytes: size(path) }))
    .sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1))
    .filter((_, n) => n % SHARDS === shard)
    .map(({ path }) => path);
}

/** All test files, as paths from `tests/`. */
export function testFiles(folder = ""): string[] {
  return [...Deno.readDirSync(new URL(folder, TESTS))].flatMap((entry) => {
    const path = folder + entry.name;
    if (entry.isDirectory) return testFiles(`${path}/`);
    return entry.name.endsWith("_test.ts") ? [path] : [];
  });
}

/** Registers the tests of a shard, counted from 0. */
export async function importShard(shard: number): Promise<void> {
  for (const path of filesOf(shard)) await import(`../${path}`);
}
