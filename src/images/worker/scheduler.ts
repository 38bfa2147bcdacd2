/**
 * Chooses which due images are fetched next: sellers take turns, and within a
 * seller its origins do, as far as there is room for them.
 */
import type { Sql } from "../../database/db.ts";
import {
  dueImages,
  dueSuspect,
  type ExpiredImage,
  type ImageJob,
  pendingLanes,
  pendingSellers,
} from "../rows/queue.ts";
import type { DownloadLimits } from "./limits.ts";

/** How many sellers, and origins of each, one look goes through. */
const SELLERS = 64;
const LANES = 64;

/** Where the next look begins, so that everybody has their turn. */
export interface Turn {
  sellerId: string;
  /** By seller; only for those with more origins than one look takes. */
  origins: Map<string, string>;
}

export const firstTurn = (): Turn => ({ sellerId: "", origins: new Map() });

export interface Picked {
  /** To be claimed; their slots are taken. */
  jobs: ImageJob[];
  /** Their holders died. */
  expired: ExpiredImage[];
  /** When something is due that was not picked; Unix milliseconds. */
  nextDue: number;
  /** Whether there may be more that was not looked at. */
  more: boolean;
}

export const nothingPicked = (): Picked => ({
  jobs: [],
  expired: [],
  nextDue: Infinity,
  more: false,
});

export interface PickOptions {
  now: number;
  slots: DownloadLimits;
  turn: Turn;
  /** Whether a suspect may be picked: only while none is in flight. */
  suspect: boolean;
}

/** Picks what is due and has room; its slots are taken. */
export async function pickImages(
  sql: Sql,
  { now, slots, turn, suspect }: PickOptions,
): Promise<Picked> {
  const picked: Picked = nothingPicked();
  if (slots.full) return picked;
  if (suspect) {
    const due = await dueSuspect(sql, now);
    picked.expired.push(...due.expired);
    takeInTurns([due.free], slots, picked.jobs);
  }
  const queues: ImageJob[][] = [];
  for (const sellerId of await sellersInTurn(sql, turn)) {
    queues.push(await queueOf(sql, sellerId, { now, slots, turn }, picked));
  }
  takeInTurns(queues, slots, picked.jobs);
  return picked;
}

async function sellersInTurn(sql: Sql, turn: Turn): Promise<string[]> {
  const sellers = await pendingSellers(sql, turn.sellerId, SELLERS);
  if (sellers.length < SELLERS && turn.sellerId !== "") {
    const first = await pendingSellers(sql, "", SELLERS - sellers.length);
    sellers.push(...first.filter((sellerId) => sellerId <= turn.sellerId));
  }
  turn.sellerId = sellers[0] ?? "";
  return sellers;
}

/** What one seller would have fetched next: its origins take turns. */
async function queueOf(
  sql: Sql,
  sellerId: string,
  { now, slots, turn }: Omit<PickOptions, "suspect">,
  picked: Picked,
): Promise<ImageJob[]> {
  const after = turn.origins.get(sellerId) ?? "";
  const lanes = await pendingLanes(sql, sellerId, after, LANES);
  const last = lanes.at(-1);
  if (last !== undefined && lanes.length === LANES) {
    turn.origins.set(sellerId, last.origin);
  } else {
    turn.origins.delete(sellerId);
  }
  if (lanes.length === LANES || after !== "") {
    picked.more = true;
  }
  const jobs: ImageJob[][] = [];
  for (const { origin, due } of lanes) {
    if (due > now) {
      picked.nextDue = Math.min(picked.nextDue, due);
      continue;
    }
    const room = slots.room({ sellerId, origin });
    if (room === 0) continue;
    const found = await dueImages(sql, sellerId, origin, now, room);
    picked.expired.push(...found.expired);
    jobs.push(found.free);
  }
  return interleaved(jobs);
}

function interleaved<T>(lists: readonly T[][]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const all: T[] = [];
  for (let at = 0; at < longest; at++) {
    for (const list of lists) if (at < list.length) all.push(list[at]);
  }
  return all;
}

function takeInTurns(
  queues: readonly ImageJob[][],
  slots: DownloadLimits,
  jobs: ImageJob[],
): void {
  for (const job of interleaved(queues)) {
    if (slots.room(job) === 0) continue;
    slots.take(job);
    jobs.push(job);
  }
}
