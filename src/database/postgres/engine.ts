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
 * itself, and the others together. Beside transactions that run, another one of
 * the kind begins only when at least as many writes wait as are in those, or
 * when the first has waited `SHARE_WAIT_MS`. So there are few large transactions
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
  outageOf,
  type ReadOptions,
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
import { SingleStatement } from "../single_statement.ts";
import { Servers } from "./servers.ts";
import { PostgresWakeUps } from "./wake_ups.ts";

/** Writes of one transaction at most. */
const SHARE_LIMIT = 64;
/**
 * How long few writes wait for others to share a transaction with, while
 * transactions of their kind run.
 */
const SHARE_WAIT_MS = 5;
/**
 * The most shared writes with one key in a transaction. They make a round trip
 * each, one after the other, and all others of the transaction wait for them.
 */
const SAME_KEY_LIMIT = 8;
/** How often a write is tried while deadlocks undo it. */
const DEADLOCK_TRIES = 6;
/** How often it is tried while other processes insert the same keys. */
const TAKEN_TRIES = 6;
/** How often it is tried if the connection breaks before the commit. */
const TRIES = 2;
/** How often other writes may undo one before it is run by itself. */
const UNDONE_LIMIT = 4;

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
  /** Its key among the shared writes of its kind; null: it shares nothing. */
  key: string | null;
  /** To be run by itself, because a transaction that it shared failed. */
  alone: boolean;
  changes: boolean;
  /** How often it was run, without those that another write undid. */
  tries: number;
  /** How often another write of its transaction undid it. */
  undone: number;
  /** Monotonic time. */
  askedAt: number;
  /** Monotonic time after which it is not retried. */
  until: number;
}

/** Writes that wait: of one order, of one kind of shared ones, or all others. */
interface WriteQueue {
  name: string;
  /** The key of the advisory lock; null: without one. */
  order: string | null;
  waiting: WaitingWrite[];
  readonly isShared: boolean;
  /** Keys of shared writes whose transactions run. */
  readonly keys: Set<string>;
  /** How many transactions take writes from it, and may do so. */
  running: number;
  readonly limit: number;
  /** How many of the running ones have no connection yet. */
  connecting: number;
  /** Writes of those that have one. */
  taken: number;
  /** Cancels the timer that begins a transaction; null: there is none. */
  cancelTimer: (() => void) | null;
}

/** The result of one write in a transaction that is still open. */
type Called =
  & { write: WaitingWrite; tx: PostgresTx }
  & ({ ok: true; value: unknown } | { ok: false; error: unknown });

class PostgresDb implements Db {
  readonly #servers: Servers;
  readonly #writers: ConnectionPool;
  readonly #readers: ConnectionPool;
  readonly #writersLimit: number;
  readonly #lockWaitMs: number;
  readonly #deps: Deps;
  readonly #meter: DbMeter;
  readonly #queues = new Map<string, WriteQueue>();
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

