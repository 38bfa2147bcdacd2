/**
 * The storage interface. All other code uses only these types, which are
 * asynchronous, so that the engine can be exchanged.
 *
 * SQL is limited to a portable subset: `?` placeholders, `ON CONFLICT … DO
 * UPDATE`, `RETURNING`, ids made by the application, integer milliseconds, JSON
 * as text, explicit `ORDER BY`, counters as `n = n + 1`; no rowid, no
 * `REPLACE`, no SQL clock.
 */

import type { Holder } from "../lib/holders.ts";
import type { Engine, EngineSql } from "./table.ts";

/** A query; one text for each engine if the engines' SQL differs. */
export type Query = string | DialectQuery;

/** The text for each engine; an empty text runs nothing. */
export interface DialectQuery extends EngineSql {
  /** The text for a read on PostgreSQL, which locks nothing. */
  readonly postgresRead?: string;
  /** The text for a read where sellers are on several servers. */
  readonly spread?: string;
  /**
   * For an INSERT of one row of values: its text for a number of rows, which an
   * engine may then run at once.
   */
  ofRows?(rows: number): string;
}

/** The text that an engine runs. */
export function queryText(query: Query, engine: Engine): string {
  return typeof query === "string" ? query : query[engine];
}

/** The text for a number of rows; null if the query runs once for each row. */
export function textOfRows(query: Query): ((rows: number) => string) | null {
  return typeof query === "string" ? null : query.ofRows ?? null;
}

/**
 * An INSERT of rows of values.
 *
 * @param row is `(?, ?, …)` unless some values are the same in all rows.
 */
export function insertInto(
  table: string,
  columns: readonly string[],
  more = "",
  row = `(${placeholders(columns.length)})`,
): DialectQuery {
  const head = `INSERT INTO ${table} (${columns.join(", ")}) VALUES `;
  const texts = new Map<number, string>();
  const ofRows = (rows: number) => {
    const text = texts.get(rows) ??
      `${head}${Array(rows).fill(row).join(", ")} ${more}`;
    texts.set(rows, text);
    return text;
  };
  return { sqlite: ofRows(1), postgres: ofRows(1), ofRows };
}

/** SQL that differs between the engines. */
export interface Dialect {
  engine: Engine;
  /**
   * Locks the rows that a SELECT finds, such as `FOR UPDATE`; nothing on an
   * engine with one writer, and in a read.
   */
  lock(clause: string): string;
  /**
   * One of 16 numbers for each connection: counters that many writes change have
   * a row for each, so that no write waits for another.
   */
  slot: string;
}

const SLOT = "pg_backend_pid() % 16";

/** Builds a query in the dialect of each engine. */
export function query(write: (dialect: Dialect) => string): DialectQuery {
  const postgres = { engine: "postgres", slot: SLOT } as const;
  return {
    sqlite: write({ engine: "sqlite", lock: () => "", slot: "0" }),
    postgres: write({ ...postgres, lock: (clause) => clause }),
    postgresRead: write({ ...postgres, lock: () => "" }),
  };
}

/** Parameter values. A boolean is 0 or 1, a time is integer milliseconds. */
export type Param = string | number | bigint | Uint8Array | null;
export type Row = Record<string, unknown>;

/**
 * Reads rows. Inside `Db.read`, all reads see one snapshot, and none changes
 * anything.
 */
export interface Sql {
  /** Undefined where all rows are on one server. */
  readonly reach?: Reach;
  /** All rows, as objects with a property for each column. */
  all<T = Row>(query: Query, params?: readonly Param[]): Promise<T[]>;
  /** The first row. */
  get<T = Row>(
    query: Query,
    params?: readonly Param[],
  ): Promise<T | undefined>;
}

/** How far the changes of the catalogue can be read in their order. */
export interface ChangeHorizon {
  /** No change with a smaller number can appear any more. */
  below: number;
  /** The next number; greater than `below` while a change is in progress. */
  next: number;
  /**
   * Unreachable servers: changes of their sellers may still appear below the
   * horizon.
   */
  missing: readonly number[];
}

/** The servers that a transaction over several servers can reach. */
export interface Reach {
  /** Names of unreachable servers, whose sellers are left out. */
  readonly missing: readonly string[];
  /**
   * The change horizon of all reachable servers; undefined in a transaction on
   * one server.
   */
  horizon?(): Promise<ChangeHorizon>;
}

