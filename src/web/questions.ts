/**
 * What a person must say of a table before it is sent, because its values may
 * mean either.
 */
import type { Table } from "./csv.ts";
import { valuesIn } from "./guesses.ts";
import { isRecommended } from "./headers.ts";
import type { Chosen } from "./mappings.ts";
import {
  HUNDREDTHS,
  isBareWeight,
  type Point,
  priceUnitOf,
  WEIGHT_UNITS,
  weightUnitOf,
} from "./numbers.ts";
import { count, plural } from "./parts.tsx";
import { isPrice, type Mapping } from "./spreadsheet.ts";
import { type RowProblems, saleColumnOf } from "./table_checks.ts";

/** A text is asked once; without answers, the file must be corrected. */
export interface Question {
  text: string;
  answers: readonly Answer[];
}

/** Without an effect, it confirms what would be sent. */
export interface Answer {
  label: string;
  mapping?: Mapping;
  table?: Table;
  /** Columns that are left out. */
  leave?: readonly number[];
  /** Reads the file anew. */
  again?: () => void;
}

/** Questions about the columns as they are mapped. */
export function questionsOf(
  table: Table,
  mapping: Mapping,
  problems: RowProblems,
  remembered: Chosen["units"],
): Question[] {
  return [
    ...unitQuestions(table, mapping, remembered),
    ...thousandsQuestions(table, mapping, problems),
    ...taxQuestions(table, mapping),
    ...skuQuestions(problems),
    ...saleQuestions(table, mapping, problems),
    ...recommendedQuestions(table, mapping),
  ];
}

function nameOf({ header }: Table, column: number): string {
  return header[column] || `column ${column + 1}`;
}

/** The unit of another file may not be that of this one. */
function unitQuestions(
  table: Table,
  mapping: Mapping,
  remembered: Chosen["units"],
): Question[] {
  const { targets, readings } = mapping;
  return table.header.flatMap((name, column) => {
    const { unit } = readings[column];
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
      text: `The numbers of ${nameOf(table, column)} were ${said(unit)} ` +
        "in an earlier file. What are they in this one?",
      answers: units.map((one) => ({
        label: said(one),
        mapping: withReading(mapping, column, { unit: one }),
      })),
    }];
  });
}

function withReading(
  mapping: Mapping,
  column: number,
  change: { unit?: string; point?: Point },
): Mapping {
  const { readings } = mapping;
  const reading = { ...readings[column], ...change };
  return { ...mapping, readings: readings.with(column, reading) };
}

function thousandsQuestions(
  table: Table,
  mapping: Mapping,
  { thousands }: RowProblems,
): Question[] {
  return [...thousands].map(([column, { ",": comma, ".": point }]) => {
    const name = nameOf(table, column);
    if (comma !== undefined && point !== undefined) {
      return {
        text: `${name} has ${point} beside ${comma}, and either may be ` +
          "thousands. Write them in the file without a sign of thousands.",
        answers: [],
      };
    }
    const number = (comma ?? point)!;
    const [whole, decimals] = number.split(/[.,]/);
    const isCount = mapping.targets[column] === "quantity";
    const small = isCount ? `${Number(`${whole}.${decimals}`)}` : [
      whole,
      decimals,
    ].join(".");
    return {
      text: `${name}: does ${number} mean ${whole}${decimals}, or ${small}?`,
      answers: [
        { label: `${whole}${decimals}`, point: comma ? "." : "," } as const,
        { label: small, point: comma ? "," : "." } as const,
      ].map(({ label, point }) => ({
        label,
        mapping: withReading(mapping, column, { point }),
      })),
    };
  });
}

/** No country has a rate of 1 or 2 %; programs number theirs so. */
function taxQuestions(table: Table, mapping: Mapping): Question[] {
  const column = mapping.targets.indexOf("vat_rate");
  if (column < 0) return [];
  const rates = valuesIn(table.rows, column).sort();
  const isOfClasses = rates.every((rate) => /^[0-3]$/.test(rate)) &&
    rates.some((rate) => rate !== "0");
  return !isOfClasses ? [] : [{
    text: `${nameOf(table, column)} is ${rates.join(", ")}: is that the VAT ` +
      "rate in percent, or the number of a tax class?",
    answers: [
      { label: "Percent" },
      { label: "Tax classes: leave them out", leave: [column] },
    ],
  }];
}

function skuQuestions({ damaged }: RowProblems): Question[] {
  return damaged.length === 0 ? [] : [{
    text:
      `${plural(damaged.length, "article number")} such as ${
        damaged.slice(0, 3).join(", ")
      } may have been changed by a spreadsheet program. Then drop the file that ` +
      "your shop exported, without opening it in Excel before.",
    answers: [{ label: "They are right" }],
  }];
}

function saleQuestions(
  table: Table,
  { targets }: Mapping,
  { timedSales, unpricedSales }: RowProblems,
): Question[] {
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
          table: without(rows),
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

/** Nobody sells at it, unless it is meant. */
function recommendedQuestions(table: Table, { targets }: Mapping): Question[] {
  const column = targets.indexOf("price");
  return column < 0 || !isRecommended(table.header[column]) ? [] : [{
    text: `${nameOf(table, column)} would be the price, as no other column is.`,
    answers: [
      { label: "It is the price" },
      { label: "Leave it out", leave: [column] },
    ],
  }];
}
