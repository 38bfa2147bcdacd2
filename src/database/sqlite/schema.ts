/** Creates and upgrades the schema of a SQLite file. */
import { DatabaseSync } from "node:sqlite";
import { SQLITE_CHANGES } from "../change_numbers.ts";
import { DbError, queryText } from "../db.ts";
import {
  COLUMN_CHECKS,
  columnError,
  logUpgrade,
  type Migration,
  type MigrationDeps,
  MIGRATIONS,
  missingMigrations,
  versionAfter,
} from "../migrations.ts";
import { databaseMovedError } from "../moved_database.ts";
import { guarded } from "./errors.ts";
import { isBusy } from "./lock_wait.ts";

/**
 * Marks a file as this program's in its header (`PRAGMA application_id`):
 * "SELL".
 */
const APPLICATION_ID = 0x53454c4c;

/**
 * Applies the missing migrations in one transaction. A complete schema can be
 * used while another process holds the lock. Throws a `DbError`: `newer`,
 * `older`, `moved`, `corrupt` for a database of another program, `busy`.
 */
export function migrateSqlite(
  connection: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
  deps: MigrationDeps,
): void {
  try {
    guarded(() => connection.exec("BEGIN IMMEDIATE"));
  } catch (error) {
    const current = isBusy(error) &&
      guarded(() =>
        schemaOf(connection, file, migrations).missing.length === 0
      );
    if (!current) throw error;
    return;
  }
  guarded(() => migrate(connection, file, migrations, deps));
}

/**
 * The version of a database, 0 if it is empty, and what it lacks. Throws a
 * `DbError` for an unknown schema.
 */
function schemaOf(
  connection: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
): { version: number; missing: readonly Migration[] } {
  const owner = pragma(connection, "application_id");
  const version = pragma(connection, "user_version");
  const empty = connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1")
    .get() === undefined;
  if (owner !== APPLICATION_ID && !empty) {
    throw new DbError(
      "corrupt",
      `${file} is a database of another program; choose another data folder.`,
    );
  }
  if (isMarked(connection)) {
    const marked = connection.prepare("SELECT place FROM moved_to").get();
    throw databaseMovedError(file, String(marked?.place), file);
  }
  return { version, missing: missingMigrations(migrations, version, file) };
}

/** Whether the database was copied to another one (`../moved_database.ts`). */
function isMarked(connection: DatabaseSync): boolean {
  const table = connection
    .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'moved_to'");
  return table.get() !== undefined;
}

/** Removes the mark; false if there is none. Throws a `DbError`. */
export function reopenSqlite(file: string): boolean {
  using connection = guarded(() => new DatabaseSync(file));
  return guarded(() => {
    if (!isMarked(connection)) return false;
    connection.exec("DROP TABLE moved_to");
    return true;
  });
}

/** Migrates in the open transaction, and ends it. */
function migrate(
  connection: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
  deps: MigrationDeps,
): void {
  try {
    const { version, missing } = schemaOf(connection, file, migrations);
    const target = versionAfter(migrations);
    const upgraded = logUpgrade(deps, version, target);
    for (const { sql } of missing) {
      connection.exec(queryText(sql, "sqlite"));
    }
    // Raising the numbers needs tables of the present schema.
    if (migrations === MIGRATIONS) {
      checkColumns(connection, file);
      connection.exec(SQLITE_CHANGES.raise);
    }
    // The marks are set only by an upgrade: each statement is a write, which
    // fails on a full disk, but commands that only read must work with a full
    // disk.
    if (version < target) {
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      connection.exec(`PRAGMA user_version = ${target}`);
    }
    connection.exec("COMMIT");
    upgraded();
  } catch (error) {
    if (connection.isTransaction) connection.exec("ROLLBACK");
    throw error;
  }
}

function checkColumns(connection: DatabaseSync, file: string): void {
  try {
    guarded(() => COLUMN_CHECKS.forEach((sql) => connection.prepare(sql)));
  } catch (error) {
    throw columnError(error, file);
  }
}

function pragma(connection: DatabaseSync, name: string): number {
  const row = connection.prepare(`PRAGMA ${name}`).get();
  return Number(row?.[name] ?? 0);
}

/**
 * Whether any other connection, in any process, has the file open, which
 * prevents an exclusive lock. Throws a `DbError`.
 */
export function isSqliteInUse(file: string): boolean {
  using connection = guarded(() => new DatabaseSync(file, { timeout: 0 }));
  try {
    guarded(() => {
      connection.exec("PRAGMA locking_mode = EXCLUSIVE");
      connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get();
    });
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
}

/** Tables whose row counts show an operator the contents of a database. */
const COUNTED = ["sellers", "products", "transactions", "images"];

/** The row counts of these tables. */
export type Contents = { table: string; rows: number }[];

function contentsIn(connection: DatabaseSync): Contents {
  return COUNTED.map((table) => {
    const counted = connection.prepare(`SELECT count(*) AS n FROM ${table}`);
    return { table, rows: Number(counted.get()!.n) };
  });
}

/** Reads the row counts of a file that nobody else uses. */
export function contentsOf(file: string): Contents {
  using connection = new DatabaseSync(file);
  return contentsIn(connection);
}

/**
 * Checks a file that nobody else uses by reading all of it. Throws an `Error`
 * that calls the file `name`, unless the file is an intact database of this
 * program or of an older version.
 */
export function checkSqlite(file: string, name: string): Contents {
  using connection = new DatabaseSync(file);
  try {
    if (schemaOf(connection, name, MIGRATIONS).version === 0) {
      throw new Error("it is empty");
    }
    // SQLite reads the missing end of the last page as zeros.
    const expectedSize = pragma(connection, "page_count") *
      pragma(connection, "page_size");
    const { size } = Deno.statSync(file);
    if (size < expectedSize) {
      throw new Error(`it is cut short, at ${size} of ${expectedSize} bytes`);
    }
    const [first] = connection.prepare("PRAGMA integrity_check(1)").all();
    if (first.integrity_check !== "ok") {
      throw new Error(String(first.integrity_check));
    }
    if (connection.prepare("PRAGMA foreign_key_check").get() !== undefined) {
      throw new Error("rows refer to rows that are missing");
    }
    return contentsIn(connection);
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, "");
    throw new Error(`${name} is not a usable backup: ${reason}.`);
  }
}
