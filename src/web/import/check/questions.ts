/**
 * What a person must say of a table before it is sent, because its values may
 * mean either.
 */
import { type Table } from "../read/csv.ts";
import { count, listed, plural } from "../../lib/format.ts";
import { targetByValues, valuesIn } from "../columns/guesses.ts";
import {
  type ColumnField,
  isNetRemark,
  isOfPrice,
  isOfUnsold,
  isPriceUnit,
  isRecommended,
  isReserved,
  isState,
  piecesPerPrice,
  targetByName,
  targetsByName,
  vatFlagOf,
} from "../columns/headers.ts";
import { namesIn, presetOf } from "../columns/presets.ts";
import type { ChosenColumns } from "../columns/mappings.ts";
import {
  ambiguityQuestion,
  bothMeanings,
  HUNDREDTHS,
  isBareWeight,
  type NumberFormat,
  partialGrams,
  priceUnitOf,
  WEIGHT_UNITS,
  weightUnitOf,
} from "../../lib/numbers.ts";
import { columnFieldLabel, withColumnForField } from "../columns/sheet.ts";
import {
  cellValues,
  type ColumnMapping,
  columnsOfOneField,
  isNumber,
  isPrice,
  withTarget,
  yesOrNo,
} from "../columns/spreadsheet.ts";
import { type RowProblems, saleColumnOf } from "./table_checks.ts";

/** A question is identified by its text. Without answers it blocks the import. */
export interface TableQuestion {
  text: string;
  answers: readonly TableAnswer[];
}

/** Without an effect, it confirms what would be sent. */
export interface TableAnswer {
  label: string;
  mapping?: ColumnMapping;
  /** Makes the table with what is changed. */
  table?: () => Table;
  /** Columns that are left out. */
  columnsToLeaveOut?: readonly number[];
  /** Reads the file anew. */
  readAgain?: () => void;
}

/** Questions about the columns as they are mapped. */
export function questionsOf(
  table: Table,
  mapping: ColumnMapping,
  problems: RowProblems,
  remembered: ChosenColumns,
): TableQuestion[] {
  // A spreadsheet program may have changed it since.
  if (mapping.isOwn) {
    return [...skuQuestions(problems), ...letterQuestions(problems)];
  }
  return [
    ...rivalQuestions(table, mapping, remembered),
    ...currencyQuestions(table, mapping, remembered),
    ...codeQuestions(table, mapping, remembered),
    ...dashQuestions(table, mapping),
    ...netQuestions(table, mapping),
    ...unitQuestions(table, mapping, remembered.units),
    ...thousandsQuestions(table, mapping, problems),
    ...partialQuestions(table, mapping, problems),
    ...taxQuestions(table, mapping),
    ...skuQuestions(problems),
    ...letterQuestions(problems),
    ...saleQuestions(table, mapping, problems),
    ...recommendedQuestions(table, mapping, remembered),
    ...priceQuestions(table, mapping),
    ...packQuestions(table, mapping),
    ...listQuestions(table, mapping),
    ...sumQuestions(table, problems),
    ...unsoldQuestions(table, mapping),
    ...unmarkedQuestions(table, mapping),
    ...stockQuestions(table, mapping),
  ];
}

function columnName({ header }: Table, column: number): string {
  return header[column] || `column ${column + 1}`;
}

/** The unit of another file may not be that of this one. */
function unitQuestions(
  table: Table,
  mapping: ColumnMapping,
  remembered: ChosenColumns["units"],
): TableQuestion[] {
  const { targets, numberFormats } = mapping;
  return table.header.flatMap((name, column) => {
    const { unit } = numberFormats[column];
    const isWeight = targets[column] === "weight";
    const named = isWeight ? weightUnitOf(name) : priceUnitOf(name);
    const isMeant = isWeight
      ? valuesIn(table.rows, column, 1_000).some(isBareWeight)
      : isPrice(targets[column]);
    const isAsked = isMeant && Object.hasOwn(remembered, name) &&
      remembered[name] === unit && named !== unit;
    if (!isAsked) return [];
    const units = isWeight ? Object.keys(WEIGHT_UNITS) : [HUNDREDTHS, ""];
    const said = (one: string) =>
      isWeight ? one : one === HUNDREDTHS ? "cents" : "whole amounts";
    return [{
      text: `The numbers of ${columnName(table, column)} were ${said(unit)} ` +
        "in an earlier file. What are they in this one?",
      answers: units.map((one) => ({
        label: said(one),
        mapping: withNumberFormat(mapping, column, { unit: one }),
      })),
    }];
  });
}

