/** Health checks behind `/readyz`. */
import type { Clock, Deps } from "../deps.ts";
import { type Db, outageOf, type Tx } from "../database/db.ts";
import type { Holders } from "../lib/holders.ts";
import { pause } from "../lib/waits.ts";
import { sectionsOf } from "../database/sections.ts";

/**
 * How long a result is reused, so that anonymous requests cannot cause work.
 */
const VALID_MS = 1_000;
/** A write that takes longer counts as failed. */
const WRITE_MS = 1_000;

/**
 * With fewer bytes free a disk counts as full: the small test write may still
 * fit into the database's log when larger writes do not.
 */
const LEAST_FREE = 1 << 20;

/** A waiter that could run starts sooner than this; a longer wait is a fault. */
const WAIT_MS = 1_000;
/**
 * A stall of this process makes all waits long, so a long wait counts only if
 * it still lasts this much later.
 */
const RECHECK_AFTER_MS = 100;

/** A process that becomes ready within this time logs no `not_ready`. */
const START_MS = 10_000;

/** For each check, by name, why it failed; null if it passed. */
export type Checks = ReadonlyMap<string, string | null>;

export interface HealthOptions {
  db: Db;
  deps: Pick<Deps, "clock" | "disk" | "log">;
  holders: Holders;
  /** The folder of a database file; null for a database server. */
  folder: string | null;
}

function checkStorage(tx: Tx): Promise<number> {
  return tx.run(
    `INSERT INTO health (seller_no, looked_at) VALUES (?, ?)
     ON CONFLICT (seller_no) DO UPDATE SET looked_at = excluded.looked_at`,
    [tx.localSellerNo, tx.now()],
    1,
  );
}

export class Health {
  readonly #db: Db;
  readonly #deps: HealthOptions["deps"];
  readonly #holders: Holders;
  readonly #folder: string | null;
  readonly #roles = new Map<string, () => string | null>();
  #checks: Promise<Checks> | null = null;
  #write: Promise<string | null> | null = null;
  #until = 0;
  #lastFailed = "";
  readonly #startedAt: number;
  #wasReady = false;

  constructor({ db, deps, holders, folder }: HealthOptions) {
    this.#db = db;
    this.#deps = deps;
    this.#holders = holders;
    this.#folder = folder;
    this.#startedAt = deps.clock.monotonic();
  }

  /**
   * Adds a role of this process; `trouble` returns why it is not ready, or
   * null.
   */
  watch(role: string, trouble: () => string | null): void {
    this.#roles.set(role, trouble);
  }

  /**
   * Runs the checks, or returns results less than a second old; never rejects.
   */
  check(): Promise<Checks> {
    const { clock } = this.#deps;
    if (this.#checks === null || clock.monotonic() >= this.#until) {
      this.#until = Infinity;
      this.#checks = this.#checkAgain(clock);
    }
    return this.#checks;
  }

  async #checkAgain(clock: Clock): Promise<Checks> {
    const checks = new Map([
      ["database", await this.#databaseTrouble()],
      ["queues", await this.#queueTrouble()],
    ]);
    for (const [role, trouble] of this.#roles) checks.set(role, trouble());
    this.#until = clock.monotonic() + VALID_MS;
    this.#noteChange(checks);
    return checks;
  }

  /**
   * Why the database is not ready, or null. Concurrent checks share one test
   * write, so that no test writes queue up.
   */
  async #databaseTrouble(): Promise<string | null> {
    this.#write ??= this.#tryWrite().finally(() => this.#write = null);
    const late = Promise.withResolvers<string>();
    const cancel = this.#deps.clock.after(WRITE_MS, () => {
      late.resolve("a write takes more than a second");
    });
    const trouble = await Promise.race([this.#write, late.promise]);
    cancel();
    return trouble;
  }

  /**
   * Makes a test write. One server that accepts the write is enough: its
   * sellers can be served.
   */
  async #tryWrite(): Promise<string | null> {
    try {
      await Promise.any(
        sectionsOf(this.#db).map((section) => section.write(checkStorage)),
      );
    } catch (error) {
      const [first] = (error as AggregateError).errors;
      const outage = outageOf(first) ?? "the database refuses a write";
      return await this.#fullDisk() ?? outage;
    }
    return await this.#fullDisk();
  }

  async #fullDisk(): Promise<string | null> {
    if (this.#folder === null) return null;
    const free = await this.#deps.disk.free(this.#folder).catch(() => Infinity);
    return free < LEAST_FREE ? "less than 1 MiB is free on its disk" : null;
  }

  async #queueTrouble(): Promise<string | null> {
    if (this.#stuckQueue() === undefined) return null;
    const { clock } = this.#deps;
    await pause(clock, RECHECK_AFTER_MS);
    const queue = this.#stuckQueue();
    if (queue === undefined) return null;
    const seconds = Math.floor(this.#holders.oldestWaitMs(queue) / 1_000);
    return `${queue}: a waiter that could run has waited for ${seconds} s`;
  }

  #stuckQueue(): string | undefined {
    return this.#holders.queues
      .find((queue) => this.#holders.oldestWaitMs(queue) >= WAIT_MS);
  }

  #noteChange(checks: Checks): void {
    const failed = [...checks].filter(([, trouble]) => trouble !== null)
      .map(([name, trouble]) => `${name}: ${trouble}`).join(", ");
    const { clock, log } = this.#deps;
    if (failed === "") this.#wasReady = true;
    const isStillStarting = !this.#wasReady &&
      clock.monotonic() - this.#startedAt < START_MS;
    if (isStillStarting || failed === this.#lastFailed) return;
    this.#lastFailed = failed;
    if (failed === "") log.info("ready_again");
    else log.warn("not_ready", { failed });
  }
}
