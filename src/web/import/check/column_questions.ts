/** Questions about the fields of columns. */
import { sampledValues } from "../columns/guesses.ts";
import { namesReservedStock, targetsByName } from "../columns/headers.ts";
import { shopOf } from "../shops/shops.ts";
import { columnFieldLabel } from "../columns/sheet.ts";
import { withoutEntities } from "../../lib/html.ts";
import {
  columnsOfOneField,
  fieldBesidePrice,
  withTarget,
} from "../columns/spreadsheet.ts";
import {
  type CheckedTable,
  columnName,
  columnRemoval,
  confirmation,
  type Finding,
  mappingChange,
  question,
} from "./finding.ts";

/** Asks which of several columns contains a field. */
export function rivalQuestions(
  { table, mapping, chosen }: CheckedTable,
): Finding[] {
  const { header, rows } = table;
  return columnsOfOneField(table).flatMap(([target, columns]) => {
    const used = mapping.targets.indexOf(target);
    const others = columns.filter((i) =>
      i !== used && mapping.targets[i] === ""
    );
    const different = rows.find((row) =>
      others.some((i) => row[i] !== "" && row[i] !== row[used])
    );
    const isKnown = columns.every((i) =>
      Object.hasOwn(chosen.targets, header[i])
    );
    if (!columns.includes(used) || different === undefined || isKnown) {
      return [];
    }
    const names = columns.map((i) => columnName(table, i));
    const answers = columns.map((column, i) =>
      mappingChange(`${names[i]}: ${different[column] || "–"}`, (mapping) => {
        const before = column === used
          ? target
          : fieldBesidePrice(header[used]);
        const freed = withTarget(table, mapping, used, before);
        return withTarget(table, freed, column, target);
      })
    );
    return [question(
      `${names.slice(0, -1).join(", ")} and ${names.at(-1)} may each ` +
        `be the ${columnFieldLabel(target)}. Which one is it?`,
      ...answers,
      // The SKU has no answer "none", because every product needs a SKU.
      ...(target === "sku" ? [] : [columnRemoval("None", [used])]),
    )];
  });
}

/**
 * Asks whether a column is the currency if its values are currencies and its
 * name is unknown.
 */
export function currencyQuestion(
  { table, mapping: { targets }, chosen }: CheckedTable,
): Finding | null {
  const { header, rows } = table;
  const column = targets.indexOf("currency");
  const isGuessed = column >= 0 &&
    targetsByName(header)[column] !== "currency" &&
    !Object.hasOwn(chosen.targets, header[column]);
  return !isGuessed ? null : question(
    `${columnName(table, column)} is ${
      sampledValues(rows, column, 3).join(", ")
    }. Is that the currency of the prices?`,
    confirmation("Yes"),
    columnRemoval("No: leave it out", [column]),
  );
}

/** The highest number that may be a code of an availability. */
const HIGHEST_CODE = 9;

/** Asks whether small numbers in an availability column are pieces or codes. */
export function codeQuestion(
  { table, mapping: { targets }, chosen }: CheckedTable,
): Finding | null {
  const { header, rows } = table;
  const column = targets.indexOf("quantity");
  const values = column < 0 ? [] : sampledValues(rows, column);
  const isAsked = values.length > 0 &&
    targetsByName(header)[column] === "availability" &&
    !header.some(namesReservedStock) &&
    !Object.hasOwn(chosen.targets, header[column]) &&
    values.every((value) => Number(value) <= HIGHEST_CODE);
  return !isAsked ? null : question(
    `${columnName(table, column)} is ${
      values.toSorted().slice(0, 3).join(", ")
    }: are these numbers of pieces, or codes?`,
    confirmation("Pieces"),
    columnRemoval("Codes: leave them out", [column]),
  );
}

/** Separators of list entries, other than a comma. */
const BETWEEN = /[|;\n]/;

/** Asks whether a text with commas is several categories or one category. */
export function listQuestions(
  { table: { header, rows }, mapping }: CheckedTable,
): Finding[] {
  if (mapping.commas || shopOf(header) !== undefined) return [];
  return [...header.keys()].flatMap((column) => {
    if (mapping.targets[column] !== "categories") return [];
    // The semicolon of an HTML entity is not a separator.
    const values = sampledValues(rows, column).map(withoutEntities);
    const example = values.find((value) => /, *\p{L}/u.test(value));
    const isAsked = example !== undefined && !example.startsWith("[") &&
      !values.some((value) => BETWEEN.test(value));
    return !isAsked ? [] : [question(
      `${header[column]}: is “${example.slice(0, 60)}” one category, or ` +
        "several, separated by commas?",
      confirmation("One"),
      mappingChange("Several", (mapping) => ({ ...mapping, commas: true })),
    )];
  });
}
