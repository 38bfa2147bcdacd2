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
  /** All rows, as objects by the names of their columns. */
  all<T = Row>(sql: string, params?: readonly Param[]): Promise<T[]>;
  /** The first row. */
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
  /** What `make` answered; called once for all writes that share the commit. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** Unix milliseconds by the clock of this process, when it is asked. */
  now(): number;
  /** Calls `fn` after the commit is on disk, never when it is not. */
  onCommit(fn: () => void): void;
}

export interface WriteOptions {
  /**
   * Writes of one `order` are applied one after the other, whichever process
   * asks; those of one process in the order in which they were asked for, but
   * that heavy ones may let others by.
   */
  order?: string;
  /**
   * It may share a transaction with others of its order that say so too: it is
   * small, and asks for no lock that comes before one that they hold.
   */
  shared?: boolean;
  /** It is about hundreds of rows: an engine with one writer makes it wait. */
  heavy?: boolean;
}

/** How upkeep writes: one portion at a time, beside everything else. */
export const UPKEEP: WriteOptions = { order: "upkeep", heavy: true };

/** Is told how the database is doing. */
export interface DbMeter {
  /** A commit took so long, and so many writes shared it. */
  committed(ms: number, writes: number): void;
  /**
   * A transaction began so long after its oldest write was asked for, or had to
   * wait so long for another process, or for a connection to the server.
   */
  waited(kind: "queue" | "lock" | "connection", ms: number): void;
  /** Something was begun again: for which reason. */
  retried(reason: RetryReason): void;
}

export type RetryReason =
  | "locked" // another process had the lock
  | "undone" // another write of the commit failed
  | "deadlock" // the server ended it, for another transaction
  | "taken" // another transaction inserted the same key
  | "lost"; // the connection broke before the commit

/** Nobody wants to know. */
export const NO_METER: DbMeter = {
  committed: () => {},
  waited: () => {},
  retried: () => {},
};

/** A database, whatever its engine; what fails in that is a `DbError`. */
export interface Db {
  /** Runs `fn` on one snapshot. `fn` must await nothing but its `Sql`. */
  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `fn` in a transaction; resolves after the commit is on disk. Throwing
   * undoes what `fn` wrote and nothing else. Writes that wait together may share
   * a commit. `fn` must await nothing but its `Tx`, and is called again where
   * another transaction came between, or another write spoilt the commit that
   * they were to share.
   *
   * An engine with one writer applies all writes in the order in which they
   * were asked for, but that heavy ones let others by. With several, what one
   * reads may be changed by another before it commits, unless both have the
   * same `order` or it is locked: by an UPDATE, or by a SELECT that ends in
   * `FOR UPDATE` or `FOR SHARE`, written as a comment (`dialect.ts`). Rows are
   * locked in this order: sellers, deliveries, webhooks, images,
   * `seller_usage`, transactions, `hourly_counts`, `change_counter`, products.
   */
  write<T>(
    fn: (tx: Tx) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T>;
  /** Tells other processes to look again; null where they can only poll. */
  readonly wakeUps: WakeUps | null;
  /** Bytes of its files, by what they are. */
  sizes(): Promise<Record<string, number>>;
  /** A consistent copy while the service runs. Refuses an existing `file`. */
  backup(file: string): Promise<void>;
  /**
   * Has writes wait for locks of other processes no longer than a second from
   * now: the process is about to end.
   */
  hurry(): void;
  /** Lets what was asked for end; whatever comes after is refused. */
  close(): Promise<void>;
}

/** Wake-ups between processes; one may be lost, so nobody relies on them. */
export interface WakeUps {
  /** Tells every other process that listens. */
  send(topic: string, key: string): void;
  /** Is told what others send; `null` after some may have been missed. */
  listen(heard: (wakeUp: { topic: string; key: string } | null) => void): void;
}

export type DbErrorKind =
  | "unique" // a UNIQUE or PRIMARY KEY constraint refused the row
  | "constraint" // any other constraint did
  | "full" // no room on the disk
  | "busy" // another process holds the lock
  | "away" // the server cannot be reached, or turns us away
  | "unsure" // the server went away during the commit
  | "missing" // there is no database, and none was to be created
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

/** Errors that are no fault of what was asked, and pass. */
const OUTAGES: Partial<Record<DbErrorKind, string>> = {
  full: "the disk of the database is full",
  busy: "another process holds the database's lock",
  away: "the database cannot be reached",
  unsure: "the database went away",
  readonly: "the database cannot be written",
};

/** The outage that an error tells of, for the operator; null if it tells of none. */
export function outageOf(error: unknown): string | null {
  return error instanceof DbError ? OUTAGES[error.kind] ?? null : null;
}

/** How long a write waits for locks of other processes, and in a hurry. */
export const LOCK_WAIT_MS = 5_000;
export const HURRIED_LOCK_WAIT_MS = 1_000;

/** The answer to whoever asks after `close()`. */
export function closed(): DbError {
  return new DbError("closed", "The database is closed.");
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
