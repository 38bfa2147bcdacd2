/**
 * Limits concurrent downloads, so that no seller delays another: at most 16 in
 * flight to one origin and 128 in total, and of these
 *
 * - for one seller as many as are free besides, or fewer if its downloads take
 *   long (`net/hold_times.ts`): slow hosts delay only the seller that names
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
import type { OwnerTimes } from "../../net/hold_times.ts";

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

/**
 * The downloads that one process may still start; see the top of this file.
 * Each plan creates its own and takes its share from it: nothing has to be
 * returned, so nothing can leak.
 */
export class DownloadLimits {
  readonly #history: OriginHistory;
  readonly #times: OwnerTimes;
  /** Downloads by origin, then by seller. */
  readonly #held = new Map<string, Map<string, number>>();
  readonly #slots = new SlotsInUse();
  /** Those at origins that did not answer last time. */
  readonly #unproven = new SlotsInUse();

  /** `times`: how long each seller holds its downloads. */
  constructor(
    history: OriginHistory,
    times: OwnerTimes,
    inFlight: Iterable<DownloadSource>,
  ) {
    this.#history = history;
    this.#times = times;
    for (const source of inFlight) this.take(source);
  }

  /** The most downloads of this source that may be handed out now. */
  room(source: DownloadSource): number {
    return Math.max(0, Math.min(this.#roomAt(source), this.#shareAt(source)));
  }

  /** Whether the seller may have room at any origin. */
  hasRoom(sellerId: string): boolean {
    const slots = this.#slotsFor(sellerId);
    if (slots !== 0) return slots > 0;
    // One whose slots are all in use may have more handed out in advance.
    return [...this.#held.values()].some((sellers) =>
      heldBy(sellers) >= PER_ORIGIN
    );
  }

  /** What the limits leave. */
  #roomAt(source: DownloadSource): number {
    const { sellerId, origin } = source;
    const held = heldBy(this.#held.get(origin));
    const slots = this.#slotsFor(sellerId);
    if (!this.#proven(origin)) {
      return Math.min(slots, this.#unprovenRoom(source, held));
    }
    const inFlight = Math.max(0, PER_ORIGIN - held);
    // Downloads beyond an origin's own limit wait in its queue and take no
    // slot.
    return slots >= inFlight ? PER_PROVEN_ORIGIN - held : slots;
  }

  #slotsFor(sellerId: string): number {
    const free = TOTAL - this.#slots.total;
    const own = this.#slots.of(sellerId);
    return Math.min(free, Math.ceil(this.#times.most(sellerId, free) - own));
  }

  /** What the seller's share of the origin leaves. */
  #shareAt({ sellerId, origin }: DownloadSource): number {
    const sellers = this.#held.get(origin);
    const all = this.#proven(origin) ? PER_PROVEN_ORIGIN : PER_UNPROVEN_ORIGIN;
    const most = this.#times.mostOfKey(sellerId, all - heldBy(sellers));
    return Math.ceil(most - (sellers?.get(sellerId) ?? 0));
  }

  #unprovenRoom({ sellerId, origin }: DownloadSource, held: number): number {
    const used = this.#unproven.total;
    const room = Math.min(PER_UNPROVEN_ORIGIN - held, UNPROVEN - used);
    if (room > 0 || held > 0 || used >= UNPROVEN_WITH_FIRST) return room;
    const isFirst = this.#history.answered(origin) === undefined ||
      this.#unproven.of(sellerId) === 0;
    return isFirst ? 1 : 0;
  }

  #proven(origin: string): boolean {
    return this.#history.answered(origin) === true;
  }

  /** Whether no source at all has room. */
  get full(): boolean {
    return this.#slots.total >= TOTAL &&
      [...this.#held].every(([origin, sellers]) =>
        heldBy(sellers) >= PER_PROVEN_ORIGIN || !this.#proven(origin)
      );
  }

  take({ sellerId, origin }: DownloadSource): void {
    const sellers = this.#held.get(origin) ?? new Map<string, number>();
    const before = { all: heldBy(sellers), own: sellers.get(sellerId) ?? 0 };
    sellers.set(sellerId, before.own + 1);
    this.#held.set(origin, sellers);
    this.#slots.take(sellerId, before);
    if (!this.#proven(origin)) this.#unproven.take(sellerId, before);
  }
}

/** Slots that downloads take: no more of one origin than its own limit. */
class SlotsInUse {
  total = 0;
  readonly #bySeller = new Map<string, number>();

  of(sellerId: string): number {
    return this.#bySeller.get(sellerId) ?? 0;
  }

  /** `held`: the downloads at the origin before this one, and the seller's. */
  take(sellerId: string, held: { all: number; own: number }): void {
    if (held.all < PER_ORIGIN) this.total++;
    if (held.own >= PER_ORIGIN) return;
    this.#bySeller.set(sellerId, this.of(sellerId) + 1);
  }
}

function heldBy(sellers: ReadonlyMap<string, number> | undefined): number {
  let held = 0;
  for (const count of sellers?.values() ?? []) held += count;
  return held;
}
