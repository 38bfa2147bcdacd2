/**
 * Decides which waiting writes run together in a transaction, and what happens
 * to the writes when the transaction is undone. A callback runs the
 * transactions, so this module knows no server.
 *
 * Writes of one kind wait in one line. A transaction begins when it gets a
 * permit, and takes the writes of the line when it gets a connection. So the
 * longer transactions take, the more writes share a transaction.
 */
import type { Clock } from "../../deps.ts";
import {
  CONFLICT_TRIES,
  type DbError,
  type DbMeter,
  isConflict,
  outageOf,
  type RetryReason,
  type Tx,
} from "../db.ts";
import type { EngineWriteOptions } from "../of_seller.ts";
import { Calls } from "../../lib/calls.ts";
import type { InUse } from "../../lib/holders.ts";
import { totalLimit } from "../../lib/limits.ts";
import { WaitList } from "../../lib/wait_list.ts";
import { isLost, PostgresError } from "./connection.ts";
import type { Reaching } from "./queries.ts";

/** The most writes in one transaction. */
const SHARE_LIMIT = 64;
/**
 * The most shared writes with one key in a transaction. Each takes a round
 * trip, one after the other, and the other writes of the transaction wait for
 * them.
 */
const SAME_KEY_LIMIT = 8;
/** The most runs of a write that deadlocks undo. */
const DEADLOCK_TRIES = 6;
/** The most runs of a write while other processes insert the same keys. */
const TAKEN_TRIES = 6;
/**
 * The most runs of a write if the connection breaks, or if another write of the
 * transaction waited too long for a lock.
 */
const TRIES = 2;

export interface WaitingWrite extends Reaching {
  fn: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /**
   * The key of the write among the shared writes of its kind; "" if it shares
   * no transaction.
   */
  key: string;
  /** Monotonic time. */
  askedAt: number;
  /**
   * Monotonic time until which the write waits for unreachable servers and for
   * locks.
   */
  until: number;
}

/** Why a transaction was undone. */
export interface Undone {
  error: unknown;
  /** The write that caused it; null if unknown. */
  write: WaitingWrite | null;
}

/**
 * Runs writes in a transaction that holds the lock of `order`. Takes the writes
 * from the line once the transaction has a connection. Settles the writes, or
 * returns why the transaction was undone; rejects if there is no connection.
 */
export type Transact = (
  order: string | null,
  take: () => readonly WaitingWrite[],
) => Promise<Undone | null>;

export interface WriteQueuesOptions {
  transact: Transact;
  /** How many transactions run at the same time. */
  limit: number;
  clock: Clock;
  meter: DbMeter;
}

/** All waiting writes. */
export class WriteQueues {
  readonly #options: WriteQueuesOptions;
  readonly #permits: WaitList;
  /** The lines of shared writes, by kind. */
  readonly #lines = new Map<string, Line>();
  readonly #running = new Calls();
  /** The last error that kept writes waiting, and its time. */
  #outage = { error: null as unknown, at: -Infinity };

  constructor(options: WriteQueuesOptions) {
    const { limit, clock } = options;
    this.#options = options;
    // The other half of the transactions stays free for writes of other lines.
    const half = Math.ceil(limit / 2);
    this.#permits = new WaitList(clock, {
      limit: totalLimit(limit),
      keyLimit: ({ keys }, usage) => {
        const [key] = keys!;
        const most = key === ANY ? limit : key.startsWith(ORDER) ? 1 : half;
        return most - usage.used(key);
      },
    });
  }

  add(write: WaitingWrite, { shared, order, owner }: EngineWriteOptions): void {
    const line = shared !== undefined
      ? this.#lineOf(shared.kind)
      : order !== undefined
      ? new Line(ORDER + order, order)
      : new Line(owner === undefined ? ANY : `owner ${owner}`);
    line.waiting.push(write);
    this.#startDue(line);
  }

  #lineOf(kind: string): Line {
    const line = this.#lines.get(kind) ?? new Line(`kind ${kind}`);
    this.#lines.set(kind, line);
    return line;
  }

  /** Called after every change of the line. */
  #startDue(line: Line): void {
    if (line.isAsking || !line.mayBegin) return;
    line.isAsking = true;
    const begin = () => this.#begin(line);
    void this.#running.add(this.#permits.run({ keys: [line.name] }, begin));
  }

  /** Runs one transaction. */
  async #begin(line: Line): Promise<void> {
    const { clock, meter } = this.#options;
    const startedAt = clock.monotonic();
    meter.waited("queue", startedAt - line.waiting[0].askedAt);
    await this.#settle(line, () => {
      meter.waited("connection", clock.monotonic() - startedAt);
      line.isAsking = false;
      line.waiting = line.waiting.filter((write) =>
        !this.#rejectIfHopeless(write)
      );
      const taken = line.take();
      this.#startDue(line);
      return taken;
    });
  }

  /** Called when these writes are settled. */
  #ended(line: Line, writes: readonly WaitingWrite[]): void {
    line.count(writes, -1);
    this.#startDue(line);
  }

  /**
   * Rejects a write that has waited long enough, if an outage was seen since it
   * was queued.
   */
  #rejectIfHopeless({ askedAt, until, reject }: WaitingWrite): boolean {
    const { error, at } = this.#outage;
    if (at < askedAt || this.#options.clock.monotonic() <= until) return false;
    reject(error);
    return true;
  }

  /** Runs writes in one transaction; after a failure, runs them in several. */
  async #settle(
    line: Line,
    take: () => readonly WaitingWrite[],
    tries = 1,
  ): Promise<void> {
    let taken: readonly WaitingWrite[] | null = null;
    const undone = await this.#options.transact(
      line.order,
      () => taken = take(),
    )
      .catch((error): Undone => ({ error, write: null }));
    const now = this.#options.clock.monotonic();
    if (undone !== null && isOutage(undone.error)) {
      this.#outage = { error: undone.error, at: now };
    }
    const writes = taken ?? take();
    if (undone === null) return this.#ended(line, writes);
    const { error } = undone;
    const mayWait = writes.some(({ until }) => now <= until);
    const { reason, parts } = writesToRepeat(undone, writes, tries, mayWait);
    const left = new Set(parts.flat());
    const rejected = writes.filter((write) => !left.has(write));
    for (const write of rejected) write.reject(error);
    this.#ended(line, rejected);
    for (const part of parts) {
      if (part.length === 0) continue;
      this.#options.meter.retried(reason!);
      const next = reason === "undone" ? 1 : tries + 1;
      await this.#settle(line, () => part, next);
    }
  }

  /** See `Holder`. */
  oldestWaitMs(): number {
    return this.#permits.oldestWaitMs();
  }

  inUse(): InUse {
    const { used, waiting } = this.#permits.inUse();
    const shared = this.#lines.values()
      .reduce((sum, { waiting }) => sum + waiting.length, 0);
    return { transactions: used, transactionsWaiting: waiting, shared };
  }

  /** Resolves when no write waits or runs. */
  ended(): Promise<void> {
    return this.#running.ended();
  }
}

