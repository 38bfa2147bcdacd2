/**
 * Changes of numbers by a difference, for sellers who do not know the current
 * value.
 */
import type { FieldProblem, Problem } from "../lib/errors.ts";
import type { ReadResult } from "../lib/values.ts";
import { SCALAR_NAMES, SCALAR_RULES, type ScalarField } from "./fields.ts";
import type { Product } from "./product.ts";

export interface Difference {
  field: ScalarField;
  by: number;
}

/**
 * The problem of a difference for a field that does not support differences.
 */
export function differenceNotAllowed(field: ScalarField): Problem {
  const allowed = SCALAR_NAMES.filter((name) => SCALAR_RULES[name].difference);
  return {
    code: "not_allowed",
    message:
      `is not possible for ${field}, only for ${allowed.join(", ")}; leave ` +
      "it out, and send the value itself.",
  };
}

/** The problem of a difference together with another value for the field. */
export function differenceWithValue(what: string): Problem {
  return {
    code: "not_allowed",
    message:
      `is sent together with ${what}; send only one of them: a difference is ` +
      "added to the current value.",
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
