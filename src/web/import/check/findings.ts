/**
 * What the page says of a table before it is sent: one list of findings, which
 * one view shows. What blocks must be answered or mended first.
 */
import { count, plural } from "../../lib/format.ts";
import { type Target, targetsByName } from "../columns/headers.ts";
import { presetOf } from "../columns/presets.ts";
import type { Chosen } from "../columns/mappings.ts";
import { skuProposals } from "../columns/proposals.ts";
import { labelOf } from "../columns/sheet.ts";
import { isRepeatable, type Mapping } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import { type Answer, type Question, questionsOf } from "./questions.ts";
import { missing, repeated, type RowProblems } from "./table_checks.ts";

/** A table as its columns are mapped. */
export interface Mapped {
  table: Table;
  mapping: Mapping;
}

export interface Finding {
  severity: "blocks" | "warning" | "note" | "good";
  text: string;
  /** More of it, which is shown when it is asked for. */
  more?: string;
  answers: readonly Choice[];
  /** It is asked once: an answer ends it, whatever is mapped then. */
  isQuestion?: true;
}

/** An answer; `apply` makes what follows, or null: it reads the file anew. */
export interface Choice {
  label: string;
  apply: (mapped: Mapped) => Mapped | null;
}

/** What findings are made from. */
export interface Source extends Mapped {
  /** Null until all rows have been looked at. */
  problems: RowProblems | null;
  /** What was chosen for such columns before. */
  chosen: Chosen;
  /** Questions about the file, and what was done to its rows, in sentences. */
  questions: readonly Question[];
  note: string;
  /** Texts of questions that have an answer. */
  answered: ReadonlySet<string>;
}

/** All findings, in the order in which they are shown. */
export function findingsIn(source: Source): Finding[] {
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
    ...(source.note === "" ? [] : [says("note", source.note)]),
    ...skuFindings(table, mapping),
    ...(problems === null ? [] : valueFindings(problems)),
    ...leftOutFindings(table, mapping),
    ...rivalFindings(table, mapping),
    ...(problems === null ? [] : damageFindings(problems)),
  ];
}

function says(severity: Finding["severity"], text: string): Finding {
  return { severity, text, answers: [] };
}

function findingOf({ text, answers }: Question): Finding {
  return {
    severity: "blocks",
    text,
    answers: answers.map((answer) => ({
      label: answer.label,
      apply: (mapped) => applied(mapped, answer),
    })),
    isQuestion: true,
  };
}

function applied(
  mapped: Mapped,
  { again, leave = [], table, mapping = mapped.mapping }: Answer,
): Mapped | null {
  if (again !== undefined) {
    again();
    return null;
  }
  const targets = mapping.targets.map((target, column): Target =>
    leave.includes(column) ? "" : target
  );
  return {
    table: table?.() ?? mapped.table,
    mapping: { ...mapping, targets },
  };
}

/** Fields that every new product needs, and those without which nothing goes. */
function fieldFindings(mapping: Mapping): Finding[] {
  const { targets, values } = mapping;
  const lacking = missing(mapping);
  const hasNoCurrency = targets.includes("price") &&
    !targets.includes("currency") && (values.currency ?? "") === "";
  return [
    lacking.length === 0
      ? says("good", "Every field that a new product needs has a column.")
      : says(
        "warning",
        `No column holds: ${lacking.join(", ")}. New products need it; ` +
          "products that exist keep what they have.",
      ),
    ...(targets.includes("sku")
      ? []
      : [says("blocks", "Choose the column with the SKU.")]),
    ...(hasNoCurrency
      ? [says(
        "blocks",
        "Every price needs its currency: enter it below the columns.",
      )]
      : []),
  ];
}

/** Why nothing of the file can be sent as it is. */
function flawFindings(
  { flaw }: Table,
  mapping: Mapping,
  problems: RowProblems | null,
): Finding[] {
  const twice = repeated(mapping);
  const bareWeight = problems?.bareWeight ?? null;
  return [
    flaw !== null && says(
      "blocks",
      `${flaw} Values would be sent in wrong columns, so nothing of this file ` +
        "can be sent.",
    ),
    twice.length > 0 && says(
      "blocks",
      "Several columns are the same field, which can have one value: " +
        `${twice.join(", ")}. Leave out all but one.`,
    ),
    bareWeight !== null && says(
      "blocks",
      `Neither the column of the weight nor a value such as ${bareWeight} says ` +
        "whether these are grams or kilograms. Choose the unit.",
    ),
  ].filter((finding) => finding !== false);
}

function presetFindings({ header }: Table): Finding[] {
  const preset = presetOf(header);
  return preset
    ? [says(
      "good",
      `This is an export of ${preset.shop}; its columns are known.`,
    )]
    : [];
}

/** Proposals that are shown. */
const EXAMPLES = 3;

/** Rows without a SKU, and what may be theirs. */
function skuFindings(table: Table, mapping: Mapping): Finding[] {
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
    path !== null && says(
      "warning",
      `An image such as ${path} is a path in your shop. Enter the address ` +
        "before it, beside its column below; or leave the column out.",
    ),
    html > 0 && says(
      "note",
      `${plural(html, "description")} ${html === 1 ? "is" : "are"} HTML, and ` +
        "sent as text without its tags.",
    ),
    unstocked > 0 && says(
      "note",
      `${plural(unstocked, "row")} ${unstocked === 1 ? "has" : "have"} no ` +
        "quantity: products that exist keep what they have.",
    ),
  ].filter((finding) => finding !== false);
}

/** How many values each column has, by the table. */
const counted = new WeakMap<Table, readonly number[]>();

function valueCounts(table: Table): readonly number[] {
  const known = counted.get(table) ??
    table.header.map((_, i) =>
      table.rows.reduce((all, row) => row[i] === "" ? all : all + 1, 0)
    );
  counted.set(table, known);
  return known;
}

/** The columns that are not sent, though they have values. */
function leftOutFindings(table: Table, { targets }: Mapping): Finding[] {
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
function rivalFindings(table: Table, { targets }: Mapping): Finding[] {
  const { header } = table;
  const values = valueCounts(table);
  const rivals = targetsByName(header).flatMap((target, column) => {
    const used = targets.indexOf(target || "sku");
    return target && targets[column] === "" && !isRepeatable(target) &&
        used >= 0 && values[column] > 0
      ? [`${header[column]} (${header[used]} is the ${labelOf(target)})`]
      : [];
  });
  return rivals.length === 0 ? [] : [says(
    "warning",
    `Left out, as another column is the same field: ${rivals.join(", ")}.`,
  )];
}

/** What is wrong in the file, which only another file can mend. */
function damageFindings(
  { replaced, alike, rounded }: RowProblems,
): Finding[] {
  return [
    replaced > 0 && says(
      "warning",
      `${plural(replaced, "compare-at price")} ${
        replaced === 1 ? "is" : "are"
      } not sent: beside a sale price, the price stands there instead.`,
    ),
    alike !== null && says(
      "warning",
      `The SKUs “${alike[0]}” and “${
        alike[1]
      }” differ only in capital letters ` +
        "or spaces, or in what is not seen: they would be two products.",
    ),
    rounded !== null && says(
      "warning",
      `A spreadsheet program has rounded long numbers, as in ${rounded}: their ` +
        "last digits are not in this file. Drop the file that your shop " +
        "exported, without opening it in Excel before; or import it there with " +
        "Data → From Text, that column as “Text”, and save it anew.",
    ),
  ].filter((finding) => finding !== false);
}