  async read<T>(
    fn: (sql: Sql) => Promise<T>,
    { single = false }: ReadOptions = {},
  ): Promise<T> {
    const until = this.#deps.clock.monotonic() + this.#lockWaitMs;
    for (let tries = 1;; tries++) {
      if (this.#closed) throw closed();
      const client = await this.#readers.take();
      const sql = new PostgresSql(client);
      if (!single) send(client, BEGIN_READ);
      try {
        const value = await fn(single ? new SingleStatement(sql) : sql);
        if (!single) send(client, "COMMIT");
        this.#readers.giveBack(client);
        return value;
      } catch (error) {
        if (!single) send(client, "ROLLBACK");
        this.#readers.giveBack(client, error);
        const isLate = this.#deps.clock.monotonic() > until;
        if (!isLost(error) || tries >= TRIES || isLate) throw error;
      }
    }
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    if (this.#closed) return Promise.reject(closed());
    const { shared, changes = false } = options;
    return new Promise<T>((resolve, reject) => {
      const queue = this.#queueOf(options);
      const askedAt = this.#deps.clock.monotonic();
      queue.waiting.push({
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
      });
      this.#startIfDue(queue);
    });
  }

  #queueOf(options: WriteOptions): WriteQueue {
    const { shared, owner = "" } = options;
    const order = options.order ?? null;
    const isShared = shared !== undefined;
    const name = isShared
      ? `shared ${shared.kind}`
      : order !== null
      ? `order ${order}`
      : `owner ${owner}`;
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      // The others stay free for writes that wait for none of these.
      const half = Math.ceil(this.#writersLimit / 2);
      const limit = isShared
        ? half
        : order !== null
        ? 1
        : owner !== ""
        ? half
        : this.#writersLimit;
      queue = {
        name,
        order,
        waiting: [],
        isShared,
        keys: new Set(),
        running: 0,
        limit,
        connecting: 0,
        taken: 0,
        cancelTimer: null,
      };
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #startIfDue(queue: WriteQueue): void {
    if (queue.running === queue.limit) return;
    if (!this.#isDue(queue, queue.running)) return;
    queue.running++;
    const running = this.#writeWaiting(queue);
    this.#running.add(running);
    running.finally(() => this.#running.delete(running));
  }

  /**
   * Whether a transaction of the queue is to begin now, beside so many others.
   * If it may be later, while they run, a timer begins it.
   */
  #isDue(queue: WriteQueue, others: number): boolean {
    if (!canBegin(queue)) return false;
    const { waiting, isShared, connecting, taken } = queue;
    if (!isShared || others === 0) return true;
    // One that has no connection yet will take those that wait.
    if (connecting === 0 && waiting.length >= taken) return true;
    const left = SHARE_WAIT_MS - this.#since(waiting[0].askedAt);
    if (left <= 0) return true;
    queue.cancelTimer ??= this.#deps.clock.after(left, () => {
      queue.cancelTimer = null;
      this.#startIfDue(queue);
    });
    return false;
  }

  /** Runs transactions until none of the queue is due. */
  async #writeWaiting(queue: WriteQueue): Promise<void> {
    while (this.#isDue(queue, queue.running - 1)) {
      const startedAt = this.#deps.clock.monotonic();
      this.#meter.waited("queue", startedAt - queue.waiting[0].askedAt);
      let client: pg.PoolClient;
      queue.connecting++;
      try {
        client = await this.#writers.take();
      } catch (error) {
        for (const write of queue.waiting.splice(0)) write.reject(error);
        break;
      } finally {
        queue.connecting--;
      }
      this.#meter.waited("connection", this.#since(startedAt));
      const writes = takeWrites(queue);
      if (writes.length === 0) {
        this.#writers.giveBack(client);
        break;
      }
      queue.taken += writes.length;
      await this.#transaction(client, queue, writes);
      queue.taken -= writes.length;
      for (const { key } of writes) if (key !== null) queue.keys.delete(key);
    }
    // In the same turn of the event loop as the check above, so that no write
    // is added to a queue that has just ended.
    queue.running--;
    if (queue.running > 0) return;
    queue.cancelTimer?.();
    this.#queues.delete(queue.name);
  }

