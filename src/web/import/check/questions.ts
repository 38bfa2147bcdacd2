/**
 * The questions about ambiguous values, which the user must answer before the
 * table is sent.
 */
import type { SlicedWork } from "../../lib/slices.ts";
import {
  codeQuestion,
  currencyQuestion,
  listQuestions,
  rivalQuestions,
} from "./column_questions.ts";
import type { CheckedTable, Finding } from "./finding.ts";
import {
  partialQuestions,
  taxQuestion,
  thousandsQuestions,
  unitQuestions,
} from "./number_questions.ts";
import {
  netPriceQuestion,
  netQuestion,
  packQuestions,
  piecesQuestion,
  priceQuestions,
  recommendedQuestion,
  saleQuestions,
} from "./price_questions.ts";
import {
  dashQuestion,
  letterQuestion,
  severalSkusQuestion,
  skuQuestion,
  splitPriceQuestion,
  stockQuestion,
  sumQuestion,
  unmarkedQuestion,
  unsoldQuestions,
} from "./row_questions.ts";

/** Finds questions about a table. */
type QuestionFinder = (checked: CheckedTable) =>
  | readonly (Finding | null)[]
  | Finding
  | null
  | SlicedWork<readonly Finding[] | Finding | null>;

/** The questions in the order in which they are shown. */
const QUESTIONS: readonly QuestionFinder[] = [
  splitPriceQuestion,
  rivalQuestions,
  currencyQuestion,
  codeQuestion,
  dashQuestion,
  netQuestion,
  piecesQuestion,
  unitQuestions,
  thousandsQuestions,
  partialQuestions,
  taxQuestion,
  skuQuestion,
  letterQuestion,
  saleQuestions,
  recommendedQuestion,
  priceQuestions,
  netPriceQuestion,
  packQuestions,
  severalSkusQuestion,
  listQuestions,
  sumQuestion,
  unsoldQuestions,
  unmarkedQuestion,
  stockQuestion,
];

/** The questions about a table of the page that another program has changed. */
const OWN_TABLE_QUESTIONS: readonly QuestionFinder[] = [
  skuQuestion,
  letterQuestion,
];

/** All questions about a table with its current mapping. */
export function* questionsOf(checked: CheckedTable): SlicedWork<Finding[]> {
  const found: (Finding | null)[] = [];
  for (const ask of checked.mapping.isOwn ? OWN_TABLE_QUESTIONS : QUESTIONS) {
    const asked = ask(checked);
    const questions = asked !== null && "next" in asked ? yield* asked : asked;
    for (const one of [questions].flat()) found.push(one);
    yield;
  }
  return found.filter((one) => one !== null);
}
