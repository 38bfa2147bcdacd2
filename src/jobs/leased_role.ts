/**
 * A background role that works on the rows of a queue, under leases.
 *
 * Each step renews the leases that the role holds, ends those of dead
 * processes, and calls `claimAndLaunch`, which claims due rows (`claim`) and
 * begins to work on them (`launch`). The leases are held until the outcome is
 * recorded (`settle`), so that no row is worked on twice. All state is in the
 * rows: when the leases of this process expire, another process takes the rows
 * over.
 */
import type { Deps } from "../deps.ts";
import type { Db, Tx, WriteOptions } from "../database/db.ts";
import { Calls } from "../lib/calls.ts";
import { SECOND_MS } from "../lib/durations.ts";
import type { InUse } from "../lib/holders.ts";
import { waitAtMost } from "../lib/waits.ts";
import type { Outbound } from "../net/outbound.ts";
import { HeldLeases, LEASE_WRITE, writeUntilAccepted } from "./held_leases.ts";
import {
  forEachSeller,
  type Leased,
  type LeaseQueue,
  releaseLeases,
} from "./lease_queue.ts";
import { Loop, type LoopDeps } from "./loop.ts";
import { type QueueName, QUEUES } from "./queues.ts";
import type { BackgroundRole } from "./role_keeper.ts";
import type { Signals } from "./signals.ts";
import { totalOutageOf } from "../database/sections.ts";

/**
 * The longest pause between two steps, because other processes also write rows.
 */
export const LONGEST_IDLE_MS = SECOND_MS;
/** How long calls in progress may take to end once they are aborted. */
const ABORTED_MS = 2 * SECOND_MS;

export interface LeasedRoleServices {
  db: Db;
  deps: LoopDeps & Pick<Deps, "ids">;
  signals: Pick<Signals, QueueName>;
}

export interface LeasedRoleOptions {
  queue: LeaseQueue;
  /**
   * Whether other processes hold leases in the queue when this role begins; if
   * not, remaining leases belong to a process that died.
   */
  shared: boolean;
  /** How long calls in progress may continue after a stop; 0 by default. */
  graceMs?: number;
  /** Closed when the role ends. */
  outbound?: Outbound;
}

/** What `claimAndLaunch` found. */
export interface ClaimResult {
  /**
   * Due rows, or sellers that have some. 0 counts as progress while the role is
   * idle.
   */
  due: number;
  /**
   * Rows that were claimed, settled or postponed. A number above 0 counts as
   * progress.
   */
  changed: number;
  /** When to step again, counted from the start of this step. */
  againInMs: number;
}

/** Values that a claim writes. */
export interface ClaimValues {
  lease: string;
  /**
   * The time inside the write, which may have waited long; Unix milliseconds.
   */
  now: number;
}

