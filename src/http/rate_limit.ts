/**
 * A token bucket a seller: so many requests a minute, a tenth of them at once.
 * Buckets live in memory; a restart fills them.
 */
import type { Clock } from "../deps.ts";

interface Bucket {
  tokens: number;
  /** Monotonic milliseconds at which `tokens` was right. */
  at: number;
}

/** What a seller is told about its limit. */
export interface Quota {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the bucket is full again. */
  reset: number;
  /** Seconds until a request is allowed; 0 when it is. */
  retryAfter: number;
}

export class RateLimiter {
  readonly #perMinute: number;
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#burst = Math.max(1, Math.floor(perMinute / 10));
    this.#clock = clock;
  }

  /** Takes `cost` tokens (0: only looks). */
  take(seller: string, cost: 0 | 1): Quota {
    const now = this.#clock.monotonic();
    const perMs = this.#perMinute / 60_000;
    const bucket = this.#buckets.get(seller) ??
      { tokens: this.#burst, at: now };
    const tokens = Math.min(
      this.#burst,
      bucket.tokens + (now - bucket.at) * perMs,
    );
    const allowed = tokens >= cost;
    const left = allowed ? tokens - cost : tokens;
    this.#buckets.set(seller, { tokens: left, at: now });
    return {
      allowed,
      limit: this.#perMinute,
      remaining: Math.floor(left),
      reset: Math.ceil((this.#burst - left) / perMs / 1_000),
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
