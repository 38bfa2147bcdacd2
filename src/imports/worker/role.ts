/**
 * Works on imports: claims one of each seller under a lease, does some of its
 * parts, and gives it back, so that the imports of a seller take turns. Several
 * processes may do so.
 */
import {
  inReach,
  outageOf,
  type Tx,
  wholeOutageOf,
} from "../../database/db.ts";
import { HeldLeases, writeEnd } from "../../jobs/held_leases.ts";
import { eachSeller, type Leased } from "../../jobs/lease_queue.ts";
import { Loop } from "../../jobs/loop.ts";
import type { BackgroundRole } from "../../jobs/role_keeper.ts";
import { Calls } from "../../lib/calls.ts";
import type { Held } from "../../lib/holders.ts";
import { type Detail, ServiceError } from "../../lib/errors.ts";
import { inSpan } from "../../lib/tracing.ts";
import { within } from "../../lib/waits.ts";
import type { Services } from "../../services.ts";
import { checkPart } from "../check.ts";
import { AFTER_FAILURE_MS, type Import, IMPORTS, isOpen } from "../import.ts";
import {
  claimImport,
  type DueSeller,
  dueSellers,
  endImport,
  failuresOf,
  findImport,
  lockJob,
  releaseImport,
} from "../import_rows.ts";
import { type Job, LeaseLost } from "../part.ts";
import { findPart } from "../part_rows.ts";
import { storePart } from "../store.ts";
import { checkUndo, storeUndo } from "../undo.ts";

/**
 * Imports in hand of one process, each of another seller. Those whose server is
 * away have no place.
 */
const AT_ONCE = 8;
/** How often it looks for rows that other processes wrote. */
const LOOK_MS = 1_000;
/** How long an import is worked on before others of its seller have a turn. */
const TURN_MS = 1_000;
/** An import fails when one part has failed so often. */
const FAILURES = 5;
/** How long parts in hand may take to end after a stop. */
const STOP_MS = 2_000;
/** The pause while the service cannot go on. */
const OUTAGE_MS = 1_000;

export interface ImportRoleOptions {
  /** Other processes work on this database, too; their leases are kept. */
  shared: boolean;
}

export class ImportRole implements BackgroundRole {
  readonly #services: Services;
  readonly #loop: Loop;
  /** The leases of imports in hand, one of each seller. */
  readonly #leases: HeldLeases;
  /**
   * Sellers with due imports that a look found while there was room, and since
   * when; in monotonic milliseconds.
   */
  #waiting = new Map<number, number>();
  readonly #working = new Calls();
  readonly #aborting = new AbortController();
  #progress = 0;

