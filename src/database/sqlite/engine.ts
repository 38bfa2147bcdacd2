/**
 * The SQLite engine of the storage interface.
 *
 * One connection writes, another reads. Writes queue; all that wait at the same
 * moment run in one `BEGIN IMMEDIATE … COMMIT`, and each promise resolves after
 * the commit is on disk (`synchronous=FULL`). If a write fails after its first
 * change, the whole group is undone. Then the writes before it run again
 * together, then the failed write alone, then the writes after it. Such
 * failures are rare, and a savepoint for each write would make a small write 5
 * % slower. A heavy write waits for its turn before it joins a group, so that
 * light writes run in between.
 *
 * While another process holds the lock, reads continue. Writes wait for the
 * lock, without blocking the thread, for up to 5 s after they were queued.
 */
import type { DatabaseSync } from "node:sqlite";
import { type Deps, systemDeps } from "../../deps.ts";
import { Calls } from "../../lib/calls.ts";
import { heavyWorkList, type WaitList } from "../../lib/wait_list.ts";
import type { InUse } from "../../lib/holders.ts";
import {
  closedError,
  CONFLICT_TRIES,
  type Db,
  DbError,
  type DbMeter,
  HURRIED_LOCK_WAIT_MS,
  isConflict,
  LOCK_WAIT_MS,
  NO_METER,
  type ReadOptions,
  type ReadWrite,
  type Sql,
  type Tx,
} from "../db.ts";
import { type EngineWriteOptions, ofSeller } from "../of_seller.ts";
import { type Migration, MIGRATIONS } from "../migrations.ts";
import {
  CHECKPOINT_BYTES,
  type CommitState,
  openFile,
  SqliteConnection,
  SqliteSql,
  SqliteTx,
} from "./connection.ts";
import { fileSize, makePrivate } from "./file.ts";
import { OpenFiles } from "./open_files.ts";
import { Backoff, isBusy, whenUnlocked } from "./lock_wait.ts";
import { migrateSqlite } from "./schema.ts";
import { pause } from "../../lib/waits.ts";

/** The most writes in one commit. */
const GROUP_LIMIT = 256;
/**
 * After this many groups of one write, only every tenth group waits for more
 * writes.
 */
const GROUPS_OF_ONE = 10;
/**
 * The least and the greatest time for other work after a slow commit; see
 * `#rest`.
 */
const SHORTEST_REST_MS = 1;
const LONGEST_REST_MS = 250;
/** Bytes from which the WAL is extended to its full size; see `#extendLog`. */
const GROWING_LOG_BYTES = 1_024 * 1_024;
/** The most writes that wait for a lock; further ones are rejected at once. */
const WAITING_LIMIT = 10_000;
/** After this long, opening the database logs that it waits for a lock. */
const LOG_WAIT_AFTER_MS = 500;

export interface SqliteOptions {
  migrations?: readonly Migration[];
  /** Shared with all other CPU-heavy work of this thread. */
  heavy?: WaitList;
  deps?: Partial<Deps>;
  meter?: DbMeter;
  /** How long opening waits for a lock, in milliseconds. */
  openWaitMs?: number;
}

/**
 * Opens the database file; creates it and upgrades its schema if necessary.
 * Throws a `DbError`: `newer`, `corrupt`, `readonly`, `busy`, `full`.
 */
export async function openSqlite(
  file: string,
  options: SqliteOptions = {},
): Promise<Db> {
  const { migrations = MIGRATIONS, openWaitMs = LOCK_WAIT_MS } = options;
  const { meter = NO_METER } = options;
  const deps = { ...systemDeps("error"), ...options.deps };
  const { heavy = heavyWorkList(deps) } = options;
  const until = deps.clock.monotonic() + openWaitMs;
  const cancelLog = deps.clock.after(LOG_WAIT_AFTER_MS, () => {
    deps.log.warn("database_locked", { file });
  });
  try {
    makePrivate(file);
    const open = () => openConnections(file, migrations, deps);
    const connections = await whenUnlocked(open, () => until, deps);
    return new SqliteDb(file, connections, { heavy, deps, meter });
  } finally {
    cancelLog();
  }
}

interface Connections {
  writer: DatabaseSync;
  reader: DatabaseSync;
}

