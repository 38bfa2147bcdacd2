/**
 * The PostgreSQL engine, for services of more than one process.
 *
 * Writes run at READ COMMITTED: a write locks what it decides by, row by row (or
 * by its `order`, an advisory lock), and each statement sees what was committed
 * before it got its lock. A stricter level would only turn waits into failures.
 * Remaining conflicts (a deadlock, a row that another process inserted first)
 * are retried a bounded number of times.
 *
 * Reads are REPEATABLE READ snapshots on connections of their own, so that
 * waiting writes block no read.
 *
 * A statement is sent without waiting for the one before it, unless the write
 * awaits its result; COMMIT, too. So a write takes as many round trips as it
 * has results to wait for, and one for the commit. Statements that are sent
 * together are answered together.
 *
 * Small writes of one kind that wait together share a transaction, because a
 * commit costs more than they do: one flush, and one round trip for the same
 * statement of all. If one of them fails after it has written, it is run again by
 * itself, and the others together (`retries.ts`). How many share one, and when it
 * begins, is chosen so (`write_queues.ts`) that there are few large transactions
 * where the server is near, and several where each waits long for a network or a
 * disk, and nobody waits longer for one that a lock holds up.
 */
import type pg from "pg";
import { type Deps, systemDeps } from "../../deps.ts";
import {
  closed,
  type Db,
  DbError,
  type DbMeter,
  HURRIED_LOCK_WAIT_MS,
  NO_METER,
  type ReadOptions,
  type Sql,
  type Tx,
  type WriteOptions,
} from "../db.ts";
import { Calls } from "../calls.ts";
import { POSTGRES_CHANGES } from "../change_numbers.ts";
import { type Migration, MIGRATIONS } from "../migrations.ts";
import {
  ConnectionPool,
  isLost,
  PostgresSql,
  PostgresTx,
  send,
  TIMEOUTS,
  type Timeouts,
} from "./connection.ts";
import { migratePostgres } from "./schema.ts";
import { SharedValues } from "../shared_values.ts";
import { readBy } from "../open_read.ts";
import { Servers } from "./servers.ts";
import { type Called, isAborted, refuseSpoilt } from "./retries.ts";
import { PostgresWakeUps } from "./wake_ups.ts";
import type { Held } from "../../lib/holders.ts";
import { type WaitingWrite, WriteQueues } from "./write_queues.ts";

/** How often a read is tried if its connection breaks. */
const READ_TRIES = 2;

/** How far the times of changes may differ between processes. */
const TIME_STEP_MS = 1_000;

// Prepared, so that they are answered with the statements after them. COMMIT is
// not, so that its own time can be measured.
const BEGIN_READ = {
  name: "begin read",
  text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};
const BEGIN_WRITE = {
  name: "begin write",
  text: "BEGIN ISOLATION LEVEL READ COMMITTED",
};

export interface PostgresOptions {
  url: string;
  /** Connections, half of them for writes; one more listens for wake-ups. */
  connections?: number;
  migrations?: readonly Migration[];
  /** Create the schema if there is none; the default. */
  create?: boolean;
  deps?: Partial<Deps>;
  meter?: DbMeter;
  timeouts?: Partial<Timeouts>;
}

/**
 * Connects, and creates or upgrades the schema. Throws a `DbError`: `away`,
 * `missing`, `newer`, `corrupt`, `readonly`.
 */
export async function openPostgres(
  options: PostgresOptions,
): Promise<Db> {
  const { url, migrations = MIGRATIONS, create = true } = options;
  const deps = { ...systemDeps("error"), ...options.deps };
  const servers = await Servers.open(url, deps.clock);
  await migratePostgres(servers.current, migrations, create, deps);
  return new PostgresDb(options, servers);
}

/** The result of one write, with its handle. */
type CalledWrite = Called & { tx: PostgresTx; write: WaitingWrite };

class PostgresDb implements Db {
  readonly #servers: Servers;
  readonly #writers: ConnectionPool;
  readonly #readers: ConnectionPool;
  readonly #lockWaitMs: number;
  readonly #deps: Deps;
  readonly #meter: DbMeter;
  readonly #writes: WriteQueues<pg.PoolClient>;
  readonly #reads = new Calls();
  readonly wakeUps: PostgresWakeUps;
  /** Unix milliseconds; see `#raiseTime`. */
  #timeRaisedTo = 0;
  /** Monotonic time until which the last writes may wait for locks. */
  #hurriedUntil = Infinity;
  #closing: Promise<void> | null = null;

