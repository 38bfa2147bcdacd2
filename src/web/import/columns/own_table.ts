/**
 * Tables that the page itself saves, one product in a row. Read again, they
 * give the same products, whatever the texts are.
 */
import {
  LIST_NAMES,
  type ListField,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../../../catalogue/fields.ts";
import { fieldLabel } from "../../lib/words.ts";

/** The columns that each has, in their order. */
export const OWN_COLUMNS: readonly string[] = [
  ...SCALAR_NAMES.map((name) =>
    name === "weight" ? "Weight (g)" : SCALAR_RULES[name].label
  ),
  "Currency",
  ...LIST_NAMES.filter((name) => name !== "attributes").map(fieldLabel),
];

/** Before the name of an attribute, which has a column of its own. */
export const ATTRIBUTE = "attribute: ";

/** Whether the page has saved a table with these columns. */
export function isOwnTable(header: readonly string[]): boolean {
  const names = new Set(header);
  return OWN_COLUMNS.every((name) => names.has(name));
}

/** The cell text that clears the field; an empty cell does not change it. */
export const CLEARS = "-";
/** A text that would clear its field has a mark before it. */
const LIKE_CLEARS = /^'*-$/;

/**
 * The cell of a text; null: a table cannot hold it, as reading trims cells and
 * has one kind of line break.
 */
export function ownCell(text: string): string | null {
  if (text !== text.trim() || /\r/.test(text)) return null;
  return LIKE_CLEARS.test(text) ? `'${text}` : text;
}

/** The text of a cell that clears nothing. */
export function textOfOwnCell(cell: string): string {
  return LIKE_CLEARS.test(cell) ? cell.slice(1) : cell;
}

/** The cell of a list; null: a table cannot hold it. */
export function ownListCell(
  list: Exclude<ListField, "attributes">,
  entries: readonly string[],
): string | null {
  // Addresses have no spaces.
  const cell = list === "images"
    ? entries.join(" ")
    : entries.map((entry) => entry.replace(/[\\|]/g, "\\$&")).join(" | ");
  const isWhole = entries.every((entry) => ownCell(entry) !== null);
  return isWhole ? ownCell(cell) : null;
}

/** The entries of a cell that clears nothing. */
export function entriesOfOwnCell(list: ListField, cell: string): string[] {
  const text = textOfOwnCell(cell);
  if (list === "images") return text.split(/\s+/).filter(Boolean);
  const entries = [""];
  for (const [part] of text.matchAll(/\\.|[^\\]/gsu)) {
    if (part === "|") entries.push("");
    else {entries[entries.length - 1] +=
        part.length > 1 && part.startsWith("\\")
          ? part.slice(1)
          : part;}
  }
  return entries.map((entry) => entry.trim()).filter(Boolean);
}