function withNumberFormat(
  mapping: ColumnMapping,
  column: number,
  change: Partial<NumberFormat>,
): ColumnMapping {
  const { numberFormats } = mapping;
  const reading = { ...numberFormats[column], ...change };
  return { ...mapping, numberFormats: numberFormats.with(column, reading) };
}

function thousandsQuestions(
  table: Table,
  mapping: ColumnMapping,
  { thousands }: RowProblems,
): TableQuestion[] {
  return [...thousands].map(([column, { ",": comma, ".": point }]) => {
    const name = columnName(table, column);
    if (comma !== undefined && point !== undefined) {
      return {
        text: `${name} has ${point} beside ${comma}, and either may be ` +
          "thousands. Write them in the file without a sign of thousands.",
        answers: [],
      };
    }
    const number = (comma ?? point)!;
    const both = bothMeanings(number, mapping.targets[column] === "quantity");
    const [large, small] = both;
    return {
      text: `${name}: ${ambiguityQuestion(number, both)}`,
      answers: [
        { label: large, point: comma ? "." : "," } as const,
        { label: small, point: comma ? "," : "." } as const,
      ].map(({ label, point }) => ({
        label,
        mapping: withNumberFormat(mapping, column, { decimalSeparator: point }),
      })),
    };
  });
}

/** The service has weights in whole grams. */
function partialQuestions(
  table: Table,
  mapping: ColumnMapping,
  { partial, thousands }: RowProblems,
): TableQuestion[] {
  return [...partial].flatMap(([column, rows]): TableQuestion[] => {
    // What the sign means is asked before.
    if (thousands.has(column)) return [];
    const text = table.rows[rows[0]][column];
    const reading = mapping.numberFormats[column];
    const unit = /\d$/.test(text) ? ` ${reading.unit}` : "";
    return [{
      text: `${columnName(table, column)}: ${text}${unit} is ${
        partialGrams(text, reading)
      } g, and only whole grams are stored.`,
      answers: [
        {
          label: `Round ${count(rows.length)}`,
          mapping: withNumberFormat(mapping, column, { roundsToGrams: true }),
        },
        {
          label: `Leave ${count(rows.length)} out`,
          table: () => withCellInRows(table, rows, column, ""),
        },
      ],
    }];
  });
}

/** No country has more. */
const RATES = 6;

/** Rates of VAT in Europe, in percent. */
const KNOWN_RATES =
  "0 2.1 2.5 2.6 3 3.7 3.8 4 4.8 5 5.5 6 7 7.7 8 8.1 9 9.5 10 11 12 13 13.5 14 15 16 17 18 19 20 21 22 23 24 25 25.5 27"
    .split(" ").map(Number);

/** Whether a country has this rate; also as a share, and as a number of a class. */
function isKnownRate(text: string): boolean {
  const rate = Number(
    text.replace("%", "").trim().replace(",", ".") || Number.NaN,
  );
  return Number.isNaN(rate) || rate < 4 && Number.isInteger(rate) ||
    rate < 1.3 || KNOWN_RATES.includes(rate);
}

/** No country has a rate of 1 or 2 %; programs number theirs so. */
function taxQuestions(table: Table, mapping: ColumnMapping): TableQuestion[] {
  const column = mapping.targets.indexOf("vat_rate");
  if (column < 0) return [];
  const rates = valuesIn(table.rows, column).toSorted();
  const name = columnName(table, column);
  if (rates.length > RATES) {
    return [{
      text: `${name} has ${rates.length} different values, such as ${
        rates.slice(0, 3).join(", ")
      }: is that the VAT rate in percent, or an amount?`,
      answers: [
        { label: "Percent" },
        { label: "Amounts: leave them out", columnsToLeaveOut: [column] },
      ],
    }];
  }
  const unknown = rates.find((rate) => !isKnownRate(rate));
  if (unknown !== undefined) {
    return [{
      text: `${name} is ${unknown} in some rows, which no country has: is ` +
        "that the VAT rate in percent, or an amount?",
      answers: [
        { label: "Percent" },
        { label: "Amounts: leave them out", columnsToLeaveOut: [column] },
      ],
    }];
  }
  const isOfClasses = rates.every((rate) => /^[0-3]$/.test(rate)) &&
    rates.some((rate) => rate !== "0");
  return !isOfClasses ? [] : [{
    text: `${name} is ${rates.join(", ")}: is that the VAT ` +
      "rate in percent, or the number of a tax class?",
    answers: [
      { label: "Percent" },
      { label: "Tax classes: leave them out", columnsToLeaveOut: [column] },
    ],
  }];
}

