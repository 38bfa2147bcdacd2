/**
 * Rate limits by token buckets, in requests a minute with a burst. Buckets are
 * in memory; a restart refills them.
 */
import type { Clock } from "../../deps.ts";
import { RecentValues } from "../../lib/recent_values.ts";

interface Bucket {
  /** Negative after requests that cost more than there was. */
  tokens: number;
  /** Monotonic milliseconds at which `tokens` was computed. */
  at: number;
}

/** The state of a client's limit. */
export interface RateLimitState {
  allowed: boolean;
  /** Requests a minute, and the burst: how many of them may come at once. */
  limit: number;
  burst: number;
  /** Requests that may be sent now. */
  remaining: number;
  /**
   * The rest of the requests of a minute; costly requests reduce it further.
   */
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
   * Takes `cost` further tokens for a request that was allowed and turned out
   * to cost more. If the bucket has fewer, later requests wait until they are
   * refilled.
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

/** Whole seconds until a bucket has `tokens` more. */
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