function openConnections(
  file: string,
  migrations: readonly Migration[],
  deps: Deps,
): Connections {
  const { connectSqlite } = deps;
  const writer = openFile(file, false, connectSqlite);
  try {
    migrateSqlite(writer, file, migrations, deps);
    return { writer, reader: openFile(file, true, connectSqlite) };
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** For writes that are rejected if the lock is not free at once. */
const NO_WAIT = -Infinity;

interface WaitingWrite {
  fn: (tx: Tx) => Promise<unknown>;
  /** Monotonic time. */
  askedAt: number;
  /** Monotonic time; the write is rejected if it has no lock by then. */
  until: number;
  /** How often the write met a conflict. */
  tries: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

function isHeavy({ until }: WaitingWrite): boolean {
  return until === NO_WAIT;
}

class SqliteDb implements Db {
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  /** The queue of heavy writes, which run one at a time. */
  readonly #heavy: WaitList;
  readonly #deps: Deps;
  readonly #meter: DbMeter;
  readonly #files: OpenFiles;
  readonly #waiting: WaitingWrite[] = [];
  /** Duration of the last commit; 0 once `#rest` has used it. */
  #commitMs = 0;
  #logExtended = false;
  /** How many groups in a row had one write. */
  #groupsOfOne = 0;
  /** Whether another process held the lock at the last attempt to begin. */
  #locked = false;
  /** Whether another process's lock refused the last heavy write. */
  #heavyRefused = false;
  /** Monotonic time until which the last writes may wait. */
  #hurriedUntil = Infinity;
  #writing: Promise<void> | null = null;
  #reading: Promise<unknown> = Promise.resolve();
  readonly #reads = new Calls();
  readonly #heavyWrites = new Calls();
  #closing: Promise<void> | null = null;
  /** Other processes poll the file. */
  readonly wakeUps = null;

  constructor(
    file: string,
    { writer, reader }: Connections,
    { heavy, deps, meter }: { heavy: WaitList; deps: Deps; meter: DbMeter },
  ) {
    this.#files = new OpenFiles(file, deps.clock);
    this.#heavy = heavy;
    this.#deps = deps;
    this.#meter = meter;
    this.#writer = new SqliteConnection(writer, deps.changesNothing);
    this.#reader = new SqliteConnection(reader);
  }

  of(sellerNo: number): ReadWrite {
    return ofSeller(this, sellerNo);
  }

  read<T>(
    fn: (sql: Sql) => Promise<T>,
    options: ReadOptions = {},
  ): Promise<T> {
    if (this.#closing !== null) return Promise.reject(closedError());
    const { unusable } = this.#files;
    if (unusable !== null) return Promise.reject(unusable);
    const sql = new SqliteSql(this.#reader, options, this.#deps.maybe);
    const ask = () => sql.during(() => fn(sql));
    const result = this.#reading.then(() => {
      if (this.#reader.inTransaction) this.#reader.exec("COMMIT");
      this.#reader.failure = null;
      return options.single ? ask() : this.#snapshot(ask);
    });
    this.#reading = result.catch(() => {});
    return this.#reads.add(result);
  }

  async #snapshot<T>(ask: () => Promise<T>): Promise<T> {
    this.#reader.exec("BEGIN");
    await this.#deps.maybe?.("read begun");
    try {
      return await ask();
    } finally {
      try {
        this.#reader.exec("COMMIT");
      } catch {
        // The rows that were read are correct. The next read ends the
        // transaction, or fails.
      }
    }
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    { heavy = false, order, owner = order }: EngineWriteOptions = {},
  ): Promise<T> {
    if (this.#closing !== null) return Promise.reject(closedError());
    const askedAt = this.#deps.clock.monotonic();
    const until = askedAt + LOCK_WAIT_MS;
    if (!heavy) return this.#askToWrite(fn, askedAt, until);
    // Each attempt joins the queue again, so that a lock does not block the
    // queue.
    const attempt = () =>
      this.#heavy.run(
        { owner },
        () => this.#askToWrite(fn, askedAt, NO_WAIT),
      );
    return this.#heavyWrites.add(whenUnlocked(
      attempt,
      () => Math.min(until, this.#hurriedUntil),
      this.#deps,
    ));
  }

  #askToWrite<T>(
    fn: (tx: Tx) => Promise<T>,
    askedAt: number,
    until: number,
  ): Promise<T> {
    const full = this.#waiting.length >= WAITING_LIMIT;
    if (this.#locked && (full || until === NO_WAIT)) {
      this.#heavyRefused ||= until === NO_WAIT;
      return Promise.reject(new DbError("busy", "Another process writes."));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        fn,
        askedAt,
        until,
        tries: 0,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#writing ??= this.#writeWaiting();
    });
  }

  /** Runs groups of writes until none waits. */
  async #writeWaiting(): Promise<void> {
    try {
      for (;;) {
        await this.#release();
        if (this.#waiting.length === 0) break;
        if (!this.#keepsLock) await this.#gather();
        if (!await this.#begin(this.#waiting)) continue;
        const waitedMs = this.#since(this.#waiting[0].askedAt);
        this.#meter.waited("queue", waitedMs);
        const group = this.#waiting.splice(0, GROUP_LIMIT);
        this.#groupsOfOne = group.length === 1 ? this.#groupsOfOne + 1 : 0;
        if (group.some(isHeavy)) this.#heavyRefused = false;
        await this.#writeGroup(group);
        if (!this.#logExtended) await this.#extendLog();
        if (!this.#keepsLock) await this.#rest();
      }
    } finally {
      this.#writing = null;
    }
  }

  /**
   * Whether the next transaction begins at once, before another process can
   * take the lock. This is true while a heavy write waits that was refused
   * because of such a lock. Otherwise light writes, which wait for the lock,
   * would overtake the heavy write in every transaction.
   */
  get #keepsLock(): boolean {
    return this.#heavyRefused && this.#waiting.some(isHeavy);
  }

  /**
   * Repeats a rollback that failed, because other processes wait for the lock.
   * Ends when the rollback succeeds, or when a write waits, which begins with a
   * rollback.
   */
  async #release(): Promise<void> {
    const backoff = new Backoff(this.#deps);
    const isIdle = () => this.#waiting.length === 0 && this.#closing === null;
    while (this.#writer.inTransaction && isIdle()) {
      await backoff.pause();
      this.#tryRollBack();
    }
  }

  /**
   * Waits for writes of requests that arrived together: a commit costs ten
   * times as much as a turn of the event loop, so the commit waits as long as
   * each turn brings more writes. A single client that awaits each answer gains
   * nothing, so after many groups of one write, only a few groups wait.
   */
  async #gather(): Promise<void> {
    const isAlone = this.#groupsOfOne >= GROUPS_OF_ONE &&
      this.#groupsOfOne % GROUPS_OF_ONE > 0;
    if (isAlone) return;
    let before = 0;
    while (before < this.#waiting.length && before < GROUP_LIMIT) {
      before = this.#waiting.length;
      await this.#deps.nextTurn();
    }
  }

  /**
   * A commit blocks this thread until the disk has flushed. After a slow
   * commit, other work may run for a tenth of the commit's time: an answer
   * needs several turns of the event loop, and there are only a few between two
   * commits.
   */
  async #rest(): Promise<void> {
    const ms = Math.min(this.#commitMs / 10, LONGEST_REST_MS);
    this.#commitMs = 0;
    if (ms < SHORTEST_REST_MS) return;
    await pause(this.#deps.clock, ms);
  }

  /**
   * Extends the WAL to the length at which it is checkpointed. A commit that
   * extends the WAL takes twice as long as a commit that overwrites it, because
   * the file system also commits the new length. SQLite ignores the bytes after
   * the last valid frame; the lock prevents other processes from writing there
   * meanwhile.
   */
  async #extendLog(): Promise<void> {
    if (fileSize(this.#files.log) < GROWING_LOG_BYTES) return;
    try {
      this.#checkFiles();
      this.#writer.exec("BEGIN IMMEDIATE");
      this.#logExtended = true;
      await this.#deps.disk.extend(this.#files.log, CHECKPOINT_BYTES);
    } catch {
      // Another process writes, or the disk is full: then each commit extends
      // the log.
    } finally {
      this.#tryRollBack();
    }
  }

  /**
   * Begins a transaction as soon as no other process holds the lock. Removes
   * and rejects the writes that waited too long; returns false if none is left.
   */
  async #begin(writes: WaitingWrite[]): Promise<boolean> {
    const backoff = new Backoff(this.#deps);
    let lockedAt: number | null = null;
    while (writes.length > 0) {
      try {
        this.#checkFiles();
        this.#rollBack();
        this.#writer.exec("BEGIN IMMEDIATE");
        break;
      } catch (error) {
        this.#locked = isBusy(error);
        this.#refuse(writes, error);
      }
      if (writes.length === 0) break;
      lockedAt ??= this.#deps.clock.monotonic();
      this.#meter.retried("locked");
      await backoff.pause();
    }
    if (lockedAt !== null) this.#meter.waited("lock", this.#since(lockedAt));
    this.#locked = false;
    return writes.length > 0;
  }

  /** Rejects all writes, except those that may still wait for a lock. */
  #refuse(writes: WaitingWrite[], error: unknown): void {
    const now = this.#deps.clock.monotonic();
    for (let i = writes.length - 1; i >= 0; i--) {
      const until = Math.min(writes[i].until, this.#hurriedUntil);
      if (this.#locked && until > now) continue;
      this.#heavyRefused ||= this.#locked && isHeavy(writes[i]);
      writes.splice(i, 1)[0].reject(error);
    }
  }

  /**
   * Throws if a file of the database is gone. If the log is gone, copies its
   * content to the database, unless another process has begun a new log: that
   * process may have changed the database.
   */
  #checkFiles(): void {
    try {
      this.#files.check();
    } catch (error) {
      if (this.#files.unusable !== null && this.#files.hasNoLog) {
        this.#saveLog();
      }
      throw error;
    }
  }

  #saveLog(): void {
    try {
      this.#writer.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // The next refused write tries to copy it again.
    }
  }

  /** Runs a group of writes in the open transaction and commits it. */
  async #writeGroup(group: readonly WaitingWrite[]): Promise<void> {
    const { beforeCommit } = this.#deps;
    const settle: (() => void)[] = [];
    const commit: CommitState = { change: null };
    try {
      for (const write of group) {
        const tx = new SqliteTx(this.#writer, commit, this.#deps);
        const before = this.#writer.writes;
        this.#writer.failure = null;
        try {
          // A statement must not continue in the next transaction.
          const value = await tx.during(() => write.fn(tx));
          this.#writer.checkTransaction();
          settle.push(() => write.resolve(value));
        } catch (error) {
          const { writes, inTransaction } = this.#writer;
          // Even a failed read can roll back the whole transaction: if the page
          // cache is full, the read has to write a page, and the disk may be
          // full.
          const isUnusable = writes > before || !inTransaction;
          if (isUnusable) return await this.#undo(group, write, error);
          settle.push(() => write.reject(error));
          continue;
        }
        // As a microtask, so that an error in one callback does not affect the
        // others.
        for (const fn of tx.afterCommit) settle.push(() => queueMicrotask(fn));
      }
      const startedAt = this.#deps.clock.monotonic();
      if (beforeCommit !== undefined) await beforeCommit();
      this.#writer.exec("COMMIT");
      this.#commitMs = this.#since(startedAt);
      this.#meter.committed(this.#commitMs, group.length);
    } catch (error) {
      // Nothing of the group is on disk (the disk is full, for example).
      for (const write of group) write.reject(error);
      this.#tryRollBack();
      return;
    }
    await this.#deps.maybe?.("write committed");
    for (const fn of settle) fn();
  }

  /**
   * Rolls back a group in which one write failed, and runs the other writes
   * again. If a statement of the failed write changed too few rows, the failed
   * write also runs again.
   */
  async #undo(
    group: readonly WaitingWrite[],
    write: WaitingWrite,
    error: unknown,
  ): Promise<void> {
    this.#tryRollBack();
    const isRetry = isConflict(error) && ++write.tries < CONFLICT_TRIES;
    if (group.length === 1 && !isRetry) return write.reject(error);
    this.#meter.retried(isRetry ? "conflict" : "undone");
    const at = group.indexOf(write);
    for (const some of [group.slice(0, at), [write], group.slice(at + 1)]) {
      if (await this.#begin(some)) await this.#writeGroup(some);
    }
  }

  #rollBack(): void {
    if (this.#writer.inTransaction) this.#writer.exec("ROLLBACK");
  }

  #tryRollBack(): void {
    try {
      this.#rollBack();
    } catch {
      // See `#release`.
    }
  }

  /** Milliseconds since a monotonic time. */
  #since(time: number): number {
    return this.#deps.clock.monotonic() - time;
  }

  sizes(): Promise<Record<string, number>> {
    return Promise.resolve({
      database: fileSize(this.#files.database),
      wal: fileSize(this.#files.log),
    });
  }

  async backup(file: string): Promise<void> {
    // The file is created first, with restricted permissions, because it will
    // contain secrets.
    const options = { write: true, createNew: true, mode: 0o600 };
    Deno.openSync(file, options).close();
    await this.#reader.copyTo(file);
  }

  shortenLockWaits(): void {
    this.#hurriedUntil = this.#deps.clock.monotonic() + HURRIED_LOCK_WAIT_MS;
  }

  inUse(): InUse {
    return {
      writes: this.#waiting.length,
      heavyWrites: this.#heavyWrites.size,
      transactions: this.#writing === null ? 0 : 1,
      reads: this.#reads.size,
    };
  }

  oldestWaitMs(): number {
    const [first] = this.#waiting;
    const isWaiting = first !== undefined && this.#writing === null;
    return isWaiting ? this.#since(first.askedAt) : 0;
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    await Promise.all([this.#heavyWrites.ended(), this.#reads.ended()]);
    await this.#writing;
    // Closing would copy a log that differs from the log that other processes
    // use.
    if (this.#files.unusable !== null) return;
    try {
      this.#reader.close();
    } finally {
      this.#writer.close();
    }
  }
}
