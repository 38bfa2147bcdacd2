/** Whether the service can do its work: what `/readyz` tells. */
import type { Clock, Deps } from "../deps.ts";
import type { Db } from "../database/db.ts";
import { noteLook } from "./health_row.ts";

/** How long an answer stands, so that strangers cannot make it work. */
const STANDS_MS = 1_000;

/** Each check by name: whether it passed. */
export type Checks = ReadonlyMap<string, boolean>;

export class Health {
  readonly #db: Db;
  readonly #deps: Pick<Deps, "clock" | "log">;
  readonly #roles = new Map<string, () => boolean>();
  #checks: Promise<Checks> | null = null;
  #until = 0;
  #lastFailed = "";

  constructor(db: Db, deps: Pick<Deps, "clock" | "log">) {
    this.#db = db;
    this.#deps = deps;
  }

  /** Has a part of this process looked at, too. */
  watch(role: string, healthy: () => boolean): void {
    this.#roles.set(role, healthy);
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
    const checks = new Map([["database", await this.#writable()]]);
    for (const [role, healthy] of this.#roles) checks.set(role, healthy());
    this.#until = clock.monotonic() + STANDS_MS;
    this.#noteChange(checks);
    return checks;
  }

  async #writable(): Promise<boolean> {
    const now = this.#deps.clock.now();
    try {
      await this.#db.write((tx) => noteLook(tx, now));
      return true;
    } catch {
      return false;
    }
  }

  #noteChange(checks: Checks): void {
    const failed = [...checks].filter(([, passed]) => !passed)
      .map(([name]) => name).join(", ");
    if (failed === this.#lastFailed) return;
    this.#lastFailed = failed;
    const { log } = this.#deps;
    if (failed === "") log.info("ready_again");
    else log.warn("not_ready", { failed });
  }
}