function skuQuestions({ damaged }: RowProblems): TableQuestion[] {
  return damaged.length === 0 ? [] : [{
    text:
      `${plural(damaged.length, "article number")} such as ${
        damaged.slice(0, 3).join(", ")
      } may have been changed by a spreadsheet program. Then drop the file that ` +
      "your shop exported, without opening it in Excel before.",
    answers: [{ label: "They are right" }],
  }];
}

function letterQuestions({ garbled }: RowProblems): TableQuestion[] {
  return garbled === null ? [] : [{
    text:
      `The letters of a text such as “${garbled.slice(0, 60)}” seem to be ` +
      "broken in the file itself. If so, export it anew as UTF-8.",
    answers: [{ label: "They are right" }],
  }];
}

function saleQuestions(
  table: Table,
  { targets }: ColumnMapping,
  { timedSales, unpricedSales }: RowProblems,
): TableQuestion[] {
  const column = saleColumnOf(table.header, targets);
  const without = (rows: readonly number[]): Table => {
    const left = new Set(rows);
    return {
      ...table,
      rows: table.rows.map((cells, row) =>
        left.has(row) ? cells.with(column, "") : cells
      ),
    };
  };
  const asked = (rows: readonly number[], why: string, yes: string) =>
    rows.length === 0 ? [] : [{
      text: `${plural(rows.length, "sale price")} ${why}`,
      answers: [
        { label: yes },
        {
          label: `Leave ${count(rows.length)} out`,
          table: () => without(rows),
        },
      ],
    }];
  return [
    ...asked(
      timedSales,
      "with a date: it cannot be sent, and the sale would begin at once.",
      "The sale is on now",
    ),
    ...asked(
      unpricedSales,
      "without a price beside it would become the price.",
      "That is meant",
    ),
  ];
}

/** Nobody sells at what a maker recommends, or at any other amount of money. */
function recommendedQuestions(
  table: Table,
  { targets }: ColumnMapping,
  remembered: ChosenColumns,
): TableQuestion[] {
  const column = targets.indexOf("price");
  const name = table.header[column];
  const isGuessed = column >= 0 && !Object.hasOwn(remembered.targets, name) &&
    targetsByName(table.header)[column] === null &&
    targetByValues(name, valuesIn(table.rows, column)) === "price";
  // A usual price is the price, unless another one stands there.
  const isInstead = column >= 0 && withoutQualifiers(name) !== "" &&
    presetOf(table.header) === undefined &&
    table.header.some((other, i) =>
      targets[i] === "" && targetByName(other) === null &&
      (isOfPrice(other) || vatFlagOf(other) !== null) &&
      valuesIn(table.rows, i).some(isNumber)
    );
  const isAsked = isRecommended(name ?? "") || isGuessed || isInstead;
  return column < 0 || !isAsked ? [] : [{
    text: `${
      columnName(table, column)
    } would be the price, as no other column is.`,
    answers: [
      { label: "It is the price" },
      { label: "Leave it out", columnsToLeaveOut: [column] },
    ],
  }];
}

/** Which of several columns holds a field. */
function rivalQuestions(
  table: Table,
  mapping: ColumnMapping,
  { targets: remembered }: ChosenColumns,
): TableQuestion[] {
  const { header, rows } = table;
  return columnsOfOneField(table).flatMap(([target, columns]) => {
    const used = mapping.targets.indexOf(target);
    const others = columns.filter((i) =>
      i !== used && mapping.targets[i] === ""
    );
    const different = rows.find((row) =>
      others.some((i) => row[i] !== "" && row[i] !== row[used])
    );
    const isKnown = columns.every((i) => Object.hasOwn(remembered, header[i]));
    if (!columns.includes(used) || different === undefined || isKnown) {
      return [];
    }
    const names = columns.map((i) => columnName(table, i));
    return [{
      text: `${names.slice(0, -1).join(", ")} and ${names.at(-1)} may each ` +
        `be the ${columnFieldLabel(target)}. Which one is it?`,
      answers: [
        ...columns.map((column, i) => ({
          label: `${names[i]}: ${different[column] || "–"}`,
          mapping: withTarget(
            table,
            {
              ...mapping,
              targets: mapping.targets.with(
                used,
                column === used ? target : withoutQualifiers(header[used]),
              ),
            },
            column,
            target,
          ),
        })),
        // No product goes without a SKU.
        ...(target === "sku"
          ? []
          : [{ label: "None", columnsToLeaveOut: [used] }]),
      ],
    }];
  });
}

