import { assert } from "@std/assert";
import { writtenFiles } from "./written_tables.ts";

Deno.test("the handbook's tables and settings match the service", () => {
  for (const { file, text, written } of writtenFiles()) {
    assert(written === text, `${file.pathname}: run \`deno task docs\``);
  }
});
