/** Values that a seller expects a product to have before it is changed. */
import type { FieldProblem } from "../lib/errors.ts";
import { asSent } from "./contact.ts";
import { EXPECTED, SCALAR_RULES, type ScalarField } from "./fields.ts";
import { type Product, readScalar } from "./product.ts";
import type { ReadResult } from "../lib/values.ts";

/** A value that a field must have for the change to be made. */
export interface Expectation {
  field: ScalarField;
  /** The value in its stored form. */
  value: string | number | null;
  /** The unit in the document, if units are stored; null: any. */
  unit: string | null;
}

/** Reads an expected value by the rules of the field. */
export function readExpected(
  field: ScalarField,
  text: string,
): ReadResult<string | number | null> {
  const read = readScalar(field, text);
  return "problem" in read
    ? read
    : { value: read.value ?? SCALAR_RULES[field].initial };
}

/**
 * The problem if a product lacks the expected value; otherwise null. `current`
 * is null if there is no such product.
 */
export function expectationProblem(
  current: Product | null,
  { field, value, unit }: Expectation,
): FieldProblem | null {
  if (current === null) {
    return problemOfField(
      field,
      "has no current value: there is no such product",
    );
  }
  const column = SCALAR_RULES[field].unit?.column;
  const currentUnit = column === undefined ? null : current[column];
  const hasUnit = unit === null || unit === currentUnit;
  const currentValue = asSent(field, current[field]);
  if (currentValue === value && hasUnit) return null;
  const shown = [currentValue ?? "empty", currentUnit].filter((part) => part)
    .join(" ");
  return problemOfField(field, `is ${shown} now`);
}

function problemOfField(field: ScalarField, present: string): FieldProblem {
  const message = `${present}, not as ${EXPECTED}; nothing was changed. ` +
    "Decide again with the current value.";
  return { field, code: "changed_since", message };
}