/** What a column is that alone would be the price. */
function withoutQualifiers(name: string): ColumnField {
  const target = targetByName(name);
  return target !== "price" && target !== null && isPrice(target) ? target : "";
}

/** Its values alone say that a column is the currency. */
function currencyQuestions(
  table: Table,
  { targets }: ColumnMapping,
  { targets: remembered }: ChosenColumns,
): TableQuestion[] {
  const { header, rows } = table;
  const column = targets.indexOf("currency");
  const isGuessed = column >= 0 &&
    targetsByName(header)[column] !== "currency" &&
    !Object.hasOwn(remembered, header[column]);
  return !isGuessed ? [] : [{
    text: `${columnName(table, column)} is ${
      valuesIn(rows, column, 3).join(", ")
    }. Is that the currency of the prices?`,
    answers: [
      { label: "Yes" },
      { label: "No: leave it out", columnsToLeaveOut: [column] },
    ],
  }];
}

/** The most that a code of availability is. */
const HIGHEST_CODE = 9;

/** Few small numbers may be pieces, or codes that a program has for a state. */
function codeQuestions(
  table: Table,
  { targets }: ColumnMapping,
  { targets: remembered }: ChosenColumns,
): TableQuestion[] {
  const { header, rows } = table;
  const column = targets.indexOf("quantity");
  const values = column < 0 ? [] : valuesIn(rows, column);
  const isAsked = values.length > 0 &&
    targetsByName(header)[column] === "availability" &&
    !header.some(isReserved) &&
    !Object.hasOwn(remembered, header[column]) &&
    values.every((value) => Number(value) <= HIGHEST_CODE);
  return !isAsked ? [] : [{
    text: `${columnName(table, column)} is ${
      values.toSorted().slice(0, 3).join(", ")
    }: are these numbers of pieces, or codes?`,
    answers: [
      { label: "Pieces" },
      { label: "Codes: leave them out", columnsToLeaveOut: [column] },
    ],
  }];
}

/** Formats of bookkeepers show a dash for 0; here it clears the quantity. */
function dashQuestions(
  table: Table,
  { targets }: ColumnMapping,
): TableQuestion[] {
  const column = targets.indexOf("quantity");
  const { rows } = table;
  const found = column < 0
    ? []
    : [...rows.keys()].filter((row) => /^[-–—]$/.test(rows[row][column]));
  return found.length === 0 ? [] : [{
    text: `${columnName(table, column)} is ${rows[found[0]][column]} in ${
      plural(found.length, "row")
    }. Does it mean 0?`,
    answers: [
      {
        label: "Yes: 0",
        table: () => withCellInRows(table, found, column, "0"),
      },
      {
        label: "No: the stock is not counted",
        table: () => withCellInRows(table, found, column, "-"),
      },
    ],
  }];
}

/** A row that is a remark may say that all prices are without VAT. */
function netQuestions(
  table: Table,
  { targets }: ColumnMapping,
): TableQuestion[] {
  const { rows } = table;
  const prices = [...targets.keys()].filter((i) => isPrice(targets[i]));
  const isEmpty = (cell: string) => cell === "";
  const found = [...rows.keys()].filter((row) => {
    const cells = rows[row];
    const at = cells.findIndex((cell) => cell !== "");
    return at >= 0 && cells[at].includes(" ") &&
      cells.slice(at + 1).every(isEmpty) && isNetRemark(cells[at]);
  });
  if (found.length === 0 || prices.length === 0) return [];
  const without = withoutRows(table, found).table;
  return [{
    text: `A row says “${
      rows[found[0]].join("").slice(0, 60)
    }”. Are the prices with VAT?`,
    answers: [
      { label: "Yes", table: without },
      {
        label: "No: leave the prices out",
        columnsToLeaveOut: prices,
        table: without,
      },
    ],
  }];
}

/** Few values are states, many are texts. */
const STATES = 6;

