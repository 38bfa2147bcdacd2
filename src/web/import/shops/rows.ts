/** Reads and changes the rows of an export by the names of its columns. */
import type { Table } from "../read/csv.ts";
import type { SlicedWork } from "../../lib/slices.ts";

/** A changed table, with a note about the changes. */
export interface GatheredTable {
  table: Table;
  note: string;
}

/** The column that is added for the parent of each variant. */
export const PARENT = "Parent SKU";

export type Row = readonly string[];

export interface NumberedRow {
  cells: Row;
  number: number;
}

/** Returns the index of the column with an English name; -1 if there is none. */
export type ColumnFinder = (name: string) => number;

/** The number of rows that are read or changed between two pauses. */
const STEP = 250;

/** Calls `visit` for each row. */
export function* eachRow(
  { rows }: Table,
  visit: (cells: Row, row: number) => void,
): SlicedWork<void> {
  for (const [row, cells] of rows.entries()) {
    visit(cells, row);
    if (row % STEP === STEP - 1) yield;
  }
}

/** Changes the rows of a table; returns the table and the number of changed rows. */
export function* withChangedRows(
  table: Table,
  change: (cells: Row) => Row,
): SlicedWork<{ table: Table; changed: number }> {
  const rows: Row[] = [];
  let changed = 0;
  yield* eachRow(table, (cells) => {
    const row = change(cells);
    if (row !== cells) changed++;
    rows.push(row);
  });
  return { table: changed === 0 ? table : { ...table, rows }, changed };
}

/** The table with these rows and their numbers instead of its own. */
export function withRows(table: Table, rows: readonly NumberedRow[]): Table {
  return {
    ...table,
    rows: rows.map(({ cells }) => cells),
    numbers: rows.map(({ number }) => number),
  };
}

/** Adds columns to a table; `cellsOf` returns the new cells of a row. */
export function* withColumns(
  table: Table,
  names: readonly string[],
  cellsOf: (row: number) => readonly string[],
): SlicedWork<Table> {
  const rows: Row[] = [];
  yield* eachRow(table, (cells, row) => {
    rows.push([...cells, ...cellsOf(row)]);
  });
  return { ...table, header: [...table.header, ...names], rows };
}

/** The maximum number of attributes that become columns. */
const COLUMNS = 50;

/** Adds a column for each attribute that `attributesOf` returns. */
export function* withAttributes(
  table: Table,
  attributesOf: (row: number) => readonly (readonly [string, string])[],
): SlicedWork<Table> {
  const lists: ReadonlyMap<string, string>[] = [];
  const all = new Set<string>();
  yield* eachRow(table, (_, row) => {
    const list = new Map(attributesOf(row));
    for (const name of list.keys()) all.add(name);
    lists.push(list);
  });
  const names = [...all].slice(0, COLUMNS);
  return yield* withColumns(
    table,
    names.map((name) => `attribute: ${name}`),
    (row) => names.map((name) => lists[row].get(name) ?? ""),
  );
}

/** Parses the pairs in `a=1,b=2`; a value may contain a comma. */
export function pairsIn(text: string, equals: string): [string, string][] {
  const pairs: [string, string][] = [];
  for (const part of text.split(",")) {
    const at = part.indexOf(equals);
    if (at > 0) {
      pairs.push([part.slice(0, at).trim(), part.slice(at + 1).trim()]);
    } else if (pairs.length > 0) pairs[pairs.length - 1][1] += `,${part}`;
  }
  return pairs.filter(([, value]) => value !== "");
}

export function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.filter(Boolean))];
}