  /** Runs writes in one transaction, and returns the connection. */
  async #transaction(
    client: pg.PoolClient,
    queue: WriteQueue,
    writes: readonly WaitingWrite[],
  ): Promise<void> {
    let called: readonly Called[] = [];
    try {
      const opened = open(client, queue.order, this.#shortenedLockWait(writes));
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
      const now = this.#deps.clock.monotonic();
      for (const reason of undone(queue, writes, error, now)) {
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

  /** Calls the hook of tests, when all that was sent has been carried out. */
  async #beforeCommit(called: readonly Called[]): Promise<void> {
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
  ): Promise<Called[]> {
    const values = new Map<string, Promise<unknown>>();
    const chains = new Map<string | null, Promise<unknown>>();
    const ordered = writes.length === 1 ? writes : writes.toSorted(byKey);
    const calls = ordered.map((write) => {
      const tx = new PostgresTx(
        client,
        new SharedValues(values),
        this.#deps.clock,
      );
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
  ): Promise<Called> {
    write.tries++;
    // In the round trip of its first statement.
    if (write.changes) tx.takeChanges(1).catch(() => {});
    try {
      const value = await write.fn(tx);
      return { ok: true, write, value, tx };
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

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#running.size > 0) await Promise.all(this.#running);
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

/** Whether a write of the queue can begin now. */
function canBegin({ waiting, keys }: WriteQueue): boolean {
  return waiting.some(({ key }) => key === null || !keys.has(key));
}

/** Takes the writes of the next transaction out of the queue. */
function takeWrites(queue: WriteQueue): WaitingWrite[] {
  const taken: WaitingWrite[] = [];
  const left: WaitingWrite[] = [];
  // One that is left goes before later ones with its key.
  const blocked = new Set(queue.keys);
  const counts = new Map<string, number>();
  for (const write of queue.waiting) {
    const [first] = taken;
    const isNext = first === undefined ||
      (write.key !== null && !write.alone && !first.alone &&
        taken.length < SHARE_LIMIT);
    if (isNext && (write.key === null || !blocked.has(write.key))) {
      taken.push(write);
      if (write.key === null) continue;
      const count = (counts.get(write.key) ?? 0) + 1;
      counts.set(write.key, count);
      if (count === SAME_KEY_LIMIT) blocked.add(write.key);
    } else {
      left.push(write);
      if (write.key !== null) blocked.add(write.key);
    }
  }
  queue.waiting = left;
  for (const { key } of taken) if (key !== null) queue.keys.add(key);
  return taken;
}

function byKey(one: WaitingWrite, other: WaitingWrite): number {
  return one.key! < other.key! ? -1 : one.key! > other.key! ? 1 : 0;
}

/** The first failure of the transaction, if this error only follows from it. */
function causeOf(error: unknown, { failure }: PostgresTx): unknown {
  return isAborted(error) ? failure ?? error : error;
}

/**
 * Throws if the transaction cannot be committed because of some of its writes,
 * which run by themselves the next time.
 */
function refuseSpoilt(called: readonly Called[]): void {
  const errors = called.map(spoiltBy);
  const first = errors.find((error) => error !== null);
  if (first === undefined) return;
  const isCause = (error: unknown) => error !== null && !isAborted(error);
  for (const [n, { write }] of called.entries()) {
    // A lost connection is no write's fault.
    write.alone ||= isCause(errors[n]) && !isLost(errors[n]);
  }
  throw errors.find(isLost) ?? errors.find(isCause) ?? first;
}

/** Why this write keeps the transaction from being committed; null: it does not. */
function spoiltBy(one: Called): unknown {
  const { failure, hasWritten } = one.tx;
  if (one.ok) return failure;
  const isHarmless = failure === null && !hasWritten &&
    !(one.error instanceof PostgresError);
  return isHarmless ? null : one.error;
}

/** Whether an error only follows from another one of the transaction. */
function isAborted(error: unknown): boolean {
  return error instanceof PostgresError && error.aborted;
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
  called: readonly Called[],
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

/**
 * Retries the writes of a transaction that was undone, and returns the reasons,
 * or rejects them. If the server or a lock caused the failure, writes of the
 * queue that have waited too long are rejected too, so that they do not wait
 * for the same cause again.
 */
function undone(
  queue: WriteQueue,
  writes: readonly WaitingWrite[],
  error: unknown,
  now: number,
): RetryReason[] {
  const again: WaitingWrite[] = [];
  const reasons: RetryReason[] = [];
  // Where nobody knows whose fault it was, each shows it by itself.
  const isKnown = writes.some(({ alone }) => alone);
  for (const write of writes) {
    const isLate = isLost(error) && now > write.until;
    const reason = isLate ? null : whyAgain(write, error, writes.length);
    if (reason === null) {
      write.reject(error);
      continue;
    }
    if (reason === "undone") {
      write.tries--;
      write.undone++;
      write.alone ||= !isKnown || write.undone === UNDONE_LIMIT;
    }
    again.push(write);
    reasons.push(reason);
  }
  const isDeadlock = error instanceof PostgresError && error.again;
  const isOutage = outageOf(error) !== null && !isDeadlock;
  const isOver = ({ until }: WaitingWrite) => isOutage && now > until;
  for (const write of queue.waiting.filter(isOver)) write.reject(error);
  const waiting = queue.waiting.filter((write) => !isOver(write));
  queue.waiting = again.concat(waiting);
  return reasons;
}

/**
 * Why a write is run again whose transaction failed, and had so many writes;
 * null if it is not.
 */
function whyAgain(
  write: WaitingWrite,
  error: unknown,
  writes: number,
): RetryReason | null {
  const known = error instanceof PostgresError ? error : null;
  if (known?.again) return write.tries < DEADLOCK_TRIES ? "deadlock" : null;
  if (isLost(error)) return write.tries < TRIES ? "lost" : null;
  // The one that waited for the lock is refused, however long the others waited
  // with it.
  if (writes > 1 && known?.kind === "busy" && !write.alone) {
    return write.tries < TRIES ? "locked" : null;
  }
  // Those that failed are alone, the others are together again.
  if (writes > 1 && outageOf(error) === null) return "undone";
  // Another process inserted the key between our look and our insert; the next
  // look sees it.
  if (known?.kind === "unique") {
    return write.tries < TAKEN_TRIES ? "taken" : null;
  }
  return null;
}
