/** Questions about what a column holds. */
import { sampledValues } from "../columns/guesses.ts";
import { namesReservedStock, targetsByName } from "../columns/headers.ts";
import { shopOf } from "../shops/shops.ts";
import { columnFieldLabel } from "../columns/sheet.ts";
import {
  columnsOfOneField,
  fieldBesidePrice,
  withTarget,
} from "../columns/spreadsheet.ts";
import {
  type CheckedTable,
  columnName,
  confirms,
  type Finding,
  leavesOut,
  question,
  remaps,
} from "./finding.ts";

/** Which of several columns holds a field. */
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
      remaps(`${names[i]}: ${different[column] || "–"}`, (mapping) => {
        const before = column === used
          ? target
          : fieldBesidePrice(header[used]);
        const targets = mapping.targets.with(used, before);
        return withTarget(table, { ...mapping, targets }, column, target);
      })
    );
    return [question(
      `${names.slice(0, -1).join(", ")} and ${names.at(-1)} may each ` +
        `be the ${columnFieldLabel(target)}. Which one is it?`,
      ...answers,
      // No product goes without a SKU.
      ...(target === "sku" ? [] : [leavesOut("None", [used])]),
    )];
  });
}

/** Its values alone say that a column is the currency. */
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
    confirms("Yes"),
    leavesOut("No: leave it out", [column]),
  );
}

/** The most that a code of availability is. */
const HIGHEST_CODE = 9;

/** Few small numbers may be pieces, or codes that a program has for a state. */
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
    confirms("Pieces"),
    leavesOut("Codes: leave them out", [column]),
  );
}

/** Between entries of a list, where the file has no other sign for it. */
const BETWEEN = /[|;\n]/;

/** Categories behind commas may be several, or one with commas in its name. */
export function listQuestions(
  { table: { header, rows }, mapping }: CheckedTable,
): Finding[] {
  if (mapping.commas || shopOf(header) !== undefined) return [];
  return [...header.keys()].flatMap((column) => {
    if (mapping.targets[column] !== "categories") return [];
    const values = sampledValues(rows, column);
    const example = values.find((value) => /, *\p{L}/u.test(value));
    const isAsked = example !== undefined && !example.startsWith("[") &&
      !values.some((value) => BETWEEN.test(value));
    return !isAsked ? [] : [question(
      `${header[column]}: is “${example.slice(0, 60)}” one category, or ` +
        "several behind commas?",
      confirms("One"),
      remaps("Several", (mapping) => ({ ...mapping, commas: true })),
    )];
  });
}