/**
 * Prefixes of line names: for writes with an order, and for writes without an
 * order, owner or kind.
 */
const ORDER = "order ";
const ANY = "any";

/** One write, or the writes of a kind that wait to share a transaction. */
class Line {
  readonly name: string;
  /** The key of the advisory lock; null if no lock is needed. */
  readonly order: string | null;
  waiting: WaitingWrite[] = [];
  /** How many writes of each key are running. */
  readonly #running = new Map<string, number>();
  /** Whether a transaction is about to begin. */
  isAsking = false;

  constructor(name: string, order: string | null = null) {
    this.name = name;
    this.order = order;
  }

  get mayBegin(): boolean {
    return this.waiting.some(({ key }) => !this.#running.has(key));
  }

  /** Takes the writes of the next transaction. */
  take(): WaitingWrite[] {
    const taken: WaitingWrite[] = [];
    const left: WaitingWrite[] = [];
    const counts = new Map<string, number>();
    for (const write of this.waiting) {
      const { key } = write;
      const count = counts.get(key) ?? (this.#running.has(key) ? Infinity : 0);
      const fits = taken.length < SHARE_LIMIT && count < SAME_KEY_LIMIT;
      (fits ? taken : left).push(write);
      // A write that is not taken must run before later writes with its key.
      counts.set(key, fits ? count + 1 : Infinity);
    }
    this.waiting = left;
    this.count(taken, 1);
    return taken;
  }

  /** Counts writes that begin (`by` is 1) or have ended (-1). */
  count(writes: readonly WaitingWrite[], by: number): void {
    for (const { key } of writes) {
      const count = (this.#running.get(key) ?? 0) + by;
      if (count === 0) this.#running.delete(key);
      else this.#running.set(key, count);
    }
  }
}

/** The writes that run again, and the reason; the other writes are rejected. */
interface Again {
  reason: RetryReason | null;
  parts: readonly (readonly WaitingWrite[])[];
}

function writesToRepeat(
  { error, write }: Undone,
  writes: readonly WaitingWrite[],
  tries: number,
  mayWait: boolean,
): Again {
  const until = (most: number, reason: RetryReason, parts: Again["parts"]) =>
    tries < most ? { reason, parts } : { reason: null, parts: [] };
  const all = [writes];
  if (isLost(error)) return until(mayWait ? TRIES : 0, "lost", all);
  if (writes.length === 1) {
    if (isDeadlock(error)) return until(DEADLOCK_TRIES, "deadlock", all);
    // With several servers, another server may have the rows: see
    // `topology_retry.ts`.
    const isHere = isConflict(error) && writes[0].reach === undefined;
    if (isHere) return until(CONFLICT_TRIES, "conflict", all);
    // Another process inserted the key between the SELECT and the INSERT of
    // this write; its next SELECT sees the row.
    const isTaken = error instanceof PostgresError && error.kind === "unique";
    return until(isTaken ? TAKEN_TRIES : 0, "taken", all);
  }
  if (isOutage(error)) {
    // Only the write that waited for the lock is rejected.
    const others = writes.filter((other) => other !== write);
    const isLocked = (error as DbError).kind === "busy" && write !== null;
    return until(isLocked ? TRIES : 0, "locked", [others]);
  }
  // The other writes run together; writes with the key of the failed write run
  // one after the other.
  const isApart = ({ key }: WaitingWrite) => key === (write?.key ?? key);
  const parts = [writes.filter((one) => !isApart(one))];
  for (const one of writes.filter(isApart)) parts.push([one]);
  return { reason: "undone", parts };
}

function isDeadlock(error: unknown): boolean {
  return error instanceof PostgresError && error.again;
}

/**
 * Whether other writes may fail for the same reason: an unreachable server, or
 * a lock.
 */
function isOutage(error: unknown): boolean {
  return outageOf(error) !== null && !isDeadlock(error) && !isConflict(error);
}
