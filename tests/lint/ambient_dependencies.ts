/// <reference lib="deno.unstable" />
import { memberName, type SourceRule } from "./source_rule.ts";

/** Modules that may use them. */
const ALLOWED: Readonly<Record<string, string>> = {
  "deps.ts": "makes `Deps` of them",
  "cli/health.ts": "a command that waits for an answer and ends",
  "client/platform.ts": "the same for the client",
  "client/signature.ts": "a default, for those who pass no clock",
  "database/postgres/wake_ups.ts": "waits for a real socket",
  "lib/tracing.ts": "the other spans have the times of the runtime",
  "web/lib/browser.ts": "the same for the page",
};

const MEMBERS = new Set([
  "AbortSignal.timeout",
  "Date.now",
  "Math.random",
  "crypto.getRandomValues",
  "crypto.randomUUID",
  "performance.now",
]);
const FUNCTIONS = new Set([
  "Date",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);

/**
 * Time, randomness, the log and turns of the event loop come from `Deps`, so
 * that tests can replace them and never sleep.
 */
export const ambientDependencies: SourceRule = (module, context) => {
  if (module in ALLOWED) return {};
  const reportUse = (node: Deno.lint.Node, name: string) =>
    context.report({
      node,
      message: `${name} cannot be replaced by tests`,
      hint: "take the clock, the ids or the log of `Deps`",
    });
  return {
    MemberExpression(node) {
      const name = memberName(node);
      if (name === null || name.object === null) return;
      const full = `${name.object}.${name.property}`;
      if (MEMBERS.has(full) || name.object === "console") {
        reportUse(node, full);
      }
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type === "Identifier" && FUNCTIONS.has(callee.name)) {
        reportUse(node, callee.name);
      }
    },
    NewExpression(node) {
      const { callee } = node;
      if (callee.type !== "Identifier" || callee.name !== "Date") return;
      if (node.arguments.length === 0) reportUse(node, "new Date()");
    },
  };
};
