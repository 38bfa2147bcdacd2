/**
 * The leases that a role of this process holds in one queue. It renews them
 * until the outcome of their rows is stored. A lease that could not be
 * released, because the database failed, is no longer renewed: it expires and
 * is released like the lease of a dead process.
 */
import type { Deps } from "../deps.ts";
import {
  type Db,
  outageOf,
  type Tx,
  type WriteOptions,
} from "../database/db.ts";
import {
  expiredLeases,
  forEachSeller,
  LEASE_MS,
  type Leased,
  type LeaseQueue,
  releaseLeases,
  renewLeases,
} from "./lease_queue.ts";
import { pause } from "../lib/waits.ts";
import { reachableRows } from "../database/sections.ts";

/** A lease is renewed this long after it was made or renewed. */
const RENEW_MS = 5_000;
/** Pause between two searches for leases of dead processes. */
const DEAD_LEASE_CHECK_MS = 5_000;
/**
 * After this long without a search, other processes may not have reached the
 * database either. They have until the next search to renew their leases.
 */
const GAP_MS = LEASE_MS - RENEW_MS;
/** Renewing and ending leases does not wait for the seller's own writes. */
export const LEASE_WRITE: WriteOptions = { queue: "leases" };
/** The pause before a write that met an outage is repeated. */
const REPEAT_MS = 1_000;

export interface HeldLeasesOptions {
  db: Db;
  deps: Pick<Deps, "clock" | "log">;
  queue: LeaseQueue;
  /** Another process held leases in the queue when this role began. */
  shared: boolean;
}

interface HeldLease<T> {
  row: T;
  /** Unix milliseconds. */
  until: number;
}

export class HeldLeases<T extends Leased = Leased> {
  readonly #options: HeldLeasesOptions;
  readonly #held = new Map<string, HeldLease<T>>();
  /**
   * Leases that end by this time (Unix milliseconds) were made by a former
   * process; 0 once they are released. The leases of a process that runs at the
   * same time on the same folder end later.
   */
  #formerProcessUntil: number;
  /** Monotonic milliseconds. */
  #searchedAt = Infinity;
  /** Monotonic milliseconds. */
  #searchAt = 0;

  constructor(options: HeldLeasesOptions) {
    const { deps: { clock }, shared } = options;
    this.#options = options;
    this.#formerProcessUntil = shared ? 0 : clock.now() + LEASE_MS;
  }

  get size(): number {
    return this.#held.size;
  }

  rows(): T[] {
    return Array.from(this.#held.values(), ({ row }) => row);
  }

  /** The rows whose section can be reached. */
  reachableRows(): T[] {
    return reachableRows(this.#options.db, this.rows());
  }

  get(lease: Pick<Leased, "id" | "lease">): T | undefined {
    return this.#held.get(leaseKey(lease))?.row;
  }

  /** `claimedAt` is the time inside the write that made the leases. */
  add(rows: Iterable<T>, claimedAt: number): void {
    const until = claimedAt + LEASE_MS;
    for (const row of rows) this.#held.set(leaseKey(row), { row, until });
  }

  delete(row: Leased): void {
    this.#held.delete(leaseKey(row));
  }

  /**
   * Renews all leases of each seller that has a lease to renew. A role renews
   * its leases before it searches for expired ones, because after a stall its
   * own leases have expired, too.
   */
  async renew(): Promise<void> {
    const { db, deps: { clock }, queue } = this.#options;
    const now = clock.now();
    const held = Array.from(this.#held.values())
      .filter(({ until }) => mustRenew(until, now));
    const due = new Set(held.map(({ row }) => row.sellerNo));
    const rows = this.reachableRows().filter(({ sellerNo }) =>
      due.has(sellerNo)
    );
    await forEachSeller(rows, async (seller, own) => {
      const until = await db.of(seller).write(
        (tx) => renewLeases(tx, queue, own),
        LEASE_WRITE,
      );
      for (const row of own) {
        const held = this.#held.get(leaseKey(row));
        if (held !== undefined) held.until = until;
      }
    });
  }

  /**
   * Ends the leases of dead processes, if a search is due; returns how many.
   * `end` ends the leases of one seller; by default it makes their rows due.
   */
  async releaseDead(
    end = (tx: Tx, own: readonly Leased[]) => {
      const { deps: { clock }, queue } = this.#options;
      return releaseLeases(tx, queue, own, clock.now());
    },
  ): Promise<number> {
    const { db, deps: { log }, queue } = this.#options;
    const dead = await this.#dead();
    if (dead.length === 0) return 0;
    await forEachSeller(
      dead,
      (seller, own) => db.of(seller).write((tx) => end(tx, own), LEASE_WRITE),
    );
    log.warn("leases_released", { queue: queue.table, count: dead.length });
    return dead.length;
  }

  /**
   * Leases that expired although their holder had time to renew them; empty
   * while no search is due.
   */
  async #dead(): Promise<Leased[]> {
    const { db, deps: { clock }, queue } = this.#options;
    if (clock.monotonic() < this.#searchAt) return [];
    const by = Math.max(clock.now(), this.#formerProcessUntil);
    const ended = await db.read((sql) => expiredLeases(sql, queue, by), {
      single: true,
    });
    const at = clock.monotonic();
    const hadGap = at - this.#searchedAt > GAP_MS;
    this.#searchedAt = at;
    const dead = hadGap
      ? []
      : ended.filter((one) => this.get(one) === undefined);
    if (dead.length === 0) this.#searchAt = at + DEAD_LEASE_CHECK_MS;
    if (dead.length === 0 && !hadGap) this.#formerProcessUntil = 0;
    return dead;
  }
}

/**
 * Makes a write that ends a lease. During an outage of the database, repeats
 * the write until it succeeds or `abort` fires; any other error is thrown. The
 * lease is held until then, so that nothing is done twice.
 */
export async function writeUntilAccepted<R>(
  { db, deps: { clock } }: { db: Pick<Db, "write">; deps: Pick<Deps, "clock"> },
  fn: (tx: Tx) => Promise<R>,
  { abort, onFailure = () => {}, ...options }: WriteOptions & {
    abort: AbortSignal;
    onFailure?: () => void;
  },
): Promise<R> {
  for (;;) {
    try {
      return await db.write(fn, { ...options, ...LEASE_WRITE });
    } catch (error) {
      if (outageOf(error) === null || abort.aborted) throw error;
      onFailure();
      await pause(clock, REPEAT_MS, abort);
    }
  }
}

/**
 * Whether a lease that ends at `until` must be renewed at `now`: `RENEW_MS`
 * after it was made, or at once if the clock was set back.
 */
function mustRenew(until: number, now: number): boolean {
  const left = until - now;
  return left <= LEASE_MS - RENEW_MS || left > LEASE_MS;
}

function leaseKey({ id, lease }: Pick<Leased, "id" | "lease">): string {
  return `${lease} ${id}`;
}
