/** Connections to PostgreSQL. Only this folder knows the driver (`pg`). */
import { nextTick } from "node:process";
import pg from "pg";
import type { Clock } from "../../deps.ts";
import { NUMBERS, POSTGRES_CHANGES } from "../change_numbers.ts";
import {
  type Change,
  type ChangeHorizon,
  DbError,
  type DbErrorKind,
  ended,
  type Later,
  LOCK_WAIT_MS,
  type Param,
  type Sql,
  type Tx,
} from "../db.ts";
import {
  errorKind,
  insertOf,
  ROWS_LIMIT,
  type Statement,
  toReadStatement,
  toStatement,
  toValue,
} from "../dialect.ts";
import { within } from "../../lib/waits.ts";
import type { SharedValues } from "../shared_values.ts";
import type { Server, Servers } from "./servers.ts";

const STATEMENT_MS = 10_000;
/** After which the server ends a transaction whose client is silent. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/**
 * After which the server ends any transaction, as readers of the order of change
 * wait for it. Servers before version 17 do not know it.
 */
const LIMIT_TRANSACTIONS =
  `SELECT set_config('transaction_timeout', '30s', false)
  WHERE current_setting('server_version_num')::int >= 170000`;

/**
 * No statement that has an index reads a whole table, whatever size the
 * statistics give it: plans of prepared statements are kept while tables grow.
 * What reads a whole table for want of an index would seem expensive enough to
 * be compiled. With the default costs, which are those of turning disks, it
 * would read and sort all rows of a condition for the first few in the order of
 * an index.
 */
const CHOOSE_INDEXES = `SELECT set_config('enable_seqscan', 'off', false),
  set_config('jit', 'off', false), set_config('random_page_cost', '1.1', false)`;

/** Time-outs in milliseconds. */
export interface Timeouts {
  /** For a lock that another transaction holds. */
  lockWaitMs: number;
  /** After which a silent server is given up. */
  silenceMs: number;
}

export const TIMEOUTS: Timeouts = {
  lockWaitMs: LOCK_WAIT_MS,
  silenceMs: 12_000,
};

export interface PoolOptions {
  servers: Servers;
  /** Connections at most. */
  max: number;
  timeouts: Timeouts;
  clock: Clock;
}

/** The connections to one server. */
interface Generation {
  readonly pool: pg.Pool;
  /** Since which monotonic time each is in use. */
  readonly taken: Map<pg.PoolClient, number>;
  /** Of each that waits for one: called when they are not to be used any more. */
  readonly waiting: Set<() => void>;
}

/** How long the end of connections is awaited. */
export const CLOSE_MS = 2_000;

/** How often one is awaited from servers that are then not used any more. */
const TRIES = 3;

