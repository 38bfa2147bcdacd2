/** The examples in languages that start at once: `deno task contracts` has all. */
import { QUICK, testExamples } from "./languages.ts";

await testExamples(QUICK);
