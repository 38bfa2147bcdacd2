/**
 * Authentication, rate limits and concurrency limits, which all requests of a
 * server share.
 */
import type { KeyOwner } from "../../sellers/key_rows.ts";
import type { Services } from "../../services.ts";
import { MetricsKeys, OperatorKeys, SellerKeys } from "./authentication.ts";
import { AuthFailureLimiter } from "./auth_failures.ts";
import {
  type Rate,
  rateFor,
  RateLimiter,
  type RateLimitState,
} from "./rate_limit.ts";
import { ReadLimiter } from "./read_limiter.ts";
import { RequestPacer } from "./request_pacer.ts";
import { BodyBudget, ConcurrencyLimit } from "./concurrency_limit.ts";
import {
  IMAGES_IN_ALL,
  UploadLimiter,
  UPLOADS_IN_ALL,
} from "./upload_limiter.ts";

/** The limits of request bodies that are being read. */
const BODIES = { perSeller: 32, total: 256, what: "request bodies" };
/** The limits of requests that wait for a change, or stream progress. */
const WAITS = { perSeller: 64, total: 1_024, what: "waiting requests" };

export class Admission {
  readonly keys: SellerKeys;
  readonly operatorKeys: OperatorKeys;
  readonly metricsKeys: MetricsKeys;
  readonly authFailures: AuthFailureLimiter;
  /** Limits request bodies that are being read. */
  readonly bodies: ConcurrencyLimit;
  /** Limits the bytes of bodies and documents in progress. */
  readonly budget: BodyBudget;
  /** Limits uploads whose bodies have arrived. */
  readonly uploads: UploadLimiter;
  /** Limits uploads of images. */
  readonly images: UploadLimiter;
  /** Limits requests that wait for a change, or stream progress. */
  readonly waits: ConcurrencyLimit;
  readonly reads: ReadLimiter;
  readonly pacer: RequestPacer;
  readonly #limiter: RateLimiter;
  /** The rate limit of sellers without their own, in requests a minute. */
  readonly #perMinute: number;

  constructor({ db, deps, config, holders }: Services) {
    const { clock } = deps;
    this.keys = new SellerKeys(db, deps);
    this.operatorKeys = new OperatorKeys(db, deps, config.operatorKey);
    this.metricsKeys = new MetricsKeys(this.operatorKeys, config.metricsKey);
    this.authFailures = new AuthFailureLimiter(clock);
    this.bodies = holders.add("bodies", new ConcurrencyLimit(clock, BODIES));
    this.waits = holders.add("waits", new ConcurrencyLimit(clock, WAITS));
    this.reads = new ReadLimiter(deps, holders);
    this.pacer = holders.add("paced_requests", new RequestPacer(deps));
    this.uploads = new UploadLimiter(clock, UPLOADS_IN_ALL);
    holders.add("uploads", this.uploads.list);
    this.images = new UploadLimiter(clock, IMAGES_IN_ALL);
    holders.add("uploaded_images", this.images.list);
    const budget = new BodyBudget(clock, config.bodyBudget);
    this.budget = holders.add("body_bytes", budget);
    this.#limiter = new RateLimiter(clock);
    this.#perMinute = config.rateLimit;
  }

  /** How many requests are in progress, by kind. */
  inProgress(): Record<string, number> {
    return {
      upload: this.uploads.acquired,
      body: this.bodies.acquired,
      image_upload: this.images.acquired,
      wait: this.waits.acquired,
      read: this.reads.admitted,
    };
  }

  /**
   * Counts `requests` of a seller (0: only reads the state) if its rate limit
   * allows them; null for a seller without a rate limit.
   */
  take(seller: KeyOwner, requests: number): RateLimitState | null {
    const rate = this.#rateOf(seller);
    return rate && this.#limiter.take(seller.id, requests, rate);
  }

  /**
   * Counts further `requests` for a request that was allowed. Both together are
   * at most a whole burst.
   */
  charge(seller: KeyOwner, requests: number): RateLimitState | null {
    const rate = this.#rateOf(seller);
    if (rate === null) return null;
    const cost = Math.min(requests, rate.burst - 1);
    return this.#limiter.charge(seller.id, cost, rate);
  }

  #rateOf({ rateLimit }: KeyOwner): Rate | null {
    const perMinute = rateLimit ?? this.#perMinute;
    return perMinute === 0 ? null : rateFor(perMinute);
  }
}
