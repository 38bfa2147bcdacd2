/// <reference lib="deno.unstable" />
/**
 * Rules of this project for `deno lint` (deno.json names this file). Each holds
 * for the modules of `src` and reports nothing elsewhere.
 */
import { ambientDependencies } from "./ambient_dependencies.ts";
import { builtRegularExpressions } from "./built_regular_expressions.ts";
import { importsByLayer } from "./imports_by_layer.ts";
import { linearRegularExpressions } from "./linear_regular_expressions.ts";
import { namedSellers } from "./named_sellers.ts";
import { seamWords } from "./seam_words.ts";
import { type SourceRule, sourceRule } from "./source_rule.ts";
import { unboundedSpreads } from "./unbounded_spreads.ts";

const RULES: Readonly<Record<string, SourceRule>> = {
  "ambient-dependencies": ambientDependencies,
  "built-regular-expressions": builtRegularExpressions,
  "imports-by-layer": importsByLayer,
  "linear-regular-expressions": linearRegularExpressions,
  "named-sellers": namedSellers,
  "seam-words": seamWords,
  "unbounded-spreads": unboundedSpreads,
};

export default {
  name: "seller",
  rules: Object.fromEntries(
    Object.entries(RULES).map(([name, rule]) => [name, sourceRule(rule)]),
  ),
} satisfies Deno.lint.Plugin;
