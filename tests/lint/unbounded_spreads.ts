/// <reference lib="deno.unstable" />
import { memberName, type SourceRule } from "./source_rule.ts";

const METHODS = new Set([
  "push",
  "unshift",
  "splice",
  "concat",
  "max",
  "min",
  "fromCharCode",
  "fromCodePoint",
  "apply",
]);

/**
 * A call with more than about a hundred thousand arguments throws a RangeError,
 * so no array of unknown length is spread into a call. If an array is certainly
 * short, a comment `bounded: …` on the line of the call or above says why.
 */
export const unboundedSpreads: SourceRule = (_, context) => {
  const { sourceCode } = context;
  const lines = sourceCode.text.split("\n");
  const isMarked = (at: number) => {
    const line = sourceCode.text.slice(0, at).split("\n").length - 1;
    return lines.slice(Math.max(0, line - 1), line + 1)
      .some((text) => text.includes("// bounded: "));
  };
  return {
    CallExpression(node) {
      const callee = memberName(node.callee);
      if (callee === null || !METHODS.has(callee.property)) return;
      if (!node.arguments.some(({ type }) => type === "SpreadElement")) return;
      if (isMarked(node.callee.range[1])) return;
      context.report({
        node,
        message: "an array of unknown length becomes arguments of a call",
        hint: "loop over it, or say in a comment `bounded: …` how long it is",
      });
    },
  };
};
