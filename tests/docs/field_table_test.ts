import { assert, assertStringIncludes } from "@std/assert";
import { CHAPTER, withFieldTable } from "./field_table.ts";

Deno.test("the handbook's table of fields is that of the service", async () => {
  const chapter = await Deno.readTextFile(CHAPTER);
  assertStringIncludes(chapter, "`<parent_sku>`");
  assert(withFieldTable(chapter) === chapter, "run `deno task docs`");
  const old = chapter.replace("`<parent_sku>`", "`<parent>`");
  assert(withFieldTable(old) === chapter, "an old table is written anew");
});