/** Connections for transactions. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  #inUse = 0;
  #generation: Generation;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { servers } = options;
    this.#generation = this.#generationOf(servers.current);
    servers.onChange((server, isOther) => this.#change(server, isOther));
  }

  #generationOf({ settings }: Server): Generation {
    const { max, timeouts } = this.#options;
    const pool = new pg.Pool({
      ...settings,
      max,
      statement_timeout: STATEMENT_MS,
      lock_timeout: timeouts.lockWaitMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      query_timeout: timeouts.silenceMs,
      pipeline: true,
    });
    pool.on("connect", (client) => {
      // The user of a broken connection learns of it from its query.
      client.on("error", () => {});
      send(client, CHOOSE_INDEXES);
      send(client, LIMIT_TRANSACTIONS);
    });
    // A connection that was not in use.
    pool.on("error", () => void this.#options.servers.failed("lost"));
    return { pool, taken: new Map(), waiting: new Set() };
  }

  /**
   * Connections of before are used no more. They may be dead as well, and each
   * would take seconds to notice. If they lead to a server that is not used any
   * more, their statements fail now.
   */
  #change(server: Server, isOther: boolean): void {
    const former = this.#generation;
    this.#generation = this.#generationOf(server);
    for (const over of former.waiting) over();
    former.waiting.clear();
    if (isOther) {
      for (const { connection } of former.taken.keys()) {
        connection.stream.destroy();
      }
    }
    former.pool.end();
  }

  /** Throws a `DbError`, also if no connection becomes free in time. */
  async take(): Promise<pg.PoolClient> {
    for (let tries = 1;; tries++) {
      const generation = this.#generation;
      try {
        const client = await connected(generation);
        generation.taken.set(client, this.#options.clock.monotonic());
        this.#inUse++;
        return client;
      } catch (error) {
        if (this.#generation === generation) {
          await this.#options.servers.failed("lost");
        }
        if (this.#generation === generation || tries === TRIES) {
          throw toDbError(error);
        }
      }
    }
  }

  /** Returns a connection after a transaction, which failed with `error`. */
  giveBack(client: pg.PoolClient, error?: unknown): void {
    this.#inUse--;
    const { taken } = this.#generation;
    const since = taken.get(client);
    taken.delete(client);
    // Failures of connections of before are known already.
    if (since !== undefined) this.#tell(error, since);
    client.release(isSpoilt(error));
  }

  #tell(error: unknown, since: number): void {
    const { servers, timeouts, clock } = this.#options;
    const isUnsure = error instanceof DbError && error.kind === "unsure";
    if (isLost(isUnsure ? error.cause : error)) {
      // A connection that broke earlier reported its end and did not time out.
      // A timer may fire a millisecond early.
      const isSilent = clock.monotonic() - since > 0.9 * timeouts.silenceMs;
      servers.failed(isSilent ? "silent" : "lost");
    } else if (isReadonly(error)) servers.failed("readonly");
  }

  /** Runs one statement outside of a transaction. */
  async query(query: pg.QueryConfig): Promise<void> {
    await this.#generation.pool.query(query);
  }

  /** How many connections are in use. */
  get inUse(): number {
    return this.#inUse;
  }

  /** For `CLOSE_MS` at most: a silent server does not end a connection. */
  close(): Promise<void> {
    const { clock } = this.#options;
    return within(clock, CLOSE_MS, this.#generation.pool.end());
  }
}

/** A connection to take; rejects when they are not to be used any more. */
function connected({ pool, waiting }: Generation): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    const over = () => reject(new Error("The server has changed."));
    waiting.add(over);
    pool.connect().then((client) => {
      if (waiting.delete(over)) resolve(client);
      else client.release(true);
    }, (error) => {
      waiting.delete(over);
      reject(error);
    });
  });
}

/** Whether the connection broke, or the server was silent. */
export function isLost(error: unknown): boolean {
  return error instanceof DbError && error.kind === "away";
}

function isReadonly(error: unknown): boolean {
  return error instanceof DbError && error.kind === "readonly";
}

/** Whether the next attempt should use another connection. */
function isSpoilt(error: unknown): boolean {
  return error instanceof DbError && SPOILT.has(error.kind);
}

/** A server that became a standby still answers, but refuses writes. */
const SPOILT: ReadonlySet<string> = new Set(["away", "unsure", "readonly"]);

/** A `DbError` after which the engine itself may retry. */
export class PostgresError extends DbError {
  /** The same transaction may succeed next time. */
  readonly again: boolean;
  /** An earlier statement of the transaction failed: that one is the cause. */
  readonly aborted: boolean;

  constructor(kind: ReturnType<typeof errorKind>, cause: Error) {
    super(KINDS[kind] ?? kind as DbErrorKind, cause.message, cause);
    this.again = kind === "retry";
    this.aborted = kind === "aborted";
  }
}

const KINDS: Record<string, DbErrorKind> = { retry: "busy", aborted: "other" };

/** An error of the driver; without an SQLSTATE the connection failed. */
export function toDbError(error: unknown): PostgresError {
  if (!(error instanceof Error)) throw error;
  const sqlState = error instanceof pg.DatabaseError ? error.code : undefined;
  return new PostgresError(
    sqlState === undefined ? "away" : errorKind(sqlState),
    error,
  );
}

/**
 * Sends a statement, in one packet with those that are sent in the same turn of
 * the event loop; the result may be awaited later or ignored. Prepared ones form
 * a group, which a text without parameters (COMMIT, ROLLBACK) ends.
 */
