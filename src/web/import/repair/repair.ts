/** Assigns the problems of a table to cells, and proposes corrections. */
import { SCALAR_RULES, type ScalarField } from "../../../catalogue/fields.ts";
import type { Detail } from "../../../client/mod.ts";
import { isMadeDate } from "../../../lib/made_dates.ts";
import { mayBeConfirmed } from "../check/objections.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { TARGETS } from "../columns/headers.ts";
import {
  decimalOf,
  decimalSeparatorOf,
  weightProblem,
} from "../../lib/numbers.ts";
import {
  columnOfProblem,
  type MappedTable,
  skuOfRow,
} from "../columns/sheet.ts";
import {
  isCleared,
  isShare,
  percentOf,
  rowValues,
} from "../columns/spreadsheet.ts";
import { NO_REFUSAL, type TableUpload } from "../send/upload_state.ts";
import { problemsIn } from "../send/upload.ts";
import { fieldLabel, problemTitle, remedyOf } from "../../lib/words.ts";
import { readableName } from "../../lib/texts.ts";

/** A problem with its cell in the table. */
export interface TableProblem {
  problem: Detail;
  /** The index of the row in the table. */
  row: number;
  /** The column's index, or a field without a column; null for the whole row. */
  column: number | ColumnField | null;
  /**
   * Whether the row is not stored until the user confirms it. The page or the
   * service requires this.
   */
  isHeldBack: boolean;
  /** A short text that all problems of this kind in this field share. */
  title: string;
  remedy: string;
  /** Fields whose values would solve the problem, too. */
  missingFields: readonly ColumnField[];
}

/** The problem as a sentence; for a missing value, only the title. */
export function problemSentence({ problem, title }: TableProblem): string {
  return problem.code === "required" ? `${title}.` : problem.message;
}

/** The problems in the order of the rows. */
export function tableProblemsIn(current: TableUpload): TableProblem[] {
  const { sheet, rows, step } = current;
  const { heldBackProducts, presentPrices } = step.name === "refused"
    ? step.refusal
    : NO_REFUSAL;
  const heldBack = new Set(heldBackProducts);
  const unknown = new Map<number, Detail[]>();
  const tableProblems = problemsIn(current).flatMap(
    (problem): TableProblem[] => {
      const { product, field } = problem;
      const row = rows[(product ?? 0) - 1];
      if (row === undefined) return [];
      const column = columnOfProblem(sheet, row, problem);
      if (isNewWithoutColumn(current, row, problem, column)) {
        unknown.set(row, [...unknown.get(row) ?? [], problem]);
        return [];
      }
      const isHeldBack = heldBack.has(product!) ||
        problem.code === "price_jump" && presentPrices.has(problem.sku!);
      const ownProblem = isHeldBack || typeof column !== "number"
        ? null
        : ownWeightProblem(sheet, row, column);
      const shown: Detail = ownProblem === null
        ? problem
        : { ...problem, code: "out_of_range", message: `weight ${ownProblem}` };
      const title = problemTitle(shown);
      const remedy = remedyOf(shown.code, field);
      return [{
        problem: shown,
        row,
        column,
        title,
        remedy,
        isHeldBack,
        missingFields: [],
      }];
    },
  );
  for (const [row, problems] of unknown) {
    tableProblems.push(unknownSkuProblem(current, row, problems));
  }
  return tableProblems.sort((a, b) => a.row - b.row);
}

/**
 * Whether a new product lacks a required field that has no column in the file.
 * Such a file probably lists changes, so the SKU is wrong.
 */
function isNewWithoutColumn(
  { sheet: { table, mapping }, ownColumns }: TableUpload,
  row: number,
  { code, field = "", sku }: Detail,
  column: TableProblem["column"],
): boolean {
  return code === "required" && Object.hasOwn(SCALAR_RULES, field) &&
    sku !== undefined && mapping.targets.includes("sku") &&
    (typeof column === "string" ||
      column !== null && column >= ownColumns &&
        table.rows[row][column] === "");
}

function unknownSkuProblem(
  { sheet: { mapping }, changed }: TableUpload,
  row: number,
  missing: readonly Detail[],
): TableProblem {
  const [{ product, sku }] = missing;
  const column = mapping.targets.indexOf("sku");
  const fields = missing.map(({ field }) => field as ScalarField);
  const asked = fields.map((field) => `a ${fieldLabel(field).toLowerCase()}`);
  const problem: Detail = {
    product,
    sku,
    field: "sku",
    code: "not_found",
    message: `No product has the SKU ${sku}.`,
  };
  return {
    problem,
    row,
    column,
    title: problemTitle(problem),
    remedy: `Correct the SKU, or add ${asked.join(" and ")} for a new product.`,
    isHeldBack: false,
    missingFields: changed.has(`${row}:${column}`) ? [] : fields,
  };
}

/** Whether a change in this column would solve the problem. */
export function isCorrectedAt(
  { mapping }: MappedTable,
  { column, missingFields }: TableProblem,
  at: ColumnKey,
): boolean {
  return column === at ||
    missingFields.includes(typeof at === "number" ? mapping.targets[at] : at);
}

/**
 * The problem of a weight in the unit of the table. The service's message is in
 * grams.
 */
function ownWeightProblem(
  { table, mapping }: MappedTable,
  row: number,
  column: number,
): string | null {
  return mapping.targets[column] === "weight"
    ? weightProblem(table.rows[row][column], mapping.numberFormats[column])
    : null;
}

