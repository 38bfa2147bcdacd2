/** Connections to SQLite of which a test lets calls fail as SQLite does. */
import {
  DatabaseSync,
  type DatabaseSyncOptions,
  type StatementSync,
} from "node:sqlite";
import type { ConnectSqlite } from "../../src/deps.ts";

/** The result codes that a call may fail with, and SQLite's words for them. */
export const SQLITE_ERRORS = {
  SQLITE_BUSY: [5, "database is locked"],
  SQLITE_NOMEM: [7, "out of memory"],
  SQLITE_READONLY: [8, "attempt to write a readonly database"],
  SQLITE_IOERR: [10, "disk I/O error"],
  SQLITE_FULL: [13, "database or disk is full"],
} as const;

export type SqliteErrorName = keyof typeof SQLITE_ERRORS;
export const SQLITE_ERROR_NAMES = Object.keys(
  SQLITE_ERRORS,
) as SqliteErrorName[];

/** Errors at which SQLite may roll the whole transaction back by itself. */
const ROLLS_BACK: ReadonlySet<SqliteErrorName> = new Set([
  "SQLITE_NOMEM",
  "SQLITE_IOERR",
  "SQLITE_FULL",
]);

/** The methods of a statement that run it. */
const RUNNING = ["run", "get", "all", "iterate"] as const;

/** A call of the driver. */
export interface SqliteCall {
  method: "open" | "exec" | "prepare" | "close" | typeof RUNNING[number];
  /** "" for those without. */
  sql: string;
  /** Of the connection. */
  readOnly: boolean;
}

/** Decides whether a call fails; it is made if this answers null. */
export type FailSqlite = (call: SqliteCall) => SqliteErrorName | null;

/** To be `Deps.connectSqlite`. */
export function failingSqlite(fail: FailSqlite): ConnectSqlite {
  return (file, options) => {
    const { readOnly = false } = options;
    throwIf(fail({ method: "open", sql: "", readOnly }), "open", () => {});
    return new FailingDatabase(file, options, fail);
  };
}

class FailingDatabase extends DatabaseSync {
  readonly #fail: FailSqlite;
  readonly #readOnly: boolean;

  constructor(file: string, options: DatabaseSyncOptions, fail: FailSqlite) {
    super(file, options);
    this.#fail = fail;
    this.#readOnly = options.readOnly ?? false;
  }

  override exec(sql: string): void {
    this.#mayFail("exec", sql);
    super.exec(sql);
  }

  override prepare(sql: string): StatementSync {
    this.#mayFail("prepare", sql);
    const statement = super.prepare(sql);
    for (const method of RUNNING) {
      const run = statement[method] as (...params: unknown[]) => unknown;
      const mayFail = (...params: unknown[]) => {
        this.#mayFail(method, sql);
        return run.apply(statement, params);
      };
      Object.defineProperty(statement, method, { value: mayFail });
    }
    return statement;
  }

  override close(): void {
    // The connection is closed in any case, as by `sqlite3_close_v2`.
    super.close();
    this.#mayFail("close", "");
  }

  #mayFail(method: SqliteCall["method"], sql: string): void {
    const name = this.#fail({ method, sql, readOnly: this.#readOnly });
    throwIf(name, method, () => {
      if (this.isOpen && this.isTransaction) super.exec("ROLLBACK");
    });
  }
}

/** Throws what the driver throws; `rollBack` is what SQLite does before. */
function throwIf(
  name: SqliteErrorName | null,
  method: SqliteCall["method"],
  rollBack: () => void,
): void {
  if (name === null) return;
  if (ROLLS_BACK.has(name)) rollBack();
  const [errcode, errstr] = SQLITE_ERRORS[name];
  const error = Object.assign(new Error(errstr), { code: "ERR_SQLITE_ERROR" });
  // Of these two the driver tells the message alone.
  const isTold = method !== "open" && method !== "exec";
  throw isTold ? Object.assign(error, { errcode, errstr }) : error;
}
