/**
 * Rules by which a `WaitList` decides which owners may run and which is next.
 * Each rule is a pure function of the current usage. The passing of time alone
 * never loosens a rule, so the list checks again only after a change.
 */
import type { Ask, Owners, Usage } from "./usage.ts";

/** The amount that may still be used for this request; 0 or less: nothing. */
export type Limit = (ask: Ask, usage: Usage) => number;

export interface Policy {
  /** The limit for an owner, over all keys; no limit by default. */
  limit?: Limit;
  /** The limit for the owner's use of keys; no limit by default. */
  keyLimit?: Limit;
  /**
   * What an owner without waiting work may use on arrival beyond `limit`;
   * nothing by default.
   */
  outOfTurn?: Limit;
  /**
   * The waiting owner with the lowest rank is next; round-robin among equal
   * ranks, and by default.
   */
  rank?: (owner: string, owners: Owners) => number;
}

/** The smallest of several limits. */
export const leastOf = (...limits: Limit[]): Limit => (ask, usage) => {
  let least = Infinity;
  for (const limit of limits) {
    least = Math.min(least, limit(ask, usage));
    if (least <= 0) break;
  }
  return least;
};

export const totalLimit = (most: number): Limit => (_, usage) =>
  most - usage.used() - usage.pausing;

export const ownerLimit = (most: number): Limit => ({ owner = "" }, usage) =>
  most - usage.used(undefined, owner);

/** A limit for the first key. */
export const firstKeyLimit = (most: number): Limit => ({ keys }, usage) =>
  most - usage.used(keys![0]);

/** A limit for one particular key. */
export const limitOfKey = (key: string, most: number): Limit => (_, usage) =>
  most - usage.used(key);

/**
 * An owner may use at most the amount that stays free for all others (a dynamic
 * threshold, as in shared switch buffers). If n owners each use their limit, as
 * much as each of them uses stays free, and the next owner can use half of it.
 */
export const dynamicThreshold =
  (total: number): Limit => ({ owner = "" }, usage) =>
    Math.floor((total - usage.used() - usage.used(undefined, owner)) / 2);

/**
 * An owner may hold the free amount times its share (`Owners.share`), but
 * always one: the dynamic threshold of Choudhury and Hahne (1998). n prompt
 * owners hold 1/(n + 1) each, and as much stays free for the next owner; ten
 * owners whose requests hang leave a quarter of all slots to a prompt owner. A
 * fixed quota would either waste slots or leave none free.
 */
export const timeShareLimit = (total: number): Limit => (ask, usage) =>
  timeShare(ask, usage, total - usage.used() + usage.outOfTurn, 1);

/**
 * Like `timeShareLimit`, for the first key. An owner may hold more of a key
 * than of the total, because most keys have only one owner.
 */
export const keyTimeShareLimit = (most: number): Limit => (ask, usage) => {
  const [key] = ask.keys!;
  return timeShare(ask, usage, most - usage.used(key), 8, key);
};

function timeShare(
  { owner }: Ask,
  usage: Usage,
  free: number,
  weight: number,
  key?: string,
): number {
  if (owner === undefined || free <= 0) return free;
  const most = Math.max(1, weight * usage.owners.share(owner) * free);
  return Math.min(free, Math.ceil(most - usage.used(key, owner)));
}

/**
 * The policy for requests to hosts: limited for each key and in total, and
 * shared by time, so that a seller's slow hosts delay only that seller. The
 * share is small when many owners are busy; a prompt owner may have `burst`
 * more on arrival. All bursts together are at most `total`.
 */
export function timeSharePolicy(
  { perKey, total, burst = 0, pace }: {
    perKey: number;
    total: number;
    burst?: number;
    /** An additional limit of keys. */
    pace?: Limit;
  },
): Policy {
  const share = keyTimeShareLimit(perKey);
  return {
    limit: timeShareLimit(total),
    keyLimit: pace === undefined ? share : leastOf(pace, share),
    outOfTurn: ({ owner }, usage) =>
      owner === undefined || usage.owners.share(owner) < 1 ? 0 : Math.min(
        burst - usage.used(undefined, owner),
        total - usage.outOfTurn,
      ),
  };
}

/**
 * An owner that is at most this many milliseconds ahead of the others does not
 * wait for the end of a pause, which is long on a busy thread.
 */
const SMALL_LEAD_MS = 5;

/**
 * The policy for CPU-heavy work: up to `atOnce` tasks of different owners; the
 * owner that has used the least time is next. An owner with many or long tasks
 * delays others by one task at a time.
 */
export function leastTimePolicy(atOnce = 1): Policy {
  return {
    limit: leastOf(totalLimit(atOnce), ownerLimit(1)),
    outOfTurn: ({ owner = "" }, usage) => {
      const isLittle = usage.owners.extraMs(owner) <= SMALL_LEAD_MS;
      const isIdle = usage.used(undefined, owner) === 0;
      return isLittle && isIdle ? atOnce - usage.used() : 0;
    },
    rank: (owner, owners) => owners.extraMs(owner),
  };
}
