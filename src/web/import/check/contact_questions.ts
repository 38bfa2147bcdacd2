/** Questions about columns that may name the seller's contacts. */
import type { ColumnField } from "../../lib/column_field.ts";
import { sampledValues } from "../columns/guesses.ts";
import { namesMaker } from "../columns/headers.ts";
import type { ChosenColumns } from "../columns/mappings.ts";
import { columnFieldLabel } from "../columns/sheet.ts";
import { withTarget } from "../columns/spreadsheet.ts";
import {
  columnName,
  columnRemoval,
  confirmation,
  type Finding,
  mappingChange,
  question,
  type TableAndMapping,
} from "./finding.ts";

const CONTACT_FIELDS: readonly ColumnField[] = [
  "manufacturer",
  "responsible_person",
];

/**
 * Asks whether a column such as `Manufacturer` contains the brand or contacts.
 * Asks also about a column for contacts if none of its values is a known contact.
 * `names` are the names of all contacts; null until they are loaded.
 */
export function contactQuestions(
  mapped: TableAndMapping,
  chosen: ChosenColumns,
  names: readonly string[] | null,
): Finding[] {
  if (names === null) return [];
  const { table, mapping } = mapped;
  const { header, rows } = table;
  const known = new Set(names);
  return [...header.keys()].flatMap((column) => {
    const target = mapping.targets[column];
    if (mapping.isOwn || Object.hasOwn(chosen.targets, header[column])) {
      return [];
    }
    const values = sampledValues(rows, column);
    const named = values.find((value) => known.has(value));
    const isBrand = target === "brand" && namesMaker(header[column]);
    if (isBrand && named !== undefined) {
      return [question(
        `${columnName(table, column)}: is “${named}” the brand, or your ` +
          "contact of this name?",
        confirmation("The brand"),
        mappingChange(
          "The contact",
          (mapping) => withTarget(table, mapping, column, "manufacturer"),
        ),
      )];
    }
    const isForeign = CONTACT_FIELDS.includes(target) && values.length > 0 &&
      named === undefined;
    return !isForeign ? [] : [question(
      `${columnName(table, column)}: “${values[0].slice(0, 60)}” is none of ` +
        `your contacts. Is the column the ${columnFieldLabel(target)}?`,
      columnRemoval("No: leave it out", [column]),
      confirmation("Yes: I store the contacts first"),
    )];
  });
}
