/** Limits how much is in progress at once, for each seller and in total. */
import type { Deps } from "../../deps.ts";
import { ServiceError, serviceStopping } from "../../lib/errors.ts";
import type { Held } from "../../lib/holders.ts";
import { FairQueue } from "../../lib/fair_queue.ts";
import { ConcurrencyLimit } from "../../net/concurrency_limit.ts";
import { SharedBudget, type SharedBudgetOptions } from "./shared_budget.ts";

/** What is in progress ends soon. */
export const RETRY_SOON = { headers: { "Retry-After": "1" } };

export interface ConcurrencyQuotaOptions extends SharedBudgetOptions {
  /** What is limited, in the plural, as the error message names it. */
  what: string;
}

/** 429 if the seller has no slot left, 503 if no seller has. */
export function tooManyInProgress(
  whose: "seller" | "all",
  { perSeller, what }: ConcurrencyQuotaOptions,
): ServiceError {
  return whose === "seller"
    ? new ServiceError(
      "rate_limited",
      `You have ${perSeller} ${what} in progress, the most allowed; wait ` +
        "until one has ended.",
      RETRY_SOON,
    )
    : new ServiceError(
      "unavailable",
      `The service has too many ${what} in progress; nothing of this ` +
        "request was stored. Send it again.",
      RETRY_SOON,
    );
}

/** Refuses at once what is too much; `ConcurrencyLimit` has it wait. */
export class ConcurrencyQuota {
  readonly #options: ConcurrencyQuotaOptions;
  readonly #slots: SharedBudget;

  constructor(options: ConcurrencyQuotaOptions) {
    this.#options = options;
    this.#slots = new SharedBudget(options);
  }

  /**
   * Takes a slot; call the returned function once to release it. Throws 429 if
   * the seller has no slot left, 503 if no seller has.
   */
  take(seller: string): () => void {
    const refusal = this.#slots.take(seller, 1);
    if (refusal !== null) throw tooManyInProgress(refusal, this.#options);
    return () => this.#slots.giveBack(seller, 1);
  }

  /** What it holds; all zero when nothing is in progress. */
  held(): Held {
    return this.#slots.held();
  }

  /** Slots in use. */
  get taken(): number {
    return this.#slots.taken;
  }
}

/** Long reads in progress or waiting. */
const READS = { perSeller: 64, total: 512, what: "reads" };
/** Their answers until they are sent, at most 4 MiB each. Keys are owners. */
const ANSWERS = { perKey: 4, total: READS.total };
/** Answers being created that are long already, or may become so at once. */
const LONG = { perKey: 1, total: 6 };
/** Concurrent steps: one waits for the database while another encodes. */
const STEPS = 2;
/** After steps of so many milliseconds other requests run before the next. */
const YIELD_AFTER_MS = 2;

/** A read that may have to wait. */
export interface ReadRequest {
  owner: string;
  /** Fires when the client disconnects, and with `ending`. */
  abort: () => AbortSignal;
  /** Fires when the service stops and cannot wait any longer. */
  ending: AbortSignal;
}

/**
 * Runs one step of a read in the owner's turn. As long as the answer is short,
 * it does not wait for the long ones of others.
 */
export type TakeStep = <T>(
  step: () => Promise<T>,
  isLong: boolean,
) => Promise<T>;

/**
 * Shares long reads among owners. They run in steps of a few milliseconds; the
 * owner that has used the least time is next, so that a long read delays only
 * its owner.
 */
export class ReadQuota {
  readonly #deps: Pick<Deps, "clock" | "yieldToIo">;
  readonly #admitted = new ConcurrencyQuota(READS);
  readonly #answers: ConcurrencyLimit;
  readonly #long: ConcurrencyLimit;
  readonly #steps: FairQueue;
  /** Milliseconds of steps since other requests could run. */
  #workedMs = 0;

  constructor(deps: Pick<Deps, "clock" | "yieldToIo">) {
    const { clock } = deps;
    this.#deps = deps;
    this.#answers = new ConcurrencyLimit({ ...ANSWERS, clock });
    this.#long = new ConcurrencyLimit({ ...LONG, clock });
    this.#steps = new FairQueue({
      now: () => clock.monotonic(),
      atOnce: STEPS,
      pause: () => this.#yieldSometimes(),
    });
  }

  /** What it holds; all zero when nothing is read. */
  held(): Held {
    const steps = this.#steps.held();
    const [answers, long] = [this.#answers.held(), this.#long.held()];
    return {
      admitted: this.#admitted.taken,
      answers: answers.used,
      long: long.used,
      steps: steps.running,
      waiting: answers.waiting + long.waiting + steps.waiting,
    };
  }

  /** As in `Holder`. */
  oldestWaitMs(): number {
    return Math.max(
      this.#answers.oldestWaitMs(),
      this.#long.oldestWaitMs(),
      this.#steps.oldestWaitMs(),
    );
  }

  /** Reads in progress or waiting. */
  get admitted(): number {
    return this.#admitted.taken;
  }

  /**
   * Resolves when the owner may have one more answer. Adds what is held until
   * the answer is created, and until it is sent, to these stacks. Throws 429 or
   * 503 if too many wait; 408 if the client disconnects first, 503 if the
   * service ends first, as does each step.
   */
  async begin(
    request: ReadRequest,
    held: { untilMade: DisposableStack; untilSent: DisposableStack },
  ): Promise<TakeStep> {
    const { owner, abort, ending } = request;
    held.untilMade.defer(this.#admitted.take(owner));
    held.untilSent.use(await takeTurn(this.#answers, request));
    let wasLong = false;
    return async (step, isLong) => {
      if (isLong && !wasLong) {
        wasLong = true;
        held.untilMade.use(await takeTurn(this.#long, request));
      }
      // A signal is created only for a request that has to wait.
      const gone = this.#steps.mustWait(owner) ? abort() : null;
      return await this.#steps.take(async () => {
        if (gone?.aborted) throw whyAborted(ending);
        const begun = this.#deps.clock.monotonic();
        try {
          return await step();
        } finally {
          this.#workedMs += this.#deps.clock.monotonic() - begun;
        }
      }, owner);
    };
  }

  #yieldSometimes(): Promise<void> | void {
    if (this.#workedMs < YIELD_AFTER_MS) return;
    this.#workedMs = 0;
    return this.#deps.yieldToIo();
  }
}

/**
 * Waiting owners are served round-robin. A signal is created only for a request
 * that has to wait.
 */
async function takeTurn(
  limit: ConcurrencyLimit,
  { owner, abort, ending }: ReadRequest,
): Promise<Disposable> {
  try {
    return limit.tryAcquire(owner) ?? await limit.acquire(owner, abort());
  } catch {
    throw whyAborted(ending);
  }
}

/**
 * Why a request was aborted: 503 if the service stops, else 408 for a client
 * that has disconnected, which only the log shows.
 */
export function whyAborted(stopping: AbortSignal): ServiceError {
  if (stopping.aborted) return serviceStopping();
  return new ServiceError(
    "request_timeout",
    "The connection was closed before the answer was ready.",
  );
}