/** A place in the order of change of the catalogue. */
export interface Change {
  number: number;
  /** Unix milliseconds. */
  at: number;
}

/**
 * How many rows a statement must change: exactly, or at least; `any` if it may
 * change none. The number is always given, because a statement that changes
 * nothing reports no error: after a shard was divided, a cluster may send a
 * waiting statement to the old shard, which has no rows.
 */
export type Expected = number | { readonly atLeast: number } | "any";

/**
 * The error if a statement changed another number of rows than expected;
 * otherwise null.
 */
export function conflictError(
  text: string,
  changed: number,
  expected: Expected,
): DbError | null {
  if (expected === "any") return null;
  const isExact = typeof expected === "number";
  if (isExact ? changed === expected : changed >= expected.atLeast) return null;
  const wanted = isExact ? `${expected}` : `at least ${expected.atLeast}`;
  const statement = text.trim().replaceAll(/\s+/g, " ").slice(0, NAMED_CHARS);
  return new DbError(
    "conflict",
    `${changed} rows instead of ${wanted} were changed by: ${statement}`,
  );
}

/** How many rows several statements together must change. */
export function expectedTimes(expected: Expected, times: number): Expected {
  if (expected === "any") return expected;
  if (typeof expected === "number") return times * expected;
  return { atLeast: times * expected.atLeast };
}

/** Characters of a statement that an error quotes. */
const NAMED_CHARS = 120;

export function isConflict(error: unknown): boolean {
  return error instanceof DbError && error.kind === "conflict";
}

/** The most runs of a write whose statements change too few rows. */
export const CONFLICT_TRIES = 4;

/** A write transaction; there is no other way to write. */
export interface Tx extends Sql {
  /**
   * Whether no other transaction writes at the same time, so that the order of
   * commits is known and nobody waits for a lock.
   */
  readonly isOnlyWriter: boolean;
  /**
   * A `seller_no` that belongs to no seller and whose rows are on the server of
   * this write; 0 if there is one server.
   */
  readonly localSellerNo: number;
  /**
   * Runs one statement; returns how many rows it changed. If the number is not
   * as `expected`, the write is undone and runs again; after `CONFLICT_TRIES`
   * runs it fails with a `conflict`. The result need not be awaited: the
   * statement is part of the write, and may be awaited after it.
   */
  run(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): Promise<number>;
  /** As `run`; returns the rows that the statement changed (`RETURNING`). */
  returning<T = Row>(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): Promise<T[]>;
  /**
   * Runs a statement for each row of parameters, in order; a statement of
   * `insertInto` runs for several rows at once. `expected` is for each row. On
   * an engine over a network, the call does not wait for the answer: an error
   * may come from a later call, or from the commit.
   */
  runMany(
    query: Query,
    rows: readonly (readonly Param[])[],
    expected: Expected,
  ): Promise<void>;
  /**
   * Waits for the lock of this name, which the transaction then holds, and
   * reports errors like `runMany`. Does nothing on an engine with one writer.
   */
  lock(name: string): Promise<void>;
  /**
   * Takes the next `count` numbers in the order of change, at most 256; returns
   * the first. All writes of a commit that take a single number get the same
   * number; on an engine with several writers, so do all writes of a
   * transaction. `sellerNo` is the seller whose products change: on several
   * servers, the seller's server gives the numbers.
   */
  takeChanges(count: number, sellerNo: number): Promise<Change>;
  /** Unix milliseconds by the clock of this process. */
  now(): number;
  /** Calls `fn` after the commit is on disk, unless the commit fails. */
  onCommit(fn: () => void): void;
}

export interface ReadOptions {
  /**
   * The read has one statement, which is a snapshot by itself: it needs no
   * transaction, which saves two statements. A second statement fails.
   */
  single?: boolean;
}

export interface WriteOptions {
  /** Writes of one `order` run one after the other, in every process. */
  order?: string;
  /** The writes with which this write may share a transaction. */
  shared?: Shared;
  /**
   * The write concerns hundreds of rows; an engine with one writer delays it.
   */
  heavy?: boolean;
  /** The write changes products: its change numbers are fetched beforehand. */
  changes?: boolean;
  /**
   * In a seller's database: writes of this queue do not wait for the seller's
   * other writes. On an engine with one writer, the heavy writes of several
   * queues take turns; on an engine with several, only a few writes of a queue
   * run at the same time.
   */
  queue?: string;
}

