/** Rows of an export by the names of its columns. */
import type { Table } from "../read/csv.ts";
import { namesIn } from "../columns/presets.ts";

/** A table whose rows are products, and what was done to it, in sentences. */
export interface Gathered {
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

/** Finds columns by the names that the shop gives them in English; -1: none. */
export function columnFinder({ header }: Table): (name: string) => number {
  const names = namesIn(header);
  return (name) => names.indexOf(name);
}

/** A table with these rows, each with its number. */
export function withRows(table: Table, rows: readonly NumberedRow[]): Table {
  return {
    ...table,
    rows: rows.map(({ cells }) => cells),
    numbers: rows.map(({ number }) => number),
  };
}

/** A table with one more column, whose cells are given by the row's index. */
export function withComputedColumn(
  table: Table,
  name: string,
  cellOf: (row: number) => string,
): Table {
  return {
    ...table,
    header: [...table.header, name],
    rows: table.rows.map((cells, row) => [...cells, cellOf(row)]),
  };
}

/** Names of attributes that become columns; the others stay in their cell. */
const COLUMNS = 50;

/** A table with a column for each attribute; `attributesOf` lists a row's. */
export function withAttributes(
  table: Table,
  attributesOf: (row: number) => readonly (readonly [string, string])[],
): Table {
  const lists = table.rows.map((_, row) => new Map(attributesOf(row)));
  const names = new Set(lists.flatMap((list) => [...list.keys()]));
  return [...names].slice(0, COLUMNS).reduce(
    (all, name) =>
      withComputedColumn(
        all,
        `attribute: ${name}`,
        (row) => lists[row].get(name) ?? "",
      ),
    table,
  );
}

/** `a=1,b=2` as pairs; a comma within a value stays. */
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
