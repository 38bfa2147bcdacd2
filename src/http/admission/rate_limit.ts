/**
 * Rate limits by token buckets, in requests a minute with a burst. Buckets are
 * in memory; a restart refills them.
 */
import type { Clock } from "../../deps.ts";
import { RecentValues } from "../../lib/recent_values.ts";

interface Bucket {
  /** Negative after a request that cost more tokens than there were. */
  tokens: number;
  /** When `tokens` was computed, in monotonic milliseconds. */
  at: number;
}

/** The state of a client's rate limit. */
export interface RateLimitState {
  /** Whether the request is allowed. */
  allowed: boolean;
  /** Requests a minute. */
  limit: number;
  /** How many requests may come at once. */
  burst: number;
  /** How many requests may be sent now. */
  remaining: number;
  /** How many of the requests of a minute are left. */
  remainingOfMinute: number;
  /** Seconds until the bucket is full again. */
  reset: number;
  /** Seconds until a request is allowed; 0 if one is allowed now. */
  retryAfter: number;
}

export interface Rate {
  perMinute: number;
  /** How many requests may come at once. */
  burst: number;
}

/** The rate of `perMinute` requests a minute, with a burst of a tenth. */
export function rateFor(perMinute: number): Rate {
  return { perMinute, burst: Math.max(1, Math.floor(perMinute / 10)) };
}

/** How many buckets are in memory; the least recently used is dropped first. */
const MAX_BUCKETS = 10_000;
/**
 * Tokens that rounding may lose, so that a request sent exactly after
 * Retry-After is allowed.
 */
const ROUNDING = 1e-6;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #buckets = new RecentValues<Bucket>(MAX_BUCKETS);

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
   * Takes `cost` further tokens for a request that was allowed and turned out
   * to cost more. If the bucket has fewer tokens, later requests wait until it
   * is refilled.
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

/** How many whole seconds a bucket needs to gain `tokens`. */
function secondsFor(tokens: number, { perMinute }: Rate): number {
  return Math.max(0, Math.ceil((tokens - ROUNDING) * 60 / perMinute));
}

/**
 * The headers of a rate limit: three in common use, and the two of
 * draft-ietf-httpapi-ratelimit-headers-11. The draft's policy "minute" is the
 * tokens that a bucket gains in a minute, "burst" its capacity.
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
