/**
 * All findings about a table before it is sent, in one list. The user must
 * answer or correct blocking findings before the table can be sent.
 */
import { formatCount, plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import { type ColumnValues, sampleValues } from "../columns/guesses.ts";
import { targetsByName } from "../columns/headers.ts";
import { shopOf } from "../shops/shops.ts";
import type { ChosenColumns } from "../columns/mappings.ts";
import { skuProposals } from "../columns/proposals.ts";
import { columnFieldLabel } from "../columns/sheet.ts";
import { type ColumnMapping, isRepeatable } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import {
  type CheckedTable,
  columnName,
  type Finding,
  type TableAndMapping,
} from "./finding.ts";
import { questionsOf } from "./questions.ts";
import {
  checkRows,
  missingFieldsOf,
  repeatedFields,
  type RowProblems,
} from "./table_checks.ts";

/** The input of the findings. */
export interface FindingSource extends TableAndMapping {
  /** Earlier choices for these column names. */
  chosen: ChosenColumns;
  /** The questions about the file, which come first. */
  questions: readonly Finding[];
  note: string;
  /** The texts of answered questions. */
  answered: ReadonlySet<string>;
}

/** All findings, in the order in which they are shown. */
export function* findingsIn(source: FindingSource): SlicedWork<Finding[]> {
  const { table, mapping, answered } = source;
  const counts = yield* sampleValues(table.rows);
  const problems = yield* problemsIn(source);
  const checked: CheckedTable = { ...source, problems };
  const questions = [...source.questions, ...yield* questionsOf(checked)];
  return [
    ...fieldFindings(mapping),
    ...questions.filter(({ text }) => !answered.has(text)),
    ...flawFindings(table, mapping, problems),
    ...currencyFindings(checked),
    ...shopFindings(table),
    ...(source.note === "" ? [] : [findingWithoutAnswers("note", source.note)]),
    ...yield* skuFindings(table, mapping),
    ...valueFindings(problems),
    ...leftOutFindings(checked, counts),
    ...rivalFindings(checked, counts),
    ...damageFindings(problems),
  ];
}

/** The last result of the row checks, which is used again if possible. */
let last: TableAndMapping & { problems: RowProblems } | null = null;

/** Checks the rows. The values for all products do not change the result. */
function* problemsIn(
  { table, mapping }: TableAndMapping,
): SlicedWork<RowProblems> {
  const isSame = last !== null && last.table === table &&
    last.mapping.targets === mapping.targets &&
    last.mapping.numberFormats === mapping.numberFormats;
  const problems = isSame ? last!.problems : yield* checkRows(table, mapping);
  last = { table, mapping, problems };
  return problems;
}

function findingWithoutAnswers(
  severity: Finding["severity"],
  text: string,
): Finding {
  return { severity, text, answers: [] };
}

/** Findings about missing fields, of new products or of all rows. */
function fieldFindings(mapping: ColumnMapping): Finding[] {
  const { targets, values } = mapping;
  const lacking = missingFieldsOf(mapping);
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
          "stored products keep their values.",
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

/** Warns if the currency was chosen for an earlier file. */
function currencyFindings(
  { mapping: { targets, values }, chosen }: CheckedTable,
): Finding[] {
  const { currency } = values;
  const isOfBefore = targets.includes("price") &&
    !targets.includes("currency") && currency !== undefined &&
    currency === chosen.earlierCurrency;
  return !isOfBefore ? [] : [findingWithoutAnswers(
    "warning",
    `The prices are sent in ${currency}, the currency of an earlier file: ` +
      "this one names none.",
  )];
}

/** Findings that prevent the file from being sent. */
function flawFindings(
  { flaw }: Table,
  mapping: ColumnMapping,
  { bareWeight }: RowProblems,
): Finding[] {
  const twice = repeatedFields(mapping);
  return [
    flaw !== null && findingWithoutAnswers(
      "blocks",
      `${flaw} Values would be sent in wrong columns, so this file cannot be ` +
        "sent.",
    ),
    twice.length > 0 && findingWithoutAnswers(
      "blocks",
      "Several columns are the same field, which has only one value: " +
        `${twice.join(", ")}. Leave out all but one.`,
    ),
    bareWeight !== null && findingWithoutAnswers(
      "blocks",
      `Neither the column of the weight nor a value such as ${bareWeight} says ` +
        "whether these are grams or kilograms. Choose the unit.",
    ),
  ].filter((finding) => finding !== false);
}

function shopFindings({ header }: Table): Finding[] {
  const shop = shopOf(header);
  return shop
    ? [findingWithoutAnswers(
      "good",
      `This is an export of ${shop.name}; its columns are known.`,
    )]
    : [];
}

/** The maximum number of examples in a text. */
const EXAMPLES_SHOWN = 3;

/** Findings about rows without a SKU, with proposals. */
function* skuFindings(
  table: Table,
  mapping: ColumnMapping,
): SlicedWork<Finding[]> {
  const column = mapping.targets.indexOf("sku");
  const proposals = yield* skuProposals(table, mapping);
  const { size } = proposals;
  if (size === 0) return [];
  const shown = [...proposals.values().take(EXAMPLES_SHOWN)].join(", ");
  return [{
    severity: "warning",
    text:
      `${plural(size, "row")} ${size === 1 ? "has" : "have"} no SKU, which ` +
      `every product needs. Proposals made of their names: ${shown}${
        size > EXAMPLES_SHOWN ? ", …" : ""
      }`,
    answers: [{
      label: `Use ${
        size === 1 ? "this SKU" : `these ${formatCount(size)} SKUs`
      }`,
      apply: ({ table, mapping }) => {
        const rows = [...table.rows];
        for (const [i, sku] of proposals) rows[i] = rows[i].with(column, sku);
        return { mapping, table: { ...table, rows } };
      },
    }],
  }];
}

/** Findings about values that are changed before they are sent. */
function valueFindings(
  { path, html, unstocked }: RowProblems,
): Finding[] {
  return [
    path !== null && findingWithoutAnswers(
      "warning",
      `Images such as ${path} are paths in your shop. Enter your shop's ` +
        "address beside the column below, or leave the column out.",
    ),
    html > 0 && findingWithoutAnswers(
      "note",
      `${plural(html, "description")} ${html === 1 ? "is" : "are"} HTML, and ` +
        "sent as text without tags.",
    ),
    unstocked > 0 && findingWithoutAnswers(
      "note",
      `${plural(unstocked, "row")} ${unstocked === 1 ? "has" : "have"} no ` +
        "quantity: stored products keep theirs.",
    ),
  ].filter((finding) => finding !== false);
}

/** Findings about columns with values that are not sent. */
function leftOutFindings(
  { table, mapping: { targets } }: CheckedTable,
  columns: readonly ColumnValues[],
): Finding[] {
  const { header } = table;
  const left = [...columns.keys()]
    .filter((i) => targets[i] === "" && columns[i].count > 0);
  return left.length === 0 ? [] : [{
    severity: "note",
    text: `${formatCount(left.length)} of ${
      plural(header.length, "column")
    } left out`,
    more: left.map((i) =>
      `${columnName(table, i)} (${plural(columns[i].count, "value")})`
    ).join(", "),
    answers: [],
  }];
}

/** Findings about columns left out because another column has the same field. */
function rivalFindings(
  { table: { header }, mapping: { targets } }: CheckedTable,
  columns: readonly ColumnValues[],
): Finding[] {
  const rivals = targetsByName(header).flatMap((target, column) => {
    const used = targets.indexOf(target || "sku");
    return target && targets[column] === "" && !isRepeatable(target) &&
        used >= 0 && (columns[column]?.count ?? 0) > 0
      ? [
        `${header[column]} (${header[used]} is the ${
          columnFieldLabel(target)
        })`,
      ]
      : [];
  });
  return rivals.length === 0 ? [] : [findingWithoutAnswers(
    "warning",
    `Left out, because another column is the same field: ${rivals.join(", ")}.`,
  )];
}

/** Warnings about replaced prices, similar SKUs and rounded numbers. */
function damageFindings(
  { replaced, similarSkus, rounded }: RowProblems,
): Finding[] {
  return [
    replaced > 0 && findingWithoutAnswers(
      "warning",
      `${plural(replaced, "compare-at price")} ${
        replaced === 1 ? "is" : "are"
      } not sent: with a sale price, the price is sent as compare-at price.`,
    ),
    similarSkus !== null && findingWithoutAnswers(
      "warning",
      `The SKUs “${similarSkus[0]}” and “${
        similarSkus[1]
      }” differ only in capital letters, ` +
        "spaces or invisible characters: they would be two products.",
    ),
    rounded !== null && findingWithoutAnswers(
      "warning",
      `A spreadsheet program has rounded long numbers, as in ${rounded}: their ` +
        "last digits are not in this file. Upload the file as your shop " +
        "exported it, without opening it in Excel. Or import it into Excel with " +
        "Data → From Text, with that column as “Text”, and save it again.",
    ),
  ].filter((finding) => finding !== false);
}
