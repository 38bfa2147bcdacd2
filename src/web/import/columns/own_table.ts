/**
 * The tables that the page saves, with one product in each row. Reading a saved
 * table returns the same products, whatever their texts are.
 */
import {
  LIST_NAMES,
  type ListField,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../../../catalogue/fields.ts";
import { fieldLabel } from "../../lib/words.ts";

/** The columns of a sale. */
const SALE_COLUMNS = ["Sale price", "Sale from", "Sale until"];

/** The columns of every saved table, in order. */
export const OWN_COLUMNS: readonly string[] = [
  ...SCALAR_NAMES.map((name) =>
    name === "weight" ? "Weight (g)" : SCALAR_RULES[name].label
  ),
  "Currency",
  ...SALE_COLUMNS,
  ...LIST_NAMES.filter((name) => name !== "attributes").map(fieldLabel),
];

/** The prefix of the name of a column with an attribute. */
export const ATTRIBUTE = "attribute: ";

/** Whether the page has saved a table with these columns. */
export function isOwnTable(header: readonly string[]): boolean {
  const names = new Set(header);
  // Earlier versions saved tables without a sale.
  return OWN_COLUMNS.every((name) =>
    names.has(name) || SALE_COLUMNS.includes(name)
  );
}

/** The cell text that clears the field; an empty cell does not change it. */
export const CLEARS = "-";
/** Texts that look like `CLEARS`; they are written with `'` before them. */
const LIKE_CLEARS = /^'*-$/;

/**
 * The cell for a text; null if the text would change, because reading trims
 * cells and converts all line breaks to `\n`.
 */
export function ownCell(text: string): string | null {
  if (text !== text.trim() || /\r/.test(text)) return null;
  return LIKE_CLEARS.test(text) ? `'${text}` : text;
}

/** The text of a cell, without the `'` that `ownCell` writes before `CLEARS`. */
export function textOfOwnCell(cell: string): string {
  return LIKE_CLEARS.test(cell) ? cell.slice(1) : cell;
}

/** The cell for a list; null if a cell cannot represent the list. */
export function ownListCell(
  list: Exclude<ListField, "attributes">,
  entries: readonly string[],
): string | null {
  // URLs have no spaces.
  const cell = list === "images"
    ? entries.join(" ")
    : entries.map((entry) => entry.replace(/[\\|]/g, "\\$&")).join(" | ");
  const isWhole = entries.every((entry) => ownCell(entry) !== null);
  return isWhole ? ownCell(cell) : null;
}

/** The entries of a cell that does not clear its list. */
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
