/** Limits long reads; sellers share their time. */
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

/** Long reads in progress or waiting. */
const READS_IN_ALL = { perSeller: 64, total: 512, what: "reads" };
/** Answers of one owner that are not sent yet, at most 4 MiB each. */
export const ANSWERS = 4;
/** Long answers being created; at most one of each owner. */
const LONG = 6;
/** Concurrent steps: one waits for the database while another encodes. */
const STEPS = 2;
/**
 * After steps of this many milliseconds together, other requests run before the
 * next step.
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
 * Runs one step of a read in the owner's turn. While the answer is short, the
 * step does not wait for long answers of others.
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
export class ReadLimiter {
  readonly #deps: Pick<Deps, "clock" | "yieldToIo">;
  readonly #admitted: ConcurrencyLimit;
  readonly #answers: WaitList;
  readonly #long: WaitList;
  readonly #steps: WaitList;
  /** Milliseconds of steps since other requests last could run. */
  #workedMs = 0;

  constructor(deps: Pick<Deps, "clock" | "yieldToIo">, holders: Holders) {
    const { clock } = deps;
    const long = { limit: leastOf(totalLimit(LONG), ownerLimit(1)) };
    const pause = () => this.#yieldSometimes();
    const add = <H extends Holder>(holder: H) => holders.add("reads", holder);
    this.#deps = deps;
    this.#admitted = add(new ConcurrencyLimit(clock, READS_IN_ALL));
    this.#answers = add(new WaitList(clock, { limit: ownerLimit(ANSWERS) }));
    this.#long = add(new WaitList(clock, long));
    this.#steps = add(new WaitList(clock, leastTimePolicy(STEPS), pause));
  }

  /** Reads in progress or waiting. */
  get admitted(): number {
    return this.#admitted.acquired;
  }

  /**
   * Resolves when the owner may have one more answer. Adds permits to the two
   * stacks: those to release once the answer is created, and once it is sent.
   * Throws 429 or 503 if too many wait, 408 if the client disconnects first,
   * 503 if the service stops first; each step throws the last two as well.
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
