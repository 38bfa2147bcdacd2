/** `deno task test` runs every test file once. */
import { assertEquals } from "@std/assert";
import { APART, filesOf, SHARDS, testFiles } from "./shard.ts";

Deno.test("every test file is in one shard, or in a folder that the task names", async () => {
  const tests = new URL("../", import.meta.url);
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("../deno.json", tests)),
  );
  const words: string[] = tasks.test.command.split(" ");
  const named = words.filter((word) => word.startsWith("tests/"));
  const shards = Array.from({ length: SHARDS }, (_, n) => n);
  assertEquals(
    named.sort(),
    [
      // Deno would run what a folder stands for after all files that are named.
      ...APART.map((folder) => `tests/${folder}/**/*_test.ts`),
      ...shards.map((n) => `tests/shards/${n}.ts`),
    ].sort(),
  );
  const apart = testFiles().filter((path) =>
    APART.some((folder) => path.startsWith(`${folder}/`))
  );
  assertEquals(
    [...apart, ...shards.flatMap(filesOf)].sort(),
    testFiles().sort(),
  );
  for (const n of shards) {
    const text = await Deno.readTextFile(new URL(`shards/${n}.ts`, tests));
    assertEquals(/importShard\((\d+)\)/.exec(text)![1], `${n}`);
    for (const path of filesOf(n)) {
      const text = await Deno.readTextFile(new URL(path, tests));
      assertEquals(/^\s*Deno\.test\.(before|after)/m.exec(text), null, path);
    }
  }
});
