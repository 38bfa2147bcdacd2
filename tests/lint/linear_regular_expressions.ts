/// <reference lib="deno.unstable" />
import linear from "./regular_expressions/linear.txt" with { type: "text" };
import type { SourceRule } from "./source_rule.ts";

const LINEAR = new Set(linear.split("\n"));

/**
 * The regular expressions of the source read texts from strangers, and one that
 * backtracks can block a thread for ever. So each must be one that
 * `regular_expressions_test.ts` has found to take linear time.
 */
export const linearRegularExpressions: SourceRule = (_module, context) => ({
  Literal(node) {
    if (!("regex" in node && node.regex) || LINEAR.has(node.raw)) return;
    context.report({
      node,
      message: "a regular expression that was not checked for linear time",
      hint:
        "run `deno test -A tests/lint/regular_expressions_test.ts -- --update`",
    });
  },
});
