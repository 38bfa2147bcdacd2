/**
 * The examples in languages that start at once; `deno task contracts` runs all.
 */
import { QUICK, testExamples } from "./languages.ts";

await testExamples(QUICK);
