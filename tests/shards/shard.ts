/**
 * A test file that is given to `deno test` has an isolate of its own, which
 * loads the whole service, compiles it and runs it slowly at first: most files
 * take less than that. So `deno task test` is given a few shards, and each
 * imports its share of them.
 */
import { statSync } from "node:fs";

const TESTS = new URL("../", import.meta.url);

/** The folders of shards that wait much; those of `web` share a browser. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  images: ["images/worker/"],
  faults: ["faults/"],
  crash: ["crash/", "abuse/"],
  database: ["database/"],
  web: ["web/"],
};
/**
 * What the other files are dealt out to; enough of them that the last ones end
 * at about the same time.
 */
const NUMBERED = ["0", "1", "2", "3", "4", "5"];
export const SHARDS: readonly string[] = [...Object.keys(FOLDERS), ...NUMBERED];

/** The files of a shard, as paths from `tests/`. */
export function filesOf(shard: string): string[] {
  const files = testFiles();
  if (shard in FOLDERS) return files.filter((path) => isIn(shard, path));
  const size = (path: string) => statSync(new URL(path, TESTS)).size;
  return files
    .filter((path) => !Object.keys(FOLDERS).some((name) => isIn(name, path)))
    .map((path) => ({ path, bytes: size(path) }))
    .sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1))
    .filter((_, n) => NUMBERED[n % NUMBERED.length] === shard)
    .map(({ path }) => path);
}

function isIn(shard: string, path: string): boolean {
  return FOLDERS[shard].some((folder) => path.startsWith(folder));
}

/** All test files, as paths from `tests/`. */
export function testFiles(folder = ""): string[] {
  return [...Deno.readDirSync(new URL(folder, TESTS))].flatMap((entry) => {
    const path = folder + entry.name;
    if (entry.isDirectory) return testFiles(`${path}/`);
    return entry.name.endsWith("_test.ts") ? [path] : [];
  });
}

/** Registers the tests of a shard. */
export async function importShard(shard: string): Promise<void> {
  for (const path of filesOf(shard)) await import(`../${path}`);
}
