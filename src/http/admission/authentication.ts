/** Authentication by key. */
import type { Clock, Deps } from "../../deps.ts";
import { ServiceError } from "../../lib/errors.ts";
import { RecentValues } from "../../lib/recent_values.ts";
import type { Db, Sql } from "../../database/db.ts";
import {
  checkUsable,
  unauthorized,
  whyUnusable,
} from "../../sellers/access.ts";
import { keyHash, sameHash } from "../../sellers/api_key.ts";
import { ENVIRONMENT } from "../../monitoring/audit.ts";
import {
  findOperatorByKey,
  hasOperatorKey,
  type Operator,
  type OperatorKey,
} from "../../sellers/operator_keys.ts";
import { KeyUses } from "../../sellers/key_uses.ts";
import { findSellerByKey, type KeyOwner } from "../../sellers/key_rows.ts";

/** The header with the key of every request to the API. */
export const KEY_HEADER = "x-service-auth";
/**
 * How long a known key is cached. A revoked key must be refused within a
 * second, also for waiting requests, which authenticate again whenever they
 * read.
 */
const REMEMBER_MS = 500;
/** The most keys that are cached. */
const REMEMBER_KEYS = 10_000;
/** The most characters of a key. */
const KEY_LENGTH = 200;

/** The 401 of the metrics. */
function bearerWanted(): ServiceError {
  return new ServiceError(
    "unauthorized",
    "A valid key is needed in the header Authorization, as in: Bearer KEY.",
    { headers: { "WWW-Authenticate": "Bearer" } },
  );
}

/** Owners by key, cached for half a second because hashing takes time. */
class KeyOwners<T> {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #find: (sql: Sql, key: string) => Promise<T | null>;
  readonly #known = new RecentValues<{ owner: T; until: number }>(
    REMEMBER_KEYS,
  );

  constructor(
    db: Db,
    clock: Clock,
    find: (sql: Sql, key: string) => Promise<T | null>,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#find = find;
  }

  /** Returns null for an unknown key. */
  async get(key: string): Promise<T | null> {
    const now = this.#clock.monotonic();
    const known = this.#known.get(key);
    if (known !== undefined && known.until > now) return known.owner;
    const owner = await this.#db.read((sql) => this.#find(sql, key), {
      single: true,
    });
    if (owner === null) {
      this.#known.delete(key);
      return null;
    }
    this.#known.set(key, { owner, until: now + REMEMBER_MS });
    return owner;
  }
}

/** Whether a header value can be a key at all. */
function isPossible(key: string | null): key is string {
  return key !== null && key !== "" && key.length <= KEY_LENGTH;
}

export class SellerKeys {
  readonly #owners: KeyOwners<KeyOwner>;
  readonly #uses: KeyUses;
  readonly #clock: Clock;

  constructor(db: Db, deps: Deps) {
    this.#clock = deps.clock;
    this.#owners = new KeyOwners(db, deps.clock, findSellerByKey);
    this.#uses = new KeyUses(db, deps);
  }

  /** Returns the seller of this key, sent from a client; throws 401. */
  async authenticate(
    key: string | null,
    from: { readonly client: string },
  ): Promise<KeyOwner> {
    const owner = isPossible(key) ? await this.#owners.get(key) : null;
    if (owner === null) throw unauthorized();
    checkUsable(owner, this.#clock.now(), from);
    this.#uses.note(owner);
    return owner;
  }

  /** Writes pending changes. */
  close(): Promise<void> {
    return this.#uses.flush();
  }
}

/** Authentication for the operator API. */
export class OperatorKeys {
  readonly #db: Db;
  readonly #deps: Deps;
  readonly #owners: KeyOwners<OperatorKey>;
  /** The hash of the configured key; null without one. */
  readonly #configured: string | null;

  constructor(db: Db, deps: Deps, operatorKey: string | null) {
    this.#db = db;
    this.#deps = deps;
    this.#owners = new KeyOwners(db, deps.clock, findOperatorByKey);
    this.#configured = operatorKey === null ? null : keyHash(operatorKey);
  }

  /**
   * Returns the operator of this key, sent from a client. Throws 401; returns
   * null if no operator has a key, which disables the operator API.
   */
  async authenticate(
    key: string | null,
    from: { readonly client: string },
  ): Promise<Operator | null> {
    const operator = await this.find(key, from);
    if (operator !== null) return operator;
    if (await this.exist()) throw unauthorized();
    return null;
  }

  /** Whether any operator has a key. */
  async exist(): Promise<boolean> {
    return this.#configured !== null || await this.#db.read(hasOperatorKey);
  }

  /**
   * Returns the operator of this key; null if there is none, or the key may not
   * be used, which is logged.
   */
  async find(
    key: string | null,
    from: { readonly client: string },
  ): Promise<Operator | null> {
    if (key === null) return null;
    const isConfigured = this.#configured !== null &&
      sameHash(keyHash(key), this.#configured);
    if (isConfigured) return { name: ENVIRONMENT, readOnly: false };
    const found = isPossible(key) ? await this.#owners.get(key) : null;
    if (found === null) return null;
    const { clock, log } = this.#deps;
    const called = `The operator key ${found.name}`;
    const reason = whyUnusable(found, called, clock.now(), from);
    if (reason === null) return found;
    log.warn("operator_key_refused", { key: found.name, reason });
    return null;
  }
}

/** Authentication for metrics. */
export class MetricsKeys {
  readonly #operators: OperatorKeys;
  /** The hash of SELLER_METRICS_KEY; null without one. */
  readonly #configured: string | null;

  constructor(operators: OperatorKeys, metricsKey: string | null) {
    this.#operators = operators;
    this.#configured = metricsKey === null ? null : keyHash(metricsKey);
  }

  /**
   * Throws 401 for headers without a valid key. Returns false if no key of any
   * kind exists, which disables metrics.
   */
  async authenticate(
    headers: Headers,
    from: { readonly client: string },
  ): Promise<boolean> {
    const [, bearer] = BEARER_PREFIX.exec(headers.get("authorization") ?? "") ??
      [];
    const key = bearer ?? headers.get(KEY_HEADER);
    const isConfigured = this.#configured !== null && key !== null &&
      sameHash(keyHash(key), this.#configured);
    if (isConfigured) return true;
    const operator = await this.#operators.find(key, from);
    if (operator !== null) return true;
    if (this.#configured === null && !await this.#operators.exist()) {
      return false;
    }
    throw bearerWanted();
  }
}

const BEARER_PREFIX = /^Bearer +([\x21-\x7e]+) *$/i;
