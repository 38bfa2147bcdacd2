/** What the page offers to change, from the table of the service. */
import { ATTRIBUTE_NAMES, SCALAR_RULES } from "../catalogue/fields.ts";

export interface Field {
  name: string;
  label: string;
  /** What may stand there; without it the value is text. */
  words?: readonly string[];
  /** What a keyboard on a screen should offer. */
  input?: "numeric" | "decimal" | "date";
  /** Whether it may be empty. */
  clears: boolean;
  /** Stands behind the value; a price has a currency of its own. */
  unit?: string;
}

const INPUTS = {
  integer: "numeric",
  digits: "numeric",
  decimal: "decimal",
  date: "date",
} as const;

/** What can be changed attribute by attribute, in the order it is shown. */
export const FIELDS: readonly Field[] = ATTRIBUTE_NAMES.map((name) => {
  const { label, form, clears, unit } = SCALAR_RULES[name];
  const words = form.kind === "word" ? form.words : undefined;
  const input = INPUTS[form.kind as keyof typeof INPUTS];
  const common = { name, label, words, input, clears };
  return unit === undefined || unit.column !== undefined
    ? common
    : { ...common, unit: unit.example };
});
