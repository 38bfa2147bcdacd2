/**
 * The handbook's examples in languages that are compiled. Outside `deno task
 * check`, because that takes seconds: `deno task contracts`.
 */
import { SLOW, testExamples } from "../docs/languages.ts";

await testExamples(SLOW);
