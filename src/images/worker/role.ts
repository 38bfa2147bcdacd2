/**
 * The image role: claims due jobs, sends them to the image worker, records the
 * results that it reports.
 *
 * Each round reads the queue once and makes at most one write for each seller,
 * with the reported and the claimed jobs; a busy worker fills the next round
 * while the current one is being written.
 */
import {
  type AttemptOutcome,
  type ImageFailure,
  type ImageOutcome,
  IMAGES,
  RETRIES,
} from "../image.ts";
import { retryDelay } from "../../jobs/retry_schedule.ts";
import { retryAfter } from "../../lib/retry_after.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../database/db.ts";
import type { InUse } from "../../lib/holders.ts";
import {
  type AttemptResult,
  type FetchedImage,
  settleImages,
} from "../rows/outcomes.ts";
import {
  type ClaimedImage,
  claimImages,
  type ImageShare,
} from "../rows/queue.ts";
import { imageRoom } from "../rows/quota.ts";
import {
  FIRST_ROUND,
  nothingPicked,
  type Picked,
  pickImages,
} from "./scheduler.ts";
import { OriginHistory } from "./limits.ts";
import { workerSettings } from "./settings.ts";
import { StoreWatch } from "./store_watch.ts";
import { type HangingWorkers, ImageThread } from "./thread.ts";
import { type SpawnWorker, threadSpawner } from "./spawn.ts";
import { recordSpan } from "../../lib/tracing.ts";
import { type ClaimResult, LeasedRole } from "../../jobs/leased_role.ts";
import { forEachSeller, releaseLeases } from "../../jobs/lease_queue.ts";
import { Owners, type Permit, Usage } from "../../lib/usage.ts";

/**
 * Pause before the next round if a round did not read the whole queue. Without
 * such rounds, an image behind many dead hosts of its seller would wait a
 * second for every 64 of them.
 */
const NEXT_CLAIM_MS = 50;
/** Nothing is claimed for this long after this process aborted a download. */
const INTERRUPTED_PAUSE_MS = 1_000;

/** Called in the write that settles the last image of an import. */
export type ImportEnded = (
  tx: Tx,
  key: { sellerNo: number; importId: string },
) => Promise<void>;

/** What tests replace. */
export interface ImageRoleOptions {
  /** Starts a worker; a thread by default. */
  spawn?: SpawnWorker;
  /** How often the worker is pinged; 1,000 by default. */
  beatMs?: number;
  /**
   * Milliseconds that a host may take to begin its answer; 10,000 by default.
   */
  answerMs?: number;
  /** Shared by successive roles of a process. */
  hanging?: HangingWorkers;
}

interface LeasedImage extends ClaimedImage {
  /**
   * The result to record: an attempt's outcome, or `released` if it ended
   * without one. null: in flight.
   */
  end: AttemptOutcome | "released" | null;
  /** Returned when the result is known. */
  permit: Permit;
}

type RoleServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "images" | "metrics"
>;

/** Holds each lease until the result of its job is on disk. */
export class ImageRole extends LeasedRole<LeasedImage> {
  readonly #services: RoleServices;
  readonly #importEnded: ImportEnded;
  readonly #thread: ImageThread;
  readonly #store: StoreWatch;
  readonly #history = new OriginHistory();
  readonly #usage: Usage;
  #nextRound = FIRST_ROUND;
  #abandoned = false;
  /** No job is claimed before this time, in monotonic milliseconds. */
  #claimsFrom = 0;
  /** When the worker last reported something; monotonic milliseconds. */
  #reportedAt = 0;

