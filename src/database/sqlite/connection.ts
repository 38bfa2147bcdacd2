/**
 * Connections to a SQLite file. Only this folder knows the driver
 * (`node:sqlite`, built into Deno).
 */
import { backup, DatabaseSync, type StatementSync } from "node:sqlite";
import type { ConnectSqlite, Deps } from "../../deps.ts";
import { templateOf } from "../../lib/template.ts";
import { changeAfter, SQLITE_CHANGES } from "../change_numbers.ts";
import {
  type Change,
  conflictError,
  DbError,
  type Expected,
  expectedTimes,
  type Param,
  type Query,
  queryText,
  type ReadOptions,
  type Row,
  type Sql,
  textOfRows,
  type Tx,
} from "../db.ts";
import { OpenTransaction } from "../open_transaction.ts";
import { guarded, sqliteDbError } from "./errors.ts";

declare module "node:sqlite" {
  interface StatementSync {
    /** Deno's types lack it; Node.js has it since 24.0. */
    setReturnArrays(enabled: boolean): void;
  }
}

/**
 * The WAL is checkpointed at 16 MiB, so that pages that change often, above all
 * those of indexes, are written to the database once.
 */
const CHECKPOINT_PAGES = 4_000;
/**
 * The size that the WAL reaches: pages of 4 KiB with their headers, and a tenth
 * more, because the commit that reaches the limit may be large.
 */
export const CHECKPOINT_BYTES = Math.ceil(
  1.1 * CHECKPOINT_PAGES * (4_096 + 24),
);
/**
 * The page cache of each connection; other pages are in the operating system's
 * cache. A larger page cache would be slower: at the end of nearly every
 * transaction, SQLite searches the whole cache. When balancing a tree exchanges
 * two pages, one of them temporarily gets a number beyond the end of the file,
 * and the commit searches the cache for such pages (`balance_nonroot`,
 * `pcache1Truncate`). With 16,000 KiB, that was a sixth of the time of an
 * upload.
 */
const CACHE_KIB = 4_000;
/**
 * The pages of one step of a backup: all pages, because a write between two
 * steps restarts the backup.
 */
const ALL_PAGES = 2 ** 30;
/** The fewest rows that a write stores before other work runs. */
const ROWS_AT_ONCE = 64;
/**
 * The rows of one INSERT: inserting products takes a quarter less time than
 * with one row each; more rows save nothing.
 */
const ROWS_OF_INSERT = 8;
/** Start value for `concat(...rows)`, which is far faster than `flat`. */
const NO_VALUES: readonly Param[] = [];
const TOTAL_CHANGES = "SELECT total_changes() AS n";
/**
 * From this many rows, the changes of all statements are counted together: a
 * statement whose changes the driver counts takes twice as long.
 */
const COUNTED_TOGETHER = 3;
/** After this many milliseconds, a write yields to other work. */
const YIELD_AFTER_MS = 10;

/**
 * Opens the file; creates it unless read-only. Does not wait for locks. Throws
 * a `DbError`.
 */
