/** Findings about a table before it is sent, and their answers. */
import { plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import type { ChosenColumns } from "../columns/mappings.ts";
import type { ColumnMapping } from "../columns/spreadsheet.ts";
import type { Table } from "../read/csv.ts";
import type { RowProblems } from "./table_checks.ts";

/** A table and the mapping of its columns. */
export interface TableAndMapping {
  table: Table;
  mapping: ColumnMapping;
}

/** A message about a table, with the possible answers. */
export interface Finding {
  severity: "blocks" | "warning" | "note" | "good";
  /** The message, which also identifies the finding. */
  text: string;
  /** More text, which the user can expand. */
  more?: string;
  answers: readonly FindingAnswer[];
  /**
   * Whether the finding is a question. After an answer, the question is never
   * asked again, even if the user changes the columns.
   */
  isQuestion?: true;
}

/**
 * An answer to a finding. `apply` returns the changed table, or null if the
 * answer reads the file again.
 */
export interface FindingAnswer {
  label: string;
  apply: (mapped: TableAndMapping) => TableAndMapping | null;
}

/** A checked table, with earlier choices for its column names. */
export interface CheckedTable extends TableAndMapping {
  problems: RowProblems;
  chosen: ChosenColumns;
}

/** A finding that blocks the upload until it is answered. */
export function question(
  text: string,
  ...answers: readonly FindingAnswer[]
): Finding {
  return { severity: "blocks", text, answers, isQuestion: true };
}

/** An answer that confirms the proposal. */
export function confirmation(label: string): FindingAnswer {
  return { label, apply: (mapped) => mapped };
}

/** An answer that changes the mapping. */
export function mappingChange(
  label: string,
  change: (mapping: ColumnMapping) => ColumnMapping,
): FindingAnswer {
  return {
    label,
    apply: ({ table, mapping }) => ({ table, mapping: change(mapping) }),
  };
}

/** An answer that reads the file again. */
export function rereading(label: string, read: () => void): FindingAnswer {
  return {
    label,
    apply: () => {
      read();
      return null;
    },
  };
}

/** An answer that leaves columns out. */
export function columnRemoval(
  label: string,
  columns: readonly number[],
): FindingAnswer {
  return mappingChange(label, (mapping) => ({
    ...mapping,
    targets: mapping.targets.map((target, column) =>
      columns.includes(column) ? "" : target
    ),
  }));
}

/** An answer that changes cells or rows of the table. */
export function tableChange(
  label: string,
  change: (table: Table) => Table,
): FindingAnswer {
  return {
    label,
    apply: ({ table, mapping }) => ({ table: change(table), mapping }),
  };
}

/** An answer that leaves out the rows with these indices. */
export function rowRemoval(found: readonly number[]): FindingAnswer {
  return tableChange(
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

/** The table with this text in one column of these rows. */
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

/** The name of a column as users see it. */
export function columnName({ header }: Table, column: number): string {
  return header[column] || `column ${column + 1}`;
}

/** The number of rows that are examined between two pauses. */
const ROWS_PER_SLICE = 250;

/** The indices of the rows that match. */
export function* rowsWhere(
  { rows }: Table,
  isMatch: (cells: readonly string[]) => boolean,
): SlicedWork<number[]> {
  const found: number[] = [];
  for (const [row, cells] of rows.entries()) {
    if (isMatch(cells)) found.push(row);
    if (row % ROWS_PER_SLICE === ROWS_PER_SLICE - 1) yield;
  }
  return found;
}
