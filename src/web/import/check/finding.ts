/** Findings about a table before it is sent, and their answers. */
import { plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import type { ChosenColumns } from "../columns/mappings.ts";
import type { ColumnMapping } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import type { RowProblems } from "./table_checks.ts";

/** A table as its columns are mapped. */
export interface TableAndMapping {
  table: Table;
  mapping: ColumnMapping;
}

export interface Finding {
  severity: "blocks" | "warning" | "note" | "good";
  /** It identifies the finding. */
  text: string;
  /** Further text, which is shown on request. */
  more?: string;
  answers: readonly FindingAnswer[];
  /**
   * Asked once: an answer ends the question, whatever columns are mapped later.
   */
  isQuestion?: true;
}

/** An answer; `apply` makes what follows, or null: it reads the file anew. */
export interface FindingAnswer {
  label: string;
  apply: (mapped: TableAndMapping) => TableAndMapping | null;
}

/** A checked table, with earlier choices for such columns. */
export interface CheckedTable extends TableAndMapping {
  problems: RowProblems;
  chosen: ChosenColumns;
}

/** A question blocks until it is answered; without answers, it always does. */
export function question(
  text: string,
  ...answers: readonly FindingAnswer[]
): Finding {
  return { severity: "blocks", text, answers, isQuestion: true };
}

/** Confirms the proposal. */
export function confirms(label: string): FindingAnswer {
  return { label, apply: (mapped) => mapped };
}

/** Maps the columns in another way. */
export function remaps(
  label: string,
  change: (mapping: ColumnMapping) => ColumnMapping,
): FindingAnswer {
  return {
    label,
    apply: ({ table, mapping }) => ({ table, mapping: change(mapping) }),
  };
}

/** Reads the file anew. */
export function readsAgain(label: string, read: () => void): FindingAnswer {
  return {
    label,
    apply: () => {
      read();
      return null;
    },
  };
}

/** Leaves columns out. */
export function leavesOut(
  label: string,
  columns: readonly number[],
): FindingAnswer {
  return remaps(label, (mapping) => ({
    ...mapping,
    targets: mapping.targets.map((target, column) =>
      columns.includes(column) ? "" : target
    ),
  }));
}

/** Changes the table, and keeps its columns. */
export function rewrites(
  label: string,
  change: (table: Table) => Table,
): FindingAnswer {
  return {
    label,
    apply: ({ table, mapping }) => ({ table: change(table), mapping }),
  };
}

/** Leaves rows out, which are given by their indices. */
export function leavesRowsOut(found: readonly number[]): FindingAnswer {
  return rewrites(
    `Leave ${plural(found.length, "row")} out`,
    (table) => withoutRows(table, found),
  );
}

export function withoutRows(
  table: Table,
  found: readonly number[],
): Table {
  const isOut = new Set(found);
  const isKept = (_: unknown, row: number) => !isOut.has(row);
  return {
    ...table,
    rows: table.rows.filter(isKept),
    numbers: table.numbers.filter(isKept),
  };
}

/** The table with this text in a column of these rows. */
export function withCellInRows(
  table: Table,
  found: readonly number[],
  column: number,
  text: string,
): Table {
  const rows = [...table.rows];
  for (const row of found) rows[row] = rows[row].with(column, text);
  return { ...table, rows };
}

/** What people call a column. */
export function columnName({ header }: Table, column: number): string {
  return header[column] || `column ${column + 1}`;
}

/** Rows that are looked at between two pauses. */
const STEP = 250;

/** The indices of the rows of which this is true. */
export function* rowsWhere(
  { rows }: Table,
  isMeant: (cells: readonly string[]) => boolean,
): SlicedWork<number[]> {
  const found: number[] = [];
  for (const [row, cells] of rows.entries()) {
    if (isMeant(cells)) found.push(row);
    if (row % STEP === STEP - 1) yield;
  }
  return found;
}
