/**
 * Each test file that is given to `deno test` has its own isolate, which loads
 * and compiles the whole service: with one isolate for each file, all tests
 * take a seventh more CPU time. So `deno task test` is given a few shards, and
 * each imports the test files of its folders.
 */

const TESTS = new URL("../", import.meta.url);

/**
 * The folders, or files, of each shard; a file belongs to the first that fits.
 * The tests of `web`, and those of `tables`, share a browser.
 */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  catalogue: ["catalogue"],
  cli: ["cli", "binary", "sandbox"],
  crash: ["crash", "abuse"],
  database: ["database"],
  faults: ["faults"],
  http: ["http"],
  images: ["images"],
  imports: ["imports", "json", "docs"],
  notices: ["notices", "reviews"],
  simulation: ["simulation"],
  tables: ["web/exports_test.ts", "web/table_test.ts", "web/workbook_test.ts"],
  web: ["web"],
  webhooks: ["webhooks", "sellers", "monitoring"],
};
/** Has all other folders. */
const OTHERS = "others";
export const SHARDS: readonly string[] = [...Object.keys(FOLDERS), OTHERS];

/** The files of a shard, as paths from `tests/`. */
export function filesOf(shard: string): string[] {
  return testFiles().filter((path) => shardOf(path) === shard);
}

/** Depends on the path alone, so a new file moves no other one. */
function shardOf(path: string): string {
  const [folder] = path.split("/");
  return Object.keys(FOLDERS).find((name) =>
    FOLDERS[name].some((one) => one === folder || one === path)
  ) ?? OTHERS;
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
