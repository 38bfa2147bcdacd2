/** Whether the service can do its work: what `/readyz` tells. */
import type { Clock, Deps } from "../deps.ts";
import { type Db, outageOf } from "../database/db.ts";
import { noteLook } from "./health_row.ts";

/** How long an answer stands, so that strangers cannot make it work. */
const STANDS_MS = 1_000;
/** A write that takes longer counts as failed. */
const WRITE_MS = 1_000;

/** Each check by name: why it failed; null when it passed. */
export type Checks = ReadonlyMap<string, string | null>;

export class Health {
  readonly #db: Db;
  readonly #deps: Pick<Deps, "clock" | "log">;
  readonly #roles = new Map<string, () => string | null>();
  #checks: Promise<Checks> | null = null;
  #write: Promise<string | null> | null = null;
  #until = 0;
  #lastFailed = "";

  constructor(db: Db, deps: Pick<Deps, "clock" | "log">) {
    this.#db = db;
    this.#deps = deps;
  }

  /** Has a role of this process looked at, too; `trouble` as in `Checks`. */
  watch(role: string, trouble: () => string | null): void {
    this.#roles.set(role, trouble);
  }

  /** Looks, or tells what was seen less than a second ago; never rejects. */
  look(): Promise<Checks> {
    const { clock } = this.#deps;
    if (this.#checks === null || clock.monotonic() >= this.#until) {
      this.#until = Infinity;
      this.#checks = this.#lookAgain(clock);
    }
    return this.#checks;
  }

  async #lookAgain(clock: Clock): Promise<Checks> {
    const checks = new Map([["database", await this.#databaseTrouble()]]);
    for (const [role, trouble] of this.#roles) checks.set(role, trouble());
    this.#until = clock.monotonic() + STANDS_MS;
    this.#noteChange(checks);
    return checks;
  }

  /** Looks wait for the same write until it ends, so that none queue up. */
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

  async #tryWrite(): Promise<string | null> {
    try {
      await this.#db.write((tx) => noteLook(tx, tx.now()));
      return null;
    } catch (error) {
      return outageOf(error) ?? "the database refuses a write";
    }
  }

  #noteChange(checks: Checks): void {
    const failed = [...checks].filter(([, trouble]) => trouble !== null)
      .map(([name, trouble]) => `${name}: ${trouble}`).join(", ");
    if (failed === this.#lastFailed) return;
    this.#lastFailed = failed;
    const { log } = this.#deps;
    if (failed === "") log.info("ready_again");
    else log.warn("not_ready", { failed });
  }
}
