/** Authenticates requests by their keys. */
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
 * How long a known key is cached. A revoked key must be refused within a second,
 * even in a waiting request, which authenticates again before every read.
 */
const CACHED_MS = 500;
/** How many keys are cached. */
const CACHED_KEYS = 10_000;
/** How many characters a key may have. */
const KEY_LENGTH = 200;

/** The error 401 for a request of the metrics. */
function bearerRequired(): ServiceError {
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
    CACHED_KEYS,
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

  /** The owner of a key; null for an unknown key. */
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
    this.#known.set(key, { owner, until: now + CACHED_MS });
    return owner;
  }
}

/** Whether a header value can be a key at all. */
function isPossibleKey(key: string | null): key is string {
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

  /** Returns the owner of a key that a client sent; throws 401. */
  async authenticate(
    key: string | null,
    from: { readonly client: string },
  ): Promise<KeyOwner> {
    const owner = isPossibleKey(key) ? await this.#owners.get(key) : null;
    if (owner === null) throw unauthorized();
    checkUsable(owner, this.#clock.now(), from);
    this.#uses.note(owner);
    return owner;
  }

  /** Stores the recorded uses of keys. */
  close(): Promise<void> {
    return this.#uses.flush();
  }
}

/** Authenticates requests of the operator API. */
export class OperatorKeys {
  readonly #db: Db;
  readonly #deps: Deps;
  readonly #owners: KeyOwners<OperatorKey>;
  /** The hash of SELLER_OPERATOR_KEY; null without one. */
  readonly #configuredHash: string | null;

  constructor(db: Db, deps: Deps, operatorKey: string | null) {
    this.#db = db;
    this.#deps = deps;
    this.#owners = new KeyOwners(db, deps.clock, findOperatorByKey);
    this.#configuredHash = operatorKey === null ? null : keyHash(operatorKey);
  }

  /**
   * Returns the operator of a key that a client sent; throws 401. Returns null if
   * no operator has a key, which disables the operator API.
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
    return this.#configuredHash !== null || await this.#db.read(hasOperatorKey);
  }

  /**
   * Returns the operator of a key; null for an unknown key, and for a key that
   * may not be used, which is logged.
   */
  async find(
    key: string | null,
    from: { readonly client: string },
  ): Promise<Operator | null> {
    if (key === null) return null;
    const isConfigured = this.#configuredHash !== null &&
      sameHash(keyHash(key), this.#configuredHash);
    if (isConfigured) return { name: ENVIRONMENT, readOnly: false };
    const operator = isPossibleKey(key) ? await this.#owners.get(key) : null;
    if (operator === null) return null;
    const { clock, log } = this.#deps;
    const subject = `The operator key ${operator.name}`;
    const reason = whyUnusable(operator, subject, clock.now(), from);
    if (reason === null) return operator;
    log.warn("operator_key_refused", { key: operator.name, reason });
    return null;
  }
}

/** Authenticates requests of the metrics. */
export class MetricsKeys {
  readonly #operators: OperatorKeys;
  /** The hash of SELLER_METRICS_KEY; null without one. */
  readonly #configuredHash: string | null;

  constructor(operators: OperatorKeys, metricsKey: string | null) {
    this.#operators = operators;
    this.#configuredHash = metricsKey === null ? null : keyHash(metricsKey);
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
    const isConfigured = this.#configuredHash !== null && key !== null &&
      sameHash(keyHash(key), this.#configuredHash);
    if (isConfigured) return true;
    const operator = await this.#operators.find(key, from);
    if (operator !== null) return true;
    if (this.#configuredHash === null && !await this.#operators.exist()) {
      return false;
    }
    throw bearerRequired();
  }
}

const BEARER_PREFIX = /^Bearer +([\x21-\x7e]+) *$/i;
