/**
 * Which waiting writes run in a transaction together, and when it begins. What
 * runs the transactions is given, so it knows no server.
 *
 * Beside transactions of a kind that run, another one begins only when at least
 * as many writes wait as are in those, or when one that can begin has waited
 * `SHARE_WAIT_MS`. A queue is looked at again after every change of it: a write
 * has been added, some have been taken, a transaction has ended, the time has
 * come. So nothing that may begin waits beside a free place.
 */
import type { Clock } from "../../deps.ts";
import type { Held } from "../../lib/holders.ts";
import { Calls } from "../calls.ts";
import type { DbMeter, Tx, WriteOptions } from "../db.ts";
import { mayLast, type TriedWrite, whyAgain } from "./retries.ts";

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

export interface WaitingWrite extends TriedWrite {
  fn: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Its key among the shared writes of its kind; null: it shares nothing. */
  key: string | null;
  changes: boolean;
  /** Monotonic time. */
  askedAt: number;
}

/** What runs the transactions, on connections of the type `C`. */
export interface Transactions<C> {
  /** Resolves with a connection when one is free. */
  connect(): Promise<C>;
  /** Returns a connection that was not used. */
  giveBack(connection: C): void;
  /**
   * Runs writes in a transaction that holds the lock of `order`, settles them
   * and returns the connection. If it throws, the transaction was undone, and
   * the writes are not settled.
   */
  run(
    connection: C,
    order: string | null,
    writes: readonly WaitingWrite[],
  ): Promise<void>;
}

export interface WriteQueuesOptions<C> {
  transactions: Transactions<C>;
  /** How many transactions run at the same time. */
  limit: number;
  clock: Clock;
  meter: DbMeter;
}

/** All writes that wait. */
export class WriteQueues<C> {
  readonly #options: WriteQueuesOptions<C>;
  readonly #queues = new Map<string, WriteQueue>();
  readonly #running = new Calls();

  constructor(options: WriteQueuesOptions<C>) {
    this.#options = options;
  }

  add(write: WaitingWrite, options: WriteOptions): void {
    const queue = this.#queueOf(options);
    queue.waiting.push(write);
    this.#startDue(queue);
  }

  #queueOf({ shared, order, owner = "" }: WriteOptions): WriteQueue {
    const name = shared !== undefined
      ? `shared ${shared.kind}`
      : order !== undefined
      ? `order ${order}`
      : `owner ${owner}`;
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      const { limit } = this.#options;
      // The others stay free for writes that wait for none of these.
      const half = Math.ceil(limit / 2);
      const isShared = shared !== undefined;
      queue = new WriteQueue({
        name,
        order: order ?? null,
        isShared,
        limit: isShared || (order === undefined && owner !== "")
          ? half
          : order !== undefined
          ? 1
          : limit,
      });
      this.#queues.set(name, queue);
    }
    return queue;
  }

  /** Begins what may begin now. Called after every change of the queue. */
  #startDue(queue: WriteQueue): void {
    const { clock } = this.#options;
    let at = queue.dueAt;
    for (; at !== null && at <= clock.monotonic(); at = queue.dueAt) {
      this.#start(queue);
    }
    if (queue.timer?.at !== at) {
      queue.timer?.cancel();
      queue.timer = at === null ? null : {
        at,
        cancel: clock.after(at - clock.monotonic(), () => {
          queue.timer = null;
          this.#startDue(queue);
        }),
      };
    }
    if (queue.isIdle) this.#queues.delete(queue.name);
  }

  #start(queue: WriteQueue): void {
    queue.connecting++;
    this.#running.add(this.#transaction(queue));
  }

  /** Runs one transaction. */
  async #transaction(queue: WriteQueue): Promise<void> {
    const { transactions, clock, meter } = this.#options;
    const startedAt = clock.monotonic();
    meter.waited("queue", startedAt - queue.waiting[0].askedAt);
    let connection: C;
    try {
      connection = await transactions.connect();
    } catch (error) {
      queue.connecting--;
      for (const write of queue.waiting.splice(0)) write.reject(error);
      return this.#startDue(queue);
    }
    queue.connecting--;
    meter.waited("connection", clock.monotonic() - startedAt);
    const writes = queue.take();
    // Some may be left.
    this.#startDue(queue);
    if (writes.length === 0) return transactions.giveBack(connection);
    try {
      await transactions.run(connection, queue.order, writes);
    } catch (error) {
      this.#undone(queue, writes, error);
    }
    queue.end(writes);
    this.#startDue(queue);
  }

  /** Rejects writes of a transaction that was undone, or runs them again. */
  #undone(
    queue: WriteQueue,
    writes: readonly WaitingWrite[],
    error: unknown,
  ): void {
    const now = this.#options.clock.monotonic();
    const reasons = whyAgain(writes, error, now);
    const again: WaitingWrite[] = [];
    for (const [n, write] of writes.entries()) {
      const reason = reasons[n];
      if (reason === null) write.reject(error);
      else {
        again.push(write);
        this.#options.meter.retried(reason);
      }
    }
    const isOver = ({ until }: WaitingWrite) => mayLast(error) && now > until;
    for (const write of queue.waiting.filter(isOver)) write.reject(error);
    const waiting = queue.waiting.filter((write) => !isOver(write));
    // In the order of the calls, whatever transactions ended meanwhile.
    queue.waiting = again.concat(waiting)
      .sort((one, other) => one.askedAt - other.askedAt);
  }

  /** As in `Holder`. */
  oldestWaitMs(): number {
    const now = this.#options.clock.monotonic();
    return this.#queues.values()
      .reduce((most, queue) => Math.max(most, queue.overdueMs(now)), 0);
  }

  held(): Held {
    const queues = [...this.#queues.values()];
    const sum = (count: (queue: WriteQueue) => number) =>
      queues.reduce((total, queue) => total + count(queue), 0);
    return {
      writes: sum(({ waiting }) => waiting.length),
      transactions: sum(({ transactions }) => transactions),
      orders: sum(({ order, transactions }) =>
        order === null ? 0 : transactions
      ),
      queues: queues.length,
    };
  }

  /** Resolves when no write waits or runs. */
  ended(): Promise<void> {
    return this.#running.ended();
  }
}