  constructor(
    services: RoleServices,
    importEnded: ImportEnded,
    options: ImageRoleOptions = {},
  ) {
    super(services, { queue: IMAGES, shared: true });
    const { config, deps, signals } = services;
    this.#services = services;
    this.#importEnded = importEnded;
    this.#usage = new Usage(new Owners(deps.clock));
    this.#store = new StoreWatch({
      deps,
      store: services.images,
      onRecovery: () => signals.images.notify(),
    });
    this.#thread = new ImageThread({
      deps,
      settings: workerSettings(config, options),
      beatMs: options.beatMs ?? 1_000,
      spawn: options.spawn ?? threadSpawner(),
      hanging: options.hanging ?? new Set(),
      onResults: (results) => this.#reported(results),
      onReady: () => signals.images.notify(),
      onDeath: (culprit) => this.#workerDied(culprit),
    });
  }

  override start(): void {
    this.#thread.start();
    this.#store.start();
    super.start();
  }

  /**
   * Aborts downloads, records results and releases the other jobs, so that
   * another process can continue at once.
   */
  override async stop(): Promise<void> {
    this.#store.stop();
    await super.stop();
    await this.#thread.stop();
    for (const job of this.#inFlight()) releaseJob(job);
    await this.releaseAll((tx, seller, jobs) =>
      this.#recordEnds(tx, seller, jobs)
    );
  }

  override async abandon(): Promise<void> {
    this.#abandoned = true;
    this.#store.stop();
    void super.abandon();
    void this.#thread.stop();
    await this.releaseAll();
  }

  override trouble(): string | null {
    return this.#thread.trouble ?? this.#store.trouble ?? super.trouble();
  }

  override inUse(): InUse & { in_flight: number } {
    const inFlight = this.#inFlight();
    return {
      in_flight: inFlight.length,
      to_record: this.leases.size - inFlight.length,
      ...this.#thread.phases,
    };
  }

  override oldestWaitMs(): number {
    return this.#thread.oldestWaitMs();
  }

  protected async claimAndLaunch(now: number): Promise<ClaimResult> {
    const { deps } = this.#services;
    const picked = await this.#pick(now);
    await deps.maybe?.("images picked");
    this.#nextRound = picked.round;
    const ended = this.leases.reachableRows().filter(({ end }) => end !== null);
    const slots = picked.shares.reduce((sum, { limit }) => sum + limit, 0);
    const claimed = ended.length + slots > 0
      ? await this.#write(ended, picked.shares)
      : 0;
    const found = {
      due: picked.shares.length,
      changed: claimed + ended.length,
    };
    // Other origins may use the slots that had no jobs, and the read came before
    // the write that makes jobs due again.
    const again = (claimed > 0 && claimed < slots) ||
      ended.some((job) =>
        mayBeDueAgain(job) || this.leases.get(job) !== undefined
      );
    if (again) return { ...found, againInMs: 0 };
    const nextAt = Math.min(
      picked.nextDue,
      // Counted from the end of the round, however long it took, so that other
      // work can run in between.
      picked.more ? deps.clock.now() + NEXT_CLAIM_MS : Infinity,
    );
    return { ...found, againInMs: Math.max(1, nextAt - now) };
  }

  /**
   * While a job waits for a host or the store, the worker need not make
   * progress: such a wait has a time limit.
   */
  protected override isIdle(): boolean {
    const { downloading = 0, storing = 0 } = this.#thread.phases;
    return super.isIdle() || downloading + storing > 0;
  }

  #pick(now: number): Promise<Picked> {
    const { db, deps } = this.#services;
    const canClaim = this.#thread.ready && this.#store.trouble === null &&
      deps.clock.monotonic() >= this.#claimsFrom;
    if (!canClaim) return Promise.resolve(nothingPicked(this.#nextRound));
    const options = {
      now,
      history: this.#history,
      owners: this.#usage.owners,
      inFlight: this.#inFlight(),
      round: this.#nextRound,
    };
    return db.read((sql) => pickImages(sql, options));
  }

  /**
   * Records results, claims jobs and sends them to the worker, in a write for
   * each seller. Returns how many jobs it claimed.
   */
  async #write(
    ended: readonly LeasedImage[],
    shares: readonly ImageShare[],
  ): Promise<number> {
    const claimed = await forEachSeller([...ended, ...shares], (sellerNo) => {
      const own = <T extends { sellerNo: number }>(rows: readonly T[]) =>
        rows.filter((row) => row.sellerNo === sellerNo);
      return this.#writeSeller(sellerNo, own(ended), own(shares));
    });
    return claimed.reduce((sum, n) => sum + n, 0);
  }

  async #writeSeller(
    sellerNo: number,
    ended: readonly LeasedImage[],
    shares: readonly ImageShare[],
  ): Promise<number> {
    const { config, db } = this.#services;
    let left = new Set<string>();
    const claims = await this.claim(
      { db: db.of(sellerNo) },
      async (tx, terms) => {
        if (this.#abandoned) return [];
        left = await this.#recordEnds(tx, sellerNo, ended);
        if (shares.length === 0) return [];
        // Read in the round trip of the claims.
        const room = imageRoom(tx, sellerNo, config.imageQuota);
        const claims = await Promise.all(
          shares.map((share) => claimImages(tx, share, { ...terms, room })),
        );
        return claims.flat();
      },
      (claims) => claims.map((claim) => this.#toLeased(claim)),
    );
    for (const job of ended) if (!left.has(job.lease)) this.leases.delete(job);
    this.#fetch(claims);
    return claims.length;
  }

  #toLeased(claim: ClaimedImage): LeasedImage {
    const permit = this.#usage.acquire({ owner: claim.sellerId });
    return { ...claim, permit, end: null };
  }

  #fetch(claims: readonly ClaimedImage[]): void {
    if (this.#thread.ready) return this.#thread.fetch(claims);
    // The worker died while the jobs were being claimed.
    for (const claim of claims) releaseJob(this.leases.get(claim)!);
  }

  /**
   * Returns the leases of results that must be recorded again; see `Settled`.
   */
  async #recordEnds(
    tx: Tx,
    sellerNo: number,
    ended: readonly LeasedImage[],
  ): Promise<Set<string>> {
    const { config, deps, signals: { progress } } = this.#services;
    const results: AttemptResult[] = [];
    const released: LeasedImage[] = [];
    for (const job of ended) {
      const { id, lease, order, end } = job;
      if (end === "released" || end === null) released.push(job);
      else results.push({ sellerNo, id, lease, order, outcome: end });
    }
    const at = deps.clock.now();
    const delay = (attempts: number, failure: ImageFailure) =>
      retryDelay(
        RETRIES,
        attempts,
        deps.ids.random(1)[0] / 255,
        retryAfter(failure.retryAfter ?? null, at),
      );
    const { imageQuota } = config;
    const options = { at, delay, imageQuota };
    const settled = await settleImages(tx, sellerNo, results, options);
    await releaseLeases(tx, IMAGES, released, at);
    for (const importId of settled.ended) {
      await this.#importEnded(tx, { sellerNo, importId });
    }
    tx.onCommit(() =>
      settled.progressed.forEach((id) => progress.announce(id))
    );
    return new Set(settled.left);
  }

  #reported(results: readonly FetchedImage[]): void {
    this.#reportedAt = this.#services.deps.clock.monotonic();
    for (const result of results) {
      const { outcome } = result;
      this.#count(result);
      const job = this.leases.get(result);
      if (job === undefined) continue;
      if (outcome.kind === "interrupted") {
        releaseJob(job);
        this.#claimsFrom = this.#reportedAt + INTERRUPTED_PAUSE_MS;
        continue;
      }
      this.#history.set(job.origin, isAnswered(outcome));
      if (outcome.kind === "store_unavailable") {
        releaseJob(job);
        this.#store.failed(outcome);
      } else {
        job.permit[Symbol.dispose]();
        job.end = outcome;
        if (outcome.kind === "stored") this.#store.stored();
      }
    }
    this.#services.signals.images.notify();
  }

  /** Counts attempts; `settleImages` counts jobs that end. */
  #count({ outcome, ms, bytes }: FetchedImage): void {
    const { images, imageBytes, imageFetch } = this.#services.metrics;
    images.add(1, outcome.kind, outcome.kind === "failed" ? outcome.code : "");
    imageBytes.add(bytes);
    if (ms === null) return;
    imageFetch.observe(ms / 1_000);
    const code = outcome.kind === "failed" ? outcome.code : undefined;
    recordSpan("image.fetch", ms, { outcome: outcome.kind, code, bytes });
  }

  /** Jobs that the worker has and has not reported yet. */
  #inFlight(): LeasedImage[] {
    return this.leases.rows().filter(({ end }) => end === null);
  }

  /** Only the job that the worker was inspecting, if any, can be the cause. */
  #workerDied(culprit: string | null): void {
    for (const job of this.#inFlight()) {
      releaseJob(job);
      if (job.lease === culprit) job.end = { kind: "crashed" };
    }
    this.#services.signals.images.notify();
  }
}

/**
 * Ends a job without a result, which does not count against the image or its
 * seller.
 */
function releaseJob(job: LeasedImage): void {
  job.permit.cancel();
  job.end = "released";
}

/** Whether the recorded end of a job may have made it due again, or due later. */
function mayBeDueAgain({ end }: LeasedImage): boolean {
  if (end === null || end === "released") return true;
  if (end.kind === "failed") return end.transient;
  return end.kind === "crashed" || end.kind === "unmodified";
}

/** Whether the host has answered, in any way. */
function isAnswered(outcome: ImageOutcome): boolean {
  if (outcome.kind !== "failed") return true;
  return outcome.code !== "image_timeout" &&
    outcome.code !== "image_host_unreachable";
}
