/** SQLite's errors as `DbError`s. */
import { DbError, type DbErrorKind } from "../db.ts";

/**
 * SQLite result codes (https://www.sqlite.org/rescode.html) by `DbErrorKind`.
 */
function errorKind(code: number): DbErrorKind {
  if (code === 2067 || code === 1555) return "unique";
  switch (code & 0xff) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return "busy";
    case 8: // SQLITE_READONLY
    case 14: // SQLITE_CANTOPEN
    case 3: // SQLITE_PERM
      return "readonly";
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return "corrupt";
    case 13: // SQLITE_FULL
    case 10: // SQLITE_IOERR: what a failing or full disk gives as well
      return "full";
    case 19:
      return "constraint";
    default:
      return "other";
  }
}

/**
 * Errors of the driver's constructor and of `exec` have no result code, only
 * SQLite's fixed English message (`sqlite3_errstr`).
 */
const CODE_BY_TEXT: readonly (readonly [string, number])[] = [
  ["unable to open database file", 14],
  ["file is not a database", 26],
  ["database disk image is malformed", 11],
  ["database is locked", 5],
  ["attempt to write a readonly database", 8],
  ["database or disk is full", 13],
  ["disk I/O error", 10],
];

/** An error of the driver as a `DbError`; any other error unchanged. */
export function sqliteDbError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (error.code !== "ERR_SQLITE_ERROR") return error;
  const code = "errcode" in error
    ? Number(error.errcode)
    : CODE_BY_TEXT.find(([text]) => error.message.includes(text))?.[1] ?? 1;
  return new DbError(errorKind(code), messageOf(code, error), error);
}

/**
 * SQLite's message, with an explanation of "disk I/O error". SQLite gives this
 * message for a full disk if the index of the log has to grow.
 */
function messageOf(code: number, { message }: Error): string {
  if ((code & 0xff) !== 10) return message;
  return `${message} (SQLite code ${code}): the disk is full or failing`;
}

/** Calls the driver and turns its errors into `DbError`s. */
export function guarded<T>(fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    throw sqliteDbError(error);
  }
}
