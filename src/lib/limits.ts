/**
 * The rules by which a `WaitList` decides who may run and who is next. Each is
 * a pure function of what is in use.
 *
 * A rule looks at nothing else, and time alone never makes it milder. So a list
 * has to look again only when what is in use has changed.
 */
import type { Ask, Usage } from "./usage.ts";

/** How much more may be in use for this; none if it is 0 or less. */
export type Limit = (ask: Ask, usage: Usage) => number;

/** Who may run, and who is next. */
export interface Policy {
  /** What an owner may use, whatever its keys; no limit by default. */
  limit?: Limit;
  /** What it may use of its keys; no limit by default. */
  keyLimit?: Limit;
  /**
   * What it may use on arrival although `limit` has no room, while nothing of
   * it waits; nothing by default.
   */
  passing?: Limit;
  /**
   * The waiting owner for whom this is least is next; those for whom it is
   * equal are served round-robin. Without one, all are.
   */
  rank?: (owner: string | undefined, usage: Usage) => number;
}

/** The least that any of the limits leaves. */
export const all = (...limits: Limit[]): Limit => (ask, usage) => {
  let least = Infinity;
  for (const limit of limits) least = Math.min(least, limit(ask, usage));
  return least;
};

export const inAll = (most: number): Limit => (_, usage) =>
  most - usage.total - usage.pausing;

export const perOwner = (most: number): Limit => ({ owner }, usage) =>
  most - usage.of(owner);

export const atMost = (most: number, key: string): Limit => (_, usage) =>
  most - usage.at(key);

/** For the first key. */
export const perKey = (most: number): Limit => ({ keys }, usage) =>
  most - usage.at(keys![0]);

/**
 * An owner may have at most as much as it leaves for all others (a dynamic
 * threshold, as for shared switch buffers): however many take all they can, the
 * next one finds as much room as each of them has.
 */
export const leavesAsMuch = (total: number): Limit => ({ owner }, usage) =>
  Math.floor((total - usage.total - usage.of(owner)) / 2);

/**
 * An owner may hold at most what is free times its share, which is the smaller
 * the longer it holds permits, but always one (the dynamic threshold of
 * Choudhury and Hahne, 1998). n prompt owners hold 1/(n + 1) each, and as much
 * stays free for the next; ten owners whose requests hang leave a prompt one a
 * quarter of all. Work without an owner is bound by the total alone.
 */
export const shareByTime = (total: number): Limit => ({ owner }, usage) => {
  const free = total - (usage.total - usage.passing);
  if (owner === undefined || free <= 0) return free;
  const most = Math.max(1, usage.owners.share(owner) * free);
  return Math.min(free, Math.ceil(most - usage.of(owner)));
};

/** An owner's weight at a key, relative to its weight in total. */
const KEY_SHARE = 8;

/**
 * The same for the first key. Most keys have one owner, so it may hold more of
 * them.
 */
export const keyShareByTime = (most: number): Limit => (ask, usage) => {
  const { owner, keys } = ask;
  const free = most - usage.at(keys![0]);
  if (owner === undefined || free <= 0) return free;
  const share = Math.max(1, KEY_SHARE * usage.owners.share(owner) * free);
  return Math.min(free, Math.ceil(share - usage.at(keys![0], owner)));
};

/**
 * For prompt owners beside many busy ones, whose shares are small: some more
 * for each, and as much as `total` for all of them.
 */
const burst = (most: number, total: number): Limit => ({ owner }, usage) =>
  owner === undefined || usage.owners.share(owner) < 1
    ? 0
    : Math.min(most - usage.of(owner), total - usage.passing);

/**
 * Requests to hosts: so many of each key and in total, shared by how long each
 * owner holds them. A seller's slow hosts delay only that seller, in total and
 * at a host that several sellers use. A fixed quota would either waste slots or
 * leave none free.
 */
export function sharedByTime(
  limits: {
    perKey: number;
    total: number;
    /** How much a prompt owner may have on arrival beyond its share. */
    burst?: number;
  },
): Policy {
  return {
    limit: shareByTime(limits.total),
    keyLimit: keyShareByTime(limits.perKey),
    passing: burst(limits.burst ?? 0, limits.total),
  };
}

/**
 * An owner that has spent so little more than another one (milliseconds) does
 * not wait for a pause, which is long where much else has to run: its request
 * has arrived during the pause.
 */
const LITTLE_MS = 5;

/**
 * CPU-heavy work: so many at once of different owners; the owner that has spent
 * the least time is next. So an owner with many or long tasks delays others by
 * one task at a time.
 */
export function leastTimeFirst(atOnce = 1): Policy {
  return {
    limit: all(inAll(atOnce), perOwner(1)),
    passing: ({ owner }, usage) =>
      usage.of(owner) > 0 || usage.owners.ahead(owner) > LITTLE_MS
        ? 0
        : atOnce - usage.total,
    rank: (owner, usage) => usage.owners.spent(owner),
  };
}
