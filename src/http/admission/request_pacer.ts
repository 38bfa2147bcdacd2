/**
 * Spreads requests of one owner that arrive at the same time and take a few
 * milliseconds each. Deno's event loop handles many arrived requests before it
 * polls for new ones, so together they would delay the requests of others.
 *
 * A `WaitList` would not do: it limits how many run, and the requests here that
 * wait on purpose would keep the others of their owner out.
 */
import type { Clock } from "../../deps.ts";
import type { Holder, InUse } from "../../lib/holders.ts";
import { RecentValues } from "../../lib/recent_values.ts";

/** How many requests of one owner begin without a poll in between. */
export const BEGUN_AT_ONCE = 16;
/** Milliseconds that requests of one owner may take before a poll. */
export const WORK_MS = 10;
const OWNERS = 10_000;

interface Owner {
  inProgress: number;
  /** Milliseconds with a request in progress since the last poll. */
  workedMs: number;
  /** Up to when `workedMs` counts; monotonic milliseconds. */
  countedTo: number;
  /** Requests that may begin after the last poll. */
  left: number;
  looking: Promise<void> | null;
}

export class RequestPacer implements Holder {
  readonly #clock: Clock;
  readonly #yieldToIo: () => Promise<void>;
  readonly #owners = new RecentValues<Owner>(OWNERS);
  #waiting = 0;

  constructor(
    { clock, yieldToIo }: { clock: Clock; yieldToIo: () => Promise<void> },
  ) {
    this.#clock = clock;
    this.#yieldToIo = yieldToIo;
  }

  /**
   * Resolves when a request of the owner may begin; nothing: it may at once, as
   * the owner's other requests are few and short. Adds the end of the request to
   * `held`.
   */
  begin(owner: string, held: DisposableStack): Promise<void> | void {
    const own = this.#ownerOf(owner);
    this.#count(own);
    own.inProgress++;
    held.defer(() => {
      this.#count(own);
      own.inProgress--;
    });
    const mayBegin = own.inProgress <= BEGUN_AT_ONCE && own.workedMs < WORK_MS;
    if (!mayBegin) return this.#wait(own);
  }

  #ownerOf(name: string): Owner {
    const known = this.#owners.get(name);
    if (known !== undefined) return known;
    const owner: Owner = {
      inProgress: 0,
      workedMs: 0,
      countedTo: 0,
      left: 0,
      looking: null,
    };
    this.#owners.set(name, owner);
    return owner;
  }

  /** Counts the time until now, once for all requests in progress. */
  #count(own: Owner): void {
    const now = this.#clock.monotonic();
    if (own.inProgress > 0) own.workedMs += now - own.countedTo;
    own.countedTo = now;
  }

  async #wait(own: Owner): Promise<void> {
    this.#waiting++;
    while (own.left === 0 || own.workedMs >= WORK_MS) {
      await (own.looking ??= this.#startNext(own));
    }
    own.left--;
    this.#waiting--;
  }

  async #startNext(own: Owner): Promise<void> {
    await this.#yieldToIo();
    own.left = BEGUN_AT_ONCE;
    own.workedMs = 0;
    own.countedTo = this.#clock.monotonic();
    own.looking = null;
  }

  inUse(): InUse {
    return { waiting: this.#waiting };
  }
}
