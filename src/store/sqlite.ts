/**
 * The SQLite engine below the storage seam; the one file that knows the
 * driver (`node:sqlite`, built into Deno).
 *
 * One connection writes, another reads. Writes queue; all that wait at the
 * same moment run in one `BEGIN IMMEDIATE … COMMIT`, each in its own
 * savepoint, and each promise resolves after the commit is on disk
 * (`synchronous=FULL`). A heavy write waits for its turn first, so that light
 * ones come between.
 */
import { backup, DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { breathe } from "../event_loop.ts";
import { Turns } from "../turns.ts";
import {
  type Db,
  DbError,
  type DbErrorKind,
  type Param,
  type Row,
  type Sql,
  type Tx,
  type WriteOptions,
} from "./db.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";
import { SharedValues } from "./shared_values.ts";

declare module "node:sqlite" {
  interface StatementSync {
    /** Missing in Deno's types; Node.js has it since 24.0. */
    setReturnArrays(enabled: boolean): void;
  }
}

/** Marks a file as ours in its header (`PRAGMA application_id`): "SELL". */
const APPLICATION_ID = 0x53454c4c;
/** How long to wait for another process's lock before giving up. */
const BUSY_TIMEOUT_MS = 5_000;
/**
 * A log of 16 MiB before its pages go into the database: pages written again
 * and again meanwhile, those of indexes above all, then go there once.
 */
const CHECKPOINT_PAGES = 4_000;
/** Of each connection; beyond that the operating system's cache serves. */
const CACHE_KIB = 16_000;
/** How many waiting writes share a commit at most. */
const GROUP_LIMIT = 256;
/** Pages of one step of a backup: all, so that no write makes it start again. */
const ALL_PAGES = 2 ** 30;

export interface SqliteOptions {
  migrations?: readonly Migration[];
  /** Shared with whatever else takes long on this thread. */
  heavy?: Turns;
}

/**
 * Opens the database file, making it and bringing its schema up to date.
 * Throws a `DbError`: `newer`, `corrupt`, `readonly`, `busy`, `full`.
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Db {
  const writer = connect(file, false);
  try {
    guarded(() => migrate(writer, file, options.migrations ?? MIGRATIONS));
    const heavy = options.heavy ?? new Turns(breathe);
    return new SqliteDb(writer, connect(file, true), heavy);
  } catch (error) {
    writer.close();
    throw error;
  }
}

/**
 * Whether any other connection has the file open, in whatever process: a lock
 * on all of it cannot be had then. Throws a `DbError`.
 */
export function isSqliteInUse(file: string): boolean {
  const connection = guarded(() => new DatabaseSync(file, { timeout: 0 }));
  try {
    guarded(() => {
      connection.exec("PRAGMA locking_mode = EXCLUSIVE");
      connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get();
    });
    return false;
  } catch (error) {
    if (error instanceof DbError && error.kind === "busy") return true;
    throw error;
  } finally {
    connection.close();
  }
}

function connect(file: string, readOnly: boolean): DatabaseSync {
  return guarded(() => {
    const connection = new DatabaseSync(file, {
      readOnly,
      timeout: BUSY_TIMEOUT_MS,
      enableForeignKeyConstraints: true,
    });
    if (!readOnly) {
      connection.prepare("PRAGMA journal_mode = WAL").get();
      connection.prepare("PRAGMA synchronous = FULL").get();
      connection.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    }
    connection.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    return connection;
  });
}

function migrate(
  connection: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
): void {
  connection.exec("BEGIN IMMEDIATE");
  try {
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
    if (version > migrations.length) {
      throw new DbError(
        "newer",
        `${file} has schema version ${version}, this program knows ${migrations.length}; ` +
          "start the newer program, or restore a backup that is as old as this one.",
      );
    }
    for (const migration of migrations.slice(version)) {
      connection.exec(migration.sql);
    }
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    connection.exec(`PRAGMA user_version = ${migrations.length}`);
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.isTransaction) connection.exec("ROLLBACK");
    throw error;
  }
}

function pragma(connection: DatabaseSync, name: string): number {
  const row = connection.prepare(`PRAGMA ${name}`).get();
  return Number(row?.[name] ?? 0);
}

