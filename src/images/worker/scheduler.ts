/**
 * Chooses which due images are fetched next: round-robin among sellers, and
 * within a seller among its origins, as far as the limits allow.
 */
import type { Sql } from "../../database/db.ts";
import {
  dueImages,
  type ImageJob,
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
  /** By seller; only for those with more origins than one read covers. */
  origins: ReadonlyMap<number, string>;
}

export const FIRST_ROUND: RoundRobin = { sellerNo: 0, origins: new Map() };

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
  owners: Owners;
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
  { now, history, owners, inFlight, round }: PickOptions,
): Promise<Picked> {
  const picked = nothingPicked(round);
  const limits = new DownloadLimits(history, owners, inFlight);
  if (limits.full) return picked;
  const origins = new Map(round.origins);
  const sellers = await sellersInTurn(sql, round.sellerNo);
  // Their downloads end first, and every end is followed by another read.
  const able = sellers.filter(({ id }) => limits.hasRoom(id));
  const queues: DueOrigin[][] = [];
  for (const seller of able) {
    const look = { seller, now, limits, origins, sellers: able.length };
    queues.push(await queueOf(sql, look, picked));
  }
  await takeInTurns(queues, limits, picked.jobs);
  return { ...picked, round: { sellerNo: sellers[0]?.no ?? 0, origins } };
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

interface SellerLook {
  seller: PendingSeller;
  now: number;
  limits: DownloadLimits;
  /** Where the next read of each seller starts; this one sets its own. */
  origins: Map<number, string>;
  /** How many have a turn. */
  sellers: number;
}

/** The origins of which one seller may have something fetched next. */
async function queueOf(
  sql: Sql,
  { seller, now, limits, origins, sellers }: SellerLook,
  picked: Picked,
): Promise<DueOrigin[]> {
  const after = origins.get(seller.no) ?? "";
  const pending = await pendingOrigins(sql, seller.no, after, ORIGINS);
  if (pending.length === ORIGINS) {
    origins.set(seller.no, pending[ORIGINS - 1].origin);
  } else {
    origins.delete(seller.no);
  }
  if (pending.length === ORIGINS || after !== "") picked.more = true;
  const queue: DueOrigin[] = [];
  for (const { origin, due } of pending) {
    if (due > now) {
      picked.nextDue = Math.min(picked.nextDue, due);
      continue;
    }
    const room = limits.room({ sellerId: seller.id, origin });
    if (room > 0) {
      const options = { now, room, sellers };
      queue.push(new DueOrigin(sql, seller, origin, options));
    }
  }
  return queue;
}

/** The next read covers so many times more. */
const MORE = 4;

/**
 * A seller's due jobs at one origin. Only the seller's part of the room is read
 * at first, because other sellers may take the rest.
 */
class DueOrigin {
  readonly source: DownloadSource;
  readonly #seller: PendingSeller;
  readonly #sql: Sql;
  readonly #now: number;
  readonly #room: number;
  #jobs: ImageJob[] = [];
  #taken = 0;
  #limit: number;
  #isRead = false;

  /** `sellers`: how many may take some of the room. */
  constructor(
    sql: Sql,
    seller: PendingSeller,
    origin: string,
    { now, room, sellers }: { now: number; room: number; sellers: number },
  ) {
    this.#sql = sql;
    this.source = { sellerId: seller.id, origin };
    this.#seller = seller;
    this.#now = now;
    this.#room = room;
    this.#limit = Math.ceil(room / sellers);
  }

  /** The next job; undefined after the last one. */
  async next(): Promise<ImageJob | undefined> {
    while (this.#taken >= this.#jobs.length && !this.#isRead) {
      await this.#read();
    }
    return this.#jobs[this.#taken++];
  }

  async #read(): Promise<void> {
    const limit = this.#limit;
    this.#jobs = await dueImages(
      this.#sql,
      this.#seller,
      this.source.origin,
      this.#now,
      limit,
    );
    this.#isRead = this.#jobs.length < limit || limit === this.#room;
    this.#limit = Math.min(this.#room, limit * MORE);
  }
}

/**
 * Takes one job of each seller after the other, and within a seller of each
 * origin, until nothing has room.
 */
async function takeInTurns(
  queues: DueOrigin[][],
  limits: DownloadLimits,
  jobs: ImageJob[],
): Promise<void> {
  let waiting = queues;
  while (waiting.length > 0) {
    for (const queue of waiting) {
      const job = await nextOf(queue, limits);
      if (job === undefined) continue;
      limits.take(job);
      jobs.push(job);
    }
    waiting = waiting.filter((queue) => queue.length > 0);
  }
}

/** The seller's next job that has room; its origin comes last in the queue. */
async function nextOf(
  queue: DueOrigin[],
  limits: DownloadLimits,
): Promise<ImageJob | undefined> {
  for (let origin; (origin = queue.shift()) !== undefined;) {
    // What has no room now has none later in this plan.
    if (limits.room(origin.source) === 0) continue;
    const job = await origin.next();
    if (job === undefined) continue;
    queue.push(origin);
    return job;
  }
}
