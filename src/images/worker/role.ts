/**
 * The image role: claims due jobs, sends them to the image worker, records what
 * it reports.
 *
 * Each round reads the queue once and makes at most one write, which contains
 * the reported, lost and claimed jobs; a busy worker fills the next round while
 * this one is being written.
 */
import {
  type AttemptOutcome,
  type ImageFailure,
  type ImageOutcome,
  IMAGES,
  retryDelay,
} from "../image.ts";
import { retryAfter } from "../../lib/retry_after.ts";
import { imageStoreSettings } from "../storage/open.ts";
import type { Services } from "../../services.ts";
import { DbError, inReach, type Tx, wholeOutageOf } from "../../database/db.ts";
import type { Held } from "../../lib/holders.ts";
import type { BackgroundRole } from "../../jobs/role_keeper.ts";
import {
  type AttemptResult,
  type FetchedImage,
  recordCrashes,
  settleImages,
} from "../rows/outcomes.ts";
import {
  type ClaimedImage,
  claimImages,
  type ImageShare,
} from "../rows/queue.ts";
import { roomOf } from "../rows/quota.ts";
import { FIRST_ROUND, nothingPicked, pickImages } from "./scheduler.ts";
import { OriginHistory } from "./limits.ts";
import { StoreWatch } from "./store_watch.ts";
import { type HangingWorkers, ImageThread } from "./thread.ts";
import { spawnThread, type SpawnWorker } from "./spawn.ts";
import { recordSpan } from "../../lib/tracing.ts";
import { LEASE_MS, mustRenew, RENEW_MS } from "../../jobs/lease.ts";
import {
  eachSeller,
  expired as expiredLeases,
  type Leased,
  release,
  renew,
} from "../../jobs/lease_queue.ts";
import { Loop } from "../../jobs/loop.ts";
import { Owners, type Permit, Usage } from "../../lib/usage.ts";

/** Pause before the next round if one did not read the whole queue. */
const NEXT_LOOK_MS = 50;
/** Nothing is claimed for this long after this process aborted a download. */
const INTERRUPTED_PAUSE_MS = 1_000;
/** Jobs of another process are noticed within this time. */
const IDLE_MS = 1_000;
/** After this long without a read of the queue, no process may have had one. */
const GAP_MS = LEASE_MS - RENEW_MS;
/** Other processes then have this long to renew their leases. */
const GRACE_MS = 2 * RENEW_MS;
/** What tests replace. */
export interface ImageRoleOptions {
  /** Starts a worker; a thread by default. */
  spawn?: SpawnWorker;
  /** The module of the worker's thread. */
  module?: URL;
  /** How often the worker is pinged; 1,000 by default. */
  beatMs?: number;
  /**
   * Milliseconds that a host may take to begin its answer; 10,000 by default.
   */
  answerMs?: number;
  /** MiB of the worker's heap; 256 by default. */
  heapMb?: number;
  /** Shared by the roles of a process, which follow each other. */
  hanging?: HangingWorkers;
}

interface HeldImage extends ClaimedImage {
  /**
   * The result to record: an attempt's outcome, `crashed` if the job killed the
   * worker, or `released` if it is not at fault. null: in flight.
   */
  end: AttemptOutcome | "crashed" | "released" | null;
  /** Given back when its result is known. */
  permit: Permit;
}

type RoleServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "images" | "metrics"
>;

export class ImageRole implements BackgroundRole {
  readonly #services: RoleServices;
  readonly #loop: Loop;
  readonly #thread: ImageThread;
  readonly #store: StoreWatch;
  readonly #history = new OriginHistory();
  readonly #usage: Usage;
  /**
   * Every job whose lease may be ours, by lease, until its result is on disk.
   */
  readonly #held = new Map<string, HeldImage>();
  /** Beginnings of the leases of claims that may have been committed. */
  readonly #unsure = new Set<string>();
  #next = FIRST_ROUND;
  #progress = 0;
  #abandoned = false;
  /** Nothing is claimed before; monotonic milliseconds. */
  #claimsFrom = 0;
  /** When the worker last reported something; monotonic milliseconds. */
  #reportedAt = 0;
  /** When the queue was last read; monotonic milliseconds. */
  #lookedAt = Infinity;
  /** Until then other processes may have been unable to renew their leases. */
  #graceUntil = 0;
  #renewAt = 0;

