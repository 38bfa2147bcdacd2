/** Connections to PostgreSQL. Only this folder knows the driver (`pg`). */
import { readFileSync } from "node:fs";
import pg from "pg";
import type { Clock } from "../../deps.ts";
import { NUMBERS, POSTGRES_CHANGES } from "../change_numbers.ts";
import {
  type Change,
  type ChangeHorizon,
  DbError,
  type DbErrorKind,
  LOCK_WAIT_MS,
  type Param,
  type Sql,
  type Tx,
} from "../db.ts";
import {
  errorKind,
  insertOf,
  readerOf,
  ROWS_LIMIT,
  toStatement,
  toValue,
} from "../dialect.ts";
import type { SharedValues } from "../shared_values.ts";

/** For connecting, and for waiting for a free connection. */
const CONNECT_MS = 5_000;
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

/**
 * The driver's settings for a `postgres://` URL that `config.ts` has accepted.
 */
export function connectionOf(url: string): pg.ClientConfig {
  const { hostname, port, username, password, pathname, searchParams } =
    new URL(url);
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    // Always set, because the driver would read it from the environment
    // otherwise.
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ssl: encryption(
      searchParams.get("sslmode"),
      searchParams.get("sslrootcert"),
    ),
    application_name: "seller-interface",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: { getTypeParser: readerOf },
  };
}

function encryption(
  mode: string | null,
  authority: string | null,
): pg.ClientConfig["ssl"] {
  if (mode === "require") return { rejectUnauthorized: false };
  if (mode !== "verify-full") return false;
  const ca = authority === null
    ? {}
    : { ca: readFileSync(authority, { encoding: "utf8" }) };
  return { rejectUnauthorized: true, ...ca };
}

export interface PoolOptions {
  url: string;
  /** Connections at most. */
  max: number;
  timeouts: Timeouts;
  clock: Clock;
}

/** Connections for transactions. */
export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;
  readonly #silenceMs: number;
  /** Monotonic times. */
  readonly #takenAt = new WeakMap<pg.Client, number>();
  /**
   * Connections opened since one was last silent. Older ones may be dead as
   * well, and each would take seconds to notice.
   */
  #trusted = new WeakSet<pg.Client>();

  constructor({ url, max, timeouts, clock }: PoolOptions) {
    this.#clock = clock;
    this.#silenceMs = timeouts.silenceMs;
    this.#pool = new pg.Pool({
      ...connectionOf(url),
      max,
      statement_timeout: STATEMENT_MS,
      lock_timeout: timeouts.lockWaitMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      query_timeout: timeouts.silenceMs,
      pipeline: true,
    });
    this.#pool.on("connect", (client) => {
      this.#trusted.add(client);
      // The user of a broken connection learns of it from its query.
      client.on("error", () => {});
      send(client, LIMIT_TRANSACTIONS);
    });
    this.#pool.on("error", () => {});
  }

  /** Throws a `DbError`, also if no connection becomes free in time. */
  async take(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#pool.connect().catch((error) => {
        throw toDbError(error);
      });
      this.#takenAt.set(client, this.#clock.monotonic());
      if (this.#trusted.has(client)) return client;
      client.release(true);
    }
  }

  /** Returns a connection after a transaction, which failed with `error`. */
  giveBack(client: pg.PoolClient, error?: unknown): void {
    const heldMs = this.#clock.monotonic() - this.#takenAt.get(client)!;
    // A connection that broke earlier reported its end and did not time out.
    if (isLost(error) && heldMs >= this.#silenceMs) {
      this.#trusted = new WeakSet();
    }
    client.release(isSpoilt(error));
  }

  /** Runs one statement outside of a transaction. */
  async query(query: pg.QueryConfig): Promise<void> {
    await this.#pool.query(query);
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** Whether the connection broke, or the server was silent. */
export function isLost(error: unknown): boolean {
  return error instanceof DbError && error.kind === "away";
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

  constructor(kind: DbErrorKind | "retry", cause: Error) {
    super(kind === "retry" ? "busy" : kind, cause.message, cause);
    this.again = kind === "retry";
  }
}

/** An error of the driver; without an SQLSTATE the connection failed. */
export function toDbError(error: unknown): PostgresError {
  if (!(error instanceof Error)) throw error;
  const sqlState = error instanceof pg.DatabaseError ? error.code : undefined;
  return new PostgresError(
    sqlState === undefined ? "away" : errorKind(sqlState),
    error,
  );
}

/** Sends a statement; the result may be awaited later or ignored. */
export function send(
  client: pg.Client,
  query: string | pg.QueryConfig,
): Promise<pg.QueryResult> {
  const answer = client.query(query).catch((error) => {
    throw toDbError(error);
  });
  answer.catch(() => {});
  return answer;
}

/** The queries of a read transaction. */
export class PostgresSql implements Sql {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  protected send(
    sql: string,
    params: readonly Param[],
  ): Promise<pg.QueryResult> {
    const values = params.map(toValue);
    return send(this.#client, { ...toStatement(sql), values });
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
  readonly #shared: SharedValues;
  readonly #clock: Clock;
  readonly afterCommit: (() => void)[] = [];
  /** The time of its changes, in Unix milliseconds; null: it took none. */
  changedAt: number | null = null;

  constructor(client: pg.Client, shared: SharedValues, clock: Clock) {
    super(client);
    this.#shared = shared;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
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
    return (await this.send(sql, params)).rowCount ?? 0;
  }

  /**
   * All statements are sent before the first result arrives: one round trip.
   */
  async runMany(
    sql: string,
    rows: readonly (readonly Param[])[],
  ): Promise<void> {
    const answers: Promise<unknown>[] = [];
    let start = 0;
    for (let size = ROWS_LIMIT; size > 1; size /= 2) {
      const insert = insertOf(sql, size);
      if (insert === null) break;
      for (; rows.length - start >= size; start += size) {
        answers.push(
          this.send(insert, rows.slice(start, start + size).flat()),
        );
      }
    }
    for (const row of rows.slice(start)) answers.push(this.send(sql, row));
    // Only the first error is the cause; the others follow from it.
    for (const answer of answers) await answer;
  }

  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    return this.#shared.once(name, make);
  }

  onCommit(fn: () => void): void {
    this.afterCommit.push(fn);
  }
}
