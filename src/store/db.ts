/**
 * The storage seam. Everything above it is written against these types alone,
 * asynchronously, so that another engine can stand below.
 *
 * SQL is kept to a portable subset: `?` placeholders, `ON CONFLICT … DO
 * UPDATE`, `RETURNING`, ids made by the application, integer milliseconds,
 * JSON as text, explicit `ORDER BY`, counters as `n = n + 1`; no rowid, no
 * `REPLACE`, no SQL clock.
 */

/** What can be bound. A boolean is 0 or 1, a time is integer milliseconds. */
export type Param = string | number | bigint | Uint8Array | null;
export type Row = Record<string, unknown>;

/** Reads. Inside `Db.read` all of them see one snapshot. */
export interface Sql {
  all<T = Row>(sql: string, params?: readonly Param[]): Promise<T[]>;
  get<T = Row>(
    sql: string,
    params?: readonly Param[],
  ): Promise<T | undefined>;
}

/** A transaction that writes; there is no other way to write. */
export interface Tx extends Sql {
  /** Runs one statement; answers how many rows it changed. */
  run(sql: string, params?: readonly Param[]): Promise<number>;
  /** Runs one statement for each row of parameters, in order. */
  runMany(sql: string, rows: readonly (readonly Param[])[]): Promise<void>;
  /** Calls `fn` after the commit is on disk, never when it is not. */
  onCommit(fn: () => void): void;
}

export interface WriteOptions {
  /** It is about hundreds of rows. */
  heavy?: boolean;
}

export interface Db {
  /** Runs `fn` on one snapshot. `fn` must await nothing but its `Sql`. */
  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `fn` in a transaction; resolves after the commit is on disk. Throwing
   * undoes what `fn` wrote and nothing else. Writes are applied in the order in
   * which they were asked for, but that heavy ones let others by; those that
   * wait together share one commit. `fn` must await nothing but its `Tx`.
   */
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** A consistent copy while the service runs. Refuses an existing `file`. */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

export type DbErrorKind =
  | "unique" // a UNIQUE or PRIMARY KEY constraint refused the row
  | "constraint" // any other constraint did
  | "full" // no room on the disk
  | "busy" // another process holds the lock
  | "readonly" // the file or folder cannot be written
  | "corrupt" // not a database of ours, or a damaged one
  | "newer" // made by a newer version of this program
  | "closed" // asked after close()
  | "other";

/** What the engine said, in terms that do not depend on the engine. */
export class DbError extends Error {
  override readonly name = "DbError";
  readonly kind: DbErrorKind;

  constructor(kind: DbErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** `?, ?, ?` for an IN list of `n` values. */
export function marks(n: number): string {
  return Array(n).fill("?").join(", ");
}

/**
 * Splits a list into runs whose lengths are powers of two up to 256 by
 * repeating the last value, so that only nine statements are ever prepared
 * for an IN list, however long it is.
 */
export function inLists<T>(values: readonly T[]): T[][] {
  const lists: T[][] = [];
  for (let start = 0; start < values.length; start += 256) {
    const list = values.slice(start, start + 256);
    let size = 1;
    while (size < list.length) size *= 2;
    while (list.length < size) list.push(list[list.length - 1]);
    lists.push(list);
  }
  return lists;
}