  constructor(
    services: RoleServices,
    options: ImageRoleOptions = {},
  ) {
    const { config, deps, signals } = services;
    this.#services = services;
    this.#usage = new Usage(new Owners(deps.clock));
    this.#loop = new Loop({
      name: "images",
      deps,
      signal: signals.images,
      idleMs: IDLE_MS,
      step: () => this.#round(),
    });
    this.#store = new StoreWatch({
      deps,
      store: services.images,
      onRecovery: () => signals.images.notify(),
    });
    this.#thread = new ImageThread({
      deps,
      settings: {
        store: imageStoreSettings(config),
        imageLimit: config.imageLimit,
        allowPrivate: config.allowPrivate,
        answerMs: options.answerMs ?? 10_000,
      },
      beatMs: options.beatMs ?? 1_000,
      spawn: options.spawn ?? threadSpawner(options),
      hanging: options.hanging ?? new Set(),
      onResults: (results) => this.#reported(results),
      onReady: () => signals.images.notify(),
      onDeath: (culprit) => this.#workerDied(culprit),
    });
  }

  start(): void {
    this.#thread.start();
    this.#store.start();
    this.#loop.start();
  }

  /**
   * Aborts downloads, records results and releases the other jobs, so that
   * another process can continue at once.
   */
  async stop(): Promise<void> {
    const { db, deps } = this.#services;
    this.#store.stop();
    await this.#loop.stop();
    await this.#thread.stop();
    for (const job of this.#inFlight()) giveBack(job);
    try {
      await eachSeller(
        this.#held.values(),
        (seller, jobs) =>
          db.write(async (tx) => {
            await this.#recordEnds(tx, seller, jobs);
            await release(tx, IMAGES, jobs, deps.clock.now());
          }, { seller }),
      );
    } catch (error) {
      // The leases expire, and the jobs are due again then.
      deps.log.error("image_release_failed", { error: String(error) });
    }
  }

  async abandon(): Promise<void> {
    const { db, deps } = this.#services;
    this.#abandoned = true;
    this.#store.stop();
    void this.#loop.stop();
    void this.#thread.stop();
    try {
      const now = deps.clock.now();
      await eachSeller(
        this.#held.values(),
        (seller, jobs) =>
          db.write((tx) => release(tx, IMAGES, jobs, now), { seller }),
      );
    } catch (error) {
      deps.log.error("image_release_failed", { error: String(error) });
    }
  }

  trouble(): string | null {
    return this.#thread.trouble ?? this.#store.trouble ??
      wholeOutageOf(this.#services.db, this.#loop.failure);
  }

  get progress(): number {
    return this.#progress;
  }

  held(): Held & { in_flight: number } {
    const inFlight = this.#inFlight();
    return {
      in_flight: inFlight.length,
      to_record: this.#held.size - inFlight.length,
      ...this.#thread.phases,
    };
  }

  oldestWaitMs(): number {
    return this.#thread.oldestWaitMs();
  }

  async #round(): Promise<number> {
    const { clock } = this.#services.deps;
    const now = clock.now();
    // Before the read: after a stall our own leases have expired.
    const leasedUntil = this.#renewAt - RENEW_MS + LEASE_MS;
    const held = this.#inReach();
    if (held.length > 0 && mustRenew(leasedUntil, now)) {
      await this.#renew(now, held);
    }
    const unsure = [...this.#unsure];
    const { expired, picked } = await this.#look(now, unsure);
    await this.#services.deps.maybe?.("images picked");
    this.#next = picked.round;
    const ended = this.#inReach().filter(({ end }) => end !== null);
    let moved = picked.shares.length === 0 && this.#isNothingDue();
    const places = picked.shares.reduce((sum, { limit }) => sum + limit, 0);
    let claimed = 0;
    if (ended.length + places + expired.length > 0) {
      claimed = await this.#write(now, ended, expired, picked.shares);
      moved ||= claimed + ended.length + expired.length > 0;
    }
    for (const lease of unsure) this.#unsure.delete(lease);
    if (moved) this.#progress++;
    // Other origins may use the places for which there were no jobs.
    const again = expired.length > 0 || (claimed > 0 && claimed < places) ||
      ended.some(({ lease, end }) =>
        typeof end === "string" || this.#held.has(lease)
      );
    if (again) return 0;
    const nextAt = Math.min(
      picked.nextDue,
      this.#inReach().length > 0 ? this.#renewAt : Infinity,
      // Counted from the end of the round, however long it took, so that other
      // work runs in between.
      picked.more ? clock.now() + NEXT_LOOK_MS : Infinity,
    );
    return Math.max(1, nextAt - now);
  }

  /**
   * Whether nothing is in progress but what waits for a host or the store,
   * which have time limits. Other jobs wait in the worker; it has to go on.
   */
  #isNothingDue(): boolean {
    const { downloading = 0, storing = 0 } = this.#thread.phases;
    return this.#inReach().length === 0 || downloading + storing > 0;
  }

  #inReach(): HeldImage[] {
    return inReach(this.#services.db, this.#held.values());
  }

  /**
   * A write of its own: the settling write has locked rows of images already,
   * and an upload that waits for one of these may hold what renewing needs.
   */
  async #renew(now: number, held: readonly HeldImage[]): Promise<void> {
    const { db } = this.#services;
    await eachSeller(
      held,
      (seller, jobs) => db.write((tx) => renew(tx, IMAGES, jobs), { seller }),
    );
    this.#renewAt = now + RENEW_MS;
  }

  async #look(now: number, unsure: readonly string[]) {
    const { db, deps } = this.#services;
    const options = {
      now,
      history: this.#history,
      owners: this.#usage.owners,
      inFlight: this.#inFlight(),
      round: this.#next,
    };
    const able = this.#thread.ready && this.#store.trouble === null &&
      deps.clock.monotonic() >= this.#claimsFrom;
    const { expired, leased, picked } = await db.read(async (sql) => ({
      leased: unsure.length === 0
        ? []
        : await expiredLeases(sql, IMAGES, Infinity),
      expired: await expiredLeases(sql, IMAGES, now),
      picked: able ? await pickImages(sql, options) : nothingPicked(this.#next),
    }));
    const at = deps.clock.monotonic();
    if (at - this.#lookedAt > GAP_MS) this.#graceUntil = at + GRACE_MS;
    this.#lookedAt = at;
    const lost = leased.filter(({ lease }) =>
      unsure.some((claim) => lease.startsWith(claim))
    );
    return { expired: [...this.#isDead(expired, at), ...lost], picked };
  }

  /** Leases whose holder has had enough time to renew them. */
  #isDead(expired: readonly Leased[], at: number): Leased[] {
    if (at < this.#graceUntil) return [];
    return expired.filter(({ lease }) => !this.#held.has(lease));
  }

  /**
   * Records results, claims jobs and hands them to the worker, in a write for
   * each seller. Returns how many jobs it claimed.
   */
  async #write(
    now: number,
    ended: readonly HeldImage[],
    expired: readonly Leased[],
    shares: readonly ImageShare[],
  ): Promise<number> {
    const claimed = await eachSeller(
      [...ended, ...expired, ...shares],
      (sellerNo) => {
        const own = <T extends { sellerNo: number }>(rows: readonly T[]) =>
          rows.filter((row) => row.sellerNo === sellerNo);
        return this.#writeSeller(sellerNo, now, {
          ended: own(ended),
          expired: own(expired),
          shares: own(shares),
        });
      },
    );
    return claimed.reduce((sum, n) => sum + n, 0);
  }

  async #writeSeller(
    sellerNo: number,
    now: number,
    { ended, expired, shares }: {
      ended: readonly HeldImage[];
      expired: readonly Leased[];
      shares: readonly ImageShare[];
    },
  ): Promise<number> {
    const { config, db, deps } = this.#services;
    const lease = deps.ids.uuid();
    let left = new Set<string>();
    const claimed = await db.write(async (tx) => {
      if (this.#abandoned) return [];
      left = await this.#recordEnds(tx, sellerNo, ended);
      await release(tx, IMAGES, expired, now);
      if (shares.length === 0) return [];
      // In one round trip with the claims.
      const room = roomOf(tx, sellerNo, config.imageQuota);
      const claims = await Promise.all(
        shares.map((share) => claimImages(tx, share, { lease, now, room })),
      );
      return claims.flat();
    }, { seller: sellerNo }).catch((error) => {
      const isUnsure = error instanceof DbError && error.kind === "unsure";
      if (isUnsure) this.#unsure.add(lease);
      throw error;
    });
    await deps.maybe?.("images claimed");
    for (const { lease } of ended) {
      if (!left.has(lease)) this.#held.delete(lease);
    }
    // The worker may have died while they were being claimed.
    const { ready } = this.#thread;
    for (const claim of claimed) {
      const permit = this.#usage.take({ owner: claim.sellerId });
      this.#held.set(claim.lease, { ...claim, permit, end: null });
      if (!ready) giveBack(this.#held.get(claim.lease)!);
    }
    if (!ready) return claimed.length;
    this.#thread.fetch(
      claimed.map(({ id, lease, url, copy, sellerId, room }) => (
        { id, lease, url, copy, sellerId, room }
      )),
    );
    return claimed.length;
  }

  /** Returns the leases of results to be recorded again; see `Settled`. */
  async #recordEnds(
    tx: Tx,
    sellerNo: number,
    ended: readonly HeldImage[],
  ): Promise<Set<string>> {
    const { config, deps, signals: { progress } } = this.#services;
    const results: AttemptResult[] = [];
    const crashed: HeldImage[] = [];
    const released: HeldImage[] = [];
    for (const job of ended) {
      const { id, lease, order, end } = job;
      if (end === "crashed") crashed.push(job);
      else if (end === "released" || end === null) released.push(job);
      else results.push({ sellerNo, id, lease, order, outcome: end });
    }
    const at = deps.clock.now();
    const delay = (attempts: number, failure: ImageFailure) =>
      retryDelay(
        attempts,
        deps.ids.random(1)[0] / 255,
        retryAfter(failure.retryAfter ?? null, at),
      );
    const { imageQuota } = config;
    const options = { at, delay, imageQuota };
    const settled = [
      await settleImages(tx, sellerNo, results, options),
      await recordCrashes(tx, sellerNo, crashed, at),
    ];
    await release(tx, IMAGES, released, at);
    tx.onCommit(() => {
      for (const { transactions } of settled) {
        for (const id of transactions) progress.announce(id);
      }
    });
    return new Set(settled.flatMap(({ left }) => left));
  }

  #reported(results: readonly FetchedImage[]): void {
    this.#reportedAt = this.#services.deps.clock.monotonic();
    for (const result of results) {
      const { lease, outcome } = result;
      this.#count(result);
      const job = this.#held.get(lease);
      if (job === undefined) continue;
      if (outcome.kind === "interrupted") {
        giveBack(job);
        this.#claimsFrom = this.#reportedAt + INTERRUPTED_PAUSE_MS;
        continue;
      }
      this.#history.note(job.origin, isAnswered(outcome));
      if (outcome.kind === "store_unavailable") {
        giveBack(job);
        this.#store.failed(outcome);
      } else {
        job.permit[Symbol.dispose]();
        job.end = outcome;
        if (outcome.kind === "stored") this.#store.stored();
      }
    }
    this.#services.signals.images.notify();
  }

  #count({ outcome, ms, bytes }: FetchedImage): void {
    const { images, imageBytes, imageFetch } = this.#services.metrics;
    images.add(1, outcome.kind, outcome.kind === "failed" ? outcome.code : "");
    imageBytes.add(bytes);
    if (ms === null) return;
    imageFetch.observe(ms / 1_000);
    const code = outcome.kind === "failed" ? outcome.code : undefined;
    recordSpan("image.fetch", ms, { outcome: outcome.kind, code, bytes });
  }

  /** Jobs that the worker has and has not reported. */
  #inFlight(): HeldImage[] {
    return [...this.#held.values()].filter(({ end }) => end === null);
  }

  /** Only the job that the worker was inspecting is to blame, if any. */
  #workerDied(culprit: string | null): void {
    for (const job of this.#inFlight()) {
      giveBack(job);
      if (job.lease === culprit) job.end = "crashed";
    }
    this.#services.signals.images.notify();
  }
}

function threadSpawner(
  { module, heapMb = 256 }: ImageRoleOptions,
): SpawnWorker {
  const url = module ?? new URL("./worker.ts", import.meta.url);
  return (events) => spawnThread(url, heapMb, events);
}

/** Ends a job without a result that it or its seller is charged for. */
function giveBack(job: HeldImage): void {
  job.permit.cancel();
  job.end = "released";
}

/** Whether the host has answered, in any way. */
function isAnswered(outcome: ImageOutcome): boolean {
  if (outcome.kind !== "failed") return true;
  return outcome.code !== "image_timeout" &&
    outcome.code !== "image_host_unreachable";
}
