/**
 * Registers the tests of the files that `MUTANTS_TESTS` names, in that order and
 * in one isolate. Tests of both engines are run on SQLite alone, unless
 * `MUTANTS_ENGINES` is "both".
 */
import { bothEngines } from "../support/engine.ts";

if (Deno.env.get("MUTANTS_ENGINES") !== "both") bothEngines.test = Deno.test;
for (const path of Deno.env.get("MUTANTS_TESTS")!.split(" ")) {
  await import(`../${path}`);
}
