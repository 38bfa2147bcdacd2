import { assertEquals, assertNotEquals } from "@std/assert";
import { DataFolders } from "./data_folders.ts";
import { simulate } from "./simulation.ts";

/** Seeds whose worlds are run here. */
const SEEDS = [1, 2];

Deno.test("two runs of a seed have the same trace, two seeds do not", async () => {
  using folders = await DataFolders.open();
  const traces: string[] = [];
  for (const seed of SEEDS) {
    const traceOf = async () => {
      const lines: string[] = [];
      const write = (line: string) => void lines.push(line);
      const { failure } = await simulate(seed, { folders, write });
      assertEquals(failure, null);
      return lines.join("\n");
    };
    const trace = await traceOf();
    assertEquals(await traceOf(), trace);
    traces.push(trace);
  }
  assertNotEquals(traces[0], traces[1]);
});