export function openFile(
  file: string,
  readOnly: boolean,
  connect: ConnectSqlite = (...args) => new DatabaseSync(...args),
): DatabaseSync {
  return guarded(() => {
    const connection = connect(file, {
      readOnly,
      enableForeignKeyConstraints: true,
    });
    try {
      configure(connection, readOnly);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  });
}

function configure(connection: DatabaseSync, readOnly: boolean): void {
  // The option `timeout` has no effect on a read-only connection.
  connection.exec("PRAGMA busy_timeout = 0");
  if (!readOnly) {
    const mode = connection.prepare("PRAGMA journal_mode = WAL").get();
    if (mode?.journal_mode !== "wal") {
      throw new DbError("other", "The file system has no room for a WAL.");
    }
    connection.prepare("PRAGMA synchronous = FULL").get();
    connection.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    // While another program reads, the WAL grows; this limit lets it shrink
    // again.
    connection.exec(`PRAGMA journal_size_limit = ${CHECKPOINT_BYTES}`);
  }
  connection.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
}

interface Prepared {
  statement: StatementSync;
  toRow: (values: unknown) => Row;
}

/**
 * Returns a function that creates an object with these properties from their
 * values. It copies an object that has all properties: an object that gets its
 * properties one by one takes four times as long to create and to read, and an
 * object of the driver even longer.
 */
function rowMaker(columns: readonly string[]): Prepared["toRow"] {
  const template: Row = templateOf(
    Object.fromEntries(columns.map((name) => [name, null])),
  );
  return (values) => {
    const row = { ...template };
    const list = values as readonly unknown[];
    for (let i = 0; i < columns.length; i++) row[columns[i]] = list[i];
    return row;
  };
}

function prepare(database: DatabaseSync, sql: string): Prepared {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return {
    statement,
    toRow: rowMaker(statement.columns().map(({ name }) => name)),
  };
}

/** A connection and its prepared statements. */
export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #changesNothing: () => boolean;
  readonly #statements = new Map<string, Prepared>();
  /** How many statements were run that may change rows. */
  writes = 0;
  /** The error of the first statement that failed in a read or a write. */
  failure: unknown = null;

  /** @param changesNothing see `Deps` */
  constructor(database: DatabaseSync, changesNothing = () => false) {
    this.#database = database;
    this.#changesNothing = changesNothing;
  }

  #isIdle(expected: Expected): boolean {
    return expected !== "any" && this.#changesNothing();
  }

  /** Calls the driver; keeps its first error. */
  #guarded<T>(fn: () => T): T {
    try {
      return fn();
    } catch (error) {
      const known = sqliteDbError(error);
      this.failure ??= known;
      throw known;
    }
  }

  /**
   * The prepared statement of a query: reusing it is two to three times as
   * fast.
   */
  #prepared(query: Query): Prepared {
    const sql = queryText(query, "sqlite");
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      prepared = this.#guarded(() => prepare(this.#database, sql));
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }

  /**
   * The statement of a query that may change rows. Some failures (a full disk)
   * roll the transaction back; a later statement would then be committed
   * separately.
   */
  #writing(query: Query): Prepared {
    const prepared = this.#prepared(query);
    this.checkTransaction();
    this.writes++;
    return prepared;
  }

  /** Throws if a statement has failed, or if there is no open transaction. */
  checkTransaction(): void {
    if (this.failure !== null) throw this.failure;
    if (this.inTransaction) return;
    throw new DbError("other", "The transaction was undone.");
  }

  /**
   * Runs a statement without parameters; unlike with the driver's `exec`,
   * errors have codes.
   */
  exec(sql: string): void {
    const { statement } = this.#prepared(sql);
    guarded(() => execute(statement));
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  all<T>(query: Query, params: readonly Param[]): T[] {
    return this.#rowsOf<T>(this.#prepared(query), params);
  }

  returning<T>(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): T[] {
    const prepared = this.#writing(query);
    const rows = this.#isIdle(expected)
      ? []
      : this.#rowsOf<T>(prepared, params);
    this.#check(query, rows.length, expected);
    return rows;
  }

  /**
   * Throws a `conflict` if the number of changes is wrong, as if the statement
   * had failed.
   */
  #check(query: Query, changed: number, expected: Expected): void {
    if (expected === "any") return;
    const text = queryText(query, "sqlite");
    const conflict = conflictError(text, changed, expected);
    if (conflict === null) return;
    this.failure ??= conflict;
    throw conflict;
  }

  #rowsOf<T>({ statement, toRow }: Prepared, params: readonly Param[]): T[] {
    const rows = this.#guarded(() => statement.all(...bindable(params)));
    return rows.map((values) => toRow(values) as T);
  }

  get<T>(query: Query, params: readonly Param[]): T | undefined {
    const { statement, toRow } = this.#prepared(query);
    const values = this.#guarded(() => statement.get(...bindable(params)));
    return values === undefined ? undefined : toRow(values) as T;
  }

  run(query: Query, params: readonly Param[], expected: Expected): number {
    const { statement } = this.#writing(query);
    const run = () => Number(statement.run(...bindable(params)).changes);
    const changed = this.#isIdle(expected) ? 0 : this.#guarded(run);
    this.#check(query, changed, expected);
    return changed;
  }

  runMany(
    query: Query,
    rows: readonly (readonly Param[])[],
    expected: Expected,
  ): void {
    if (rows.length === 0) return;
    const text = queryText(query, "sqlite");
    const ofRows = textOfRows(query);
    if (ofRows !== null) {
      const insert = () => this.#insert(ofRows, rows);
      return this.#counted(text, rows.length, expected, insert);
    }
    if (text === "") return;
    // `total_changes()` would also count the rows to which a DELETE cascades.
    if (
      rows.length < COUNTED_TOGETHER || text.trimStart().startsWith("DELETE")
    ) {
      for (const row of rows) this.run(text, row, expected);
      return;
    }
    const execute = () => this.#execute(text, rows);
    this.#counted(text, rows.length, expected, execute);
  }

  #execute(text: string, rows: readonly (readonly Param[])[]): void {
    const { statement } = this.#writing(text);
    this.#guarded(() => {
      for (const row of rows) execute(statement, row);
    });
  }

  /** Counts the changes of all statements together. */
  #counted(
    text: string,
    times: number,
    expected: Expected,
    run: () => void,
  ): void {
    if (expected === "any") return run();
    const before = this.#changes();
    if (!this.#isIdle(expected)) run();
    this.#check(text, this.#changes() - before, expectedTimes(expected, times));
  }

  /** How many rows this connection has changed. */
  #changes(): number {
    return this.get<{ n: number }>(TOTAL_CHANGES, NO_VALUES)!.n;
  }

  #insert(
    ofRows: (rows: number) => string,
    rows: readonly (readonly Param[])[],
  ): void {
    const together = rows.length - rows.length % ROWS_OF_INSERT;
    for (let at = 0; at < together; at += ROWS_OF_INSERT) {
      // bounded: `ROWS_OF_INSERT`
      const several = NO_VALUES.concat(...rows.slice(at, at + ROWS_OF_INSERT));
      this.#execute(ofRows(ROWS_OF_INSERT), [several]);
    }
    const rest = rows.slice(together);
    if (rest.length > 0) this.#execute(ofRows(1), rest);
  }

  /**
   * Copies the database to a file. Not by `VACUUM INTO`, which needs ATTACH,
   * which Deno forbids without `-A`.
   */
  async copyTo(file: string): Promise<void> {
    try {
      await backup(this.#database, file, { rate: ALL_PAGES });
    } catch (error) {
      throw sqliteDbError(error);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}

/**
 * Runs a statement whose changes are not counted. SQLite makes all changes in
 * the first step, so the driver's `get` suffices, which takes half the time of
 * its `run`.
 */
function execute(
  statement: StatementSync,
  params: readonly Param[] = [],
): void {
  statement.get(...bindable(params));
}

/**
 * Checks the parameters: the driver silently binds a Date as NULL, and types do
 * not always prevent that.
 */
function bindable(params: readonly Param[]): Param[] {
  for (let i = 0; i < params.length; i++) {
    const param = params[i];
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

/** The queries of a read. */
export class SqliteSql extends OpenTransaction implements Sql {
  protected readonly connection: SqliteConnection;
  readonly #maybe: Deps["maybe"];

  /** @param maybe is called before each statement; see `Deps`. */
  constructor(
    connection: SqliteConnection,
    options?: ReadOptions,
    maybe?: Deps["maybe"],
  ) {
    super(options);
    this.connection = connection;
    this.#maybe = maybe;
  }

  protected inOrder<T>(run: () => T | Promise<T>): Promise<T> {
    return Promise.try(() => {
      this.use();
      const pause = this.#maybe?.("statement of a read");
      return pause === undefined ? run() : pause.then(run);
    });
  }

  all<T>(query: Query, params: readonly Param[] = []): Promise<T[]> {
    return this.inOrder(() => this.connection.all<T>(query, params));
  }

  get<T>(query: Query, params: readonly Param[] = []): Promise<T | undefined> {
    return this.inOrder(() => this.connection.get<T>(query, params));
  }
}

type TxDeps = Pick<Deps, "clock" | "yieldToIo">;

/** State that all writes of a commit share. */
export interface CommitState {
  /** The change number of all writes that take a single one. */
  change: Change | null;
}

/** The queries of a write transaction. */
export class SqliteTx extends SqliteSql implements Tx {
  readonly isOnlyWriter = true;
  readonly localSellerNo = 0;
  readonly #commit: CommitState;
  readonly #deps: TxDeps;
  /** When the write last yielded, in monotonic milliseconds. */
  #yieldedAt: number;
  /** Resolves when later statements may run. */
  #last: Promise<void> | null = null;
  readonly afterCommit: (() => void)[] = [];

  constructor(
    connection: SqliteConnection,
    commit: CommitState,
    deps: TxDeps,
  ) {
    super(connection);
    this.#commit = commit;
    this.#deps = deps;
    this.#yieldedAt = deps.clock.monotonic();
  }

  now(): number {
    return this.#deps.clock.now();
  }

  returning<T>(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): Promise<T[]> {
    return this.inOrder(() =>
      this.connection.returning<T>(query, params, expected)
    );
  }

  /**
   * Takes any count of numbers: a number is used up only when a row is stored
   * with it.
   */
  async takeChanges(count: number): Promise<Change> {
    this.use();
    if (count === 1 && this.#commit.change !== null) return this.#commit.change;
    const row = await this.get<{ last: number }>(SQLITE_CHANGES.last);
    const change = changeAfter(row!.last, this.now());
    if (count === 1) this.#commit.change = change;
    return change;
  }

  run(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): Promise<number> {
    const changed = this.inOrder(() =>
      this.connection.run(query, params, expected)
    );
    changed.catch(() => {}); // The write fails as well, so this rejection needs no handler.
    return changed;
  }

  /**
   * Runs the statement in pieces; other work, except writes, runs between two
   * pieces.
   */
  runMany(
    query: Query,
    rows: readonly (readonly Param[])[],
    expected: Expected,
  ): Promise<void> {
    if (rows.length === 1) {
      return this.inOrder(() => this.connection.runMany(query, rows, expected));
    }
    const run = this.inOrder(() => this.#runInPieces(query, rows, expected));
    this.#holdBack(run);
    return run;
  }

  lock(): Promise<void> {
    return Promise.try(() => this.use());
  }

  async #runInPieces(
    query: Query,
    rows: readonly (readonly Param[])[],
    expected: Expected,
  ): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      if (this.#isTimeToYield()) await this.#yield();
      const some = rows.slice(at, at + ROWS_AT_ONCE);
      this.connection.runMany(query, some, expected);
    }
  }

  #isTimeToYield(): boolean {
    const { clock } = this.#deps;
    return clock.monotonic() - this.#yieldedAt >= YIELD_AFTER_MS;
  }

  async #yield(): Promise<void> {
    const { clock, yieldToIo } = this.#deps;
    await yieldToIo();
    this.#yieldedAt = clock.monotonic();
  }

  /** Resolves when no statement is running. */
  override async end(): Promise<void> {
    void super.end();
    while (this.#last !== null) await this.#last;
  }

  /**
   * Runs statements in the order of the calls, even if they are not awaited;
   * other work runs after every few statements.
   */
  protected override inOrder<T>(run: () => T | Promise<T>): Promise<T> {
    if (this.#last === null && this.#isTimeToYield()) {
      this.#holdBack(this.#yield());
    }
    if (this.#last === null) return super.inOrder(run);
    const last = this.#last;
    const result = super.inOrder(() => last.then(run));
    this.#holdBack(result);
    return result;
  }

  /** Makes later statements wait for this statement. */
  #holdBack(statement: Promise<unknown>): void {
    const last = statement.then(() => {}, () => {});
    this.#last = last;
    void last.then(() => {
      if (this.#last === last) this.#last = null;
    });
  }

  onCommit(fn: () => void): void {
    this.use();
    this.afterCommit.push(fn);
  }
}