/** Writes that wait: of one order, of one kind of shared ones, or all others. */
class WriteQueue {
  readonly name: string;
  /** The key of the advisory lock; null: without one. */
  readonly order: string | null;
  waiting: WaitingWrite[] = [];
  /** Transactions that have no connection yet. */
  connecting = 0;
  timer: { at: number; cancel: () => void } | null = null;
  readonly #isShared: boolean;
  /** How many transactions may take writes from it. */
  readonly #limit: number;
  /** Transactions that have a connection, and their writes. */
  #running = 0;
  #taken = 0;
  /** Keys of those writes. */
  readonly #keys = new Set<string>();

  constructor({ name, order, isShared, limit }: {
    name: string;
    order: string | null;
    isShared: boolean;
    limit: number;
  }) {
    this.name = name;
    this.order = order;
    this.#isShared = isShared;
    this.#limit = limit;
  }

  /** How many have begun, with a connection or not. */
  get transactions(): number {
    return this.connecting + this.#running;
  }

  get isIdle(): boolean {
    return this.waiting.length + this.transactions === 0;
  }

  /**
   * The monotonic time at which another transaction is to begin, unless
   * something changes before; null: at none.
   */
  get dueAt(): number | null {
    const { waiting, connecting } = this;
    if (this.transactions === this.#limit) return null;
    if (!this.#isShared) return waiting.length > connecting ? -Infinity : null;
    // One that has no connection yet will take those that wait.
    if (connecting > 0) return null;
    const first = waiting.find(({ key }) => !this.#keys.has(key!));
    if (first === undefined) return null;
    const isEnough = this.#running === 0 || waiting.length >= this.#taken;
    return isEnough ? -Infinity : first.askedAt + SHARE_WAIT_MS;
  }

  /** How long a transaction is due that has not begun. */
  overdueMs(now: number): number {
    const { dueAt, waiting } = this;
    return dueAt === null
      ? 0
      : Math.max(0, now - Math.max(dueAt, waiting[0].askedAt));
  }

  /** Takes the writes of a transaction that begins; none if it came too late. */
  take(): WaitingWrite[] {
    const taken: WaitingWrite[] = [];
    const left: WaitingWrite[] = [];
    // One that is left goes before later ones with its key.
    const blocked = new Set(this.#keys);
    const counts = new Map<string, number>();
    for (const write of this.waiting) {
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
    this.waiting = left;
    if (taken.length === 0) return taken;
    this.#running++;
    this.#taken += taken.length;
    for (const write of taken) {
      write.tries++;
      if (write.key !== null) this.#keys.add(write.key);
    }
    return taken;
  }

  /** The transaction of these writes is over. */
  end(writes: readonly WaitingWrite[]): void {
    this.#running--;
    this.#taken -= writes.length;
    for (const { key } of writes) if (key !== null) this.#keys.delete(key);
  }
}