export function send(
  client: pg.Client,
  query: string | pg.QueryConfig,
): Promise<pg.QueryResult> {
  if (!unsent.has(client)) holdTurn(client);
  if (typeof query !== "string") return groupOf(client).add(query);
  endGroup(client);
  const answer = client.query(query).catch((error) => {
    throw toDbError(error);
  });
  answer.catch(() => {});
  return answer;
}

/**
 * The connections on which something is sent in this turn, each with the group
 * that is not complete yet.
 */
const unsent = new WeakMap<pg.Client, StatementGroup | null>();

/** Holds back what is sent until all microtasks of this turn are over. */
function holdTurn(client: pg.Client): void {
  const { stream } = client.connection;
  unsent.set(client, null);
  stream.cork();
  nextTick(() => {
    endGroup(client);
    unsent.delete(client);
    stream.uncork();
  });
}

function groupOf(client: pg.Client): StatementGroup {
  const group = unsent.get(client) ?? new StatementGroup();
  unsent.set(client, group);
  return group;
}

function endGroup(client: pg.Client): void {
  const group = unsent.get(client) ?? null;
  if (group === null) return;
  unsent.set(client, null);
  client.query(group);
}

interface GroupedStatement {
  query: pg.QueryConfig;
  answered: PromiseWithResolvers<pg.QueryResult>;
}

/**
 * Statements of one transaction that the driver takes for one query: with one
 * Sync at their end, so that the server answers in few packets instead of one a
 * statement, which costs both of them a quarter of their CPU time. The server
 * skips those that follow a failed one; they fail as in an aborted transaction.
 */
class StatementGroup extends pg.Query {
  readonly #statements: GroupedStatement[] = [];
  #completed = 0;

  constructor() {
    super({ text: "" });
    this.callback = (error) => this.#answer(error && toDbError(error));
  }

  /** The result of a statement that is sent with the group. */
  add(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const answered = Promise.withResolvers<pg.QueryResult>();
    answered.promise.catch(() => {});
    this.#statements.push({ query, answered });
    return answered.promise;
  }

  override submit(connection: pg.Connection): null {
    for (let n = 0; n < this.#statements.length; n++) {
      this.#turnTo(n);
      this.prepare(connection);
    }
    connection.sync();
    this.#turnTo(0);
    return null;
  }

  /** Sends no Sync, unlike that of a single query. */
  override _getRows(connection: pg.Connection): void {
    connection.execute({ portal: "" });
  }

  override handleCommandComplete(
    message: unknown,
    connection: pg.Connection,
  ): void {
    super.handleCommandComplete(message, connection);
    this.#turnTo(++this.#completed);
  }

  override handleError(error: Error, connection: pg.Connection): void {
    // The server did not prepare what it skipped.
    for (const { query } of this.#statements.slice(this.#completed + 1)) {
      delete connection.submittedNamedStatements[query.name!];
    }
    super.handleError(error, connection);
  }

  /** The driver keeps account of the statement that has this name and text. */
  #turnTo(n: number): void {
    if (n === this.#statements.length) return;
    const { name, text, values } = this.#statements[n].query;
    Object.assign(this, { name, text, values });
  }

  /** Settles the statements: the results of those completed, then the error. */
  #answer(error: PostgresError | null): void {
    const results = [this._results].flat().slice(0, this.#completed);
    for (const [n, { answered }] of this.#statements.entries()) {
      if (n < results.length) answered.resolve(results[n]);
      else answered.reject(n === results.length ? error : skippedAfter(error!));
    }
  }
}

/** The error of a statement that was sent after one that failed so. */
function skippedAfter(error: PostgresError): PostgresError {
  return isLost(error) ? error : new PostgresError("aborted", error);
}

/** The queries of a read transaction. */
export class PostgresSql implements Sql {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  protected statement(sql: string): Statement {
    return toReadStatement(sql);
  }

