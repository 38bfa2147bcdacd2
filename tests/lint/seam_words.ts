/// <reference lib="deno.unstable" />
import { memberName, type SourceRule } from "./source_rule.ts";

const READS = new Set(["all", "get"]);

/**
 * No engine parses a statement to find out what it does, so the source says it:
 * a statement that changes rows is not run as a read, and a LIMIT by a
 * parameter is written as `LIMIT` of `src/database/db.ts`.
 */
export const seamWords: SourceRule = (_, context) => {
  const check = (node: Deno.lint.Node, text: string) => {
    if (/\bLIMIT \?/.test(text)) {
      context.report({
        node,
        message: "SQLite prepares a bound LIMIT at each execution",
        hint: "write ${LIMIT} of database/db.ts",
      });
    }
    if (/\bRETURNING\b/.test(text) && isInRead(node)) {
      context.report({
        node,
        message: "a statement that changes rows runs as a read",
        hint: "use Tx.returning",
      });
    }
  };
  return {
    Literal(node) {
      if (typeof node.value === "string") check(node, node.value);
    },
    TemplateElement(node) {
      check(node, node.cooked);
    },
  };
};

/** Whether a literal is in the arguments of a read. */
function isInRead(node: Deno.lint.Node): boolean {
  for (
    let at: Deno.lint.Node | undefined = node;
    at !== undefined && at.type !== "Program";
    at = (at as { parent?: Deno.lint.Node }).parent
  ) {
    if (at.type !== "CallExpression") continue;
    const callee = memberName(at.callee);
    if (callee !== null && READS.has(callee.property)) return true;
  }
  return false;
}
