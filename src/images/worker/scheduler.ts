/**
 * Chooses the sellers and origins whose due images are claimed next: sellers in
 * turn, and the origins of each seller in turn, within the limits.
 */
import type { Sql } from "../../database/db.ts";
import {
  type ImageShare,
  pendingOrigins,
  type PendingSeller,
  pendingSellers,
} from "../rows/queue.ts";
import type { Owners } from "../../lib/usage.ts";
import {
  DownloadLimits,
  type DownloadSource,
  type OriginHistory,
} from "./limits.ts";

/** How many sellers, and origins of each, one read covers. */
const SELLERS = 64;
const ORIGINS = 64;

/** Where a read starts, so that every seller and origin gets its turn. */
export interface RoundRobin {
  sellerNo: number;
  /** By seller; only for sellers with more origins than one read covers. */
  origins: ReadonlyMap<number, string>;
}

export const FIRST_ROUND: RoundRobin = { sellerNo: 0, origins: new Map() };

/** The result of one read. It is only a plan: a claim may find fewer jobs. */
export interface Picked {
  /** The jobs to claim. */
  shares: ImageShare[];
  /** When the first job at another origin is due; Unix milliseconds. */
  nextDue: number;
  /** Whether there may be more jobs that were not read. */
  more: boolean;
  /** Where the next read starts. */
  round: RoundRobin;
}

export const nothingPicked = (round: RoundRobin): Picked => ({
  shares: [],
  nextDue: Infinity,
  more: false,
  round,
});

export interface PickOptions {
  now: number;
  history: OriginHistory;
  /** How long the downloads of each seller take. */
  owners: Owners;
  /** The current downloads. */
  inFlight: readonly DownloadSource[];
  round: RoundRobin;
}

/**
 * Picks shares of due jobs within the limits. Has no side effects, because the
 * database may repeat a read.
 */
export async function pickImages(
  sql: Sql,
  { now, history, owners, inFlight, round }: PickOptions,
): Promise<Picked> {
  const picked = nothingPicked(round);
  const limits = new DownloadLimits(history, owners, inFlight);
  const origins = new Map(round.origins);
  const sellers = await sellersInTurn(sql, round.sellerNo);
  const queues: ImageShare[][] = [];
  for (const seller of sellers) {
    // The seller has no room until one of its downloads ends, which causes
    // another read.
    if (!limits.hasRoom(seller.id)) continue;
    queues.push(await dueOrigins(sql, seller, now, origins, picked));
  }
  const shares = takeInTurns(queues, limits);
  const next = { sellerNo: sellers[0]?.no ?? 0, origins };
  return { ...picked, shares, round: next };
}

async function sellersInTurn(
  sql: Sql,
  after: number,
): Promise<PendingSeller[]> {
  const first = await pendingSellers(sql, 0, SELLERS);
  const later = first.length < SELLERS
    ? first.filter(({ no }) => no > after)
    : await pendingSellers(sql, after, SELLERS);
  const others = first.filter(({ no }) => no <= after);
  return [...later, ...others].slice(0, SELLERS);
}

/** The origins at which one seller has due jobs; limits are not applied yet. */
async function dueOrigins(
  sql: Sql,
  { no: sellerNo, id: sellerId }: PendingSeller,
  now: number,
  origins: Map<number, string>,
  picked: Picked,
): Promise<ImageShare[]> {
  const after = origins.get(sellerNo) ?? "";
  const pending = await pendingOrigins(sql, sellerNo, after, ORIGINS);
  if (pending.length === ORIGINS) {
    origins.set(sellerNo, pending[ORIGINS - 1].origin);
  } else {
    origins.delete(sellerNo);
  }
  if (pending.length === ORIGINS || after !== "") picked.more = true;
  for (const { due } of pending) {
    if (due > now) picked.nextDue = Math.min(picked.nextDue, due);
  }
  return pending.filter(({ due }) => due <= now)
    .map(({ origin }) => ({ sellerNo, sellerId, origin, limit: 0 }));
}

/**
 * Gives one download to each seller in turn, and for each seller to one origin
 * in turn, until no share has room.
 */
function takeInTurns(
  queues: ImageShare[][],
  limits: DownloadLimits,
): ImageShare[] {
  const all = queues.flat();
  let waiting = queues;
  while (waiting.length > 0) {
    for (const queue of waiting) {
      const share = queue.shift();
      // A share without room gets no room later in this plan.
      if (share === undefined || limits.room(share) === 0) continue;
      limits.take(share);
      share.limit++;
      queue.push(share);
    }
    waiting = waiting.filter((queue) => queue.length > 0);
  }
  return all.filter(({ limit }) => limit > 0);
}
