/** Bounds how much is in progress at once, for a seller and in all. */
import type { Clock } from "../deps.ts";
import { ServiceError } from "../lib/errors.ts";
import { yieldToIo } from "../lib/yield_to_io.ts";
import { ConcurrencyLimit } from "../net/concurrency_limit.ts";

export interface ConcurrencyQuotaOptions {
  perSeller: number;
  total: number;
  /** What takes a place, in the plural, as the refusal names it. */
  what: string;
}

/**
 * A seller has at most its own limit, and at most as much as is left for
 * everybody else (as in `BodyBudget`).
 */
export class ConcurrencyQuota {
  readonly #options: ConcurrencyQuotaOptions;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(options: ConcurrencyQuotaOptions) {
    this.#options = options;
  }

  /**
   * Takes a place until what is answered is called, once. Throws 429 when the
   * seller has none left, 503 when nobody has.
   */
  take(seller: string): () => void {
    const { perSeller, total, what } = this.#options;
    const taken = this.#taken.get(seller) ?? 0;
    if (taken >= perSeller) {
      throw new ServiceError(
        "rate_limited",
        `${perSeller} ${what} of yours are in progress, which is the most; ` +
          "wait for one of them.",
        LATER,
      );
    }
    // As many stay free as one seller has: there is room for the next one.
    if (taken + 1 > total - this.#total - 1) {
      throw new ServiceError(
        "unavailable",
        `The service has as many ${what} in progress as it can take; nothing ` +
          "of this request was stored. Send it again.",
        LATER,
      );
    }
    this.#taken.set(seller, taken + 1);
    this.#total++;
    return () => this.#leave(seller);
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#total;
  }

  #leave(seller: string): void {
    this.#total--;
    const left = (this.#taken.get(seller) ?? 0) - 1;
    if (left > 0) this.#taken.set(seller, left);
    else this.#taken.delete(seller);
  }
}

/** Reads of many rows that are under way or wait for their turn. */
const READS = { perSeller: 64, total: 512, what: "reads" };
/** Their answers, until they are sent; each has 4 MiB at most. Keys are owners. */
const ANSWERS = { perKey: 4, total: READS.total };
/** Answers being made. */
const MAKING = { perKey: 1, total: 6 };
/** Steps at once: one waits for the database while another encodes. */
const STEPS = { perKey: 1, total: 2 };
/** A read that took so long lets other requests in before its next step. */
const YIELD_AFTER_MS = 2;

/** Does one step of a read when it is the owner's turn. */
export type TakeStep = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * Shares out reads of many rows. They are done in steps of a few milliseconds
 * in which owners take turns, so that whoever asks for much waits for it and
 * nobody else does.
 */
export class ReadQuota {
  readonly #clock: Clock;
  readonly #admitted = new ConcurrencyQuota(READS);
  readonly #answers = new ConcurrencyLimit(ANSWERS);
  readonly #making = new ConcurrencyLimit(MAKING);
  readonly #steps = new ConcurrencyLimit(STEPS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reads that are under way or wait. */
  get admitted(): number {
    return this.#admitted.taken;
  }

  /**
   * Resolves when it is the owner's turn. What is held until the answer is made
   * and until it is sent is added to these stacks. Throws 429 or 503 when too
   * many wait, 408 when `abort()` fires first.
   */
  async begin(
    owner: string,
    abort: () => AbortSignal,
    held: { untilMade: DisposableStack; untilSent: DisposableStack },
  ): Promise<TakeStep> {
    held.untilMade.defer(this.#admitted.take(owner));
    held.untilSent.use(await takeTurn(this.#answers, owner, abort));
    held.untilMade.use(await takeTurn(this.#making, owner, abort));
    let workedMs = 0;
    return async (step) => {
      using _ = await takeTurn(this.#steps, owner, abort);
      if (workedMs >= YIELD_AFTER_MS) {
        await yieldToIo();
        workedMs = 0;
      }
      const begun = this.#clock.monotonic();
      try {
        return await step();
      } finally {
        workedMs += this.#clock.monotonic() - begun;
      }
    };
  }
}

/** Owners that wait take turns. A signal is made only for who has to wait. */
async function takeTurn(
  limit: ConcurrencyLimit,
  owner: string,
  abort: () => AbortSignal,
): Promise<Disposable> {
  try {
    return limit.tryAcquire(owner) ?? await limit.acquire(owner, abort());
  } catch {
    throw new ServiceError(
      "request_timeout",
      "The connection was closed before the answer was made.",
    );
  }
}

const LATER = { headers: { "Retry-After": "1" } };
