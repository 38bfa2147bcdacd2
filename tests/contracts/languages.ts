/**
 * The handbook's examples in compiled languages. Not part of `deno task check`,
 * because compiling takes seconds: `deno task contracts`.
 */
import { SLOW, testExamples } from "../docs/languages.ts";

await testExamples(SLOW);
