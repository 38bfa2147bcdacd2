/**
 * Begins and ends sales: records each step that is due in the row of its
 * product. The row is locked while its step is recorded, and has no due step
 * afterwards. So each step is recorded once, by any number of processes. Steps
 * that became due while no process ran are found at the next start. Leases are
 * not needed, because nothing happens outside of the database.
 *
 * Each second the role searches for sellers with due steps, some sellers at a
 * time. Then it records one portion of steps for each seller found, in turn, and
 * after each portion pauses half as long as the portion took. So 100,000 sales of
 * one seller neither take the processor from requests nor delay the sales of
 * other sellers.
 */
import type { Db, WriteOptions } from "../database/db.ts";
import {
  isReachable,
  sectionsOf,
  totalOutageOf,
} from "../database/sections.ts";
import { Loop, type LoopDeps } from "../jobs/loop.ts";
import { QUEUES } from "../jobs/queues.ts";
import type { BackgroundRole } from "../jobs/role_keeper.ts";
import type { Signals } from "../jobs/signals.ts";
import { SECOND_MS } from "../lib/durations.ts";
import { pause } from "../lib/waits.ts";
import {
  recordDueSteps,
  sellersWithSteps,
  STEPS_AT_ONCE,
} from "./sale_rows.ts";

/** The pause from the beginning of a search to the next one. */
const SEARCH_MS = SECOND_MS;
/** The pause after a portion, as a share of the time that it took. */
const PAUSE_SHARE = 0.5;
/** Sellers of one read. */
const SELLERS_AT_ONCE = 250;

const WRITE: WriteOptions = { queue: "sales", heavy: true, changes: true };

export interface SaleServices {
  db: Db;
  deps: LoopDeps;
  signals: Pick<Signals, "sales">;
}

export class SaleRole implements BackgroundRole {
  readonly #services: SaleServices;
  readonly #loop: Loop;
  /** Sellers with due steps. */
  readonly #due = new Set<number>();
  /** Monotonic milliseconds. */
  #searchAt = 0;
  #working = 0;
  #progress = 0;
  readonly #stopping = new AbortController();

  constructor(services: SaleServices) {
    this.#services = services;
    this.#loop = new Loop({
      name: QUEUES.sales.role,
      deps: services.deps,
      signal: services.signals.sales,
      idleMs: SEARCH_MS,
      step: () => this.#step(),
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
  }

  abandon(): Promise<void> {
    void this.stop();
    return Promise.resolve();
  }

  trouble(): string | null {
    return totalOutageOf(this.#services.db, this.#loop.failure);
  }

  get progress(): number {
    return this.#progress;
  }

  inUse(): { in_flight: number } {
    return { in_flight: this.#working };
  }

  oldestWaitMs(): number {
    return 0;
  }

  async #step(): Promise<number> {
    const { clock } = this.#services.deps;
    if (clock.monotonic() >= this.#searchAt) {
      this.#searchAt = clock.monotonic() + SEARCH_MS;
      await this.#search();
    }
    await this.#recordPortions();
    if (this.#due.size > 0) return 0;
    this.#progress++;
    return this.#searchAt - clock.monotonic();
  }

  /** Finds all sellers with due steps. */
  async #search(): Promise<void> {
    const { db, deps: { clock, yieldToIo } } = this.#services;
    for (const section of sectionsOf(db)) {
      let after = 0;
      for (let isOver = false; !isOver;) {
        const now = clock.now();
        const found = await section.read(
          (sql) => sellersWithSteps(sql, after, SELLERS_AT_ONCE),
          { single: true },
        );
        for (const { sellerNo, due } of found) {
          if (due <= now) this.#due.add(sellerNo);
          after = sellerNo;
        }
        isOver = found.length < SELLERS_AT_ONCE ||
          this.#stopping.signal.aborted;
        if (!isOver) await yieldToIo();
      }
    }
  }

  /** Records one portion of each seller that was found. */
  async #recordPortions(): Promise<void> {
    const { db, deps } = this.#services;
    for (const sellerNo of [...this.#due]) {
      if (this.#stopping.signal.aborted) return;
      // A failed write is not repeated here: the next search finds the seller.
      this.#due.delete(sellerNo);
      if (!isReachable(db, sellerNo)) continue;
      this.#working++;
      const begun = deps.clock.monotonic();
      try {
        const seller = db.of(sellerNo);
        const n = await seller.write(
          (tx) => recordDueSteps(tx, sellerNo),
          WRITE,
        );
        await deps.maybe?.("sale steps recorded");
        this.#progress++;
        if (n === STEPS_AT_ONCE) this.#due.add(sellerNo);
      } finally {
        this.#working--;
      }
      const took = deps.clock.monotonic() - begun;
      if (took === 0) continue;
      await pause(deps.clock, took * PAUSE_SHARE, this.#stopping.signal);
    }
  }
}
