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
/** How many keys are remembered with the minute of their last use. */
const KEYS_REMEMBERED = 10_000;

interface KeyUse {
  sellerNo: number;
  keyId: string;
  /** The beginning of the minute, in Unix milliseconds. */
  minute: number;
}

export class KeyUses {
  readonly #db: Db;
  readonly #deps: Pick<Deps, "clock" | "log">;
  /** The minute in which a key's use was last recorded, by key id. */
  readonly #recorded = new Map<string, number>();
  /** The uses for the next write, by key id. */
  #collected = new Map<string, KeyUse>();
  #cancel: (() => void) | null = null;

  constructor(db: Db, deps: Pick<Deps, "clock" | "log">) {
    this.#db = db;
    this.#deps = deps;
  }

  /** Records that a key was used now. */
  note({ no: sellerNo, keyId }: Caller): void {
    const { clock } = this.#deps;
    const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
    if (this.#recorded.get(keyId) === minute) return;
    if (this.#recorded.size >= KEYS_REMEMBERED) this.#recorded.clear();
    this.#recorded.set(keyId, minute);
    this.#collected.set(keyId, { sellerNo, keyId, minute });
    this.#cancel ??= clock.after(COLLECT_MS, () => this.flush());
  }

  /**
   * Writes the collected uses. If that fails, the next request with the same key
   * is recorded again.
   */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const uses = [...this.#collected.values()];
    this.#collected = new Map();
    await Promise.all(
      groupBySection(this.#db, uses).map(async ([section, ofSection]) => {
        try {
          await section.write((tx) =>
            tx.runMany(RECORD_USE, ofSection.sort(byKey).map(valuesOf), "any")
          );
        } catch (error) {
          for (const { keyId } of ofSection) this.#recorded.delete(keyId);
          this.#deps.log.debug("key_uses_not_written", {
            error: String(error),
          });
        }
      }),
    );
  }
}

/** Skips a seller that is being removed, whose rows may be deleted already. */
const RECORD_USE = `INSERT INTO key_uses (seller_no, key_id, last_used_at)
  SELECT seller_no, ?, ? FROM seller_counters
  WHERE seller_no = ? AND removed = 0
  ON CONFLICT (seller_no, key_id) DO UPDATE
    SET last_used_at = excluded.last_used_at
    WHERE key_uses.last_used_at < excluded.last_used_at`;

/** Orders uses, so that two writes lock rows in the same order. */
function byKey(one: KeyUse, other: KeyUse): number {
  return one.sellerNo - other.sellerNo || (one.keyId < other.keyId ? -1 : 1);
}

function valuesOf({ sellerNo, keyId, minute }: KeyUse): Param[] {
  return [keyId, minute, sellerNo];
}
