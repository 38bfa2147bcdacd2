/**
 * Token buckets: so many requests a minute, some of them at once. Buckets are
 * in memory; a restart refills them.
 */
import type { Clock } from "../deps.ts";
import { RecentValues } from "../lib/recent_values.ts";

interface Bucket {
  tokens: number;
  /** Monotonic milliseconds at which `tokens` was computed. */
  at: number;
}

/** The state of a client's limit. */
export interface Quota {
  allowed: boolean;
  limit: number;
  remaining: number;
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
export function rateOf(perMinute: number): Rate {
  return { perMinute, burst: Math.max(1, Math.floor(perMinute / 10)) };
}

/** Buckets in memory; the least recently used one is dropped first. */
const REMEMBERED = 10_000;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #buckets = new RecentValues<Bucket>(REMEMBERED);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes `cost` tokens (0: only reads the state) from the bucket of `key`. */
  take(key: string, cost: number, { perMinute, burst }: Rate): Quota {
    const now = this.#clock.monotonic();
    const perMs = perMinute / 60_000;
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) * perMs);
    const allowed = tokens >= cost;
    const left = allowed ? tokens - cost : tokens;
    this.#buckets.set(key, { tokens: left, at: now });
    return {
      allowed,
      limit: perMinute,
      remaining: Math.floor(left),
      reset: Math.ceil((burst - left) / perMs / 1_000),
      retryAfter: allowed ? 0 : Math.ceil((cost - left) / perMs / 1_000),
    };
  }
}

export function quotaHeaders(quota: Quota): Record<string, string> {
  return {
    "RateLimit-Limit": String(quota.limit),
    "RateLimit-Remaining": String(quota.remaining),
    "RateLimit-Reset": String(quota.reset),
    ...(quota.allowed ? {} : { "Retry-After": String(quota.retryAfter) }),
  };
}
