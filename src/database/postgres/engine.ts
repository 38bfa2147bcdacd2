/**
 * The PostgreSQL engine, for services of more than one process.
 *
 * Writes run at READ COMMITTED: a write locks the rows that it decides by (or
 * its `order`, as an advisory lock), and each statement sees what was committed
 * before it got its lock. With a stricter isolation level, writes would fail
 * instead of waiting. Remaining conflicts (a deadlock, a row that another
 * process inserted first) are retried a bounded number of times.
 *
 * Reads are REPEATABLE READ snapshots on separate connections, so that waiting
 * writes block no read.
 *
 * A statement is sent without waiting for the one before it, unless the write
 * awaits its result. COMMIT is sent once all statements are known to have
 * changed the required number of rows. So a write takes one round trip for each
 * result that it awaits, one for the last changes, and one for the commit.
 *
 * Small writes of one kind that wait at the same time share a transaction,
 * because a commit costs more than a small write: the writes share the commit's
 * flush, and the same statement of all writes takes one round trip. If one of
 * the writes fails after it has changed rows, the transaction is undone: that
 * write runs again alone, and the other writes run again without it
 * (`write_queues.ts`).
 */
import type pg from "pg";
import { type Deps, systemDeps } from "../../deps.ts";
import {
  closedError,
  type Db,
  DbError,
  type DbMeter,
  HURRIED_LOCK_WAIT_MS,
  NO_METER,
  type ReadWrite,
  type Sql,
  type Tx,
} from "../db.ts";
import {
  type EngineReadOptions,
  type EngineWriteOptions,
  ofSeller,
} from "../of_seller.ts";
import { Calls } from "../../lib/calls.ts";
import { POSTGRES_CHANGES } from "../change_numbers.ts";
import { type Migration, MIGRATIONS } from "../migrations.ts";
import { SESSION } from "./citus.ts";
import { isLost, PostgresError } from "./connection.ts";
import { type Statement, toStatement } from "./dialect.ts";
import { ConnectionPool, TIMEOUTS, type Timeouts } from "./pool.ts";
import {
  LOCK,
  PostgresSql,
  PostgresTx,
  type Reaching,
  Transaction,
} from "./queries.ts";
import { migratePostgres } from "./schema.ts";
import { serverUrls } from "../../lib/server_urls.ts";
import { Nodes, type Opened, type ServerDb } from "./nodes.ts";
import { type Server, Servers } from "./servers.ts";
import { SpreadDb } from "./spread.ts";
import { PostgresWakeUps } from "./wake_ups.ts";
import type { InUse } from "../../lib/holders.ts";
import { type Undone, type WaitingWrite, WriteQueues } from "./write_queues.ts";

/** The most runs of a read whose connection breaks. */
const READ_TRIES = 2;

/** The largest difference between the times of changes of several processes. */
const TIME_STEP_MS = 1_000;

/** A statement that does not depend on earlier ones. */
const first = (name: string, text: string): Statement => ({
  name,
  text,
  isFirst: true,
});
const BEGIN_READ = first(
  "begin read",
  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
);
const BEGIN_WRITE = first(
  "begin write",
  "BEGIN ISOLATION LEVEL READ COMMITTED",
);
const ROLLBACK = first("rollback", "ROLLBACK");
const END_READ = toStatement("COMMIT");
/** `flushesFirst`, so that the time of the commit alone can be measured. */
const COMMIT: Statement = { ...END_READ, flushesFirst: true };
const LOCK_TIMEOUT = toStatement("SELECT set_config('lock_timeout', ?, true)");
const LOCK_ORDER = toStatement(LOCK);

export interface PostgresOptions {
  url: string;
  /**
   * The number of connections, half of them for writes; one more listens for
   * wake-ups.
   */
  connections?: number;
  migrations?: readonly Migration[];
  /** Shards of each table, if sellers are spread over servers. */
  shards?: number;
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
  const { shards = 32 } = options;
  const isSpread = await migratePostgres(
    servers.current,
    migrations,
    create,
    deps,
    shards,
  );
  if (!isSpread) return new PostgresDb(options, servers);
  const open = ({ settings }: Server): Opened => {
    const servers = new Servers([settings], false, deps.clock);
    return { db: new PostgresDb(options, servers), servers };
  };
  servers.close();
  const settings = { ...servers.current.settings, options: SESSION };
  const nodes = await Nodes.open({
    server: { settings },
    isRandom: serverUrls(url)![0].searchParams.has("load_balance_hosts"),
    open,
    deps,
  });
  return new SpreadDb(nodes);
}

