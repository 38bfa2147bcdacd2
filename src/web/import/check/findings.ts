/**
 * What the page says of a table before it is sent: one list of findings, which
 * one view shows. What blocks must be answered or mended first.
 */
import { count, plural } from "../../lib/format.ts";
import { type ColumnField, targetsByName } from "../columns/headers.ts";
import { presetOf } from "../columns/presets.ts";
import type { ChosenColumns } from "../columns/mappings.ts";
import { skuProposals } from "../columns/proposals.ts";
import { columnFieldLabel } from "../columns/sheet.ts";
import { type ColumnMapping, isRepeatable } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import {
  questionsOf,
  type TableAnswer,
  type TableQuestion,
} from "./questions.ts";
import { missing, repeated, type RowProblems } from "./table_checks.ts";

/** A table as its columns are mapped. */
export interface TableAndMapping {
  table: Table;
  mapping: ColumnMapping;
}

export interface Finding {
  severity: "blocks" | "warning" | "note" | "good";
  text: string;
  /** More of it, which is shown when it is asked for. */
  more?: string;
  answers: readonly FindingAnswer[];
  /** It is asked once: an answer ends it, whatever is mapped then. */
  isQuestion?: true;
}

/** An answer; `apply` makes what follows, or null: it reads the file anew. */
export interface FindingAnswer {
  label: string;
  apply: (mapped: TableAndMapping) => TableAndMapping | null;
}

/** What findings are made from. */
export interface FindingSource extends TableAndMapping {
  /** Null until all rows have been looked at. */
  problems: RowProblems | null;
  /** What was chosen for such columns before. */
  chosen: ChosenColumns;
  /** Questions about the file, and what was done to its rows, in sentences. */
  questions: readonly TableQuestion[];
  note: string;
  /** Texts of questions that have an answer. */
  answered: ReadonlySet<string>;
}

/** All findings, in the order in which they are shown. */
export function findingsIn(source: FindingSource): Finding[] {
  const { table, mapping, problems, chosen, answered } = source;
  const asked = [
    ...source.questions,
    ...(problems === null ? [] : questionsOf(table, mapping, problems, chosen)),
  ];
  return [
    ...fieldFindings(mapping),
    ...asked.filter(({ text }) => !answered.has(text)).map(findingOf),
    ...flawFindings(table, mapping, problems),
    ...presetFindings(table),
    ...(source.note === "" ? [] : [findingWithoutAnswers("note", source.note)]),
    ...skuFindings(table, mapping),
    ...(problems === null ? [] : valueFindings(problems)),
    ...leftOutFindings(table, mapping),
    ...rivalFindings(table, mapping),
    ...(problems === null ? [] : damageFindings(problems)),
  ];
}

function findingWithoutAnswers(
  severity: Finding["severity"],
  text: string,
): Finding {
  return { severity, text, answers: [] };
}

function findingOf({ text, answers }: TableQuestion): Finding {
  return {
    severity: "blocks",
    text,
    answers: answers.map((answer) => ({
      label: answer.label,
      apply: (mapped) => applyAnswer(mapped, answer),
    })),
    isQuestion: true,
  };
}

function applyAnswer(
  mapped: TableAndMapping,
  {
    readAgain,
    columnsToLeaveOut = [],
    table,
    mapping = mapped.mapping,
  }: TableAnswer,
): TableAndMapping | null {
  if (readAgain !== undefined) {
    readAgain();
    return null;
  }
  const targets = mapping.targets.map((target, column): ColumnField =>
    columnsToLeaveOut.includes(column) ? "" : target
  );
  return {
    table: table?.() ?? mapped.table,
    mapping: { ...mapping, targets },
  };
}

/** Fields that every new product needs, and those without which nothing goes. */
function fieldFindings(mapping: ColumnMapping): Finding[] {
  const { targets, values } = mapping;
  const lacking = missing(mapping);
  const hasNoCurrency = targets.includes("price") &&
    !targets.includes("currency") && (values.currency ?? "") === "";
  return [
    lacking.length === 0
      ? findingWithoutAnswers(
        "good",
        "Every field that a new product needs has a column.",
      )
      : findingWithoutAnswers(
        "warning",
        `No column holds: ${lacking.join(", ")}. New products need it; ` +
          "products that exist keep what they have.",
      ),
    ...(targets.includes("sku")
      ? []
      : [findingWithoutAnswers("blocks", "Choose the column with the SKU.")]),
    ...(hasNoCurrency
      ? [findingWithoutAnswers(
        "blocks",
        "Every price needs its currency: enter it below the columns.",
      )]
      : []),
  ];
}

/** Why nothing of the file can be sent as it is. */
function flawFindings(
  { flaw }: Table,
  mapping: ColumnMapping,
  problems: RowProblems | null,
): Finding[] {
  const twice = repeated(mapping);
  const bareWeight = problems?.bareWeight ?? null;
  return [
    flaw !== null && findingWithoutAnswers(
      "blocks",
      `${flaw} Values would be sent in wrong columns, so nothing of this file ` +
        "can be sent.",
    ),
    twice.length > 0 && findingWithoutAnswers(
      "blocks",
      "Several columns are the same field, which can have one value: " +
        `${twice.join(", ")}. Leave out all but one.`,
    ),
    bareWeight !== null && findingWithoutAnswers(
      "blocks",
      `Neither the column of the weight nor a value such as ${bareWeight} says ` +
        "whether these are grams or kilograms. Choose the unit.",
    ),
  ].filter((finding) => finding !== false);
}

