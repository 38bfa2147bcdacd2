/**
 * The time of work, in worlds where work takes time: virtual milliseconds in
 * which the process does nothing else. A world has about ten times fewer rows
 * than a large seller, so each row costs about ten times as much as on a real
 * machine.
 */
import type { DatabaseSync } from "node:sqlite";
import type { SqliteCall } from "../support/failing_sqlite.ts";

/** Any statement. */
const STATEMENT_MS = 0.01;
/** A row that SQLite visits while it reads. */
const VISITED_MS = 0.004;
/** A row that a read returns, including its processing. */
const ROW_MS = 0.02;
/** A row that is stored, changed or deleted. */
const CHANGED_MS = 0.01;
/** A byte that the database returns. */
const READ_BYTE_MS = 0.000_008;
/** A byte of a request or an answer. */
export const SENT_BYTE_MS = 0.000_006;
/** The bytes that a socket takes at once, so that the process need not wait. */
export const SOCKET_BYTES = 65_536;

/** The SQL function through which each visited row passes. */
const VISIT = "row_visited";

/**
 * Calls `visited` for each row that statements of a reading connection visit: a
 * view with the same name hides every table, and the planner sees through it.
 */
export function countVisits(
  connection: DatabaseSync,
  visited: () => void,
): void {
  connection.function(VISIT, (_key) => {
    visited();
    return 1;
  });
  const tables = connection.prepare(
    `SELECT m.name AS name, (SELECT c.name FROM pragma_table_info(m.name) c
       WHERE c.pk = 1) AS key FROM sqlite_master m
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'`,
  ).all();
  for (const { name, key } of tables) {
    connection.exec(
      `CREATE TEMP VIEW ${name} AS SELECT * FROM main.${name}
       WHERE ${VISIT}(${key ?? "rowid"})`,
    );
  }
}

/** The time of a statement, from the driver's result. */
export function priceOf(
  { method, readOnly }: SqliteCall,
  answer: unknown,
  visits: number,
): number {
  const rows = method === "all"
    ? answer as unknown[][]
    : method === "get" && answer !== undefined
    ? [answer as unknown[]]
    : [];
  const changed = method === "run"
    ? Number((answer as { changes: number | bigint }).changes)
    : readOnly || rows.length > 0
    ? 0
    : 1;
  const bytes = rows.reduce((sum, row) => sum + bytesOf(row), 0);
  return STATEMENT_MS + visits * VISITED_MS + rows.length * ROW_MS +
    changed * CHANGED_MS + bytes * READ_BYTE_MS;
}

function bytesOf(row: unknown): number {
  const values = Array.isArray(row) ? row : Object.values(row as object);
  let bytes = 0;
  for (const value of values) {
    if (typeof value === "string" || value instanceof Uint8Array) {
      bytes += value.length;
    }
  }
  return bytes;
}
