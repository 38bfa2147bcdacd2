/**
 * Records when keys were last used, to the minute, without a write for each
 * request.
 */
import type { Deps } from "../deps.ts";
import type { Db } from "../database/db.ts";
import { MINUTE_MS } from "../lib/durations.ts";

/** How long uses are collected before they are written. */
const COLLECT_MS = 5_000;
/** Keys whose last minute is remembered, at most. */
const REMEMBERED = 10_000;

export class KeyUses {
  readonly #db: Db;
  readonly #deps: Pick<Deps, "clock" | "log">;
  /** By key id, the minute in which its use was last noted. */
  readonly #noted = new Map<string, number>();
  #waiting = new Map<string, number>();
  #cancel: (() => void) | null = null;

  constructor(db: Db, deps: Pick<Deps, "clock" | "log">) {
    this.#db = db;
    this.#deps = deps;
  }

  /** A key was used now. */
  note(keyId: string): void {
    const { clock } = this.#deps;
    const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
    if (this.#noted.get(keyId) === minute) return;
    if (this.#noted.size >= REMEMBERED) this.#noted.clear();
    this.#noted.set(keyId, minute);
    this.#waiting.set(keyId, minute);
    this.#cancel ??= clock.after(COLLECT_MS, () => this.flush());
  }

  /**
   * Writes the recorded uses; a use that cannot be written is recorded again at
   * the next request.
   */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const uses = [...this.#waiting];
    this.#waiting = new Map();
    if (uses.length === 0) return;
    try {
      await this.#db.write((tx) =>
        tx.runMany(
          `UPDATE api_keys SET last_used_at = ?
           WHERE id = ? AND COALESCE(last_used_at, 0) < ?`,
          uses.map(([id, minute]) => [minute, id, minute]),
        )
      );
    } catch (error) {
      for (const [id] of uses) this.#noted.delete(id);
      this.#deps.log.debug("key_uses_not_written", { error: String(error) });
    }
  }
}
