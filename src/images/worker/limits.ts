/**
 * Limits the downloads that the worker is given, so that no seller delays
 * another: at most 256, of which 16 are in flight to one origin at a time.
 * Further limits are:
 *
 * - For one seller, the number that stays free, or less if its downloads take
 *   long (`timeShareLimit`): slow hosts delay only the seller that names them.
 *   The sellers that use one origin share it by the same rule.
 * - For one origin, 64, so that the downloads in flight need not wait for the
 *   database.
 * - For an unproven origin, which did not answer last time or was never
 *   requested, 4; for all unproven origins together, 24, so that hanging hosts
 *   do not delay good ones.
 * - Beyond these 24: one download for an origin that was never requested,
 *   because it may be a good one, and one for a seller that has none of the 24.
 */
import { RecentValues } from "../../lib/recent_values.ts";
import { keyTimeShareLimit, timeShareLimit } from "../../lib/limits.ts";
import { type Owners, Usage } from "../../lib/usage.ts";

/** The most downloads in flight to one origin. */
export const PER_ORIGIN = 16;
const IN_ALL = timeShareLimit(256);
const AT_PROVEN = keyTimeShareLimit(4 * PER_ORIGIN);
const AT_UNPROVEN = keyTimeShareLimit(4);
const UNPROVEN = 24;
const UNPROVEN_WITH_FIRST = 56;

/** The seller and the origin of a download. */
export interface DownloadSource {
  sellerId: string;
  origin: string;
}

/**
 * Whether each origin answered its latest request, in any way; undefined if the
 * origin was never requested or is no longer remembered.
 */
export class OriginHistory extends RecentValues<boolean> {
  constructor() {
    super(10_000);
  }
}

/** The key of all origins that did not answer last time. */
const ALL_UNPROVEN = "unproven";

/**
 * The downloads that the worker may still be given; see the top of this file.
 * Each plan creates a new object and takes permits from it. The permits are
 * never returned, so none can leak.
 */
export class DownloadLimits {
  readonly #history: OriginHistory;
  readonly #usage: Usage;

  /** @param owners how long each seller's downloads take */
  constructor(
    history: OriginHistory,
    owners: Owners,
    inFlight: Iterable<DownloadSource>,
  ) {
    this.#history = history;
    this.#usage = new Usage(owners);
    for (const source of inFlight) this.take(source);
  }

  /** The most downloads of this source that may be given now. */
  room(source: DownloadSource): number {
    const ask = downloadAsk(source);
    const atOrigin = this.#proven(source.origin)
      ? AT_PROVEN(ask, this.#usage)
      : Math.min(AT_UNPROVEN(ask, this.#usage), this.#unprovenRoom(source));
    return Math.max(0, Math.min(IN_ALL(ask, this.#usage), atOrigin));
  }

  /** Whether the seller may have room at any origin. */
  hasRoom(sellerId: string): boolean {
    return IN_ALL({ owner: sellerId }, this.#usage) > 0;
  }

  take(source: DownloadSource): void {
    const { owner, keys } = downloadAsk(source);
    const more = this.#proven(source.origin) ? [] : [ALL_UNPROVEN];
    this.#usage.add({ owner, keys: [...keys, ...more] });
  }

  #unprovenRoom({ sellerId, origin }: DownloadSource): number {
    const used = this.#usage.used(ALL_UNPROVEN);
    if (used < UNPROVEN) return UNPROVEN - used;
    const isFirst = this.#usage.used(origin) === 0 &&
      (this.#history.get(origin) === undefined ||
        this.#usage.used(ALL_UNPROVEN, sellerId) === 0);
    return isFirst && used < UNPROVEN_WITH_FIRST ? 1 : 0;
  }

  #proven(origin: string): boolean {
    return this.#history.get(origin) === true;
  }
}

const downloadAsk = ({ sellerId, origin }: DownloadSource) => (
  { owner: sellerId, keys: [origin] }
);