  constructor(options: PostgresOptions, servers: Servers) {
    const { connections = 10 } = options;
    const timeouts = { ...TIMEOUTS, ...options.timeouts };
    const deps = { ...systemDeps("error"), ...options.deps };
    const pool = { servers, timeouts, clock: deps.clock };
    const max = Math.ceil(connections / 2);
    this.#writers = new ConnectionPool({ ...pool, max });
    this.#readers = new ConnectionPool({
      ...pool,
      max: Math.max(1, connections - max),
    });
    this.#lockWaitMs = timeouts.lockWaitMs;
    this.#deps = deps;
    this.#meter = options.meter ?? NO_METER;
    this.#writes = new WriteQueues({
      transactions: {
        connect: () => this.#writers.take(),
        giveBack: (client) => this.#writers.giveBack(client),
        run: (client, order, writes) => this.#run(client, order, writes),
      },
      limit: max,
      clock: deps.clock,
      meter: this.#meter,
    });
    const me = deps.ids.uuid();
    this.wakeUps = new PostgresWakeUps(servers, this.#readers, deps.clock, me);
    this.#servers = servers;
  }

  read<T>(
    fn: (sql: Sql) => Promise<T>,
    options: ReadOptions = {},
  ): Promise<T> {
    if (this.#closing !== null) return Promise.reject(closed());
    return this.#reads.add(this.#read(fn, options));
  }

  async #read<T>(
    fn: (sql: Sql) => Promise<T>,
    options: ReadOptions,
  ): Promise<T> {
    const { single = false } = options;
    const until = this.#deps.clock.monotonic() + this.#lockWaitMs;
    for (let tries = 1;; tries++) {
      const client = await this.#readers.take();
      if (!single) send(client, BEGIN_READ);
      try {
        const value = await readBy(new PostgresSql(client), fn, options);
        if (!single) send(client, "COMMIT");
        this.#readers.giveBack(client);
        return value;
      } catch (error) {
        if (!single) send(client, "ROLLBACK");
        this.#readers.giveBack(client, error);
        const isLate = this.#deps.clock.monotonic() > until;
        if (!isLost(error) || tries >= READ_TRIES || isLate) throw error;
      }
    }
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    if (this.#closing !== null) return Promise.reject(closed());
    const { shared, changes = false } = options;
    return new Promise<T>((resolve, reject) => {
      const askedAt = this.#deps.clock.monotonic();
      this.#writes.add({
        fn,
        resolve: resolve as (value: unknown) => void,
        reject,
        key: shared?.key ?? null,
        alone: false,
        changes,
        tries: 0,
        undone: 0,
        askedAt,
        until: askedAt + this.#lockWaitMs,
      }, options);
    });
  }

  /** Runs writes in one transaction; see `Transactions`. */
  async #run(
    client: pg.PoolClient,
    order: string | null,
    writes: readonly WaitingWrite[],
  ): Promise<void> {
    let called: readonly CalledWrite[] = [];
    try {
      const opened = open(client, order, this.#shortenedLockWait(writes));
      called = await this.#call(client, opened, writes);
      refuseSpoilt(called);
      if (called.some(({ ok }) => ok)) {
        await this.#beforeCommit(called);
        const startedAt = await commit(client, opened, called, this.#deps);
        this.#meter.committed(this.#since(startedAt), called.length);
      } else send(client, "ROLLBACK");
    } catch (error) {
      send(client, "ROLLBACK");
      this.#writers.giveBack(client, error);
      throw error;
    }
    this.#writers.giveBack(client);
    for (const one of called) {
      if (!one.ok) {
        one.write.reject(one.error);
        continue;
      }
      one.write.resolve(one.value);
      if (one.tx.changedAt !== null) this.#raiseTime(one.tx.changedAt);
      // As a microtask, so that an error in one callback does not affect the
      // others.
      for (const fn of one.tx.afterCommit) queueMicrotask(fn);
    }
  }

  /** Calls the hook of tests, when all that was sent has been carried out. */
  async #beforeCommit(called: readonly CalledWrite[]): Promise<void> {
    const { beforeCommit } = this.#deps;
    if (beforeCommit === undefined) return;
    for (const { tx } of called) await tx.done;
    await beforeCommit();
  }

  /**
   * From about now on no process gives a change an earlier time, whatever its
   * clock says. Apart from the writes themselves, so that they need no lock.
   */
  #raiseTime(at: number): void {
    if (at - this.#timeRaisedTo < TIME_STEP_MS) return;
    this.#timeRaisedTo = at;
    this.write((tx) => tx.run(POSTGRES_CHANGES.raiseTime, [at, at]))
      .catch(() => {
        // A later change raises it.
      });
  }

  /**
   * Calls writes in a transaction: those with different keys at the same time,
   * in the order of their keys, those with the same key one after the other.
   */
  #call(
    client: pg.PoolClient,
    opened: Promise<unknown>,
    writes: readonly WaitingWrite[],
  ): Promise<CalledWrite[]> {
    const values = new SharedValues();
    const chains = new Map<string | null, Promise<unknown>>();
    const ordered = writes.length === 1 ? writes : writes.toSorted(byKey);
    const calls = ordered.map((write) => {
      const tx = new PostgresTx(client, values, this.#deps.clock);
      const call = () => this.#callOne(tx, write, opened);
      const before = chains.get(write.key);
      const called = before === undefined ? call() : before.then(call);
      chains.set(write.key, called);
      return called;
    });
    return Promise.all(calls);
  }

  async #callOne(
    tx: PostgresTx,
    write: WaitingWrite,
    opened: Promise<unknown>,
  ): Promise<CalledWrite> {
    // In the round trip of its first statement.
    if (write.changes) tx.takeChanges(1).catch(() => {});
    try {
      return { ok: true, write, value: await resultOf(write, tx), tx };
    } catch (error) {
      // After a failed BEGIN, later errors only repeat that it failed.
      const first = await opened.then(
        () => causeOf(error, tx),
        (cause) => cause,
      );
      return { ok: false, write, error: first, tx };
    }
  }

  /**
   * The lock time-out for these writes; null for the default. One that has
   * waited long already gets a second at least.
   */
  #shortenedLockWait([{ until }]: readonly WaitingWrite[]): number | null {
    const now = this.#deps.clock.monotonic();
    const left = Math.min(until, this.#hurriedUntil) - now;
    if (left > 0.9 * this.#lockWaitMs) return null;
    return Math.round(Math.max(left, HURRIED_LOCK_WAIT_MS));
  }

  /** Milliseconds since a monotonic time. */
  #since(time: number): number {
    return this.#deps.clock.monotonic() - time;
  }

  sizes(): Promise<Record<string, number>> {
    return this.read(async (sql) => {
      const row = await sql.get<{ database: number }>(
        "SELECT pg_database_size(current_database()) AS database",
      );
      return { ...row };
    });
  }

  backup(): Promise<void> {
    return Promise.reject(
      new DbError(
        "other",
        "The database is PostgreSQL: pg_dump makes a consistent copy of it " +
          "while the service runs.",
      ),
    );
  }

  hurry(): void {
    this.#hurriedUntil = this.#deps.clock.monotonic() + HURRIED_LOCK_WAIT_MS;
  }

  held(): Held {
    return {
      ...this.#writes.held(),
      reads: this.#reads.size,
      writersInUse: this.#writers.inUse,
      readersInUse: this.#readers.inUse,
      wakeUps: this.wakeUps.unsent,
    };
  }

  oldestWaitMs(): number {
    return this.#writes.oldestWaitMs();
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    await Promise.all([this.#writes.ended(), this.#reads.ended()]);
    this.#servers.close();
    const all = [this.wakeUps, this.#writers, this.#readers];
    await Promise.all(all.map((one) => one.close()));
  }
}

/** What a write returns; its handle ends with it. */
async function resultOf(
  { fn }: WaitingWrite,
  tx: PostgresTx,
): Promise<unknown> {
  try {
    return await fn(tx);
  } finally {
    tx.end();
  }
}

/** Begins a transaction; resolves when it holds the lock of the order. */
function open(
  client: pg.Client,
  order: string | null,
  shortenedMs: number | null,
): Promise<unknown> {
  const begun = send(client, BEGIN_WRITE);
  if (shortenedMs !== null) {
    send(client, `SET LOCAL lock_timeout = ${shortenedMs}`);
  }
  if (order === null) return begun;
  return send(client, {
    name: "order",
    text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
    values: [order],
  });
}

function byKey(one: WaitingWrite, other: WaitingWrite): number {
  return one.key! < other.key! ? -1 : one.key! > other.key! ? 1 : 0;
}

/** The first failure of the transaction, if this error only follows from it. */
function causeOf(error: unknown, { failure }: PostgresTx): unknown {
  return isAborted(error) ? failure ?? error : error;
}

/**
 * Returns the monotonic time at which the server had carried out the statements
 * that were sent with the COMMIT. Throws `unsure` also after a warning: the
 * server gives one when it stopped waiting for a synchronous standby, without
 * which the commit can be lost.
 */
async function commit(
  client: pg.Client,
  opened: Promise<unknown>,
  called: readonly CalledWrite[],
  { clock }: Deps,
): Promise<number> {
  // Whatever breaks from here on, the server may have committed.
  const warnings: pg.Notice[] = [];
  const listen = (notice: pg.Notice) => void warnings.push(notice);
  client.on("notice", listen);
  try {
    const committed = send(client, "COMMIT");
    await called.at(-1)!.tx.done;
    const startedAt = clock.monotonic();
    const { command } = await committed;
    if (command !== "COMMIT") {
      await opened;
      refuseSpoilt(called);
      throw new DbError("other", "A failed statement was passed over.");
    }
    if (warnings.length > 0) {
      throw new DbError("unsure", warnings[0].message);
    }
    return startedAt;
  } catch (error) {
    if (!isLost(error)) throw error;
    throw new DbError(
      "unsure",
      "The connection broke during the commit.",
      error,
    );
  } finally {
    client.off("notice", listen);
  }
}
