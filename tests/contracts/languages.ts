/**
 * The handbook's examples in languages that are compiled. Outside `deno task
 * check`, because that takes seconds: `deno task contracts`.
 */
import { checkExamples, SLOW } from "../docs/languages.ts";

for (const language of SLOW) {
  Deno.test(`the examples in ${language.name} do what they say`, () =>
    checkExamples(language));
}
