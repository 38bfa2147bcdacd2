/// <reference lib="deno.unstable" />
import { TABLES } from "../../src/database/schema.ts";
import type { SourceRule } from "./source_rule.ts";

/** Tables of which every server has all rows. */
const EVERYWHERE = ["sellers", "api_keys"];

/** Tables whose rows are on the server of their seller. */
const PLACED = Object.entries(TABLES)
  .filter(([name, { columns }]) =>
    "seller_no" in columns && !EVERYWHERE.includes(name)
  )
  .map(([name]) => name);

const USES_PLACED = new RegExp(
  `\\b(?:FROM|JOIN|UPDATE)\\s+(?:\\$\\{|(?:${PLACED.join("|")})\\b)`,
);
const NAMES_SELLER =
  /\bseller_no = (?:\?|\$\{)|\(seller_no, \w+\) (?:=|IN)|\binReach\(|\$\{EVERY_SELLER\}/;

/** An expression that replaces the condition. */
const CONDITION = /\bWHERE \$\{|\bFROM \w+(?: \w+)? \$\{|\$\{\w+\.where\}/;

/**
 * A statement on rows of sellers says which sellers: one (`seller_no = ?`),
 * those that can be reached (`inReach`), or all (`EVERY_SELLER`). Otherwise it
 * fails while one of several servers is unreachable, or reads the same rows
 * once for each server. If its condition is an expression, the function may say
 * it.
 */
export const namedSellers: SourceRule = (module, context) => {
  if (module.startsWith("database/")) return {};
  const { sourceCode } = context;
  const check = (node: Deno.lint.Node) => {
    const text = sourceCode.getText(node);
    if (!/^[`"']\s*(?:SELECT|UPDATE|DELETE|WITH)\b/.test(text)) return;
    if (!USES_PLACED.test(text) || NAMES_SELLER.test(text)) return;
    // Without a condition it may be the beginning of a statement.
    if (!/\bWHERE\b/.test(text) && !isArgument(node)) return;
    const mayBeElsewhere = CONDITION.test(text);
    if (mayBeElsewhere && NAMES_SELLER.test(functionAround(node))) return;
    context.report({
      node,
      message: "a statement on rows of sellers does not say of which",
      hint: "add `seller_no = ?`, ${inReach()} or ${EVERY_SELLER}",
    });
  };
  /** The outermost function. */
  const functionAround = (node: Deno.lint.Node): string => {
    let text = "";
    for (let at = parentOf(node); at !== null; at = parentOf(at)) {
      if (at.type.includes("Function")) text = sourceCode.getText(at);
    }
    return text;
  };
  return {
    Literal(node) {
      if (typeof node.value === "string") check(node);
    },
    TemplateLiteral: check,
  };
};

function isArgument(node: Deno.lint.Node): boolean {
  return parentOf(node)?.type === "CallExpression";
}

function parentOf(node: Deno.lint.Node): Deno.lint.Node | null {
  return (node as { parent?: Deno.lint.Node }).parent ?? null;
}
