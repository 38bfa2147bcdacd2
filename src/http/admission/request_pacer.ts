/**
 * Spreads requests of one owner that arrive at the same time and take a few
 * milliseconds each. Deno's event loop handles many arrived requests before it
 * polls for new ones, so together they would delay the requests of others.
 *
 * A `WaitList` is unsuitable, because it limits how many requests are in
 * progress: requests that wait on purpose would block others of their owner.
 */
import type { Clock } from "../../deps.ts";
import type { Holder, InUse } from "../../lib/holders.ts";
import { RecentValues } from "../../lib/recent_values.ts";

/** How many requests of one owner begin without a poll in between. */
export const BEGUN_AT_ONCE = 16;
/** How long requests of one owner may take before a poll, in milliseconds. */
export const WORK_MS = 10;
/** How many owners are remembered. */
const MAX_OWNERS = 10_000;

/** The requests of one owner. */
interface Owner {
  inProgress: number;
  /** How long a request was in progress since the last poll, in milliseconds. */
  workedMs: number;
  /** When `workedMs` was computed, in monotonic milliseconds. */
  countedTo: number;
  /** How many waiting requests may still begin before the next poll. */
  mayBegin: number;
  /** The poll in progress. */
  polling: Promise<void> | null;
}

export class RequestPacer implements Holder {
  readonly #clock: Clock;
  readonly #yieldToIo: () => Promise<void>;
  readonly #owners = new RecentValues<Owner>(MAX_OWNERS);
  #waiting = 0;

  constructor(
    { clock, yieldToIo }: { clock: Clock; yieldToIo: () => Promise<void> },
  ) {
    this.#clock = clock;
    this.#yieldToIo = yieldToIo;
  }

  /**
   * Resolves when a request of the owner may begin. Returns undefined if it may
   * begin at once, because the owner's other requests are few and short. The
   * request ends when `untilEnd` is disposed of.
   */
  begin(name: string, untilEnd: DisposableStack): Promise<void> | void {
    const owner = this.#ownerOf(name);
    this.#count(owner);
    owner.inProgress++;
    untilEnd.defer(() => {
      this.#count(owner);
      owner.inProgress--;
    });
    const mayBeginNow = owner.inProgress <= BEGUN_AT_ONCE &&
      owner.workedMs < WORK_MS;
    if (!mayBeginNow) return this.#wait(owner);
  }

  #ownerOf(name: string): Owner {
    const known = this.#owners.get(name);
    if (known !== undefined) return known;
    const owner: Owner = {
      inProgress: 0,
      workedMs: 0,
      countedTo: 0,
      mayBegin: 0,
      polling: null,
    };
    this.#owners.set(name, owner);
    return owner;
  }

  /** Counts the time until now, once for all requests in progress. */
  #count(owner: Owner): void {
    const now = this.#clock.monotonic();
    if (owner.inProgress > 0) owner.workedMs += now - owner.countedTo;
    owner.countedTo = now;
  }

  async #wait(owner: Owner): Promise<void> {
    this.#waiting++;
    while (owner.mayBegin === 0 || owner.workedMs >= WORK_MS) {
      await (owner.polling ??= this.#poll(owner));
    }
    owner.mayBegin--;
    this.#waiting--;
  }

  async #poll(owner: Owner): Promise<void> {
    await this.#yieldToIo();
    owner.mayBegin = BEGUN_AT_ONCE;
    owner.workedMs = 0;
    owner.countedTo = this.#clock.monotonic();
    owner.polling = null;
  }

  inUse(): InUse {
    return { waiting: this.#waiting };
  }
}
