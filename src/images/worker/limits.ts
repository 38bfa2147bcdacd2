/**
 * Limits concurrent downloads, so that no seller delays another: at most 16 in
 * flight to one origin and 128 in total, and of these
 *
 * - for one seller as many as are free besides, or fewer if its downloads take
 *   long (`shareByTime`): slow hosts delay only the seller that names
 *   them. The same holds among the sellers that use one origin;
 * - four for an origin that did not answer last time or was never requested,
 *   and at most 24 for all of those together, so that hanging hosts do not
 *   delay good ones;
 * - beyond that, one for an origin that was never requested, as it may be a
 *   good one, and one for a seller that has none of those 24.
 *
 * An origin that answers is handed three times as many in advance, so that it
 * need not wait for the database in between; they take no slot.
 */
import { RecentValues } from "../../lib/recent_values.ts";
import { keyShareByTime, shareByTime } from "../../lib/limits.ts";
import { type Ask, type Owners, Usage } from "../../lib/usage.ts";

/** Most downloads in flight to one origin. */
export const PER_ORIGIN = 16;
/** Most downloads in flight in total. */
export const TOTAL = 128;
const UNPROVEN = 24;
const UNPROVEN_WITH_FIRST = 56;
const PER_UNPROVEN_ORIGIN = 4;
/** In flight and handed out in advance. */
const PER_PROVEN_ORIGIN = 4 * PER_ORIGIN;
/** Origins whose latest answer is remembered. */
const REMEMBERED = 10_000;

/** The seller and the origin of a download. */
export interface DownloadSource {
  sellerId: string;
  origin: string;
}

/** Whether each origin answered its latest request. */
export class OriginHistory {
  readonly #answered = new RecentValues<boolean>(REMEMBERED);

  /** Records whether the origin answered its latest request, in any way. */
  note(origin: string, answered: boolean): void {
    this.#answered.set(origin, answered);
  }

  /** undefined: the origin was never requested, or was forgotten. */
  answered(origin: string): boolean | undefined {
    return this.#answered.get(origin);
  }
}

const ALL_SLOTS = shareByTime(TOTAL);
const AT_PROVEN = keyShareByTime(PER_PROVEN_ORIGIN);
const AT_UNPROVEN = keyShareByTime(PER_UNPROVEN_ORIGIN);
/** The key of all origins that did not answer last time. */
const ALL_UNPROVEN = "unproven";

/**
 * The downloads that one process may still start; see the top of this file.
 * Each plan creates its own and takes its share from it: nothing has to be
 * returned, so nothing can leak.
 */
export class DownloadLimits {
  readonly #history: OriginHistory;
  /** All that was handed out. */
  readonly #handed: Usage;
  /** Without what was handed out in advance. */
  readonly #slots: Usage;
  /** Origins whose downloads can only be handed out in advance. */
  readonly #ahead = new Set<string>();

  /** `owners`: how long each seller's downloads take. */
  constructor(
    history: OriginHistory,
    owners: Owners,
    inFlight: Iterable<DownloadSource>,
  ) {
    this.#history = history;
    this.#handed = new Usage(owners);
    this.#slots = new Usage(owners);
    for (const source of inFlight) this.take(source);
  }

  /** The most downloads of this source that may be handed out now. */
  room(source: DownloadSource): number {
    const proven = this.#proven(source.origin);
    const ask = askOf(source);
    const room = Math.min(
      (proven ? AT_PROVEN : AT_UNPROVEN)(ask, this.#handed),
      proven ? this.#provenRoom(ask) : this.#unprovenRoom(source),
    );
    return Math.max(0, room);
  }

  /** Whether the seller may have room at any origin. */
  hasRoom(sellerId: string): boolean {
    const slots = ALL_SLOTS({ owner: sellerId }, this.#slots);
    return slots > 0 || (slots === 0 && this.#ahead.size > 0);
  }

  /** Whether no source at all has room. */
  get full(): boolean {
    return this.#slots.used() >= TOTAL && this.#ahead.size === 0;
  }

  take(source: DownloadSource): void {
    const { origin } = source;
    const proven = this.#proven(origin);
    const ask = askOf(source, proven ? [] : [ALL_UNPROVEN]);
    if (this.#handed.used(origin) < PER_ORIGIN) this.#slots.add(ask);
    this.#handed.add(ask);
    const held = this.#handed.used(origin);
    const isAhead = proven && held >= PER_ORIGIN && held < PER_PROVEN_ORIGIN;
    if (isAhead) this.#ahead.add(origin);
    else this.#ahead.delete(origin);
  }

  /**
   * Downloads beyond an origin's own limit wait in its queue and take no slot.
   */
  #provenRoom(ask: DownloadAsk): number {
    const held = this.#handed.used(ask.keys[0]);
    const slots = ALL_SLOTS(ask, this.#slots);
    const inFlight = Math.max(0, PER_ORIGIN - held);
    return slots >= inFlight ? PER_PROVEN_ORIGIN - held : slots;
  }

  #unprovenRoom(source: DownloadSource): number {
    const { sellerId, origin } = source;
    const slots = ALL_SLOTS(askOf(source), this.#slots);
    const held = this.#handed.used(origin);
    const used = this.#slots.used(ALL_UNPROVEN);
    const room = Math.min(slots, PER_UNPROVEN_ORIGIN - held, UNPROVEN - used);
    if (room > 0 || held > 0 || used >= UNPROVEN_WITH_FIRST) return room;
    const isFirst = this.#history.answered(origin) === undefined ||
      this.#slots.used(ALL_UNPROVEN, sellerId) === 0;
    return isFirst ? Math.min(1, slots) : 0;
  }

  #proven(origin: string): boolean {
    return this.#history.answered(origin) === true;
  }
}

type DownloadAsk = Ask & { keys: readonly string[] };

function askOf(
  { sellerId, origin }: DownloadSource,
  more: readonly string[] = [],
): DownloadAsk {
  return { owner: sellerId, keys: [origin, ...more] };
}