  constructor(services: Services, { shared }: ImportRoleOptions) {
    const { deps, signals } = services;
    this.#services = services;
    this.#leases = new HeldLeases({ ...services, queue: IMPORTS, shared });
    this.#loop = new Loop({
      name: "imports",
      deps,
      signal: signals.imports,
      idleMs: LOOK_MS,
      step: () => this.#step(),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Ends after the commits in hand; gives back the rest. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    this.#aborting.abort();
    const { clock } = this.#services.deps;
    await within(clock, STOP_MS, this.#working.ended());
  }

  /** What it holds is taken over when its leases have ended. */
  abandon(): Promise<void> {
    this.#aborting.abort();
    void this.#loop.stop();
    return Promise.resolve();
  }

  trouble(): string | null {
    return wholeOutageOf(this.#services.db, this.#loop.failure);
  }

  get progress(): number {
    return this.#progress;
  }

  held(): Held & { in_flight: number } {
    return { in_flight: this.#leases.size, working: this.#working.size };
  }

  oldestWaitMs(): number {
    const { db, deps } = this.#services;
    const now = deps.clock.monotonic();
    const waiting = Array.from(
      this.#waiting,
      ([sellerNo, since]) => ({ sellerNo, since }),
    );
    return inReach(db, waiting)
      .reduce((oldest, { since }) => Math.max(oldest, now - since), 0);
  }

  async #step(): Promise<number> {
    const { db, deps } = this.#services;
    const now = deps.clock.now();
    await this.#leases.renew();
    if (await this.#leases.releaseDead() > 0) {
      this.#progress++;
      return 0;
    }
    const inHand = new Set(this.#leases.rows().map(({ sellerNo }) => sellerNo));
    const due = await db.read(
      (sql) => dueSellers(sql, now, AT_ONCE + inHand.size),
      { single: true },
    );
    const free = due.filter(({ no }) => !inHand.has(no))
      .slice(0, Math.max(0, AT_ONCE - this.#leases.inReach().length));
    const found = deps.clock.monotonic();
    this.#waiting = new Map(
      free.map(({ no }) => [no, this.#waiting.get(no) ?? found]),
    );
    await eachSeller(
      free.map((seller) => ({ sellerNo: seller.no, seller })),
      (_, [{ seller }]) => this.#claim(seller),
    );
    if (this.#leases.inReach().length === 0) this.#progress++;
    return LOOK_MS;
  }

  async #claim(seller: DueSeller): Promise<void> {
    const { db, deps } = this.#services;
    const lease = deps.ids.uuid();
    const { leased, now } = await db.write(async (tx) => {
      const now = tx.now();
      return { leased: await claimImport(tx, seller.no, { lease, now }), now };
    }, {
      seller: seller.no,
      owner: seller.id,
      order: `imports ${seller.id}`,
    });
    // null: another process has it, or another import of the seller comes first.
    this.#waiting.delete(seller.no);
    if (leased === null) return;
    this.#leases.add([leased], now);
    const working = this.#workOn(seller, leased)
      .catch((error) =>
        // The lease expires by itself; the import goes on then.
        deps.log.error("import_not_recorded", {
          import: leased.id,
          error: String(error),
        })
      )
      .finally(() => {
        this.#leases.delete(leased);
        this.#services.signals.imports.notify();
      });
    this.#working.add(working);
  }

  /** Does parts of an import for a while. */
  async #workOn(seller: DueSeller, leased: Leased): Promise<void> {
    const { deps, signals } = this.#services;
    const until = deps.clock.monotonic() + TURN_MS;
    try {
      for (let isOver = false;;) {
        // Also called after the last part: it then records the end.
        const job = await this.#next(seller, leased);
        if (job === null) return;
        if (isOver) break;
        await inSpan("import.part", () => this.#do(job), { root: true });
        this.#progress++;
        signals.progress.announce(leased.id);
        await deps.maybe?.("import part done");
        isOver = deps.clock.monotonic() >= until ||
          this.#aborting.signal.aborted;
      }
      const settlement = { ...leased, dueAt: deps.clock.now() };
      await this.#end(seller, (tx) => releaseImport(tx, settlement, false));
    } catch (error) {
      if (error instanceof LeaseLost) return;
      await this.#failed(seller, leased, error);
    }
  }

  /** The next part; null if the import is over or in other hands. */
  async #next(seller: DueSeller, leased: Leased): Promise<Job | null> {
    const { sellerNo, id: importId } = leased;
    const key = { sellerNo, importId };
    const found = await this.#services.db.read(async (sql) => {
      const row = await findImport(sql, sellerNo, importId);
      if (row === null || !isOpen(row)) return { row, part: null };
      const next = row.state === "checking"
        ? row.parts_checked
        : row.parts_stored;
      return { row, part: await findPart(sql, key, next) };
    }, { seller: sellerNo });
    const { row, part } = found;
    if (part === null) {
      if (row !== null) this.#ended(seller, row);
      return null;
    }
    const abort = this.#aborting.signal;
    const moved = () => void this.#progress++;
    return { seller, leased, key, row: row!, part, abort, moved };
  }

  async #do(job: Job): Promise<void> {
    const { row } = job;
    const isCheck = row.state === "checking";
    if (row.undoes !== null) {
      await (isCheck ? checkUndo : storeUndo)(this.#services, job);
    } else await (isCheck ? checkPart : storePart)(this.#services, job);
  }

  #ended({ name }: DueSeller, row: Import): void {
    const { deps, metrics } = this.#services;
    if (row.state === "cancelled") return;
    metrics.imports.add(1, row.state);
    deps.log.info("import_ended", {
      seller: name,
      import: row.id,
      state: row.state,
      products: row.products_total,
      refused: row.products_refused,
    });
  }

  /** Gives the import back, or ends it where it cannot go on. */
  async #failed(
    seller: DueSeller,
    leased: Leased,
    error: unknown,
  ): Promise<void> {
    const { deps } = this.#services;
    const isOurs = outageOf(error) !== null || this.#aborting.signal.aborted ||
      error instanceof ServiceError && [401, 403, 503].includes(error.status);
    const problem = problemOf(error);
    if (!isOurs) {
      const log = { import: leased.id, error: String(error) };
      deps.log[problem === null ? "error" : "warn"]("import_part_failed", log);
    }
    await this.#end(seller, async (tx) => {
      const failures = await failuresOf(tx, leased);
      const isOver = !isOurs && (problem !== null || failures + 1 >= FAILURES);
      if (!isOver) {
        const pause = isOurs ? OUTAGE_MS : AFTER_FAILURE_MS;
        const settlement = { ...leased, dueAt: deps.clock.now() + pause };
        return await releaseImport(tx, settlement, !isOurs);
      }
      const row = await lockJob(tx, leased);
      if (row === null) return;
      const key = { sellerNo: leased.sellerNo, importId: leased.id };
      await endImport(tx, key, "failed", [problem ?? INTERNAL]);
      tx.onCommit(() => this.#ended(seller, { ...row, state: "failed" }));
    });
    this.#services.signals.progress.announce(leased.id);
  }

  #end(seller: DueSeller, fn: (tx: Tx) => Promise<void>): Promise<void> {
    const abort = this.#aborting.signal;
    return writeEnd(this.#services, fn, { seller: seller.no, abort });
  }
}

const INTERNAL: Detail = {
  code: "internal",
  message: "The service failed to process a part of the import.",
};

/** Why the document or the undo cannot be processed; null: for no such reason. */
function problemOf(error: unknown): Detail | null {
  if (!(error instanceof ServiceError) || error.status >= 500) return null;
  return error.details[0] ?? { code: "not_allowed", message: error.message };
}
