/** The documentation's examples of answers, as the client receives them. */
import { type AnswerName, ANSWERS } from "../../src/contracts/answers.ts";
import { ANSWER_EXAMPLES } from "../../src/contracts/examples.ts";
import { asJson } from "../../src/contracts/openapi.ts";

export function exampleOf(name: AnswerName): string {
  const content = ANSWERS[name];
  return JSON.stringify(asJson(ANSWER_EXAMPLES[name], { content }));
}