/**
 * Small writes of one `kind` that wait at the same time share a transaction.
 * Writes with different keys run concurrently, so that together they need as
 * many round trips as one write. Each must lock the rows that it depends on
 * with its first statement, and depend on no other row. A transaction begins
 * its writes in the order of their keys. Writes of one process with the same
 * key run one after the other, in the order of the calls.
 */
export interface Shared {
  kind: string;
  key: string;
}

/** Options of maintenance writes: one at a time, with low priority. */
export const MAINTENANCE: WriteOptions = {
  queue: "maintenance",
  order: "maintenance",
  heavy: true,
};

/** Receives measurements of the database. */
export interface DbMeter {
  /** Duration of a commit, and how many writes shared it. */
  committed(ms: number, writes: number): void;
  /**
   * How long the oldest write of a transaction waited for its start, for
   * another process, or for a connection to the server.
   */
  waited(kind: "queue" | "lock" | "connection", ms: number): void;
  /** A write was retried for this reason. */
  retried(reason: RetryReason): void;
}

export type RetryReason =
  | "locked" // another process had the lock
  | "undone" // another write of the commit failed
  | "deadlock" // the server ended it, for another transaction
  | "taken" // another transaction inserted the same key
  | "conflict" // a statement did not change the rows that it had to
  | "lost"; // the connection broke before the commit

/** A meter that ignores all measurements. */
export const NO_METER: DbMeter = {
  committed: () => {},
  waited: () => {},
  retried: () => {},
};

/** A server that has rows of sellers. */
export interface DbServer {
  /** `host:port`. */
  readonly name: string;
  readonly isUp: boolean;
  /** How many sellers it has. */
  readonly sellers: number;
  readonly db: Pick<Db, "sizes">;
}

/** The last known distribution of the sellers over servers. */
export interface Spread {
  /** How many shards each table has. */
  readonly shards: number;
  readonly servers: readonly DbServer[];
  /** The servers that can be reached. */
  reachable(): readonly ReadWrite[];
  /** The server of a seller; null if it is not known. */
  serverOf(sellerNo: number): ReadWrite | null;
  /** Whether the server of a seller is known to be unreachable. */
  isAway(sellerNo: number): boolean;
  /** The server of a seller; null: there is no such seller. */
  locate(sellerNo: number): Promise<DbServer | null>;
}