function presetFindings({ header }: Table): Finding[] {
  const preset = presetOf(header);
  return preset
    ? [findingWithoutAnswers(
      "good",
      `This is an export of ${preset.shop}; its columns are known.`,
    )]
    : [];
}

/** Proposals that are shown. */
const EXAMPLES = 3;

/** Rows without a SKU, and what may be theirs. */
function skuFindings(table: Table, mapping: ColumnMapping): Finding[] {
  const column = mapping.targets.indexOf("sku");
  const proposals = skuProposals(table, mapping);
  const { size } = proposals;
  if (size === 0) return [];
  const shown = [...proposals.values().take(EXAMPLES)].join(", ");
  return [{
    severity: "warning",
    text:
      `${plural(size, "row")} ${size === 1 ? "has" : "have"} no SKU, which ` +
      `every product needs. Made of their names: ${shown}${
        size > EXAMPLES ? ", …" : ""
      }`,
    answers: [{
      label: `Use ${size === 1 ? "this SKU" : `these ${count(size)} SKUs`}`,
      apply: ({ table, mapping }) => ({
        mapping,
        table: {
          ...table,
          rows: table.rows.map((row, i) =>
            row.with(column, proposals.get(i) ?? row[column])
          ),
        },
      }),
    }],
  }];
}

/** What becomes of values that are not sent as they stand there. */
function valueFindings(
  { path, html, unstocked }: RowProblems,
): Finding[] {
  return [
    path !== null && findingWithoutAnswers(
      "warning",
      `An image such as ${path} is a path in your shop. Enter the address ` +
        "before it, beside its column below; or leave the column out.",
    ),
    html > 0 && findingWithoutAnswers(
      "note",
      `${plural(html, "description")} ${html === 1 ? "is" : "are"} HTML, and ` +
        "sent as text without its tags.",
    ),
    unstocked > 0 && findingWithoutAnswers(
      "note",
      `${plural(unstocked, "row")} ${unstocked === 1 ? "has" : "have"} no ` +
        "quantity: products that exist keep what they have.",
    ),
  ].filter((finding) => finding !== false);
}

/** How many values each column has, by the table. */
const valueCountsOfTable = new WeakMap<Table, readonly number[]>();

function valueCounts(table: Table): readonly number[] {
  const known = valueCountsOfTable.get(table) ??
    table.header.map((_, i) =>
      table.rows.reduce((all, row) => row[i] === "" ? all : all + 1, 0)
    );
  valueCountsOfTable.set(table, known);
  return known;
}

/** The columns that are not sent, though they have values. */
function leftOutFindings(table: Table, { targets }: ColumnMapping): Finding[] {
  const { header } = table;
  const values = valueCounts(table);
  const left = [...header.keys()]
    .filter((i) => targets[i] === "" && values[i] > 0);
  return left.length === 0 ? [] : [{
    severity: "note",
    text: `${count(left.length)} of ${
      plural(header.length, "column")
    } left out`,
    more: left.map((i) =>
      `${header[i] || `column ${i + 1}`} (${plural(values[i], "value")})`
    ).join(", "),
    answers: [],
  }];
}

/** Columns that are left out because another one is the same field. */
function rivalFindings(table: Table, { targets }: ColumnMapping): Finding[] {
  const { header } = table;
  const values = valueCounts(table);
  const rivals = targetsByName(header).flatMap((target, column) => {
    const used = targets.indexOf(target || "sku");
    return target && targets[column] === "" && !isRepeatable(target) &&
        used >= 0 && values[column] > 0
      ? [
        `${header[column]} (${header[used]} is the ${
          columnFieldLabel(target)
        })`,
      ]
      : [];
  });
  return rivals.length === 0 ? [] : [findingWithoutAnswers(
    "warning",
    `Left out, as another column is the same field: ${rivals.join(", ")}.`,
  )];
}

/** What is wrong in the file, which only another file can mend. */
function damageFindings(
  { replaced, alike, rounded }: RowProblems,
): Finding[] {
  return [
    replaced > 0 && findingWithoutAnswers(
      "warning",
      `${plural(replaced, "compare-at price")} ${
        replaced === 1 ? "is" : "are"
      } not sent: beside a sale price, the price stands there instead.`,
    ),
    alike !== null && findingWithoutAnswers(
      "warning",
      `The SKUs “${alike[0]}” and “${
        alike[1]
      }” differ only in capital letters ` +
        "or spaces, or in what is not seen: they would be two products.",
    ),
    rounded !== null && findingWithoutAnswers(
      "warning",
      `A spreadsheet program has rounded long numbers, as in ${rounded}: their ` +
        "last digits are not in this file. Drop the file that your shop " +
        "exported, without opening it in Excel before; or import it there with " +
        "Data → From Text, that column as “Text”, and save it anew.",
    ),
  ].filter((finding) => finding !== false);
}
