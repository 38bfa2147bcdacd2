/**
 * Connections to PostgreSQL. Only this file and its neighbours `postgres*.ts`
 * know the driver (`pg`).
 */
import { readFileSync } from "node:fs";
import pg from "pg";
import type { Clock } from "../../deps.ts";
import {
  DbError,
  type DbErrorKind,
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

/** To connect, and to wait for a connection that is free. */
const CONNECT_MS = 5_000;
/** For a lock that another transaction holds. */
const LOCK_MS = 5_000;
const STATEMENT_MS = 10_000;
/** Until the server ends a transaction whose process says nothing. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** Until a server that says nothing is given up. */
const SILENCE_MS = 12_000;

/** The driver's settings for a `postgres://` URL that `config.ts` accepted. */
export function connectionOf(url: string): pg.ClientConfig {
  const { hostname, port, username, password, pathname, searchParams } =
    new URL(url);
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    // Never missing: the driver would look for it in the environment.
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

/** Connections for transactions, `max` of them at most. */
export function openPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOf(url),
    max,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    query_timeout: SILENCE_MS,
    pipeline: true,
  });
  // Whoever uses a connection that breaks hears of it by its query.
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", () => {});
  return pool;
}

/** A connection of the pool; throws a `DbError`. */
export async function takeConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw toDbError(error);
  }
}

/** A `DbError` that the engine itself may answer by another attempt. */
export class PostgresError extends DbError {
  /** Nothing stands against the same transaction the next time. */
  readonly again: boolean;

  constructor(kind: DbErrorKind | "retry", cause: Error) {
    super(kind === "retry" ? "busy" : kind, cause.message, cause);
    this.again = kind === "retry";
  }
}

/** What the driver threw; without an SQLSTATE the connection is at fault. */
export function toDbError(error: unknown): PostgresError {
  if (!(error instanceof Error)) throw error;
  const sqlState = error instanceof pg.DatabaseError ? error.code : undefined;
  return new PostgresError(
    sqlState === undefined ? "away" : errorKind(sqlState),
    error,
  );
}

/** Sends a statement; its answer may be awaited later, or by nobody. */
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

/** The queries of one transaction that only reads. */
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
}

/** The queries of one write. */
export class PostgresTx extends PostgresSql implements Tx {
  readonly #shared: SharedValues;
  readonly #clock: Clock;
  readonly afterCommit: (() => void)[] = [];

  constructor(client: pg.Client, shared: SharedValues, clock: Clock) {
    super(client);
    this.#shared = shared;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    return (await this.send(sql, params)).rowCount ?? 0;
  }

  /** All of it is under way before the first answer: one round trip. */
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
    // The first that failed tells why; those after it only that one did.
    for (const answer of answers) await answer;
  }

  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    return this.#shared.once(name, make);
  }

  onCommit(fn: () => void): void {
    this.afterCommit.push(fn);
  }
}
