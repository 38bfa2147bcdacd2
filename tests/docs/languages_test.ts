/** The examples in languages that start at once: `deno task contracts` has all. */
import { checkExamples, QUICK } from "./languages.ts";

for (const language of QUICK) {
  Deno.test(`the examples in ${language.name} do what they say`, () =>
    checkExamples(language));
}