/** The result of one write in a transaction that is still open. */
type Called =
  & { tx: PostgresTx; write: WaitingWrite }
  & ({ ok: true; value: unknown } | { ok: false; error: unknown });

class PostgresDb implements ServerDb {
  readonly #servers: Servers;
  readonly #writers: ConnectionPool;
  readonly #readers: ConnectionPool;
  readonly #lockWaitMs: number;
  readonly #deps: Deps;
  readonly #meter: DbMeter;
  readonly #writes: WriteQueues;
  readonly #reads = new Calls();
  readonly wakeUps: PostgresWakeUps;
  /**
   * The time up to which the stored time was raised, in Unix milliseconds; see
   * `#raiseTime`.
   */
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
      transact: (order, take) => this.#transact(order, take),
      limit: max,
      clock: deps.clock,
      meter: this.#meter,
    });
    const me = deps.ids.uuid();
    this.wakeUps = new PostgresWakeUps(servers, this.#readers, deps.clock, me);
    this.#servers = servers;
  }

  of(sellerNo: number): ReadWrite {
    return ofSeller(this, sellerNo);
  }

  read<T>(
    fn: (sql: Sql) => Promise<T>,
    options: EngineReadOptions & Reaching = {},
  ): Promise<T> {
    if (this.#closing !== null) return Promise.reject(closedError());
    return this.#reads.add(this.#read(fn, options));
  }

  async #read<T>(
    fn: (sql: Sql) => Promise<T>,
    options: EngineReadOptions & Reaching,
  ): Promise<T> {
    const { single = false } = options;
    const until = this.#deps.clock.monotonic() + this.#lockWaitMs;
    for (let tries = 1;; tries++) {
      const connection = await this.#readers.take();
      if (!single) void connection.send(BEGIN_READ);
      try {
        const sql = new PostgresSql(connection, options);
        const value = await sql.during(() => fn(sql));
        const last = single ? null : END_READ;
        this.#readers.release(connection, null, last);
        return value;
      } catch (error) {
        this.#readers.release(connection, error, single ? null : ROLLBACK);
        const isLate = this.#deps.clock.monotonic() > until;
        if (!isLost(error) || tries >= READ_TRIES || isLate) throw error;
      }
    }
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    options: EngineWriteOptions & Reaching = {},
  ): Promise<T> {
    if (this.#closing !== null) return Promise.reject(closedError());
    const { shared, changes = false, seller = null, reach } = options;
    const isKnown = seller !== null || reach === undefined;
    const call = (tx: Tx) => {
      // The change number is taken in the round trip of the first statement.
      if (changes && isKnown) tx.takeChanges(1, seller ?? 0).catch(() => {});
      return fn(tx);
    };
    return new Promise<T>((resolve, reject) => {
      const askedAt = this.#deps.clock.monotonic();
      this.#writes.add({
        fn: call,
        resolve: resolve as (value: unknown) => void,
        reject,
        key: shared?.key ?? "",
        reach,
        askedAt,
        until: askedAt + this.#lockWaitMs,
      }, options);
    });
  }

  /** See `Transact`. */
  async #transact(
    order: string | null,
    take: () => readonly WaitingWrite[],
  ): Promise<Undone | null> {
    const connection = await this.#writers.take();
    const writes = take();
    if (writes.length === 0) {
      this.#writers.release(connection, null, null);
      return null;
    }
    const transaction = new Transaction(connection);
    transaction.send(BEGIN_WRITE);
    const lockWaitMs = this.#shortenedLockWait(writes);
    if (lockWaitMs !== null) transaction.send(LOCK_TIMEOUT, [lockWaitMs]);
    if (order !== null) transaction.send(LOCK_ORDER, [order]);
    const called = await this.#call(transaction, writes);
    let undone = undoneBy(called, transaction);
    const commits = undone === null && called.some(({ ok }) => ok);
    if (commits) undone = await this.#commit(called, transaction);
    const last = commits && undone === null ? null : ROLLBACK;
    this.#writers.release(connection, undone?.error ?? null, last);
    if (undone === null) { for (const one of called) this.#settle(one); }
    return undone;
  }

  #settle(called: Called): void {
    const { write, tx } = called;
    if (!called.ok) return write.reject(called.error);
    write.resolve(called.value);
    if (tx.changedAt !== null) this.#raiseTime(tx.changedAt);
    // As a microtask, so that an error in one callback does not affect the
    // others.
    for (const fn of tx.afterCommit) queueMicrotask(fn);
  }

  /**
   * Commits a transaction; returns why it was undone, or null. A warning makes
   * the result `unsure`: the server warns when it stops waiting for a
   * synchronous standby, and then the commit can be lost.
   */
  async #commit(
    called: readonly Called[],
    transaction: Transaction,
  ): Promise<Undone | null> {
    const { connection } = transaction;
    const { clock, beforeCommit } = this.#deps;
    const warnings: pg.Notice[] = [];
    const listen = (notice: pg.Notice) => void warnings.push(notice);
    connection.client.on("notice", listen);
    try {
      // A write that changed too few rows must not be committed.
      const { uncounted, places } = transaction;
      if (uncounted > 0 || places !== null || beforeCommit !== undefined) {
        await transaction.settle();
        if (transaction.failure !== null) return undoneBy(called, transaction);
        await beforeCommit?.();
      }
      const committed = connection.send(COMMIT);
      await transaction.done;
      const startedAt = clock.monotonic();
      const { tag } = await committed;
      if (tag !== "COMMIT") return undoneBy(called, transaction);
      if (warnings.length > 0) throw unsure(warnings[0].message);
      this.#meter.committed(clock.monotonic() - startedAt, called.length);
      return null;
    } catch (error) {
      // After any of these errors the server may have committed.
      const known = isLost(error)
        ? unsure("The connection broke during the commit.", error)
        : error;
      const isOther = isLost(error) || transaction.failure === null;
      return isOther
        ? { error: known, write: null }
        : undoneBy(called, transaction);
    } finally {
      connection.client.off("notice", listen);
    }
  }

  /**
   * Raises the stored time of changes, so that soon no process gives a change
   * an earlier time, even if its clock is behind. This is a separate statement,
   * so that writes need no lock for it.
   */
  #raiseTime(at: number): void {
    if (at - this.#timeRaisedTo < TIME_STEP_MS) return;
    this.#timeRaisedTo = at;
    this.write((tx) => tx.run(POSTGRES_CHANGES.raiseTime, [at, at], "any"))
      .catch(() => {
        // A failure is ignored, because the next change raises the time.
      });
  }

  /**
   * Calls the writes of a transaction. Writes with different keys run
   * concurrently, and begin in the order of their keys; writes with the same
   * key run one after the other.
   */
  #call(
    transaction: Transaction,
    writes: readonly WaitingWrite[],
  ): Promise<Called[]> {
    const chains = new Map<string, Promise<unknown>>();
    const ordered = writes.length === 1 ? writes : writes.toSorted(byKey);
    return Promise.all(ordered.map((write) => {
      const call = () => this.#callOne(transaction, write);
      const before = chains.get(write.key);
      const called = before === undefined ? call() : before.then(call);
      chains.set(write.key, called);
      return called;
    }));
  }

  async #callOne(
    transaction: Transaction,
    write: WaitingWrite,
  ): Promise<Called> {
    const tx = new PostgresTx(transaction, this.#deps.clock, write);
    try {
      return { ok: true, value: await write.fn(tx), write, tx };
    } catch (error) {
      return { ok: false, error, write, tx };
    } finally {
      void tx.end();
    }
  }

  /**
   * The lock timeout for these writes; null for the default. A write that has
   * waited long gets at least a second.
   */
  #shortenedLockWait([{ until }]: readonly WaitingWrite[]): number | null {
    const now = this.#deps.clock.monotonic();
    const left = Math.min(until, this.#hurriedUntil) - now;
    if (left > 0.9 * this.#lockWaitMs) return null;
    return Math.round(Math.max(left, HURRIED_LOCK_WAIT_MS));
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

  shortenLockWaits(): void {
    this.#hurriedUntil = this.#deps.clock.monotonic() + HURRIED_LOCK_WAIT_MS;
  }

  inUse(): InUse {
    return {
      ...this.#writes.inUse(),
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

function byKey(one: WaitingWrite, other: WaitingWrite): number {
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0;
}

/**
 * The known reason why a transaction cannot be committed; null if it can be.
 */
function undoneBy(
  called: readonly Called[],
  { failure }: Transaction,
): Undone | null {
  if (failure !== null) {
    const one = called.find(({ tx }) => tx === failure.tx);
    // If the write threw its own error, that error says more.
    const isOwn = one?.ok === false && !(one.error instanceof PostgresError);
    const error = isOwn ? one.error : failure.error;
    return { error, write: one?.write ?? null };
  }
  const one = called.find(({ ok, tx }) => !ok && tx.hasWritten);
  return one === undefined || one.ok
    ? null
    : { error: one.error, write: one.write };
}

function unsure(message: string, cause?: unknown): DbError {
  return new DbError("unsure", message, cause);
}
