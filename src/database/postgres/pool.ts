/** Connections for transactions, to whichever server accepts writes. */
import pg from "pg";
import type { Clock } from "../../deps.ts";
import { DbError, LOCK_WAIT_MS, type Param } from "../db.ts";
import { waitAtMost } from "../../lib/waits.ts";
import { Connection, isLost, postgresDbError } from "./connection.ts";
import { type Statement, toStatement } from "./dialect.ts";
import type { Server, Servers } from "./servers.ts";

const STATEMENT_MS = 10_000;
/** After which the server ends a transaction whose client is silent. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/**
 * How statements are planned, and after which time the server ends any
 * transaction, as readers of the order of change wait for it; servers before
 * version 17 do not know that.
 *
 * No statement that has an index reads a whole table, whatever size the
 * statistics give it: plans of prepared statements are kept while tables grow.
 * What reads a whole table for want of an index would seem expensive enough to
 * be compiled. With the default costs, which are those of turning disks, it
 * would read and sort all rows of a condition for the first few in the order of
 * an index.
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
  /** The time after which a silent server is given up. */
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
  readonly connections: WeakMap<pg.PoolClient, Connection>;
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
  /** How many connections are in use. */
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
      // The user of a broken connection learns of it from its query.
      client.on("error", () => {});
      const connection = new Connection(client);
      connections.set(client, connection);
      connection.send(SETTINGS);
    });
    // A connection that was not in use.
    pool.on("error", () => void this.#options.servers.failed("lost"));
    return { pool, taken: new Map(), connections, waiting: new Set() };
  }

  /**
   * Earlier connections are no longer used. They may be broken as well, and
   * each would take seconds to notice. If they lead to a server that is not
   * used any more, their statements fail now.
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
   * Returns a connection after a transaction, which failed with `error` or not.
   * It is used again when it has carried out the `last` statement.
   */
  giveBack(
    connection: Connection,
    error: unknown,
    last: Statement | null,
  ): void {
    const { client } = connection;
    const { taken } = this.#generation;
    const since = taken.get(client);
    taken.delete(client);
    this.inUse--;
    // Failures of earlier connections are known already.
    if (since !== undefined) this.#report(error, since);
    const isSpoilt = isOfKind(error, SPOILT);
    if (isSpoilt || last === null) client.release(isSpoilt);
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
      servers.failed(isSilent ? "silent" : "lost");
    } else if (isOfKind(error, ["readonly"])) servers.failed("readonly");
  }

  /** Runs one statement outside of a transaction. */
  async query(
    statement: Statement,
    params: readonly Param[],
  ): Promise<void> {
    const connection = await this.take();
    const answer = connection.send(statement, params);
    await answer.then(
      () => this.giveBack(connection, null, null),
      (error) => this.giveBack(connection, error, null),
    );
  }

  /** For `CLOSE_MS` at most: a silent server does not end a connection. */
  close(): Promise<void> {
    const { clock } = this.#options;
    return waitAtMost(clock, CLOSE_MS, this.#generation.pool.end());
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

function isOfKind(error: unknown, kinds: readonly string[]): error is DbError {
  return error instanceof DbError && kinds.includes(error.kind);
}

/**
 * After them another connection is used: a server that became a standby still
 * answers, but refuses writes.
 */
const SPOILT = ["away", "unsure", "readonly"];