/** Columns may say of rows that they are not for sale. */
function unsoldQuestions(
  table: Table,
  mapping: ColumnMapping,
): TableQuestion[] {
  const { header, rows } = table;
  const { targets, values } = mapping;
  const status = targets.indexOf("status");
  if (values.status === "paused") return [];
  const names = namesIn(header);
  const stateOf = (row: readonly string[]) =>
    status < 0 ? "" : cellValues("status", row[status], mapping, status, "")[0];
  return [...header.keys()].flatMap((column): TableQuestion[] => {
    if (targets[column] !== "" && column !== status) return [];
    const isNamed = isOfUnsold(names[column]);
    if (column === status && !isNamed) return [];
    const few = valuesIn(rows, column, STATES + 1);
    const isUnsold = isNamed
      ? (cell: string) =>
        cell !== "" && yesOrNo(cell) !== false && !/^0[-0:. ]*$/.test(cell)
      : isState(names[column])
      ? (cell: string) => yesOrNo(cell) === false
      : few.length <= STATES && few.some(isOfUnsold)
      ? isOfUnsold
      : null;
    if (isUnsold === null) return [];
    const found = [...rows.keys()].filter((row) =>
      isUnsold(rows[row][column]) &&
      (column === status || stateOf(rows[row]) !== "paused")
    );
    if (found.length === 0) return [];
    const to = status < 0 ? header.length : status;
    const isSaid = column === status;
    const paused = () => {
      const at = status < 0
        ? withColumnForField({ name: "", table, mapping, book: null }, "status")
          .table
        : table;
      // Such a column says of all other rows that they are for sale.
      const stated = isSaid
        ? withCellInRows(at, [...rows.keys()], to, "active")
        : at;
      return withCellInRows(stated, found, to, "paused");
    };
    return [{
      text: `${columnName(table, column)} is ${rows[found[0]][column]} in ${
        plural(found.length, "row")
      }. Is that for sale?`,
      answers: [
        {
          label: `No: pause ${count(found.length)}`,
          mapping: status < 0
            ? withColumnForField(
              { name: "", table: { ...table, rows: [] }, mapping, book: null },
              "status",
            ).mapping
            : mapping,
          table: paused,
        },
        isSaid
          ? { label: "Leave the column out", columnsToLeaveOut: [column] }
          : { label: "Yes" },
      ],
    }];
  });
}

/** An empty cell leaves a product for sale; marks alone say that it is not. */
function unmarkedQuestions(
  table: Table,
  { targets }: ColumnMapping,
): TableQuestion[] {
  const [status, title] = ["status", "title"]
    .map((name) => targets.indexOf(name as ColumnField));
  if (status < 0) return [];
  const { rows } = table;
  const empty = [...rows.keys()].filter((row) =>
    rows[row][status] === "" && rows[row][title] !== ""
  );
  const marks = valuesIn(rows, status);
  const isAsked = empty.length > 0 && marks.length > 0 &&
    marks.every((mark) => yesOrNo(mark) === true);
  return !isAsked ? [] : [{
    text: `${columnName(table, status)} is ${
      marks[0]
    } in some rows, and empty in ${count(empty.length)}. Are those for sale?`,
    answers: [
      {
        label: `No: pause ${count(empty.length)}`,
        table: () => withCellInRows(table, empty, status, "paused"),
      },
      { label: "Yes" },
    ],
  }];
}

/** Where one of both cells was changed, the other is wrong. */
function stockQuestions(table: Table, mapping: ColumnMapping): TableQuestion[] {
  const { rows } = table;
  const quantity = mapping.targets.indexOf("quantity");
  const availability = mapping.targets.indexOf("availability");
  if (quantity < 0 || availability < 0) return [];
  const is = (row: number, column: number, value: string) => {
    const name = column === quantity ? "quantity" : "availability";
    const values = cellValues(name, rows[row][column], mapping, column, "");
    return values[0] === value;
  };
  const found = [...rows.keys()].filter((row) =>
    is(row, quantity, "0") && is(row, availability, "in_stock")
  );
  return found.length === 0 ? [] : [{
    text: `${columnName(table, availability)} is ${
      rows[found[0]][availability]
    } in ${plural(found.length, "row")} with the quantity 0. In stock?`,
    answers: [
      {
        label: `No: ${count(found.length)} out of stock`,
        table: () => withCellInRows(table, found, availability, "out_of_stock"),
      },
      { label: "Yes" },
    ],
  }];
}

function withCellInRows(
  table: Table,
  rows: readonly number[],
  column: number,
  text: string,
): Table {
  const meant = new Set(rows);
  return {
    ...table,
    rows: table.rows.map((cells, row) =>
      meant.has(row) ? cells.with(column, text) : cells
    ),
  };
}

