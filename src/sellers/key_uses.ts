/**
 * Records when keys were last used, to the minute, without a write for each
 * request.
 */
import type { Deps } from "../deps.ts";
import type { Db, Param } from "../database/db.ts";
import type { Caller } from "./seller.ts";
import { MINUTE_MS } from "../lib/durations.ts";
import { groupBySection } from "../database/sections.ts";

/** How long uses are collected before they are written. */
const COLLECT_MS = 5_000;
/** The most keys whose last minute is remembered. */
const REMEMBERED = 10_000;

interface KeyUse {
  sellerNo: number;
  keyId: string;
  /** Unix milliseconds. */
  minute: number;
}

export class KeyUses {
  readonly #db: Db;
  readonly #deps: Pick<Deps, "clock" | "log">;
  /** By key id, the minute in which its use was last noted. */
  readonly #noted = new Map<string, number>();
  #waiting = new Map<string, KeyUse>();
  #cancel: (() => void) | null = null;

  constructor(db: Db, deps: Pick<Deps, "clock" | "log">) {
    this.#db = db;
    this.#deps = deps;
  }

  /** Notes that a key was used now. */
  note({ no: sellerNo, keyId }: Caller): void {
    const { clock } = this.#deps;
    const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
    if (this.#noted.get(keyId) === minute) return;
    if (this.#noted.size >= REMEMBERED) this.#noted.clear();
    this.#noted.set(keyId, minute);
    this.#waiting.set(keyId, { sellerNo, keyId, minute });
    this.#cancel ??= clock.after(COLLECT_MS, () => this.flush());
  }

  /**
   * Writes the recorded uses; a use that cannot be written is recorded again at
   * the next request.
   */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const uses = [...this.#waiting.values()];
    this.#waiting = new Map();
    await Promise.all(
      groupBySection(this.#db, uses).map(async ([section, own]) => {
        try {
          await section.write((tx) =>
            tx.runMany(NOTE, own.sort(byKey).map(valuesOf), "any")
          );
        } catch (error) {
          for (const { keyId } of own) this.#noted.delete(keyId);
          this.#deps.log.debug("key_uses_not_written", {
            error: String(error),
          });
        }
      }),
    );
  }
}

/** Skips a seller that is being removed, whose rows may be deleted already. */
const NOTE = `INSERT INTO key_uses (seller_no, key_id, last_used_at)
  SELECT seller_no, ?, ? FROM seller_counters
  WHERE seller_no = ? AND removed = 0
  ON CONFLICT (seller_no, key_id) DO UPDATE
    SET last_used_at = excluded.last_used_at
    WHERE key_uses.last_used_at < excluded.last_used_at`;

/** The order in which rows are locked. */
function byKey(one: KeyUse, other: KeyUse): number {
  return one.sellerNo - other.sellerNo || (one.keyId < other.keyId ? -1 : 1);
}

function valuesOf({ sellerNo, keyId, minute }: KeyUse): Param[] {
  return [keyId, minute, sellerNo];
}
