/** `deno task test` runs every test file once. */
import { assertEquals } from "@std/assert";
import { filesOf, SHARDS, testFiles } from "./shard.ts";

Deno.test("every test file is in one shard, and every shard in the task", async () => {
  const tests = new URL("../", import.meta.url);
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("../deno.json", tests)),
  );
  const words: string[] = tasks.test.command.split(" ");
  const named = words.filter((word) => word.startsWith("tests/"));
  assertEquals(
    named.sort(),
    SHARDS.map((shard) => `tests/shards/${shard}.ts`).sort(),
  );
  assertEquals(SHARDS.flatMap(filesOf).sort(), testFiles().sort());
  for (const shard of SHARDS) {
    const text = await Deno.readTextFile(
      new URL(`shards/${shard}.ts`, tests),
    );
    assertEquals(/importShard\("(\w+)"\)/.exec(text)![1], shard);
    for (const path of filesOf(shard)) {
      const text = await Deno.readTextFile(new URL(path, tests));
      assertEquals(/^\s*Deno\.test\.(before|after)/m.exec(text), null, path);
    }
  }
});
