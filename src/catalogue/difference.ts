/** Changes of numbers by a difference, independent of their current values. */
import type { FieldProblem, Problem } from "../lib/errors.ts";
import type { ReadResult } from "../lib/values.ts";
import { SCALAR_NAMES, SCALAR_RULES, type ScalarField } from "./fields.ts";
import type { Product } from "./product.ts";

export interface Difference {
  field: ScalarField;
  by: number;
}

/** The problem of a difference for a field that has none. */
export function differenceNotAllowed(field: ScalarField): Problem {
  const able = SCALAR_NAMES.filter((name) => SCALAR_RULES[name].difference);
  return {
    code: "not_allowed",
    message: `does not go with ${field}, only with ${able.join(", ")}; leave ` +
      "it out, and send the value itself.",
  };
}

/** The problem of a difference together with another value for the field. */
export function differenceWithValue(what: string): Problem {
  return {
    code: "not_allowed",
    message: `stands beside ${what}; send one of them: a difference is ` +
      "added to the current value, whatever that is.",
  };
}

/**
 * The value after adding the difference. A missing value counts as 0; `current`
 * is null if there is no such product.
 */
export function applyDifference(
  current: Product | null,
  { field, by }: Difference,
): { value: number } | { problem: FieldProblem } {
  const present = current?.[field] ?? null;
  const value = Number(present ?? 0) + by;
  const read = SCALAR_RULES[field].read(`${value}`) as ReadResult<number>;
  if ("value" in read) return read;
  const { code, message } = read.problem;
  const sign = by > 0 ? "+" : "";
  return {
    problem: {
      field,
      code,
      message: `is ${present ?? "empty"} now, and after a change by ${sign}` +
        `${by} it ${message} Nothing was changed.`,
    },
  };
}