  protected send(
    sql: string,
    params: readonly Param[],
  ): Promise<pg.QueryResult> {
    const values = params.map(toValue);
    return send(this.#client, { ...this.statement(sql), values });
  }

  async all<T>(sql: string, params: readonly Param[] = []): Promise<T[]> {
    return (await this.send(sql, params)).rows as T[];
  }

  async get<T>(
    sql: string,
    params: readonly Param[] = [],
  ): Promise<T | undefined> {
    return (await this.send(sql, params)).rows[0] as T | undefined;
  }

  async changeHorizon(): Promise<ChangeHorizon> {
    return (await this.get<ChangeHorizon>(POSTGRES_CHANGES.horizon))!;
  }
}

/** The queries of a write transaction. */
export class PostgresTx extends PostgresSql implements Tx {
  readonly isOnlyWriter = false;
  readonly #shared: SharedValues;
  readonly #clock: Clock;
  readonly afterCommit: (() => void)[] = [];
  /** The time of its changes, in Unix milliseconds; null: it took none. */
  changedAt: number | null = null;
  /** The error of the first statement that failed. */
  failure: unknown = null;
  /** Whether it may have changed something. */
  hasWritten = false;
  /** Resolves when the server has carried out what was sent, or refused it. */
  done: Promise<unknown> = Promise.resolve();
  #hasEnded = false;

  constructor(client: pg.Client, shared: SharedValues, clock: Clock) {
    super(client);
    this.#shared = shared;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  /** From now on it refuses everything: the transaction goes on without it. */
  end(): void {
    this.#hasEnded = true;
  }

  #refuseLate(): void {
    if (this.#hasEnded) throw ended();
  }

  protected override statement(sql: string): Statement {
    return toStatement(sql);
  }

  protected override send(
    sql: string,
    params: readonly Param[],
  ): Promise<pg.QueryResult> {
    this.#refuseLate();
    const answer = super.send(sql, params);
    this.done = answer.catch((error) => this.failure ??= error);
    return answer;
  }

  /** Sends a statement that changes rows. */
  #write(sql: string, params: readonly Param[]): Promise<pg.QueryResult> {
    this.hasWritten = true;
    return this.send(sql, params);
  }

  async takeChanges(count: number): Promise<Change> {
    if (count > NUMBERS) throw new RangeError(`${count} changes`);
    const change = await this.once("change numbers", () => this.#takeChanges());
    this.changedAt = change.at;
    return change;
  }

  async #takeChanges(): Promise<Change> {
    const taken = await this.get<{ number: number; notBefore: number }>(
      POSTGRES_CHANGES.take,
    );
    const { number, notBefore } = taken!;
    return { number, at: Math.max(this.now(), notBefore) };
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    return (await this.#write(sql, params)).rowCount ?? 0;
  }

  lock(sql: string, params: readonly Param[] = []): Promise<void> {
    return Promise.try(() => void this.send(sql, params));
  }

  exec(sql: string, params: readonly Param[] = []): Promise<void> {
    return Promise.try(() => void this.#write(sql, params));
  }

  runLater(sql: string, params: readonly Param[] = []): Promise<Later> {
    return Promise.try(() => {
      const later: Later = { changed: 0 };
      this.#write(sql, params).then(
        ({ rowCount }) => void (later.changed = rowCount ?? 0),
        () => {}, // The commit fails, too.
      );
      return later;
    });
  }

  runMany(sql: string, rows: readonly (readonly Param[])[]): Promise<void> {
    return Promise.try(() => this.#sendMany(sql, rows));
  }

  #sendMany(sql: string, rows: readonly (readonly Param[])[]): void {
    let start = 0;
    for (let size = ROWS_LIMIT; size > 1; size /= 2) {
      const insert = insertOf(sql, size);
      if (insert === null) break;
      for (; rows.length - start >= size; start += size) {
        this.#write(insert, rows.slice(start, start + size).flat());
      }
    }
    for (const row of rows.slice(start)) this.#write(sql, row);
  }

  async once<T>(name: string, make: () => Promise<T>): Promise<T> {
    this.#refuseLate();
    return await this.#shared.once(name, make);
  }

  onCommit(fn: () => void): void {
    this.#refuseLate();
    this.afterCommit.push(fn);
  }
}