/** Reads and writes the rows of one seller, or of all sellers. */
export interface ReadWrite {
  /**
   * Runs `fn` on one snapshot. `fn` must await nothing but its `Sql`, which can
   * be used until `fn` has ended.
   */
  read<T>(
    fn: (sql: Sql) => Promise<T>,
    options?: ReadOptions,
  ): Promise<T>;
  /**
   * Runs `fn` in a transaction; resolves after the commit is on disk. If `fn`
   * throws, only its own changes are undone. Concurrent writes may share a
   * commit. `fn` must await nothing but its `Tx`, which can be used until `fn`
   * has ended; all statements that it has begun are part of the transaction,
   * and a failed statement fails the write, even if its result is not awaited.
   * `fn` is called again after a conflict with another transaction, or if
   * another write made the shared commit fail.
   *
   * An engine with one writer applies all writes in the order of the calls,
   * except that light writes may overtake heavy ones. With several writers, the
   * isolation is READ COMMITTED: before a write commits, another write may
   * change rows that the first has read, unless both have the same `order` or
   * the row is locked, by an UPDATE or by a SELECT with `lock`.
   * If a SELECT waited for a row that no longer matches, it leaves the row
   * out and finds no other row instead: where this matters, repeat the SELECT.
   * A missing row cannot be locked: if two INSERTs conflict at a unique index,
   * one of the writes runs again. Rows are locked in this order, so that no two
   * writes wait for each other: sellers, deliveries, events, webhooks, images
   * (by URL), products (by seller and SKU), contacts, transactions,
   * `seller_usage`, `hourly_counts`, notices.
   */
  write<T>(
    fn: (tx: Tx) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T>;
}

/** A database on either engine; its failures are `DbError`s. */
export interface Db extends ReadWrite, Holder {
  /**
   * The database for work on one seller: its statements read and write no rows
   * of other sellers. Only a few writes of a seller run at the same time, so
   * that a busy seller does not delay the others. Work on several sellers, or
   * on none, uses the unbound database.
   */
  of(sellerNo: number): ReadWrite;
  /** undefined if there is one server. */
  readonly spread?: Spread;
  /** Wake-ups for other processes; null if they can only poll. */
  readonly wakeUps: WakeUps | null;
  /** The bytes of the database's files, by kind. */
  sizes(): Promise<Record<string, number>>;
  /**
   * Writes a consistent copy while the service runs. Refuses an existing
   * `file`.
   */
  backup(file: string): Promise<void>;
  /**
   * Limits the wait of writes for locks of other processes to a second from now
   * on, because this process is about to end.
   */
  shortenLockWaits(): void;
  /** Waits for the calls in progress; rejects later ones. */
  close(): Promise<void>;
}

/** Wake-ups between processes. One may be lost, so nothing relies on them. */
export interface WakeUps {
  /** Notifies every other process that listens. */
  send(topic: string, key: string): void;
  /**
   * Calls `heard` with each wake-up of another process; with `null` after
   * wake-ups may have been missed.
   */
  listen(heard: (wakeUp: { topic: string; key: string } | null) => void): void;
}

export type DbErrorKind =
  | "unique" // a UNIQUE or PRIMARY KEY constraint refused the row
  | "constraint" // any other constraint did
  | "full" // no room on the disk, or it fails
  | "busy" // another process holds the lock
  | "conflict" // a statement did not change the rows that it had to
  | "away" // the server cannot be reached, or refuses connections
  | "removed" // a file of the database was removed or replaced
  | "unsure" // the connection broke during the commit, which may have succeeded
  | "missing" // there is no database, and none was to be created
  | "readonly" // the file or folder cannot be written
  | "corrupt" // not a database of this program, or damaged
  | "newer" // made by a newer version of this program
  | "older" // made by a version before the first release, or lacks a column
  | "moved" // copied to another database, which is used instead
  | "closed" // called after close()
  | "other";

/** An error of the engine in terms that do not depend on the engine. */
export class DbError extends Error {
  override readonly name = "DbError";
  readonly kind: DbErrorKind;

  constructor(kind: DbErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** Kinds of errors that the statement did not cause and that end by themselves. */
const OUTAGES: Partial<Record<DbErrorKind, string>> = {
  full: "the disk of the database is full or failing",
  busy: "another process holds the database's lock",
  conflict: "statements do not change the rows that they have to",
  away: "the database cannot be reached",
  removed:
    "seller.db, seller.db-wal or seller.db-shm was removed or replaced; put seller.db back if it is gone, and restart the service",
  unsure: "the database went away",
  readonly: "the database cannot be written",
};

/** The outage that caused an error, for the operator; null for other errors. */
export function outageOf(error: unknown): string | null {
  return error instanceof DbError ? OUTAGES[error.kind] ?? null : null;
}

/**
 * How long a write waits for locks of other processes: normally, and while this
 * process ends.
 */
export const LOCK_WAIT_MS = 5_000;
export const HURRIED_LOCK_WAIT_MS = 1_000;

/** The error of calls after `close()`. */
export function closedError(): DbError {
  return new DbError("closed", "The database is closed.");
}

/**
 * A LIMIT by a parameter. If the plan of a statement may depend on the value,
 * SQLite prepares the statement again at each execution, which takes longer
 * than most reads. The CAST hides the parameter from the planner.
 */
export const LIMIT = "LIMIT CAST(? AS BIGINT)";

/**
 * A condition for statements over all sellers, with a leading AND; the engine
 * completes it. The condition selects the sellers whose server can be reached
 * or, in the database of one server, that server's sellers. `column` is a
 * `seller_no`.
 */
export function inReach(column = "seller_no"): string {
  return `/* AND in reach: ${column} */`;
}
/** Finds the condition and its column in a statement. */
export const IN_REACH = /\/\* AND in reach: ([\w.]+) \*\//g;

/**
 * Marks a statement that must include all sellers: it fails while a server is
 * unreachable.
 */
export const EVERY_SELLER = "";

/** `?, ?, ?` for an IN list of `n` values. */
export function placeholders(n: number): string {
  return Array(n).fill("?").join(", ");
}

/**
 * Splits a list into lists whose lengths are powers of two up to 256, by
 * repeating the last value. So an IN list of any length needs at most nine
 * prepared statements.
 */
export function splitIntoLists<T>(values: readonly T[]): T[][] {
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
