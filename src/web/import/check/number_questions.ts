/** Questions about the meaning of numbers. */
import { formatCount } from "../../lib/format.ts";
import {
  ambiguityQuestion,
  bothMeanings,
  fractionalGrams,
  HUNDREDTHS,
  isWeightWithoutUnit,
  type NumberFormat,
  priceUnitOf,
  WEIGHT_UNITS,
  weightUnitOf,
} from "../../lib/numbers.ts";
import { sampledValues } from "../columns/guesses.ts";
import { isPrice } from "../columns/spreadsheet.ts";
import {
  type CheckedTable,
  columnName,
  columnRemoval,
  confirmation,
  type Finding,
  type FindingAnswer,
  mappingChange,
  question,
  tableChange,
  withCellInRows,
} from "./finding.ts";

/** An answer that changes the number format of a column. */
function numberFormatAnswer(
  label: string,
  column: number,
  change: Partial<NumberFormat>,
): FindingAnswer {
  return mappingChange(label, (mapping) => {
    const { numberFormats } = mapping;
    const format = { ...numberFormats[column], ...change };
    return { ...mapping, numberFormats: numberFormats.with(column, format) };
  });
}

/** Asks whether the unit that was chosen for an earlier file applies here. */
export function unitQuestions(
  { table, mapping: { targets, numberFormats }, chosen }: CheckedTable,
): Finding[] {
  const remembered = chosen.units;
  return table.header.flatMap((name, column) => {
    const { unit } = numberFormats[column];
    const isWeight = targets[column] === "weight";
    const named = isWeight ? weightUnitOf(name) : priceUnitOf(name);
    const isMeant = isWeight
      ? sampledValues(table.rows, column, 1_000).some(isWeightWithoutUnit)
      : isPrice(targets[column]);
    const isAsked = isMeant && Object.hasOwn(remembered, name) &&
      remembered[name] === unit && named !== unit;
    if (!isAsked) return [];
    const units = isWeight ? Object.keys(WEIGHT_UNITS) : [HUNDREDTHS, ""];
    const said = (one: string) =>
      isWeight ? one : one === HUNDREDTHS ? "cents" : "whole amounts";
    return [question(
      `The numbers of ${columnName(table, column)} were ${said(unit)} ` +
        "in an earlier file. What are they in this one?",
      ...units.map((one) =>
        numberFormatAnswer(said(one), column, { unit: one })
      ),
    )];
  });
}

/** Asks whether a separator before three digits separates thousands or decimals. */
export function thousandsQuestions(
  { table, mapping, problems: { thousands } }: CheckedTable,
): Finding[] {
  return [...thousands].map(([column, { ",": comma, ".": point }]) => {
    const name = columnName(table, column);
    if (comma !== undefined && point !== undefined) {
      return question(
        `${name} has ${point} and ${comma}: either may have a thousands ` +
          "separator. Write these numbers without one in the file.",
      );
    }
    const number = (comma ?? point)!;
    const both = bothMeanings(number, mapping.targets[column] === "quantity");
    const [large, small] = both;
    return question(
      `${name}: ${ambiguityQuestion(number, both)}`,
      numberFormatAnswer(large, column, {
        decimalSeparator: comma ? "." : ",",
      }),
      numberFormatAnswer(small, column, {
        decimalSeparator: comma ? "," : ".",
      }),
    );
  });
}

/** Asks about fractions of a gram, because the service stores whole grams. */
export function partialQuestions(
  { table, mapping, problems: { partial, thousands } }: CheckedTable,
): Finding[] {
  return [...partial].flatMap(([column, rows]) => {
    // The question about the separator must be answered first.
    if (thousands.has(column)) return [];
    const text = table.rows[rows[0]][column];
    const format = mapping.numberFormats[column];
    const unit = /\d$/.test(text) ? ` ${format.unit}` : "";
    return [question(
      `${columnName(table, column)}: ${text}${unit} is ${
        fractionalGrams(text, format)
      } g, and only whole grams are stored.`,
      numberFormatAnswer(`Round ${formatCount(rows.length)}`, column, {
        roundsToGrams: true,
      }),
      tableChange(
        `Leave ${formatCount(rows.length)} out`,
        (table) => withCellInRows(table, rows, column, ""),
      ),
    )];
  });
}

/** The maximum number of VAT rates of one country. */
const RATE_LIMIT = 6;

/** VAT rates in Europe, in percent. */
const KNOWN_RATES =
  "0 2.1 2.5 2.6 3 3.7 3.8 4 4.8 5 5.5 6 7 7.7 8 8.1 9 9.5 10 11 12 13 13.5 14 15 16 17 18 19 20 21 22 23 24 25 25.5 27"
    .split(" ").map(Number);

/**
 * Whether a text is a known VAT rate, in percent or as a share, the number of a
 * tax class, or no number at all.
 */
function isKnownRate(text: string): boolean {
  const rate = Number(
    text.replace("%", "").trim().replace(",", ".") || Number.NaN,
  );
  return Number.isNaN(rate) || rate < 4 && Number.isInteger(rate) ||
    rate < 1.3 || KNOWN_RATES.includes(rate);
}

/** Asks about amounts of VAT and numbers of tax classes instead of rates. */
export function taxQuestion(
  { table, mapping }: CheckedTable,
): Finding | null {
  const column = mapping.targets.indexOf("vat_rate");
  if (column < 0) return null;
  const rates = sampledValues(table.rows, column).toSorted();
  const name = columnName(table, column);
  const asked = (text: string, others: string) =>
    question(
      text,
      confirmation("Percent"),
      columnRemoval(`${others}: leave them out`, [column]),
    );
  if (rates.length > RATE_LIMIT) {
    return asked(
      `${name} has ${rates.length} different values, such as ${
        rates.slice(0, 3).join(", ")
      }: is that the VAT rate in percent, or an amount?`,
      "Amounts",
    );
  }
  const unknown = rates.find((rate) => !isKnownRate(rate));
  if (unknown !== undefined) {
    return asked(
      `${name} is ${unknown} in some rows, which no country has: is ` +
        "that the VAT rate in percent, or an amount?",
      "Amounts",
    );
  }
  // No country has 1 or 2 % VAT, so 1 and 2 are tax classes.
  const isOfClasses = rates.every((rate) => /^[0-3]$/.test(rate)) &&
    rates.some((rate) => rate !== "0");
  return !isOfClasses ? null : asked(
    `${name} is ${rates.join(", ")}: is that the VAT ` +
      "rate in percent, or the number of a tax class?",
    "Tax classes",
  );
}
