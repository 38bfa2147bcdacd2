/**
 * Works on imports: claims one import of each seller under a lease, handles
 * some of its parts, and releases it, so that the imports of a seller take
 * turns. Several processes may have this role at the same time.
 */
import { outageOf, type Tx } from "../../database/db.ts";
import {
  type ClaimResult,
  LeasedRole,
  LONGEST_IDLE_MS,
} from "../../jobs/leased_role.ts";
import { forEachSeller, type Leased } from "../../jobs/lease_queue.ts";
import { type Detail, ServiceError } from "../../lib/errors.ts";
import { inSpan } from "../../lib/tracing.ts";
import type { Services } from "../../services.ts";
import { checkPart } from "../check.ts";
import { endAndEmit } from "../end.ts";
import { AFTER_FAILURE_MS, type Import, IMPORTS, isOpen } from "../import.ts";
import {
  claimImport,
  type DueSeller,
  dueSellers,
  failuresOf,
  findImport,
  lockJob,
  releaseImport,
} from "../import_rows.ts";
import { type Job, LeaseLost } from "../part.ts";
import { findPart } from "../part_rows.ts";
import { storePart } from "../store.ts";
import { checkUndo, storeUndo } from "../undo.ts";
import { reachableRows } from "../../database/sections.ts";

/**
 * The most imports that one process works on at the same time, each of another
 * seller. An import whose section is unreachable is not counted.
 */
const AT_ONCE = 8;
/**
 * How long an import is worked on before the other imports of its seller have a
 * turn.
 */
const TURN_MS = 1_000;
/** An import fails once one part has failed this often. */
const FAILURES = 5;
/** The pause during an outage. */
const OUTAGE_MS = 1_000;

export interface ImportRoleOptions {
  /**
   * Whether other processes work on this database, so that their leases are
   * kept.
   */
  shared: boolean;
}

/** Works on at most one import of a seller at a time. */
export class ImportRole extends LeasedRole {
  readonly #services: Services;
  /**
   * Sellers with due imports that this process is about to claim, and the time
   * since which it has tried to (monotonic milliseconds).
   */
  #waiting = new Map<number, number>();

  constructor(services: Services, { shared }: ImportRoleOptions) {
    super(services, { queue: IMPORTS, shared });
    this.#services = services;
  }

  override oldestWaitMs(): number {
    const { db, deps } = this.#services;
    const now = deps.clock.monotonic();
    const waiting = Array.from(
      this.#waiting,
      ([sellerNo, since]) => ({ sellerNo, since }),
    );
    return reachableRows(db, waiting)
      .reduce((oldest, { since }) => Math.max(oldest, now - since), 0);
  }

  protected async claimAndLaunch(now: number): Promise<ClaimResult> {
    const { db, deps } = this.#services;
    const inProgress = new Set(
      this.leases.rows().map(({ sellerNo }) => sellerNo),
    );
    const due = await db.read(
      (sql) => dueSellers(sql, now, AT_ONCE + inProgress.size),
      { single: true },
    );
    const free = due.filter(({ no }) => !inProgress.has(no))
      .slice(0, Math.max(0, AT_ONCE - this.leases.reachableRows().length));
    const found = deps.clock.monotonic();
    this.#waiting = new Map(
      free.map(({ no }) => [no, this.#waiting.get(no) ?? found]),
    );
    const claimed = await forEachSeller(
      free.map((seller) => ({ sellerNo: seller.no, seller })),
      (_, [{ seller }]) => this.#claim(seller),
    );
    const claimedCount = claimed.filter((isClaimed) => isClaimed).length;
    return {
      due: this.#waiting.size,
      changed: claimedCount,
      againInMs: LONGEST_IDLE_MS,
    };
  }

  /**
   * Claims an import of the seller and works on it; returns whether there was
   * one.
   */
  async #claim(seller: DueSeller): Promise<boolean> {
    const { db } = this.#services;
    const leased = await this.claim(
      { db: db.of(seller.no), order: `imports ${seller.id}` },
      (tx, terms) => claimImport(tx, seller.no, terms),
      (leased) => leased === null ? [] : [leased],
    );
    // null: another process has claimed the import, or another import of the
    // seller precedes it.
    this.#waiting.delete(seller.no);
    if (leased === null) return false;
    this.launch([leased], () => this.#workOn(seller, leased));
    return true;
  }

  /** Handles parts of an import for `TURN_MS`. */
  async #workOn(seller: DueSeller, leased: Leased): Promise<void> {
    const { deps, signals } = this.#services;
    const until = deps.clock.monotonic() + TURN_MS;
    try {
      for (let isOver = false;;) {
        // Called once more after the last part, to log the end of the import.
        const job = await this.#next(seller, leased);
        if (job === null) return;
        if (isOver) break;
        await inSpan("import.part", () => this.#do(job), { root: true });
        this.noteProgress();
        signals.progress.announce(leased.id);
        await deps.maybe?.(placeAfter(job));
        isOver = deps.clock.monotonic() >= until ||
          this.aborting.aborted;
      }
      const settlement = { ...leased, dueAt: deps.clock.now() };
      await this.#end(seller, (tx) => releaseImport(tx, settlement, false));
    } catch (error) {
      if (error instanceof LeaseLost) return;
      await this.#failed(seller, leased, error);
    }
  }

  /**
   * The next part; null if the import has ended or another process works on it.
   */
  async #next(seller: DueSeller, leased: Leased): Promise<Job | null> {
    const { sellerNo, id: importId } = leased;
    const key = { sellerNo, importId };
    const found = await this.#services.db.of(sellerNo).read(async (sql) => {
      const row = await findImport(sql, sellerNo, importId);
      if (row === null || !isOpen(row)) return { row, part: null };
      const next = row.state === "checking"
        ? row.parts_checked
        : row.parts_stored;
      return { row, part: await findPart(sql, key, next) };
    });
    const { row, part } = found;
    if (part === null) {
      if (row !== null) this.#ended(seller, row);
      return null;
    }
    const abort = this.aborting;
    const noteProgress = () => this.noteProgress();
    return {
      seller,
      leased,
      key,
      row: row!,
      part,
      abort,
      noteProgress,
    };
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

  /** Releases the import, or ends it if it cannot continue. */
  async #failed(
    seller: DueSeller,
    leased: Leased,
    error: unknown,
  ): Promise<void> {
    const { deps } = this.#services;
    const isOurs = outageOf(error) !== null || this.aborting.aborted ||
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
      await endAndEmit(tx, this.#services, key, "failed", [
        problem ?? INTERNAL,
      ]);
      tx.onCommit(() => this.#ended(seller, { ...row, state: "failed" }));
    });
    this.#services.signals.progress.announce(leased.id);
  }

  #end(seller: DueSeller, write: (tx: Tx) => Promise<void>): Promise<void> {
    return this.settle({ db: this.#services.db.of(seller.no) }, write);
  }
}

const INTERNAL: Detail = {
  code: "internal",
  message: "The service failed to process a part of the import.",
};

/**
 * The problem of a document or undo that cannot be processed; null for other
 * errors.
 */
function problemOf(error: unknown): Detail | null {
  if (!(error instanceof ServiceError) || error.status >= 500) return null;
  return error.details[0] ?? { code: "not_allowed", message: error.message };
}

/** Names the commit for tests; another commit of the import follows. */
function placeAfter({ row, part }: Job): string {
  const isOver = row.state === "storing" && part.part === row.parts - 1;
  if (isOver) return "import over";
  const what = row.undoes === null ? "part" : "part of an undo";
  return `import ${what} ${row.state === "storing" ? "stored" : "checked"}`;
}
