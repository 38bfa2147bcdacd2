import { assert } from "@std/assert";
import { chaptersWithTables } from "./written_tables.ts";

Deno.test("the handbook's tables are those of the service", () => {
  for (const { file, text, written } of chaptersWithTables()) {
    assert(written === text, `${file.pathname}: run \`deno task docs\``);
  }
});