/** SQLite result codes (https://www.sqlite.org/rescode.html) as our kinds. */
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
 * What the driver throws from its constructor and from `exec` has no result
 * code, only SQLite's fixed English text for it (`sqlite3_errstr`).
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

function toDbError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (error.code !== "ERR_SQLITE_ERROR") return error;
  const code = "errcode" in error
    ? Number(error.errcode)
    : CODE_BY_TEXT.find(([text]) => error.message.includes(text))?.[1] ?? 1;
  return new DbError(errorKind(code), error.message, error);
}

function guarded<T>(fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    throw toDbError(error);
  }
}

/** A statement, and what makes an object of the values of a row. */
interface Prepared {
  statement: StatementSync;
  toRow: (values: unknown) => Row;
}

/**
 * The driver's own row objects are slow to make and to read; an object literal
 * made of the values takes half the time.
 */
function prepare(database: DatabaseSync, sql: string): Prepared {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const fields = statement.columns().map(({ name }, index) =>
    `${JSON.stringify(name)}: values[${index}]`
  );
  const toRow = new Function("values", `return { ${fields.join(", ")} };`);
  return { statement, toRow: toRow as Prepared["toRow"] };
}

/** A connection with its prepared statements. */
class Connection implements Sql {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Prepares once: a kept statement is two to three times as fast. */
  #prepared(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      prepared = guarded(() => prepare(this.#database, sql));
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }

  /** A statement without parameters; unlike `exec`, its errors have codes. */
  exec(sql: string): void {
    const { statement } = this.#prepared(sql);
    guarded(() => statement.run());
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  // deno-lint-ignore require-await -- the seam is asynchronous, this engine is not
  async all<T>(sql: string, params: readonly Param[] = []): Promise<T[]> {
    const { statement, toRow } = this.#prepared(sql);
    const rows = guarded(() => statement.all(...bindable(params)));
    return rows.map((values) => toRow(values) as T);
  }

  // deno-lint-ignore require-await
  async get<T>(
    sql: string,
    params: readonly Param[] = [],
  ): Promise<T | undefined> {
    const { statement, toRow } = this.#prepared(sql);
    const values = guarded(() => statement.get(...bindable(params)));
    return values === undefined ? undefined : toRow(values) as T;
  }

  runNow(sql: string, params: readonly Param[]): number {
    const { statement } = this.#prepared(sql);
    return guarded(() => Number(statement.run(...bindable(params)).changes));
  }

  runManyNow(sql: string, rows: readonly (readonly Param[])[]): void {
    const { statement } = this.#prepared(sql);
    guarded(() => {
      for (const row of rows) statement.run(...bindable(row));
    });
  }

  /** `VACUUM INTO` would need ATTACH, which Deno forbids without `-A`. */
  async copyTo(file: string): Promise<void> {
    try {
      await backup(this.#database, file, { rate: ALL_PAGES });
    } catch (error) {
      throw toDbError(error);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}

/** The driver binds a Date as NULL without a word; types do not see it all. */
function bindable(params: readonly Param[]): Param[] {
  for (const param of params) {
    if (
      typeof param === "object" && param !== null &&
      !(param instanceof Uint8Array)
    ) {
      throw new TypeError(
        `cannot bind ${Object.prototype.toString.call(param)}`,
      );
    }
  }
  return params as Param[];
}

interface WaitingWrite {
  fn: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

interface FinishedWrite {
  write: WaitingWrite;
  value?: unknown;
  error?: unknown;
  failed: boolean;
  afterCommit: (() => void)[];
}

class SqliteDb implements Db {
  readonly #writer: Connection;
  readonly #reader: Connection;
  /** Turns of heavy writes. */
  readonly #heavy: Turns;
  readonly #waiting: WaitingWrite[] = [];
  #writing: Promise<void> | null = null;
  #reading: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** Other processes look at the file again by themselves. */
  readonly wakeUps = null;

  constructor(writer: DatabaseSync, reader: DatabaseSync, heavy: Turns) {
    this.#heavy = heavy;
    this.#writer = new Connection(writer);
    this.#reader = new Connection(reader);
  }

  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closed());
    const result = this.#reading.then(() => this.#snapshot(fn));
    this.#reading = result.catch(() => {});
    return result;
  }

  async #snapshot<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    this.#reader.exec("BEGIN");
    try {
      return await fn(this.#reader);
    } finally {
      if (this.#reader.inTransaction) this.#reader.exec("COMMIT");
    }
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    { heavy = false }: WriteOptions = {},
  ): Promise<T> {
    const ask = () => this.#askToWrite(fn);
    return heavy ? this.#heavy.take(ask) : ask();
  }

  #askToWrite<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closed());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        fn,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#writing ??= this.#writeWaiting();
    });
  }

  /** Runs groups of writes until none waits. */
  async #writeWaiting(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#gather();
        await this.#writeGroup(this.#waiting.splice(0, GROUP_LIMIT));
      }
    } finally {
      this.#writing = null;
    }
  }

  /**
   * Lets requests that arrived together join in: a commit costs a hundred
   * times what a turn of the event loop does, so it waits for turns as long as
   * each brings more writes.
   */
  async #gather(): Promise<void> {
    let before = 0;
    while (before < this.#waiting.length && before < GROUP_LIMIT) {
      before = this.#waiting.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async #writeGroup(group: WaitingWrite[]): Promise<void> {
    const finished: FinishedWrite[] = [];
    try {
      this.#writer.exec("BEGIN IMMEDIATE");
      const values = new Map<string, unknown>();
      for (const write of group) {
        const shared = new SharedValues(values);
        finished.push(await this.#writeOne(write, shared));
      }
      this.#writer.exec("COMMIT");
    } catch (error) {
      // Nothing of the group is on disk: a full disk, or the lock not had.
      for (const write of group) write.reject(error);
      this.#rollBack();
      return;
    }
    for (const { write, value, error, failed, afterCommit } of finished) {
      if (failed) write.reject(error);
      else write.resolve(value);
      // Not called here: what fails in one must not keep others from theirs.
      for (const fn of afterCommit) queueMicrotask(fn);
    }
  }

  #rollBack(): void {
    try {
      if (this.#writer.inTransaction) this.#writer.exec("ROLLBACK");
    } catch {
      // The next BEGIN says what is wrong with the connection.
    }
  }

  async #writeOne(
    write: WaitingWrite,
    shared: SharedValues,
  ): Promise<FinishedWrite> {
    const tx = new SqliteTx(this.#writer, shared);
    this.#writer.exec("SAVEPOINT one");
    try {
      const value = await write.fn(tx);
      this.#writer.exec("RELEASE one");
      return { write, value, failed: false, afterCommit: tx.afterCommit };
    } catch (error) {
      // Some failures (a full disk) undo the whole transaction by themselves.
      if (!this.#writer.inTransaction) throw error;
      this.#writer.exec("ROLLBACK TO one");
      this.#writer.exec("RELEASE one");
      shared.forget();
      return { write, error, failed: true, afterCommit: [] };
    }
  }

  async backup(file: string): Promise<void> {
    // Made first, so that nobody else may read it: it holds secrets.
    const options = { write: true, createNew: true, mode: 0o600 };
    (await Deno.open(file, options)).close();
    await this.#reader.copyTo(file);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    await this.#reading;
    this.#reader.close();
    this.#writer.close();
  }
}

class SqliteTx implements Tx {
  readonly #connection: Connection;
  readonly #shared: SharedValues;
  readonly afterCommit: (() => void)[] = [];

  constructor(connection: Connection, shared: SharedValues) {
    this.#connection = connection;
    this.#shared = shared;
  }

  all<T>(sql: string, params?: readonly Param[]): Promise<T[]> {
    return this.#connection.all<T>(sql, params);
  }

  get<T>(sql: string, params?: readonly Param[]): Promise<T | undefined> {
    return this.#connection.get<T>(sql, params);
  }

  // deno-lint-ignore require-await
  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    return this.#connection.runNow(sql, params);
  }

  // deno-lint-ignore require-await
  async runMany(
    sql: string,
    rows: readonly (readonly Param[])[],
  ): Promise<void> {
    this.#connection.runManyNow(sql, rows);
  }

  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    return this.#shared.once(name, make);
  }

  onCommit(fn: () => void): void {
    this.afterCommit.push(fn);
  }
}

function closed(): DbError {
  return new DbError("closed", "The database is closed.");
}
