/**
 * The PostgreSQL engine, for services of more than one process.
 *
 * Writes run at READ COMMITTED on purpose: a write locks what it decides by,
 * with its `order` (an advisory lock) or row by row, and each statement sees
 * what was committed before it got its lock. A stricter level would only turn
 * waits into failures, because every change of the catalogue takes its number
 * from one row. Remaining conflicts (a deadlock, a row that another process
 * inserted first) are retried a bounded number of times.
 *
 * Reads are REPEATABLE READ snapshots on connections of their own, so that
 * waiting writes block no read.
 *
 * Small writes of one order that wait together share a transaction for a few
 * milliseconds, each in its own savepoint, because a commit costs more than
 * they do: on a slow disk, 32 concurrent writes of one row were 31 a second
 * instead of 8. Other writes do not share, because each would hold its locks
 * while the next waits for more.
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
  outageOf,
  type RetryReason,
  type Sql,
  type Tx,
  type WriteOptions,
} from "../db.ts";
import { POSTGRES_CHANGES } from "../change_numbers.ts";
import { type Migration, MIGRATIONS } from "../migrations.ts";
import {
  ConnectionPool,
  isLost,
  PostgresError,
  PostgresSql,
  PostgresTx,
  send,
  TIMEOUTS,
  type Timeouts,
} from "./connection.ts";
import { migratePostgres } from "./schema.ts";
import { SharedValues } from "../shared_values.ts";
import { Servers } from "./servers.ts";
import { PostgresWakeUps } from "./wake_ups.ts";

/** How long a transaction accepts further writes. */
const SHARE_MS = 5;
/**
 * Writes of one transaction at most; the server keeps 64 savepoints cheaply.
 */
const SHARE_LIMIT = 32;
/** How often a write is tried while deadlocks undo it. */
const DEADLOCK_TRIES = 6;
/**
 * How often it is tried if the connection breaks before the commit, or a key is
 * taken.
 */
const TRIES = 2;

/** How far the times of changes may differ between processes. */
const TIME_STEP_MS = 1_000;

const BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED";

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
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const { url, migrations = MIGRATIONS, create = true } = options;
  const deps = { ...systemDeps("error"), ...options.deps };
  const servers = await Servers.open(url, deps.clock);
  await migratePostgres(servers.current, migrations, create, deps);
  return new PostgresDb(options, servers);
}

interface WaitingWrite {
  fn: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  shared: boolean;
  tries: number;
  /** Monotonic time. */
  askedAt: number;
  /** Monotonic time after which it is not retried. */
  until: number;
}

/** The waiting writes of one order, or those without an order. */
interface WriteQueue {
  order: string | null;
  waiting: WaitingWrite[];
  /**
   * How many transactions take writes from it; at most one if it has an order.
   */
  running: number;
}

/** The result of one write in a transaction that is still open. */
type Called =
  | { ok: true; write: WaitingWrite; value: unknown; tx: PostgresTx }
  | { ok: false; write: WaitingWrite; error: unknown };

class PostgresDb implements Db {
  readonly #servers: Servers;
  readonly #writers: ConnectionPool;
  readonly #readers: ConnectionPool;
  readonly #writersLimit: number;
  readonly #lockWaitMs: number;
  readonly #deps: Deps;
  readonly #meter: DbMeter;
  readonly #queues = new Map<string | null, WriteQueue>();
  readonly #running = new Set<Promise<void>>();
  readonly wakeUps: PostgresWakeUps;
  /** Unix milliseconds; see `#raiseTime`. */
  #timeRaisedTo = 0;
  /** Monotonic time until which the last writes may wait for locks. */
  #hurriedUntil = Infinity;
  #closed = false;

