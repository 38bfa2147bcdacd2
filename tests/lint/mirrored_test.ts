/**
 * Where tests are: `tests` mirrors `src`, and what those with real processes
 * share is in `processes`.
 */
import { assertEquals } from "@std/assert";
import { testFiles } from "../shards/shard.ts";

const TESTS = new URL("../", import.meta.url);
const IMPORT = /(?:from|import|import\() ?"(\.[^"]+)"/g;

/**
 * The source files of its name and top folder that a test file imports; those
 * of another folder may only help it.
 */
function ownSources(path: string): string[] {
  const file = new URL(path, TESTS);
  const name = path.split("/").at(-1)!.replace(/_test\.ts$/, "");
  const text = Deno.readTextFileSync(file);
  return [...text.matchAll(IMPORT)]
    .map(([, imported]) => new URL(imported, file).href)
    .filter((url) => url.startsWith(new URL("../src/", TESTS).href))
    .map((url) => url.slice(new URL("../src/", TESTS).href.length))
    .filter((source) => source.split("/")[0] === path.split("/")[0])
    .filter((source) =>
      [`${name}.ts`, `${name}.tsx`].includes(source.split("/").at(-1)!)
    );
}

Deno.test("the test of a source file is at the mirrored path", () => {
  const all = new Set(testFiles());
  const astray = [...all].flatMap((path) => {
    const mirrored = ownSources(path).map((source) =>
      source.replace(/\.tsx?$/, "_test.ts")
    );
    // Where that test exists, this one is of something else.
    return mirrored.length === 0 || mirrored.some((one) => all.has(one))
      ? []
      : [`tests/${path} belongs at tests/${mirrored[0]}`];
  });
  assertEquals(astray, []);
});

const OF_PROCESSES = [
  "abuse",
  "crash",
  "faults",
  "histories",
  "soak",
  "spread",
];

Deno.test("the tests with real processes share only processes/ and support/", () => {
  const wrong = [...OF_PROCESSES, "processes"].flatMap((folder) =>
    [...Deno.readDirSync(new URL(`${folder}/`, TESTS))].flatMap(({ name }) => {
      const file = new URL(`${folder}/${name}`, TESTS);
      const text = name.endsWith(".ts") ? Deno.readTextFileSync(file) : "";
      return [...text.matchAll(IMPORT)]
        .map(([, imported]) => /^\.\.\/(\w+)\//.exec(imported)?.[1] ?? "")
        .filter((from) => OF_PROCESSES.includes(from))
        .map((from) => `${folder}/${name} imports ${from}/`);
    })
  );
  assertEquals(wrong, []);
});
