/** Whose key came with a request. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../deps.ts";
import { ServiceError } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Db } from "../database/db.ts";
import { findSellerByKey } from "../sellers/seller_rows.ts";

/** The header that every request to the API carries. */
export const KEY_HEADER = "x-service-auth";
/** A key found good is not looked up again for this long; a revoked one is
 * refused within a second, so it must be well below that. */
const REMEMBER_MS = 500;
/** How many keys are remembered at most. */
const REMEMBER_KEYS = 10_000;

/** 401; one message, whether the key is missing, unknown or revoked. */
function unauthorized(): ServiceError {
  return new ServiceError(
    "unauthorized",
    "A valid key is needed in the header X-Service-Auth.",
  );
}

export class SellerKeys {
  readonly #db: Db;
  readonly #clock: Clock;
  /** By key, in memory for half a second; hashing is half of a look-up. */
  readonly #known = new Map<string, { seller: Seller; until: number }>();
  /** Of requests that wait or stream, by key. */
  readonly #watched = new Map<string, Set<AbortController>>();
  #cancelLook = () => {};

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** The seller whose key this is, or throws 401. */
  async authenticate(key: string | null): Promise<Seller> {
    if (key === null || key === "" || key.length > 200) throw unauthorized();
    const known = this.#known.get(key);
    const fresh = known !== undefined && known.until > this.#clock.monotonic();
    return fresh ? known.seller : await this.#lookUp(key);
  }

  async #lookUp(key: string): Promise<Seller> {
    const now = this.#clock.monotonic();
    const seller = await this.#db.read((sql) => findSellerByKey(sql, key));
    if (seller === null) {
      this.#known.delete(key);
      throw unauthorized();
    }
    if (this.#known.size >= REMEMBER_KEYS) this.#known.clear();
    this.#known.set(key, { seller, until: now + REMEMBER_MS });
    return seller;
  }

  /**
   * Looks at a key again and again until `stop` is called; the signal fires,
   * with the refusal as its reason, within a second of its end.
   */
  watch(key: string): { signal: AbortSignal; stop(): void } {
    const watcher = new AbortController();
    const watchers = this.#watched.get(key) ?? new Set();
    this.#watched.set(key, watchers.add(watcher));
    if (this.#watched.size === 1 && watchers.size === 1) this.#lookLater();
    const stop = () => {
      watchers.delete(watcher);
      if (watchers.size > 0) return;
      this.#watched.delete(key);
      if (this.#watched.size === 0) this.#cancelLook();
    };
    return { signal: watcher.signal, stop };
  }

  #lookLater(): void {
    this.#cancelLook();
    this.#cancelLook = this.#clock.after(REMEMBER_MS, () => this.#look());
  }

  async #look(): Promise<void> {
    for (const [key, watchers] of this.#watched) {
      try {
        await this.#lookUp(key);
      } catch (error) {
        // A failure of the database says nothing about the key.
        if (!(error instanceof ServiceError)) continue;
        for (const watcher of watchers) watcher.abort(error);
      }
    }
    if (this.#watched.size > 0) this.#lookLater();
  }
}

/** Throws 401 unless it is the operator's key; compared in constant time. */
export function checkOperatorKey(expected: string, key: string | null): void {
  const same = timingSafeEqual(sha256(key ?? ""), sha256(expected));
  if (key === null || !same) throw unauthorized();
}

function sha256(text: string) {
  return createHash("sha256").update(text).digest();
}
