/**
 * Connections to SQLite, some calls of which a test lets fail as SQLite fails.
 */
import {
  DatabaseSync,
  type DatabaseSyncOptions,
  type StatementSync,
} from "node:sqlite";
import type { ConnectSqlite } from "../../src/deps.ts";

/**
 * The result codes with which a call may fail, and SQLite's messages for them.
 */
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

/** Errors after which SQLite may roll back the whole transaction by itself. */
const ROLLS_BACK: ReadonlySet<SqliteErrorName> = new Set([
  "SQLITE_NOMEM",
  "SQLITE_IOERR",
  "SQLITE_FULL",
]);

/** The methods of a statement that run it. */
const RUNNING = ["run", "get", "all", "iterate"] as const;

/** A call of the driver. */
export interface SqliteCall {
  method:
    | "open"
    | "exec"
    | "prepare"
    | "close"
    | "isTransaction"
    | typeof RUNNING[number];
  /** The statement; "" for other calls. */
  sql: string;
  /** Whether the connection is read-only. */
  readOnly: boolean;
}

/**
 * Decides whether a call fails; null lets it succeed. `isTransaction` fails
 * only if this throws.
 */
export type FailSqlite = (call: SqliteCall) => SqliteErrorName | null;

/** Called after each statement with the driver's result. */
export type SqliteRan = (call: SqliteCall, answer: unknown) => void;

/** A value for `Deps.connectSqlite`. */
export function failingSqlite(
  decide: FailSqlite,
  ran: SqliteRan = () => {},
): ConnectSqlite {
  return (file, options) => {
    const { readOnly = false } = options;
    const name = decide({ method: "open", sql: "", readOnly });
    if (name !== null) fail(name, "open", () => {});
    return new FailingDatabase(file, options, decide, ran);
  };
}

class FailingDatabase extends DatabaseSync {
  readonly #decide: FailSqlite;
  readonly #ran: SqliteRan;
  readonly #readOnly: boolean;

  constructor(
    file: string,
    options: DatabaseSyncOptions,
    decide: FailSqlite,
    ran: SqliteRan,
  ) {
    super(file, options);
    this.#decide = decide;
    this.#ran = ran;
    this.#readOnly = options.readOnly ?? false;
    const call = this.#call("isTransaction", "");
    // The driver's type declares a field, which an accessor cannot override.
    Object.defineProperty(this, "isTransaction", {
      get: () => {
        decide(call);
        return Reflect.get(DatabaseSync.prototype, "isTransaction", this);
      },
    });
  }

  override exec(sql: string): void {
    this.#mayFail(this.#call("exec", sql));
    super.exec(sql);
  }

  override prepare(sql: string): StatementSync {
    this.#mayFail(this.#call("prepare", sql));
    const statement = super.prepare(sql);
    for (const method of RUNNING) {
      const call = this.#call(method, sql);
      const run = statement[method] as (...params: unknown[]) => unknown;
      statement[method] = (...params: unknown[]) => {
        this.#mayFail(call);
        const answer = run.apply(statement, params);
        this.#ran(call, answer);
        return answer as never;
      };
    }
    return statement;
  }

  override close(): void {
    // Closes the connection in any case, like `sqlite3_close_v2`.
    super.close();
    this.#mayFail(this.#call("close", ""));
  }

  #call(method: SqliteCall["method"], sql: string): SqliteCall {
    return { method, sql, readOnly: this.#readOnly };
  }

  #mayFail(call: SqliteCall): void {
    const name = this.#decide(call);
    if (name === null) return;
    fail(name, call.method, () => {
      if (this.isOpen && this.isTransaction) super.exec("ROLLBACK");
    });
  }
}

/** Throws the driver's error; `rollBack` does first what SQLite would do. */
function fail(
  name: SqliteErrorName,
  method: SqliteCall["method"],
  rollBack: () => void,
): never {
  if (ROLLS_BACK.has(name)) rollBack();
  const [errcode, errstr] = SQLITE_ERRORS[name];
  const error = Object.assign(new Error(errstr), { code: "ERR_SQLITE_ERROR" });
  // For `open` and `exec`, the driver only reports the message.
  const isTold = method !== "open" && method !== "exec";
  throw isTold ? Object.assign(error, { errcode, errstr }) : error;
}
