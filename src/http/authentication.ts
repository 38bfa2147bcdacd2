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

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** The seller whose key this is, or throws 401. */
  async authenticate(key: string | null): Promise<Seller> {
    if (key === null || key === "" || key.length > 200) throw unauthorized();
    const now = this.#clock.monotonic();
    const known = this.#known.get(key);
    if (known !== undefined && known.until > now) return known.seller;
    const seller = await this.#db.read((sql) => findSellerByKey(sql, key));
    if (seller === null) {
      this.#known.delete(key);
      throw unauthorized();
    }
    if (this.#known.size >= REMEMBER_KEYS) this.#known.clear();
    this.#known.set(key, { seller, until: now + REMEMBER_MS });
    return seller;
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
