/// <reference lib="deno.unstable" />
/** What the rules of the plugin share. */

const SOURCE = new URL("../../src/", import.meta.url).pathname;

/** Builds the program, and is not part of it. */
const BUILD = `${SOURCE}build.ts`;

/** A rule for one module, whose path begins in `src/`. */
export type SourceRule = (
  module: string,
  context: Deno.lint.RuleContext,
) => Deno.lint.LintVisitor;

/** The rule in the form that `deno lint` requires. */
export function sourceRule(rule: SourceRule): Deno.lint.Rule {
  return {
    create: (context) => {
      const { filename } = context;
      if (!filename.startsWith(SOURCE) || filename === BUILD) return {};
      return rule(filename.slice(SOURCE.length), context);
    },
  };
}

/** `object.property`, without computed names; null for another expression. */
export function memberName(
  node: Deno.lint.Node,
): { object: string | null; property: string } | null {
  if (node.type !== "MemberExpression") return null;
  const { object, property } = node;
  if (property.type !== "Identifier" || node.computed) return null;
  return {
    object: object.type === "Identifier" ? object.name : null,
    property: property.name,
  };
}
