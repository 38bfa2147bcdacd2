/** Limits long reads, and shares the time for reads among sellers. */
import type { Deps } from "../../deps.ts";
import type { Holder, Holders } from "../../lib/holders.ts";
import {
  leastOf,
  leastTimePolicy,
  ownerLimit,
  totalLimit,
} from "../../lib/limits.ts";
import { WaitList } from "../../lib/wait_list.ts";
import { ConcurrencyLimit, permitFor } from "./concurrency_limit.ts";

/** How many long reads may be in progress or wait. */
const READS_IN_ALL = { perSeller: 64, total: 512, what: "reads" };
/** How many unsent answers one owner may have, of at most 4 MiB each. */
export const ANSWERS_PER_OWNER = 4;
/** How many long answers are created at a time; at most one of each owner. */
const LONG_ANSWERS = 6;
/** How many steps run at a time: one uses the database while another encodes. */
const CONCURRENT_STEPS = 2;
/**
 * After steps have taken this many milliseconds together, other requests run
 * before the next step.
 */
const YIELD_AFTER_MS = 2;

/** A read that may have to wait. */
export interface ReadRequest {
  owner: string;
  /**
   * Returns a signal that fires when the client disconnects or the service
   * stops.
   */
  abort: () => AbortSignal;
}

/**
 * Runs one step of a read when it is the owner's turn. `isLong`: the answer is
 * long, so the step may have to wait for long answers of other owners.
 */
export type TakeStep = <T>(
  step: () => Promise<T>,
  isLong: boolean,
) => Promise<T>;

/**
 * Shares the time for long reads among owners. Reads run in steps of a few
 * milliseconds. The owner that has used the least time runs next, so that a long
 * read delays only its owner.
 */
export class ReadLimiter {
  readonly #deps: Pick<Deps, "clock" | "yieldToIo">;
  readonly #admitted: ConcurrencyLimit;
  readonly #answers: WaitList;
  readonly #long: WaitList;
  readonly #steps: WaitList;
  /** How long steps have run since other requests could run, in milliseconds. */
  #workedMs = 0;

  constructor(deps: Pick<Deps, "clock" | "yieldToIo">, holders: Holders) {
    const { clock } = deps;
    const long = { limit: leastOf(totalLimit(LONG_ANSWERS), ownerLimit(1)) };
    const pause = () => this.#yieldSometimes();
    const add = <H extends Holder>(holder: H) => holders.add("reads", holder);
    this.#deps = deps;
    this.#admitted = add(new ConcurrencyLimit(clock, READS_IN_ALL));
    const answers = { limit: ownerLimit(ANSWERS_PER_OWNER) };
    const steps = leastTimePolicy(CONCURRENT_STEPS);
    this.#answers = add(new WaitList(clock, answers));
    this.#long = add(new WaitList(clock, long));
    this.#steps = add(new WaitList(clock, steps, pause));
  }

  /** How many reads are in progress or wait. */
  get admitted(): number {
    return this.#admitted.acquired;
  }

  /**
   * Resolves when the owner may have one more answer. Adds its permits to the
   * stacks that are disposed of when the answer is created, and when it is sent.
   * Throws 429 or 503 if too many reads wait, 408 if the client disconnects
   * first, 503 if the service stops first. Each step may throw the last two.
   */
  async begin(
    { owner, abort }: ReadRequest,
    held: { untilMade: DisposableStack; untilSent: DisposableStack },
  ): Promise<TakeStep> {
    const permitOf = (list: WaitList) => permitFor(list, owner, abort);
    held.untilMade.use(this.#admitted.acquire(owner));
    held.untilSent.use(await permitOf(this.#answers));
    let wasLong = false;
    return async (step, isLong) => {
      if (isLong && !wasLong) {
        wasLong = true;
        held.untilMade.use(await permitOf(this.#long));
      }
      using _permit = await permitOf(this.#steps);
      const begun = this.#deps.clock.monotonic();
      try {
        return await step();
      } finally {
        this.#workedMs += this.#deps.clock.monotonic() - begun;
      }
    };
  }

  #yieldSometimes(): Promise<void> | void {
    if (this.#workedMs < YIELD_AFTER_MS) return;
    this.#workedMs = 0;
    return this.#deps.yieldToIo();
  }
}
