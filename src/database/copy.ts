/**
 * Copies a database into another one, on either engine.
 *
 * No progress is stored: the target is an unfinished copy if the rows of each
 * of its tables are the first rows of the source's table. So a copy that was
 * killed continues, a finished one is only compared, and a database with other
 * content is refused.
 */
import { createHash, type Hash } from "node:crypto";
import {
  type Db,
  insertInto,
  type Param,
  placeholders,
  type Row,
} from "./db.ts";
import { SCHEMA } from "./schema.ts";
import { columnList, type Table } from "./table.ts";

/** Rows read and written at a time. */
const PAGE = 256;
/** The same for tables whose rows may be long. */
const PAGES: Readonly<Record<string, number>> = {
  // A record is as long as the uploads that it can undo.
  undo_records: 8,
  // A piece has up to 64 KiB.
  refused_pieces: 64,
  refused_products: 32,
  // A piece has 256 KiB.
  import_pieces: 16,
  import_problems: 32,
  // A body has up to 256 KiB.
  events: 32,
};

/**
 * Not copied: the time of the last health check, the progress of jobs, and
 * counters that the next start or use sets to what the rows require.
 */
export const NOT_COPIED: readonly string[] = [
  "health",
  "maintenance_positions",
  "change_counter",
  "seller_numbers",
];

/**
 * The copied tables, in the order of the schema: API keys come last, so that
 * nobody can use an unfinished copy.
 */
export const TABLES: readonly Table[] = SCHEMA
  .filter(({ name }) => !NOT_COPIED.includes(name));

/** The rows of the target are not the first rows of the source. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused";
}

export interface TableSummary {
  table: string;
  rows: number;
  /** SHA-256 over the rows in the order of their keys, hexadecimal. */
  hash: string;
}

/**
 * Copies the missing rows; reports the number of rows of each table. Throws a
 * `CopyRefused`, before any write, or a `DbError`.
 */
export async function copyDatabase(
  source: Db,
  target: Db,
  copied: (table: string, rows: number) => void,
): Promise<void> {
  for (const table of TABLES) await refuseOthers(source, target, table);
  for (const table of TABLES) {
    const rows = await copyTable(source, target, table);
    if (rows > 0) copied(table.name, rows);
  }
}

/**
 * Reads both databases completely and reports what each table contains. Throws an
 * error that names all tables that differ.
 */
export async function compareDatabases(
  source: Db,
  target: Db,
  compared: (summary: TableSummary) => void,
): Promise<void> {
  const different: string[] = [];
  for (const table of TABLES) {
    const [from, to] = await Promise.all([
      summarize(source, table),
      summarize(target, table),
    ]);
    if (from.hash === to.hash && from.rows === to.rows) compared(to);
    else different.push(`${table.name} (${from.rows} and ${to.rows} rows)`);
  }
  if (different.length === 0) return;
  throw new Error(`The two differ in ${different.join(", ")}.`);
}

async function refuseOthers(
  source: Db,
  target: Db,
  table: Table,
): Promise<void> {
  const rows = rowsOf(source, table);
  for await (const held of rowsOf(target, table)) {
    const { value } = await rows.next();
    if (value !== undefined && hashedText(held) === hashedText(value)) continue;
    throw new CopyRefused(
      `The target is neither empty nor a copy of this source: ${table.name} ` +
        "has other rows. Name an empty database.",
    );
  }
}

async function copyTable(
  source: Db,
  target: Db,
  table: Table,
): Promise<number> {
  const { name } = table;
  let copied = 0;
  const last = await lastKey(target, table);
  for await (const rows of pagesOf(source, table, last)) {
    const columns = Object.keys(rows[0]);
    const insert = insertInto(name, columns);
    const values = rows.map((row) => columns.map((column) => row[column]));
    await target.write((tx) => tx.runMany(insert, values, 1));
    copied += rows.length;
  }
  return copied;
}

async function summarize(db: Db, table: Table): Promise<TableSummary> {
  const hash: Hash = createHash("sha256");
  let rows = 0;
  for await (const row of rowsOf(db, table)) {
    hash.update(hashedText(row)).update("\n");
    rows++;
  }
  return { table: table.name, rows, hash: hash.digest("hex") };
}

type CopiedRow = Record<string, Param>;

async function* rowsOf(db: Db, table: Table): AsyncGenerator<CopiedRow> {
  for await (const rows of pagesOf(db, table, null)) yield* rows;
}

/** The rows after a key, in order of the key; null: from the first row. */
async function* pagesOf(
  db: Db,
  { name, key }: Table,
  after: Param[] | null,
): AsyncGenerator<CopiedRow[]> {
  const page = PAGES[name] ?? PAGE;
  for (;;) {
    const behind = after === null
      ? ""
      : `WHERE (${key}) > (${placeholders(after.length)})`;
    const rows = await db.read((sql) =>
      sql.all<CopiedRow>(
        `SELECT * FROM ${name} ${behind} ORDER BY ${key} LIMIT ${page}`,
        after ?? [],
      )
    );
    if (rows.length > 0) yield rows;
    if (rows.length < page) return;
    after = keyOf(rows[rows.length - 1], key);
  }
}

async function lastKey(
  db: Db,
  { name, key }: Table,
): Promise<Param[] | null> {
  const order = columnList(key).map((column) => `${column} DESC`).join(", ");
  const row = await db.read((sql) =>
    sql.get<CopiedRow>(
      `SELECT ${key} FROM ${name} ORDER BY ${order} LIMIT 1`,
    )
  );
  return row === undefined ? null : keyOf(row, key);
}

function keyOf(row: CopiedRow, key: string): Param[] {
  return columnList(key).map((column) => row[column]);
}

/**
 * A row in a form common to both engines: columns by name, bytes in
 * hexadecimal, U+0000 as U+FFFE, as PostgreSQL stores it (`dialect.ts`).
 */
function hashedText(row: Row): string {
  const columns = Object.keys(row).sort();
  return JSON.stringify(columns.map((column) => {
    const value = row[column];
    if (value instanceof Uint8Array) return [column, { hex: value.toHex() }];
    if (typeof value !== "string") return [column, value];
    return [column, value.replaceAll("\0", "\uFFFE")];
  }));
}
