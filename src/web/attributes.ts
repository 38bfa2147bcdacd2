/** The editable attributes, from the service's table of fields. */
import { ATTRIBUTE_NAMES, SCALAR_RULES } from "../catalogue/fields.ts";

export interface EditableAttribute {
  name: string;
  label: string;
  /** The allowed values; without them the value is free text. */
  words?: readonly string[];
  /** The on-screen keyboard to offer. */
  input?: "numeric" | "decimal" | "date";
  /** Whether it may be empty. */
  clears: boolean;
  /** Shown after the value; a price has a currency of its own. */
  unit?: string;
}

const INPUTS = {
  integer: "numeric",
  digits: "numeric",
  decimal: "decimal",
  date: "date",
} as const;

/** The editable attributes in display order. */
export const EDITABLE: readonly EditableAttribute[] = ATTRIBUTE_NAMES.map(
  (name) => {
    const { label, form, clears, unit } = SCALAR_RULES[name];
    const words = form.kind === "word" ? form.words : undefined;
    const input = INPUTS[form.kind as keyof typeof INPUTS];
    const common = { name, label, words, input, clears };
    return unit === undefined || unit.column !== undefined
      ? common
      : { ...common, unit: unit.example };
  },
);
