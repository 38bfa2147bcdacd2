/**
 * Chooses which due images are fetched next: round-robin among sellers, and
 * within a seller among its origins, as far as the limits allow.
 */
import type { Sql } from "../../database/db.ts";
import {
  dueImages,
  type ImageJob,
  pendingOrigins,
  pendingSellers,
} from "../rows/queue.ts";
import type { OwnerTimes } from "../../net/hold_times.ts";
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
  sellerId: string;
  /** By seller; only for those with more origins than one read covers. */
  origins: ReadonlyMap<string, string>;
}

export const FIRST_ROUND: RoundRobin = { sellerId: "", origins: new Map() };

/** The result of one read. It is a plan: the claims decide. */
export interface Picked {
  /** The jobs to claim. */
  jobs: ImageJob[];
  /** When a job is due that was not picked; Unix milliseconds. */
  nextDue: number;
  /** Whether there may be more that was not read. */
  more: boolean;
  /** Where the next read starts. */
  round: RoundRobin;
}

export const nothingPicked = (round: RoundRobin): Picked => ({
  jobs: [],
  nextDue: Infinity,
  more: false,
  round,
});

export interface PickOptions {
  now: number;
  history: OriginHistory;
  /** How long each seller holds its downloads. */
  times: OwnerTimes;
  /** The current downloads. */
  inFlight: readonly DownloadSource[];
  round: RoundRobin;
}

/**
 * Picks due jobs within the limits. Has no side effects, because the database
 * may repeat a read.
 */
export async function pickImages(
  sql: Sql,
  { now, history, times, inFlight, round }: PickOptions,
): Promise<Picked> {
  const picked = nothingPicked(round);
  const limits = new DownloadLimits(history, times, inFlight);
  if (limits.full) return picked;
  const origins = new Map(round.origins);
  const sellers = await sellersInTurn(sql, round.sellerId);
  const queues: ImageJob[][] = [];
  for (const sellerId of sellers) {
    // Its downloads end first, and every end is followed by another read.
    if (!limits.hasRoom(sellerId)) continue;
    const look = { sellerId, now, limits, origins };
    queues.push(await queueOf(sql, look, picked));
  }
  takeInTurns(queues, limits, picked.jobs);
  return { ...picked, round: { sellerId: sellers[0] ?? "", origins } };
}

async function sellersInTurn(sql: Sql, after: string): Promise<string[]> {
  const sellers = await pendingSellers(sql, after, SELLERS);
  if (sellers.length === SELLERS || after === "") return sellers;
  const first = await pendingSellers(sql, "", SELLERS - sellers.length);
  return [...sellers, ...first.filter((sellerId) => sellerId <= after)];
}

interface SellerLook {
  sellerId: string;
  now: number;
  limits: DownloadLimits;
  /** Where the next read of each seller starts; this one sets its own. */
  origins: Map<string, string>;
}

/**
 * The jobs that one seller would have fetched next, round-robin among its
 * origins.
 */
async function queueOf(
  sql: Sql,
  { sellerId, now, limits, origins }: SellerLook,
  picked: Picked,
): Promise<ImageJob[]> {
  const after = origins.get(sellerId) ?? "";
  const pending = await pendingOrigins(sql, sellerId, after, ORIGINS);
  if (pending.length === ORIGINS) {
    origins.set(sellerId, pending[ORIGINS - 1].origin);
  } else {
    origins.delete(sellerId);
  }
  if (pending.length === ORIGINS || after !== "") picked.more = true;
  const jobs: ImageJob[][] = [];
  for (const { origin, due } of pending) {
    if (due > now) {
      picked.nextDue = Math.min(picked.nextDue, due);
      continue;
    }
    const room = limits.room({ sellerId, origin });
    if (room === 0) continue;
    jobs.push(await dueImages(sql, sellerId, origin, now, room));
  }
  return interleaved(jobs);
}

function interleaved<T>(lists: readonly T[][]): T[] {
  const all: T[] = [];
  for (let at = 0; lists.some(({ length }) => at < length); at++) {
    for (const list of lists) if (at < list.length) all.push(list[at]);
  }
  return all;
}

/** Takes a job that several sellers wait for in the first of their turns. */
function takeInTurns(
  queues: readonly ImageJob[][],
  limits: DownloadLimits,
  jobs: ImageJob[],
): void {
  const taken = new Set(jobs.map(({ id }) => id));
  for (const job of interleaved(queues)) {
    if (taken.has(job.id) || limits.room(job) === 0) continue;
    taken.add(job.id);
    limits.take(job);
    jobs.push(job);
  }
}
