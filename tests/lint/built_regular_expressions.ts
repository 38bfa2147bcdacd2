/// <reference lib="deno.unstable" />
import type { SourceRule } from "./source_rule.ts";

/** Modules that build regular expressions, only from known constants. */
const BUILT: Readonly<Record<string, string>> = {
  "xml/reader.ts": "one class of characters, then another one repeated",
};

/** A regular expression is written as a literal, which can be checked. */
export const builtRegularExpressions: SourceRule = (module, context) => {
  if (module in BUILT) return {};
  const visit = (
    node: Deno.lint.CallExpression | Deno.lint.NewExpression,
  ) => {
    const { callee } = node;
    if (callee.type !== "Identifier" || callee.name !== "RegExp") return;
    context.report({
      node,
      message: "a regular expression that is built cannot be checked",
      hint: "write it as a literal",
    });
  };
  return { NewExpression: visit, CallExpression: visit };
};
