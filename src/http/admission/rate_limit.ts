/**
 * Token buckets: so many requests a minute, some of them at once. Buckets are
 * in memory; a restart refills them.
 */
import type { Clock } from "../../deps.ts";
import { RecentValues } from "../../lib/recent_values.ts";

interface Bucket {
  /** Negative after requests that cost more than was left. */
  tokens: number;
  /** Monotonic milliseconds at which `tokens` was computed. */
  at: number;
}

/** The state of a client's limit. */
export interface RateLimitState {
  allowed: boolean;
  /** Requests a minute, and how many of them may come at once. */
  limit: number;
  burst: number;
  /** Requests that may be sent now. */
  remaining: number;
  /** What is left of a minute's requests; less than that after costly ones. */
  remainingOfMinute: number;
  /** Seconds until the bucket is full again. */
  reset: number;
  /** Seconds until a request is allowed; 0 if one is allowed now. */
  retryAfter: number;
}

export interface Rate {
  perMinute: number;
  /** How many may come at once. */
  burst: number;
}

/** The rate of `perMinute` requests a minute, a tenth of them at once. */
export function rateFor(perMinute: number): Rate {
  return { perMinute, burst: Math.max(1, Math.floor(perMinute / 10)) };
}

/** Buckets in memory; the least recently used one is dropped first. */
const REMEMBERED = 10_000;
/**
 * Tokens that rounding may lose, so that a request sent exactly after
 * Retry-After is allowed.
 */
const ROUNDING = 1e-6;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #buckets = new RecentValues<Bucket>(REMEMBERED);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes `cost` tokens (0: only reads the state) from the bucket of `key`. */
  take(key: string, cost: number, rate: Rate): RateLimitState {
    const bucket = this.#refilled(key, rate);
    const retryAfter = secondsFor(cost - bucket.tokens, rate);
    if (retryAfter === 0) bucket.tokens -= cost;
    return {
      ...stateOfBucket(bucket, rate),
      allowed: retryAfter === 0,
      retryAfter,
    };
  }

  /**
   * Takes `cost` tokens more for a request that was allowed and costs more than
   * it seemed to. Where the bucket has fewer, later requests wait for them.
   */
  charge(key: string, cost: number, rate: Rate): RateLimitState {
    const bucket = this.#refilled(key, rate);
    bucket.tokens -= cost;
    return { ...stateOfBucket(bucket, rate), allowed: true, retryAfter: 0 };
  }

  #refilled(key: string, { perMinute, burst }: Rate): Bucket {
    const now = this.#clock.monotonic();
    const { tokens, at } = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const added = (now - at) * perMinute / 60_000;
    const bucket = { tokens: Math.min(burst, tokens + added), at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

function stateOfBucket({ tokens }: Bucket, rate: Rate) {
  return {
    limit: rate.perMinute,
    burst: rate.burst,
    remaining: Math.max(0, Math.floor(tokens + ROUNDING)),
    remainingOfMinute: Math.max(
      0,
      Math.floor(rate.perMinute - rate.burst + tokens + ROUNDING),
    ),
    reset: secondsFor(rate.burst - tokens, rate),
  };
}

/** Whole seconds until a bucket has so many tokens more. */
function secondsFor(tokens: number, { perMinute }: Rate): number {
  return Math.max(0, Math.ceil((tokens - ROUNDING) * 60 / perMinute));
}

/**
 * The headers of a quota: three of their own, and the two of
 * draft-ietf-httpapi-ratelimit-headers-11. The draft's limit "minute" is what
 * the bucket gains in a minute, and "burst" is what the bucket holds.
 */
export function rateLimitHeaders(
  state: RateLimitState,
): Record<string, string> {
  const { limit, burst, remaining, remainingOfMinute, reset } = state;
  return {
    "RateLimit-Limit": String(limit),
    "RateLimit-Remaining": String(remaining),
    "RateLimit-Reset": String(reset),
    "RateLimit-Policy": `"minute";q=${limit};w=60, "burst";q=${burst}`,
    "RateLimit": `"minute";r=${remainingOfMinute};t=${reset}, ` +
      `"burst";r=${remaining};t=${reset}`,
    ...(state.allowed ? {} : { "Retry-After": String(state.retryAfter) }),
  };
}