/** Prices for many pieces, or without VAT, as another column says. */
function priceQuestions(
  table: Table,
  { targets }: ColumnMapping,
): TableQuestion[] {
  const { header, rows } = table;
  const prices = [...header.keys()].filter((i) => isPrice(targets[i]));
  if (prices.length === 0) return [];
  return [...header.keys()].flatMap((column): TableQuestion[] => {
    if (targets[column] !== "") return [];
    const name = header[column];
    const flag = vatFlagOf(name);
    const isFlag = flag !== null &&
      valuesIn(rows, column).every((value) => yesOrNo(value) !== null);
    const isMeant = isPriceUnit(name)
      ? (cell: string) => piecesIn(cell) > 1
      : isFlag
      ? (cell: string) => yesOrNo(cell) === (flag === "net")
      : () => false;
    const found = [...rows.keys()].filter((row) =>
      isMeant(rows[row][column]) && prices.some((i) => rows[row][i] !== "")
    );
    if (found.length === 0) return [];
    return [{
      text: `${name} is ${rows[found[0]][column]} in ${
        plural(found.length, "row")
      }. Is the price there that of one piece with VAT?`,
      answers: [
        { label: "Yes" },
        {
          label: `No: leave ${plural(found.length, "price")} out`,
          table: () =>
            prices.reduce((all, i) => withCellInRows(all, found, i, ""), table),
        },
      ],
    }];
  });
}

/** Letters that programs write for hundred and thousand pieces. */
const MANY_PIECES: Readonly<Record<string, number>> = { C: 100, M: 1_000 };

/** `100` of `100`, `je 100` and `C`; 1 where it says nothing of a number. */
function piecesIn(text: string): number {
  return MANY_PIECES[text] ?? Number(/\d+/.exec(text)?.[0] ?? 1);
}

/** The name of a column may say that its prices are for many pieces. */
function packQuestions(table: Table, mapping: ColumnMapping): TableQuestion[] {
  return [...table.header.keys()].flatMap((column): TableQuestion[] => {
    const { [column]: target } = mapping.targets;
    const pieces = isPrice(target) ? piecesPerPrice(table.header[column]) : 1;
    if (pieces === 1) return [];
    return [{
      text:
        `${columnName(table, column)}: is that the price of one piece, or of ` +
        `${pieces}?`,
      answers: [
        { label: "Of one" },
        pieces === 100
          ? {
            label: "Of 100: divide it",
            mapping: withNumberFormat(mapping, column, { unit: HUNDREDTHS }),
          }
          : {
            label: `Of ${pieces}: leave it out`,
            columnsToLeaveOut: [column],
          },
      ],
    }];
  });
}

/** Several SKUs of variants in one cell are no SKU. */
function listQuestions(
  table: Table,
  { targets }: ColumnMapping,
): TableQuestion[] {
  const sku = targets.indexOf("sku");
  if (sku < 0) return [];
  const { rows } = table;
  const found = [...rows.keys()].filter((row) => isOfSeveral(rows[row][sku]));
  return found.length === 0 ? [] : [{
    text: `${rows[found[0]][sku]} in ${plural(found.length, "row")} may be ` +
      "several SKUs, as of variants. Each product needs a row of its own.",
    answers: [{ label: "It is one SKU" }, withoutRows(table, found)],
  }];
}

function sumQuestions(table: Table, { sums }: RowProblems): TableQuestion[] {
  return sums.length === 0 ? [] : [{
    text: `A sum, not a product, may be in ${
      listed("row", sums.map((row) => table.numbers[row]))
    }.`,
    answers: [
      withoutRows(table, sums),
      { label: sums.length === 1 ? "It is a product" : "They are products" },
    ],
  }];
}

function withoutRows(table: Table, found: readonly number[]) {
  const { rows, numbers } = table;
  const isOut = new Set(found);
  return {
    label: `Leave ${plural(found.length, "row")} out`,
    table: () => ({
      ...table,
      rows: rows.filter((_, row) => !isOut.has(row)),
      numbers: numbers.filter((_, row) => !isOut.has(row)),
    }),
  };
}

function isOfSeveral(sku: string): boolean {
  const parts = sku.split(/[,;|]/).map((part) => part.trim());
  return parts.length > 1 && parts.every((part) => part.length > 2) &&
    /\D/.test(parts.join(""));
}
