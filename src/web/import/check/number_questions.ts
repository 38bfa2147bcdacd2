/** Questions about the meaning of numbers. */
import { formatCount } from "../../lib/format.ts";
import {
  ambiguityQuestion,
  bothMeanings,
  currencyIn,
  fractionalGrams,
  HUNDREDTHS,
  isWeightWithoutUnit,
  type NumberFormat,
  priceUnitOf,
  WEIGHT_UNITS,
  weightUnitOf,
} from "../../lib/numbers.ts";
import { sampledValues } from "../columns/guesses.ts";
import {
  cellValues,
  isPrice,
  isShare,
  percentOf,
} from "../columns/spreadsheet.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import {
  type CheckedTable,
  columnName,
  columnRemoval,
  confirmation,
  type Finding,
  type FindingAnswer,
  mappingChange,
  question,
  rowsWhere,
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
  "0 0.9 1.05 1.75 2.1 2.5 2.6 3 3.7 3.8 4 4.8 5 5.5 6 7 7.7 8 8.1 8.5 9 9.5 10 11 12 13 13.5 14 15 16 17 18 19 20 21 22 23 24 25 25.5 27"
    .split(" ").map(Number);

/** A value in a column of VAT rates. */
interface Rate {
  text: string;
  /** In percent; NaN if the text is not a number. */
  percent: number;
  /** `none`: the value is 0, not a number, or has a percent sign. */
  notation: "percent" | "share" | "none";
}

function rateIn(text: string): Rate {
  const isSigned = text.includes("%");
  const number = text.replace("%", "").trim().replace(",", ".");
  const isPart = !isSigned && isShare(number);
  const percent = Number((isPart ? percentOf(number) : number) || Number.NaN);
  const notation = isSigned || percent === 0 || Number.isNaN(percent)
    ? "none"
    : isPart
    ? "share"
    : "percent";
  return { text, percent, notation };
}

/** Asks about amounts of VAT and numbers of tax classes instead of rates. */
export function* taxQuestion(
  checked: CheckedTable,
): SlicedWork<Finding | null> {
  const { table, mapping } = checked;
  const column = mapping.targets.indexOf("vat_rate");
  if (column < 0) return null;
  const texts = sampledValues(table.rows, column).toSorted();
  const rates = texts.map(rateIn);
  const name = columnName(table, column);
  const asked = (text: string, others: string) =>
    question(
      text,
      confirmation("Percent"),
      columnRemoval(`${others}: leave them out`, [column]),
    );
  const orAmount = (found: string) =>
    asked(
      `${name} ${found}: is that the VAT rate in percent, or an amount?`,
      "Amounts",
    );
  // No country has 1 or 2 % VAT, so 1 and 2 are tax classes.
  const isOfClasses = texts.every((text) => /^[0-3]$/.test(text)) &&
    texts.some((text) => text !== "0");
  if (isOfClasses) {
    return asked(
      `${name} is ${texts.join(", ")}: is that the VAT ` +
        "rate in percent, or the number of a tax class?",
      "Tax classes",
    );
  }
  if (rates.length > RATE_LIMIT) {
    return orAmount(
      `has ${rates.length} different values, such as ${
        texts.slice(0, 3).join(", ")
      }`,
    );
  }
  const unknown = rates.find(({ percent }) =>
    !Number.isNaN(percent) && !KNOWN_RATES.includes(percent)
  );
  if (unknown !== undefined) {
    return orAmount(`is ${unknown.text} in some rows, which no country has`);
  }
  const [share, percent] = ["share", "percent"].map((notation) =>
    rates.find((rate) => rate.notation === notation)
  );
  if (share !== undefined && percent !== undefined) {
    return orAmount(
      `is ${share.text} in some rows and ${percent.text} in others`,
    );
  }
  const hasDecimals = rates.some(({ text, notation }) =>
    notation === "percent" && /[.,]\d/.test(text)
  );
  return hasDecimals && (yield* areTaxesInPrices(checked, column))
    ? orAmount(
      `is ${percent!.text} in some rows, which is the VAT in the price`,
    )
    : null;
}

/** The maximum difference of an amount that is rounded to two decimals. */
const ROUNDING = 0.0051;

/**
 * Whether each value other than 0 of a column is the amount of VAT in a price
 * of its row, at a VAT rate in Europe.
 */
function* areTaxesInPrices(
  { table, mapping }: CheckedTable,
  column: number,
): SlicedWork<boolean> {
  const prices = [...mapping.targets.keys()]
    .filter((i) => isPrice(mapping.targets[i]));
  let compared = 0;
  const others = yield* rowsWhere(table, (cells) => {
    const { percent: tax } = rateIn(cells[column]);
    const amounts = prices.map((i) =>
      Number(
        cellValues("price", cells[i], mapping, i, currencyIn(cells[i]))[0],
      )
    ).filter((amount) => amount > 0);
    if (!(tax > 0) || amounts.length === 0) return false;
    compared++;
    return !amounts.some((amount) =>
      KNOWN_RATES.some((rate) =>
        Math.abs(amount * rate / (100 + rate) - tax) < ROUNDING
      )
    );
  });
  return compared > 0 && others.length === 0;
}
