/**
 * The PostgreSQL engine below the storage seam, for services of more than one
 * process.
 *
 * Writes run at READ COMMITTED, on purpose: what one decides by is locked, by
 * the `order` of the write (an advisory lock) or row by row, and each statement
 * sees what was committed before it got its lock. A stricter level would only
 * turn waiting into failing: every change of the catalogue takes its number
 * from one row. What remains (a deadlock, a row that another process inserted
 * first) is answered by calling the write again, a bounded number of times.
 *
 * Reads are one REPEATABLE READ snapshot, on connections of their own, so that
 * writes that wait for each other keep nobody from looking.
 *
 * Small writes of one order that wait together share a transaction for a few
 * milliseconds, each in its own savepoint: a commit costs more than they do.
 * Others do not, as each would hold its locks while the next asks for more.
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
import { PostgresWakeUps } from "./wake_ups.ts";

/** How long a transaction takes in more writes. */
const SHARE_MS = 5;
/** Writes of one transaction at most; the server keeps 64 savepoints cheaply. */
const SHARE_LIMIT = 32;
/** How often a write is called while deadlocks undo it. */
const DEADLOCK_TRIES = 6;
/** How often when the connection broke before the commit, or a key is taken. */
const TRIES = 2;

const BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED";

export interface PostgresOptions {
  url: string;
  /** Connections, half of them for writes; one more listens. */
  connections?: number;
  migrations?: readonly Migration[];
  /** Make the schema where there is nothing; so unless told otherwise. */
  create?: boolean;
  deps?: Partial<Deps>;
  meter?: DbMeter;
  timeouts?: Partial<Timeouts>;
}

/**
 * Connects, and makes the schema or brings it up to date. Throws a `DbError`:
 * `away`, `missing`, `newer`, `corrupt`, `readonly`.
 */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const { url, migrations = MIGRATIONS, create = true } = options;
  await migratePostgres(url, migrations, create);
  return new PostgresDb(options);
}

interface WaitingWrite {
  fn: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  shared: boolean;
  tries: number;
  /** Monotonic time. */
  askedAt: number;
  /** Monotonic time; not tried again after it, nor at all once one failed. */
  until: number;
}

/** Writes of one order, or of none. */
interface WriteQueue {
  order: string | null;
  waiting: WaitingWrite[];
  /** How many transactions take from it; one where there is an order. */
  running: number;
}

/** What became of one write in a transaction that is not over. */
type Called =
  | { ok: true; write: WaitingWrite; value: unknown; tx: PostgresTx }
  | { ok: false; write: WaitingWrite; error: unknown };

class PostgresDb implements Db {
  readonly #writers: ConnectionPool;
  readonly #readers: ConnectionPool;
  readonly #writersLimit: number;
  readonly #lockWaitMs: number;
  readonly #deps: Deps;
  readonly #meter: DbMeter;
  readonly #queues = new Map<string | null, WriteQueue>();
  readonly #running = new Set<Promise<void>>();
  readonly wakeUps: PostgresWakeUps;
  /** Monotonic time up to which the last writes may wait for locks. */
  #hurriedUntil = Infinity;
  #closed = false;

  constructor(options: PostgresOptions) {
    const { url, connections = 10 } = options;
    const timeouts = { ...TIMEOUTS, ...options.timeouts };
    const deps = { ...systemDeps("error"), ...options.deps };
    this.#writersLimit = Math.ceil(connections / 2);
    const pool = { url, timeouts, clock: deps.clock };
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
    this.wakeUps = new PostgresWakeUps(url, this.#readers, deps.clock, me);
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

  /** Runs transactions until nothing of the queue waits. */
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
    // In the same turn as the look that found none: nobody waits for a queue
    // that has just ended.
    queue.running--;
    if (queue.running === 0) this.#queues.delete(queue.order);
  }

  /** Gives the connection back at its end. */
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
      // Not called here: what fails in one must not keep others from theirs.
      for (const fn of one.tx.afterCommit) queueMicrotask(fn);
    }
  }

  /** Throws when the transaction cannot be committed any more. */
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
   * For the next write of a queue; null where that is as long as ever. One that
   * waited long before it began still waits for a second.
   */
  #shortenedLockWait({ waiting }: WriteQueue, now: number): number | null {
    // Another transaction of the queue may have taken what waited.
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
      // What came after a failed beginning only says that it failed.
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
    await this.wakeUps.close();
    await Promise.all([this.#writers.end(), this.#readers.end()]);
  }
}

/** Begins; the lock of the order is had when it resolves. */
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

async function commit(client: pg.Client): Promise<void> {
  try {
    const { command } = await send(client, "COMMIT");
    if (command !== "COMMIT") {
      throw new DbError("other", "A failed statement was passed over.");
    }
  } catch (error) {
    if (!isLost(error)) throw error;
    throw new DbError(
      "unsure",
      "The connection broke during the commit.",
      error,
    );
  }
}

/**
 * Has what a transaction undid called again, for the reasons that it answers, or
 * tells why it is not. Where the
 * server or a lock made it fail, those that have waited too long behind it are
 * told the same, so that they do not wait for that in turn.
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

/** Why a write that failed is called again; null when it is not. */
function whyAgain(
  { write, error }: { write: WaitingWrite; error: unknown },
): RetryReason | null {
  if (!(error instanceof PostgresError)) return null;
  if (error.again) return write.tries < DEADLOCK_TRIES ? "deadlock" : null;
  if (write.tries >= TRIES) return null;
  // A key that another process took between our look and our insert: the next
  // look sees it.
  if (error.kind === "unique") return "taken";
  return isLost(error) ? "lost" : null;
}