/** Why a cell is invalid by the rules of its field; null if it is valid. */
export function cellProblem(
  sheet: MappedTable,
  row: number,
  column: number,
): string | null {
  const { table, mapping } = sheet;
  const target = mapping.targets[column];
  const field = target === "sale_price" ? "price" : target;
  if (!Object.hasOwn(SCALAR_RULES, field)) return null;
  const targets = mapping.targets.map((one, i) =>
    i === column ? field : one === "currency" ? one : ""
  );
  const [value] = rowValues(table.rows[row], { ...mapping, targets })
    .get(field) ?? [];
  const { read, required } = SCALAR_RULES[field as ScalarField];
  if (value !== undefined && isCleared(field as ScalarField, value)) {
    return null;
  }
  if (value === undefined) {
    return required ? `${fieldLabel(field)} is missing.` : null;
  }
  const result = read(value);
  return "problem" in result
    ? `${fieldLabel(field)} ${
      ownWeightProblem(sheet, row, column) ?? result.problem.message
    }`
    : null;
}

/** A corrected text for a cell, and the label of its button. */
export interface Remedy {
  label: string;
  text: string;
}

/** The corrected texts for a cell; empty if none is certain. */
export function remediesOf(
  { table, mapping }: MappedTable,
  { problem, row, column }: Pick<TableProblem, "problem" | "row" | "column">,
): Remedy[] {
  const target = typeof column === "number" ? mapping.targets[column] : column;
  if (target === null || !Object.hasOwn(SCALAR_RULES, target)) {
    return target === "images" && typeof column === "number"
      ? remedyToWrite(withScheme(table.rows[row][column]))
      : [];
  }
  const text = typeof column === "number" ? table.rows[row][column] : "";
  const { form } = SCALAR_RULES[target as ScalarField];
  switch (form.kind) {
    case "word":
      return form.words.map((word) => ({
        label: readableName(word),
        text: word,
      }));
    case "decimal": {
      if (problem.code !== "not_a_number") return [];
      const number = numberIn(text, { unit: false });
      return remedyToWrite(
        target === "vat_rate" && isShare(number) ? percentOf(number) : number,
      );
    }
    case "integer":
      return problem.code === "not_a_number"
        ? remedyToWrite(numberIn(text, { unit: true }).replace(/\.0*$/, ""))
          .filter((one) => /^\d+$/.test(one.text))
        : [];
    case "line":
    case "text":
      return problem.code === "too_long"
        ? [{
          label: `Cut to ${form.max} characters`,
          text: [...text].slice(0, form.max).join("").trim(),
        }]
        : [];
    default:
      return [];
  }
}

function remedyToWrite(text: string): Remedy[] {
  return text === "" ? [] : [{ label: `Write ${text}`, text }];
}

/**
 * The only number in a text, as a decimal. "" if the text has no number or
 * several, or if the rest changes the meaning, as in `-3` and `19,90 CHF`.
 */
function numberIn(text: string, { unit }: { unit: boolean }): string {
  const numbers = text.match(/\d(?:[\d.,\s']*[\d'])?/g) ?? [];
  if (numbers.length !== 1) return "";
  const [number] = numbers;
  const rest = text.replace(number, "");
  if (/[-\u2212\u2013<>]/.test(rest)) return "";
  if (unit ? !PIECES.test(rest.trim()) : /[\p{L}\p{Sc}]/u.test(rest)) return "";
  if (isMadeDate(text)) return "";
  const plain = decimalOf(number, [], decimalSeparatorOf([number]));
  return /^\d+(\.\d+)?$/.test(plain) && plain !== text ? plain : "";
}

/** Units that may follow a number of pieces. */
const PIECES =
  /^(?:pcs?|pieces?|units?|stk?|stck|stück|ks|szt|stuks?|ea|uds?)?\W*$/iu;

/** Adds `https://` to an address without it; "" for other texts. */
function withScheme(text: string): string {
  return /^[\w-]+(\.[\w-]+)+\/\S+$/.test(text) ? `https://${text}` : "";
}

/** Whether the user may confirm that this product is replaced. */
export function isConfirmable(
  sheet: MappedTable,
  { problem, row, isHeldBack }: TableProblem,
): boolean {
  return isHeldBack && mayBeConfirmed(problem) &&
    problem.sku === skuOfRow(sheet, row);
}

/**
 * Whether the product would be new, with a SKU that resembles a stored one.
 */
export function resemblesStoredSku({ problem }: TableProblem): boolean {
  return problem.code === "duplicate_product";
}

/** The index of a column in the table, or a field without a column. */
export type ColumnKey = number | ColumnField;

/** The columns that are sent, then the missing fields that have problems. */
export function gridColumns(
  { table, mapping }: MappedTable,
  tableProblems: readonly TableProblem[],
): { at: ColumnKey; label: string }[] {
  const asked = new Set(
    tableProblems.flatMap(({ column, missingFields }) =>
      typeof column === "string" ? [column] : missingFields
    ).filter((target) => !mapping.targets.includes(target)),
  );
  return [
    ...table.header.flatMap((header, at) =>
      mapping.targets[at] === ""
        ? []
        : [{ at, label: header || `column ${at + 1}` }]
    ),
    ...[...asked].map((at) => ({
      at,
      label: TARGETS.find(({ target }) => target === at)!.label,
    })),
  ];
}
