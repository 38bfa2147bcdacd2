/**
 * The SQLite engine below the storage seam.
 *
 * One connection writes, another reads. Writes queue; all that wait at the
 * same moment run in one `BEGIN IMMEDIATE … COMMIT`, and each promise resolves
 * after the commit is on disk (`synchronous=FULL`). Where one fails that had
 * begun to write, all are undone; those before it are run again together, then
 * it alone, then those after it: that is seldom, while a savepoint for each
 * would be a twentieth of all that a small write costs. A heavy write waits for
 * its turn first, so that light ones come between.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { type Clock, systemClock } from "../../deps.ts";
import { yieldToIo } from "../../lib/yield_to_io.ts";
import { SerialQueue } from "../../lib/serial_queue.ts";
import {
  closed,
  type Db,
  type Sql,
  type Tx,
  type WriteOptions,
} from "../db.ts";
import { type Migration, MIGRATIONS } from "../migrations.ts";
import { SharedValues } from "../shared_values.ts";
import { openFile, SqliteConnection, SqliteTx } from "./connection.ts";
import { migrateSqlite } from "./schema.ts";

/** How many waiting writes share a commit at most. */
const GROUP_LIMIT = 256;

export interface SqliteOptions {
  migrations?: readonly Migration[];
  /** Shared with whatever else takes long on this thread. */
  heavy?: SerialQueue;
  clock?: Clock;
}

/**
 * Opens the database file, making it and bringing its schema up to date.
 * Throws a `DbError`: `newer`, `corrupt`, `readonly`, `busy`, `full`.
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Db {
  const writer = openFile(file, false);
  try {
    migrateSqlite(writer, file, options.migrations ?? MIGRATIONS);
    const heavy = options.heavy ?? new SerialQueue(yieldToIo);
    const { clock = systemClock } = options;
    return new SqliteDb(writer, openFile(file, true), { heavy, clock });
  } catch (error) {
    writer.close();
    throw error;
  }
}

interface WaitingWrite {
  fn: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

interface FinishedWrite {
  write: WaitingWrite;
  value?: unknown;
  error?: unknown;
  failed: boolean;
  /** It failed, and the transaction may be another than before it. */
  spoilt: boolean;
  afterCommit: (() => void)[];
}

class SqliteDb implements Db {
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  /** Heavy writes, one at a time. */
  readonly #heavy: SerialQueue;
  readonly #clock: Clock;
  readonly #waiting: WaitingWrite[] = [];
  #writing: Promise<void> | null = null;
  #reading: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** Other processes look at the file again by themselves. */
  readonly wakeUps = null;

  constructor(
    writer: DatabaseSync,
    reader: DatabaseSync,
    { heavy, clock }: { heavy: SerialQueue; clock: Clock },
  ) {
    this.#heavy = heavy;
    this.#clock = clock;
    this.#writer = new SqliteConnection(writer);
    this.#reader = new SqliteConnection(reader);
  }

  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closed());
    const result = this.#reading.then(() => this.#snapshot(fn));
    this.#reading = result.catch(() => {});
    return result;
  }

  async #snapshot<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    this.#reader.exec("BEGIN");
    try {
      return await fn(this.#reader);
    } finally {
      if (this.#reader.inTransaction) this.#reader.exec("COMMIT");
    }
  }

  write<T>(
    fn: (tx: Tx) => Promise<T>,
    { heavy = false }: WriteOptions = {},
  ): Promise<T> {
    const ask = () => this.#askToWrite(fn);
    return heavy ? this.#heavy.take(ask) : ask();
  }

  #askToWrite<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closed());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        fn,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#writing ??= this.#writeWaiting();
    });
  }

  /** Runs groups of writes until none waits. */
  async #writeWaiting(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#gather();
        await this.#writeGroup(this.#waiting.splice(0, GROUP_LIMIT));
      }
    } finally {
      this.#writing = null;
    }
  }

  /**
   * Lets requests that arrived together join in: a commit costs a hundred
   * times what a turn of the event loop does, so it waits for turns as long as
   * each brings more writes.
   */
  async #gather(): Promise<void> {
    let before = 0;
    while (before < this.#waiting.length && before < GROUP_LIMIT) {
      before = this.#waiting.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async #writeGroup(group: readonly WaitingWrite[]): Promise<void> {
    const finished: FinishedWrite[] = [];
    try {
      this.#writer.exec("BEGIN IMMEDIATE");
      const shared = new SharedValues(new Map());
      for (const write of group) {
        const one = await this.#writeOne(write, shared);
        if (one.spoilt) return await this.#undo(group, one);
        finished.push(one);
      }
      this.#writer.exec("COMMIT");
    } catch (error) {
      // Nothing of the group is on disk: a full disk, or the lock not had.
      for (const write of group) write.reject(error);
      this.#rollBack();
      return;
    }
    for (const { write, value, error, failed, afterCommit } of finished) {
      if (failed) write.reject(error);
      else write.resolve(value);
      // Not called here: what fails in one must not keep others from theirs.
      for (const fn of afterCommit) queueMicrotask(fn);
    }
  }

  async #writeOne(
    write: WaitingWrite,
    shared: SharedValues,
  ): Promise<FinishedWrite> {
    const tx = new SqliteTx(this.#writer, shared, this.#clock);
    const before = this.#writer.writes;
    try {
      const value = await write.fn(tx);
      this.#writer.checkTransaction();
      const { afterCommit } = tx;
      return { write, value, failed: false, spoilt: false, afterCommit };
    } catch (error) {
      const { writes, inTransaction } = this.#writer;
      // A failed read can undo the whole transaction: it needs room in a full
      // cache, and what would have to be written for that finds none on disk.
      const spoilt = writes > before || !inTransaction;
      return { write, error, failed: true, spoilt, afterCommit: [] };
    }
  }

  /** Undoes a group in which a write failed, and does without that one. */
  async #undo(
    group: readonly WaitingWrite[],
    { write, error }: FinishedWrite,
  ): Promise<void> {
    this.#rollBack();
    if (group.length === 1) return write.reject(error);
    const at = group.indexOf(write);
    for (const part of [group.slice(0, at), [write], group.slice(at + 1)]) {
      if (part.length > 0) await this.#writeGroup(part);
    }
  }

  #rollBack(): void {
    try {
      if (this.#writer.inTransaction) this.#writer.exec("ROLLBACK");
    } catch {
      // The next BEGIN says what is wrong with the connection.
    }
  }

  async backup(file: string): Promise<void> {
    // Made first, so that nobody else may read it: it holds secrets.
    const options = { write: true, createNew: true, mode: 0o600 };
    (await Deno.open(file, options)).close();
    await this.#reader.copyTo(file);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    await this.#reading;
    this.#reader.close();
    this.#writer.close();
  }
}