export abstract class LeasedRole<T extends Leased = Leased>
  implements BackgroundRole {
  /** Leases of rows that are not settled. */
  protected readonly leases: HeldLeases<T>;
  readonly #services: LeasedRoleServices;
  readonly #options: LeasedRoleOptions;
  readonly #loop: Loop;
  readonly #calls = new Calls();
  readonly #aborting = new AbortController();
  #progress = 0;

  constructor(services: LeasedRoleServices, options: LeasedRoleOptions) {
    const { queue, shared } = options;
    this.#services = services;
    this.#options = options;
    this.leases = new HeldLeases({ ...services, queue, shared });
    this.#loop = new Loop({
      name: QUEUES[queue.table].role,
      deps: services.deps,
      signal: services.signals[queue.table],
      idleMs: LONGEST_IDLE_MS,
      step: () => this.#step(),
    });
  }

  /**
   * Claims rows that are due at `now` (Unix milliseconds), as far as there is
   * room, and begins to work on them.
   */
  protected abstract claimAndLaunch(now: number): Promise<ClaimResult>;

  /**
   * Whether the role holds no row on a reachable server, so that it need not
   * make progress.
   */
  protected isIdle(): boolean {
    return this.leases.reachableRows().length === 0;
  }

  /** Called first in each step, even while the database is unreachable. */
  protected beforeStep(): Promise<void> {
    return Promise.resolve();
  }

  /** Ends leases of dead processes; by default their rows are due at once. */
  protected endDeadLeases?(tx: Tx, own: readonly Leased[]): Promise<void>;

  start(): void {
    this.#loop.start();
  }

  /**
   * Claims nothing more and waits `graceMs` for calls in progress. Then aborts
   * them and waits `ABORTED_MS` for their end.
   */
  async stop(): Promise<void> {
    const { outbound, graceMs = 0 } = this.#options;
    const { clock } = this.#services.deps;
    await this.#loop.stop();
    if (graceMs > 0) await waitAtMost(clock, graceMs, this.#calls.ended());
    this.#aborting.abort();
    await waitAtMost(clock, ABORTED_MS, this.#calls.ended());
    outbound?.close();
  }

  /**
   * Aborts the work and keeps the leases. When they have expired, another role
   * takes over the rows.
   */
  abandon(): Promise<void> {
    this.#aborting.abort();
    void this.#loop.stop();
    this.#options.outbound?.close();
    return Promise.resolve();
  }

  trouble(): string | null {
    return totalOutageOf(this.#services.db, this.#loop.failure);
  }

  get progress(): number {
    return this.#progress;
  }

  inUse(): InUse & { in_flight: number } {
    return {
      in_flight: this.leases.size,
      working: this.#calls.size,
      ...this.#options.outbound?.inUse(),
    };
  }

  oldestWaitMs(): number {
    return this.#options.outbound?.oldestWaitMs() ?? 0;
  }

  /** Fires when work in progress has to end. */
  protected get aborting(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Counts progress: some work was done. */
  protected noteProgress(): void {
    this.#progress++;
  }

  async #step(): Promise<number> {
    await this.beforeStep();
    const now = this.#services.deps.clock.now();
    // A separate write: a settling write has locked rows already, and an upload
    // that waits for such a row may hold locks that the renewal needs.
    await this.leases.renew();
    const endDead = this.endDeadLeases?.bind(this);
    if (await this.leases.releaseDead(endDead) > 0) {
      this.noteProgress();
      return 0;
    }
    const { due, changed, againInMs } = await this.claimAndLaunch(now);
    if (changed > 0 || (due === 0 && this.isIdle())) this.noteProgress();
    return againInMs;
  }

  /** Claims rows in a write; after its commit, holds the leases of `rowsOf`. */
  protected async claim<C>(
    { db = this.#services.db, ...options }: WriteOptions & {
      db?: Pick<Db, "write">;
    },
    write: (tx: Tx, terms: ClaimValues) => Promise<C>,
    rowsOf: (claimed: C) => Iterable<T>,
  ): Promise<C> {
    const { deps } = this.#services;
    const lease = deps.ids.uuid();
    let now = 0;
    const claimed = await db.write((tx) => {
      now = tx.now();
      return write(tx, { lease, now });
    }, { ...options, ...LEASE_WRITE });
    await deps.maybe?.(`${this.#options.queue.table} claimed`);
    this.leases.add(rowsOf(claimed), now);
    return claimed;
  }

  /** Works on claimed rows. Their leases are held until the work has ended. */
  protected launch(rows: readonly T[], work: () => Promise<void>): void {
    const { deps: { log }, signals } = this.#services;
    const { table } = this.#options.queue;
    const { kind } = QUEUES[table];
    const call = work()
      .catch((error) =>
        // The leases expire by themselves; then the work is done again.
        log.error(`${kind}_not_recorded`, {
          [kind]: rows[0].id,
          error: String(error),
        })
      )
      .finally(() => {
        for (const row of rows) this.leases.delete(row);
        signals[table].notify();
      });
    void this.#calls.add(call);
  }

  /**
   * Releases all leases, so that another process can continue at once. `record`
   * stores the known outcomes of a seller's rows, in the same write.
   */
  protected async releaseAll(
    record: (tx: Tx, sellerNo: number, rows: readonly T[]) => Promise<unknown> =
      () => Promise.resolve(),
  ): Promise<void> {
    const { db, deps: { clock, log } } = this.#services;
    const { queue } = this.#options;
    try {
      await forEachSeller(
        this.leases.rows(),
        (seller, rows) =>
          db.of(seller).write(async (tx) => {
            await record(tx, seller, rows);
            await releaseLeases(tx, queue, rows, clock.now());
          }, LEASE_WRITE),
      );
    } catch (error) {
      // The leases expire, and the rows are due again then.
      const { kind } = QUEUES[queue.table];
      log.error(`${kind}_release_failed`, { error: String(error) });
    }
  }

  /**
   * Records the outcome of work. During an outage of the database, repeats the
   * write until it succeeds or the role ends; `onFailure` is called before each
   * repetition.
   */
  protected settle<R>(
    { db = this.#services.db, ...options }: WriteOptions & {
      db?: Pick<Db, "write">;
      onFailure?: () => void;
    },
    write: (tx: Tx) => Promise<R>,
  ): Promise<R> {
    const { deps } = this.#services;
    return writeUntilAccepted({ db, deps }, write, {
      ...options,
      abort: this.aborting,
    });
  }
}