  constructor(options: PostgresOptions, servers: Servers) {
    const { connections = 10 } = options;
    const timeouts = { ...TIMEOUTS, ...options.timeouts };
    const deps = { ...systemDeps("error"), ...options.deps };
    this.#writersLimit = Math.ceil(connections / 2);
    const pool = { servers, timeouts, clock: deps.clock };
    const max = this.#writersLimit;
    this.#writers = new ConnectionPool({ ...pool, max });
    this.#readers = new ConnectionPool({
      ...pool,
      max: Math.max(1, connections - max),
    });
    this.#lockWaitMs = timeouts.lockWaitMs;
    this.#deps = deps;
    this.#meter = options.meter ?? NO_METER;
    const me = deps.ids.uuid();
    this.wakeUps = new PostgresWakeUps(servers, this.#readers, deps.clock, me);
    this.#servers = servers;
  }

  async read<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    const until = this.#deps.clock.monotonic() + this.#lockWaitMs;
    for (let tries = 1;; tries++) {
      if (this.#closed) throw closed();
      const client = await this.#readers.take();
      send(client, BEGIN_READ);
      try {
        const value = await fn(new PostgresSql(client));
        send(client, "COMMIT");
        this.#readers.giveBack(client);
        return value;
      } catch (error) {
        send(client, "ROLLBACK");
        this.#readers.giveBack(client, error);
        const isLate = this.#deps.clock.monotonic() > until;
        if (!isLost(error) || tries >= TRIES || isLate) throw error;
      }
    }
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    { order, shared = false }: WriteOptions = {},
  ): Promise<T> {
    if (this.#closed) return Promise.reject(closed());
    return new Promise<T>((resolve, reject) => {
      const queue = this.#queueOf(order ?? null);
      const askedAt = this.#deps.clock.monotonic();
      queue.waiting.push({
        fn,
        resolve: resolve as (value: unknown) => void,
        reject,
        shared: order !== undefined && shared,
        tries: 0,
        askedAt,
        until: askedAt + this.#lockWaitMs,
      });
      const limit = queue.order === null ? this.#writersLimit : 1;
      if (queue.running < limit) this.#start(queue);
    });
  }

  #queueOf(order: string | null): WriteQueue {
    let queue = this.#queues.get(order);
    if (queue === undefined) {
      queue = { order, waiting: [], running: 0 };
      this.#queues.set(order, queue);
    }
    return queue;
  }

  #start(queue: WriteQueue): void {
    queue.running++;
    const running = this.#writeWaiting(queue);
    this.#running.add(running);
    running.finally(() => this.#running.delete(running));
  }

  /** Runs transactions until no write of the queue waits. */
  async #writeWaiting(queue: WriteQueue): Promise<void> {
    while (queue.waiting.length > 0) {
      const startedAt = this.#deps.clock.monotonic();
      this.#meter.waited("queue", startedAt - queue.waiting[0].askedAt);
      let client: pg.PoolClient;
      try {
        client = await this.#writers.take();
      } catch (error) {
        for (const write of queue.waiting.splice(0)) write.reject(error);
        break;
      }
      this.#meter.waited("connection", this.#since(startedAt));
      await this.#transaction(client, queue);
    }
    // In the same turn of the event loop as the check above, so that no write
    // is added to a queue that has just ended.
    queue.running--;
    if (queue.running === 0) this.#queues.delete(queue.order);
  }

  /** Returns the connection at its end. */
  async #transaction(client: pg.PoolClient, queue: WriteQueue): Promise<void> {
    const called: Called[] = [];
    try {
      await this.#callWaiting(client, queue, called);
      if (called.some(({ ok }) => ok)) {
        await this.#deps.beforeCommit?.();
        const startedAt = this.#deps.clock.monotonic();
        await commit(client);
        this.#meter.committed(this.#since(startedAt), called.length);
      } else send(client, "ROLLBACK");
    } catch (error) {
      send(client, "ROLLBACK");
      this.#writers.giveBack(client, error);
      for (
        const reason of undone(
          queue,
          called,
          error,
          this.#deps.clock.monotonic(),
        )
      ) {
        this.#meter.retried(reason);
      }
      return;
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

  /** Throws if the transaction can no longer be committed. */
  async #callWaiting(
    client: pg.PoolClient,
    queue: WriteQueue,
    called: Called[],
  ): Promise<void> {
    const now = this.#deps.clock.monotonic();
    const opened = open(
      client,
      queue.order,
      this.#shortenedLockWait(queue, now),
    );
    const until = now + SHARE_MS;
    const values = new Map<string, unknown>();
    for (;;) {
      const write = queue.waiting.shift();
      if (write === undefined) return;
      write.tries++;
      if (called.length > 0) send(client, "SAVEPOINT one");
      const shared = new SharedValues(values);
      const one = await this.#call(client, write, opened, shared);
      if (!one.ok && (isLost(one.error) || called.length === 0)) {
        called.push(one);
        throw one.error;
      }
      if (!one.ok) send(client, "ROLLBACK TO one");
      if (called.length > 0) send(client, "RELEASE one");
      const reason = one.ok ? null : whyAgain(one);
      if (reason !== null) {
        this.#meter.retried(reason);
        queue.waiting.unshift(write);
        return;
      }
      called.push(one);
      if (called.length >= SHARE_LIMIT) return;
      if (!write.shared || !queue.waiting[0]?.shared) return;
      if (this.#deps.clock.monotonic() > until) return;
    }
  }

  /**
   * The lock time-out for the next write of a queue; null for the default. A
   * write that has waited long already gets a second at least.
   */
  #shortenedLockWait({ waiting }: WriteQueue, now: number): number | null {
    // Another transaction of the queue may have taken the waiting writes.
    const until = waiting[0]?.until ?? Infinity;
    const left = Math.min(until, this.#hurriedUntil) - now;
    if (left > 0.9 * this.#lockWaitMs) return null;
    return Math.round(Math.max(left, HURRIED_LOCK_WAIT_MS));
  }

  async #call(
    client: pg.Client,
    write: WaitingWrite,
    opened: Promise<unknown>,
    shared: SharedValues,
  ): Promise<Called> {
    const tx = new PostgresTx(client, shared, this.#deps.clock);
    try {
      const value = await write.fn(tx);
      await opened;
      return { ok: true, write, value, tx };
    } catch (error) {
      shared.forget();
      // After a failed BEGIN, later errors only repeat that it failed.
      const first = await opened.then(() => error, (reason) => reason);
      return { ok: false, write, error: first };
    }
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

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all(this.#running);
    this.#servers.close();
    await this.wakeUps.close();
    await Promise.all([this.#writers.end(), this.#readers.end()]);
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

/**
 * Throws `unsure` also after a warning: the server gives one when it stopped
 * waiting for a synchronous standby, without which the commit can be lost.
 */
async function commit(client: pg.Client): Promise<void> {
  const warnings: pg.Notice[] = [];
  const listen = (notice: pg.Notice) => void warnings.push(notice);
  client.on("notice", listen);
  try {
    const { command } = await send(client, "COMMIT");
    if (command !== "COMMIT") {
      throw new DbError("other", "A failed statement was passed over.");
    }
    if (warnings.length > 0) {
      throw new DbError("unsure", warnings[0].message);
    }
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

/**
 * Retries the writes of a transaction that was undone, and returns the reasons,
 * or rejects them. If the server or a lock caused the failure, writes of the
 * queue that have waited too long are rejected too, so that they do not wait
 * for the same cause again.
 */
function undone(
  queue: WriteQueue,
  called: readonly Called[],
  error: unknown,
  now: number,
): RetryReason[] {
  const again: WaitingWrite[] = [];
  const reasons: RetryReason[] = [];
  for (const { write } of called) {
    const isLate = isLost(error) && now > write.until;
    const reason = isLate ? null : whyAgain({ write, error });
    if (reason === null) {
      write.reject(error);
      continue;
    }
    again.push(write);
    reasons.push(reason);
  }
  const isDeadlock = error instanceof PostgresError && error.again;
  const isOutage = outageOf(error) !== null && !isDeadlock;
  const waiting = again.concat(queue.waiting);
  const isOver = ({ until }: WaitingWrite) => isOutage && now > until;
  queue.waiting = waiting.filter((write) => !isOver(write));
  for (const write of waiting.filter(isOver)) write.reject(error);
  return reasons;
}

/** Why a failed write is retried; null if it is not. */
function whyAgain(
  { write, error }: { write: WaitingWrite; error: unknown },
): RetryReason | null {
  if (!(error instanceof PostgresError)) return null;
  if (error.again) return write.tries < DEADLOCK_TRIES ? "deadlock" : null;
  if (write.tries >= TRIES) return null;
  // Another process inserted the key between our look and our insert; the next
  // look sees it.
  if (error.kind === "unique") return "taken";
  return isLost(error) ? "lost" : null;
}
