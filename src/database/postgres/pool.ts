/** Connections for transactions, to the server that accepts writes. */
import pg from "pg";
import type { Clock } from "../../deps.ts";
import { DbError, LOCK_WAIT_MS, type Param } from "../db.ts";
import { waitAtMost } from "../../lib/waits.ts";
import { Connection, isLost, postgresDbError } from "./connection.ts";
import { type Statement, toStatement } from "./dialect.ts";
import type { Server, Servers } from "./servers.ts";

const STATEMENT_MS = 10_000;
/** The server ends a transaction whose client is silent for this long. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/**
 * Settings of the planner, and the longest time of a transaction, because
 * readers of the change feed wait for all transactions; servers before version
 * 17 lack this limit.
 *
 * A statement that can use an index never reads a whole table, even if the
 * statistics say that the table is small: the plan of a prepared statement
 * stays while the table grows. With these settings, a statement without an
 * index seems so expensive that PostgreSQL would compile it, so compilation is
 * off. The default costs are those of hard disks; with them, a plan would read
 * and sort all rows of a condition to return the first few in the order of an
 * index.
 */
const SETTINGS = toStatement(
  `SELECT set_config('enable_seqscan', 'off', false),
    set_config('jit', 'off', false),
    set_config('random_page_cost', '1.1', false),
    CASE WHEN current_setting('server_version_num')::int >= 170000
      THEN set_config('transaction_timeout', '30s', false) END`,
);

/** Time-outs in milliseconds. */
export interface Timeouts {
  /** The longest wait for another transaction's lock. */
  lockWaitMs: number;
  /** After this time a silent server is abandoned. */
  silenceMs: number;
}

export const TIMEOUTS: Timeouts = {
  lockWaitMs: LOCK_WAIT_MS,
  silenceMs: 12_000,
};

export interface PoolOptions {
  servers: Servers;
  /** The most connections. */
  max: number;
  timeouts: Timeouts;
  clock: Clock;
}

/** The connections to one server. */
interface Generation {
  readonly pool: pg.Pool;
  /** The connections in use, and the monotonic time at which each was taken. */
  readonly taken: Map<pg.PoolClient, number>;
  readonly connections: WeakMap<pg.PoolClient, Connection>;
  /**
   * For each call that waits for a connection: a function that ends its wait.
   */
  readonly waiting: Set<() => void>;
}

/** The longest wait for connections to end. */
export const CLOSE_MS = 2_000;

/** How often a call waits for a connection if the server changes. */
const TRIES = 3;

/** Connections for transactions. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  /** Connections in use. */
  inUse = 0;
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
    });
    const connections = new WeakMap<pg.PoolClient, Connection>();
    pool.on("connect", (client) => {
      // The caller gets the error of a broken connection from its query.
      client.on("error", () => {});
      const connection = new Connection(client);
      connections.set(client, connection);
      void connection.send(SETTINGS);
    });
    // An idle connection broke.
    pool.on("error", () => void this.#options.servers.failed("lost"));
    return { pool, taken: new Map(), connections, waiting: new Set() };
  }

  /**
   * Stops using earlier connections: they may also be broken, and noticing that
   * takes seconds for each. The statements on connections to a server that is
   * no longer used fail now.
   */
  #change(server: Server, isOther: boolean): void {
    const former = this.#generation;
    this.#generation = this.#generationOf(server);
    for (const stopWaiting of former.waiting) stopWaiting();
    former.waiting.clear();
    if (isOther) {
      for (const { connection } of former.taken.keys()) {
        connection.stream.destroy();
      }
    }
    void former.pool.end();
  }

  /**
   * Takes a connection. Throws a `DbError`, also if no connection becomes free
   * in time.
   */
  async take(): Promise<Connection> {
    for (let tries = 1;; tries++) {
      const generation = this.#generation;
      if (this.#options.servers.isAway) {
        throw postgresDbError(new Error("The server is away."));
      }
      try {
        const client = await connected(generation);
        generation.taken.set(client, this.#options.clock.monotonic());
        this.inUse++;
        return generation.connections.get(client)!;
      } catch (error) {
        if (this.#generation === generation) {
          await this.#options.servers.failed("lost");
        }
        if (this.#generation === generation || tries === TRIES) {
          throw postgresDbError(error);
        }
      }
    }
  }

  /**
   * Returns a connection after a transaction; `error` is its failure, if it
   * failed. The connection is used again once it has executed the `last`
   * statement.
   */
  release(
    connection: Connection,
    error: unknown,
    last: Statement | null,
  ): void {
    const { client } = connection;
    const { taken } = this.#generation;
    const since = taken.get(client);
    taken.delete(client);
    this.inUse--;
    // Failures of earlier connections are already known.
    if (since !== undefined) this.#report(error, since);
    const isUnusable = isOfKind(error, UNUSABLE_AFTER);
    if (isUnusable || last === null) client.release(isUnusable);
    else {
      connection.send(last)
        .then(() => client.release(), () => client.release(true));
    }
  }

  #report(error: unknown, since: number): void {
    const { servers, timeouts, clock } = this.#options;
    const broken = isOfKind(error, ["unsure"]) ? error.cause : error;
    if (isLost(broken)) {
      // A connection that broke earlier reported its end and did not time out.
      // A timer may fire a millisecond early.
      const isSilent = clock.monotonic() - since > 0.9 * timeouts.silenceMs;
      void servers.failed(isSilent ? "silent" : "lost");
    } else if (isOfKind(error, ["readonly"])) void servers.failed("readonly");
  }

  /** Runs one statement outside of a transaction. */
  async query(
    statement: Statement,
    params: readonly Param[],
  ): Promise<void> {
    const connection = await this.take();
    const answer = connection.send(statement, params);
    await answer.then(
      () => this.release(connection, null, null),
      (error) => this.release(connection, error, null),
    );
  }

  /**
   * Waits at most `CLOSE_MS`: with a silent server, closing a connection never
   * ends.
   */
  close(): Promise<void> {
    const { clock } = this.#options;
    return waitAtMost(clock, CLOSE_MS, this.#generation.pool.end());
  }
}

/**
 * Takes a connection; rejects if the pool's connections are no longer to be
 * used.
 */
function connected({ pool, waiting }: Generation): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    const stopWaiting = () => reject(new Error("The server has changed."));
    waiting.add(stopWaiting);
    pool.connect().then((client) => {
      if (waiting.delete(stopWaiting)) resolve(client);
      else client.release(true);
    }, (error) => {
      waiting.delete(stopWaiting);
      reject(error);
    });
  });
}

function isOfKind(error: unknown, kinds: readonly string[]): error is DbError {
  return error instanceof DbError && kinds.includes(error.kind);
}

/**
 * The errors after which a connection is not used again. A server that became a
 * standby still answers, but refuses writes.
 */
const UNUSABLE_AFTER = ["away", "unsure", "readonly"];
