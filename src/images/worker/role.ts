/**
 * The image role: claims due jobs, feeds the image worker, records what it
 * reports.
 *
 * Each round is one look at the queue and at most one write, in which what was
 * reported, what was lost and what is claimed go together; a busy worker fills
 * the next round while this one is being written.
 */
import { type ImageFailure, type ImageOutcome, retryDelay } from "../image.ts";
import { retryAfter } from "../../lib/retry_after.ts";
import { imageStoreSettings } from "../storage/open.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../database/db.ts";
import {
  type ImageResult,
  recordCrashes,
  settleImages,
} from "../rows/outcomes.ts";
import {
  type ClaimedImage,
  claimImage,
  type ExpiredImage,
  releaseImages,
  renewLeases,
} from "../rows/queue.ts";
import { refetchMissing, sweepParts } from "../upkeep.ts";
import {
  firstTurn,
  nothingPicked,
  type Picked,
  pickImages,
} from "./scheduler.ts";
import { DownloadLimits } from "./limits.ts";
import { ImageThread } from "./thread.ts";
import { Loop } from "../../jobs/loop.ts";

const LEASE_MS = 15_000;
const RENEW_MS = 5_000;
/** If a look did not reach the end, the next one follows after this long. */
const NEXT_LOOK_MS = 50;
/** Jobs of another process are seen after this long at the latest. */
const IDLE_MS = 1_000;
const SWEEP_MS = 60_000;
/**
 * A worker that has not reported a job by now never will: longer than the job
 * and all those handed out before it for the same host can take together.
 */
const LOST_MS = 5 * 60_000;

/** What tests replace. */
export interface ImageRoleOptions {
  /** The worker's module. */
  module?: URL;
  /** How often the worker is asked for a sign of life; 1,000 by default. */
  beatMs?: number;
  /** How long a host may take to begin its answer; 10,000 by default. */
  answerMs?: number;
  /** MiB of the worker's heap; 256 by default. */
  heapMb?: number;
}

interface HeldImage extends ClaimedImage {
  /** Unix milliseconds. */
  since: number;
}

type RoleServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "images"
>;

export class ImageRole {
  readonly #services: RoleServices;
  readonly #loop: Loop;
  readonly #thread: ImageThread;
  readonly #slots = new DownloadLimits();
  readonly #turn = firstTurn();
  readonly #stopping = new AbortController();
  /** Every job whose lease is ours, by lease, until its end is on disk. */
  readonly #held = new Map<string, HeldImage>();
  /** Reported, but not yet on disk. */
  #results: ImageResult[] = [];
  /** In flight when a worker died, and perhaps why; not yet recorded. */
  #crashed: HeldImage[] = [];
  /** Claimed, but never worked on to an end, and not to blame for it. */
  #unused: HeldImage[] = [];
  #renewAt = 0;
  #sweepAt = 0;
  /** Whether every stored image was looked for; tried until it succeeds. */
  #missingSought = false;
  /** What was last logged of a store that cannot be written. */
  #storeTrouble: string | null = null;
  #upkeep: Promise<void> = Promise.resolve();

  constructor(
    services: RoleServices,
    options: ImageRoleOptions = {},
  ) {
    const { config, deps, signals } = services;
    this.#services = services;
    this.#loop = new Loop({
      name: "images",
      deps,
      signal: signals.images,
      idleMs: IDLE_MS,
      step: () => this.#round(),
    });
    this.#thread = new ImageThread({
      deps,
      module: options.module ?? new URL("./worker.ts", import.meta.url),
      settings: {
        store: imageStoreSettings(config),
        imageLimit: config.imageLimit,
        allowPrivate: config.allowPrivate,
        answerMs: options.answerMs ?? 10_000,
      },
      beatMs: options.beatMs ?? 1_000,
      heapMb: options.heapMb ?? 256,
      onResults: (results) => this.#reported(results),
      onReady: () => signals.images.notify(),
      onDeath: () => this.#bereaved(),
    });
  }

  /** Throws when a folder that is needed cannot be made. */
  start(): void {
    this.#services.images.prepare();
    this.#thread.start();
    this.#loop.start();
  }

  /**
   * Gives up what is under way, records what is done and gives the rest back,
   * so that another process can go on at once.
   */
  async stop(): Promise<void> {
    const { db, deps } = this.#services;
    this.#stopping.abort();
    await this.#loop.stop();
    await this.#thread.stop();
    await this.#upkeep;
    try {
      await db.write(async (tx) => {
        await this.#settle(tx, this.#results);
        await releaseImages(tx, this.#held.values(), deps.clock.now());
      });
    } catch (error) {
      // The leases run out, and everything goes on then.
      deps.log.error("image_release_failed", { error: String(error) });
    }
  }

  /** Whether there is a worker that answers. */
  healthy(): boolean {
    return this.#thread.ready;
  }

  async #round(): Promise<number> {
    const { deps } = this.#services;
    const now = deps.clock.now();
    this.#sweep(now);
    if (this.#inFlight().some(({ since }) => now - since > LOST_MS)) {
      this.#thread.replace("it lost a job");
    }
    const picked = await this.#pick(now);
    const claims = picked.jobs.map((job): HeldImage => ({
      ...job,
      lease: deps.ids.uuid(),
      since: now,
    }));
    const results = [...this.#results];
    const crashed = [...this.#crashed];
    const unused = [...this.#unused];
    const ended = [...results, ...crashed, ...unused];
    if (now >= this.#renewAt && this.#held.size > 0) await this.#renew(now);
    if (ended.length + claims.length + picked.expired.length > 0) {
      const claimed = await this.#write(claims, async (tx) => {
        await this.#settle(tx, results);
        await this.#recordCrashes(tx, [...crashed, ...picked.expired]);
        await releaseImages(tx, unused, now);
        return await claimAll(tx, claims, now);
      });
      this.#results = this.#results.slice(results.length);
      this.#crashed = this.#crashed.slice(crashed.length);
      this.#unused = this.#unused.slice(unused.length);
      for (const { lease } of ended) this.#held.delete(lease);
      this.#handOver(claims, claimed);
    }
    if (picked.expired.length + crashed.length + unused.length > 0) return 0;
    const nextAt = Math.min(
      picked.nextDue,
      this.#held.size > 0 ? this.#renewAt : Infinity,
      // After the look, however long that took: others want their turn.
      picked.more ? deps.clock.now() + NEXT_LOOK_MS : Infinity,
    );
    return Math.max(1, nextAt - now);
  }

  /**
   * A write of its own: what one that settles holds already, an upload that has
   * asked for one of these images may be waiting for.
   */
  async #renew(now: number): Promise<void> {
    await this.#services.db.write((tx) =>
      renewLeases(tx, this.#held.values(), now + LEASE_MS)
    );
    this.#renewAt = now + RENEW_MS;
  }

  async #pick(now: number): Promise<Picked> {
    if (!this.#thread.ready) return nothingPicked();
    const suspect = !this.#inFlight().some((job) => job.suspect);
    const { db } = this.#services;
    return await db.read((sql) =>
      pickImages(sql, { now, slots: this.#slots, turn: this.#turn, suspect })
    );
  }

  /** Writes; when that fails, what was to be claimed takes no room. */
  async #write(
    claims: readonly HeldImage[],
    fn: (tx: Tx) => Promise<HeldImage[]>,
  ): Promise<HeldImage[]> {
    try {
      return await this.#services.db.write(fn);
    } catch (error) {
      for (const claim of claims) this.#slots.free(claim);
      throw error;
    }
  }

  #handOver(
    claims: readonly HeldImage[],
    claimed: readonly HeldImage[],
  ): void {
    const ours = new Set(claimed);
    // It may have died while they were being claimed.
    const { ready } = this.#thread;
    for (const claim of claims) {
      if (ours.has(claim)) this.#held.set(claim.lease, claim);
      if (!ours.has(claim) || !ready) this.#slots.free(claim);
    }
    if (ready) {
      this.#thread.fetch(
        claimed.map(({ id, lease, url, copy }) => ({ id, lease, url, copy })),
      );
    } else {
      this.#unused.push(...claimed);
    }
  }

  async #settle(tx: Tx, results: readonly ImageResult[]): Promise<void> {
    const { deps } = this.#services;
    const at = deps.clock.now();
    const delay = (attempts: number, failure: ImageFailure) =>
      retryDelay(
        attempts,
        deps.ids.random(1)[0] / 255,
        retryAfter(failure.retryAfter ?? null, at),
      );
    this.#announce(tx, await settleImages(tx, results, { at, delay }));
  }

  async #recordCrashes(
    tx: Tx,
    jobs: readonly (ClaimedImage | ExpiredImage)[],
  ): Promise<void> {
    const at = this.#services.deps.clock.now();
    this.#announce(tx, await recordCrashes(tx, jobs, at));
  }

  #announce(tx: Tx, transactions: readonly string[]): void {
    const { progress } = this.#services.signals;
    tx.onCommit(() => {
      for (const id of transactions) progress.announce(id);
    });
  }

  #reported(results: readonly ImageResult[]): void {
    for (const result of results) {
      const job = this.#held.get(result.lease);
      if (job === undefined) continue;
      this.#results.push(result);
      this.#slots.free(job);
      this.#slots.note(job.origin, isAnswered(result.outcome));
      this.#noteStore(result.outcome);
    }
    this.#services.signals.images.notify();
  }

  /** Has the operator told once why nothing can be stored, and that it can. */
  #noteStore(outcome: ImageOutcome): void {
    const { log } = this.#services.deps;
    if (outcome.kind === "stored" && this.#storeTrouble !== null) {
      this.#storeTrouble = null;
      log.info("image_store_works_again");
    }
    if (outcome.kind !== "failed" || outcome.cause === undefined) return;
    if (this.#storeTrouble === outcome.code) return;
    this.#storeTrouble = outcome.code;
    const { code, cause } = outcome;
    log.error("image_store_failed", { code, error: cause });
  }

  /** What is held and has not ended, in one way or another. */
  #inFlight(): HeldImage[] {
    const ended = new Set(
      [...this.#results, ...this.#crashed, ...this.#unused]
        .map(({ lease }) => lease),
    );
    return [...this.#held.values()].filter(({ lease }) => !ended.has(lease));
  }

  /** A suspect that was in flight takes the blame alone. */
  #bereaved(): void {
    const lost = this.#inFlight();
    const suspects = lost.filter(({ suspect }) => suspect);
    const culprits = new Set(suspects.length > 0 ? suspects : lost);
    for (const job of lost) {
      (culprits.has(job) ? this.#crashed : this.#unused).push(job);
      this.#slots.free(job);
    }
    this.#services.signals.images.notify();
  }

  #sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + SWEEP_MS;
    this.#keepUp(async () => {
      const { db, deps, images } = this.#services;
      const parts = await sweepParts(db, images.partFolder);
      if (parts > 0) deps.log.info("image_parts_swept", { parts });
    });
    this.#keepUp(() => this.#refetchMissing());
  }

  async #refetchMissing(): Promise<void> {
    if (this.#missingSought) return;
    const { db, deps, signals, images } = this.#services;
    const urls = await refetchMissing(
      db,
      images,
      deps.clock.now(),
      this.#stopping.signal,
    );
    this.#missingSought = true;
    if (urls === 0) return;
    deps.log.warn("image_files_missing", { urls });
    signals.images.notify();
  }

  /** One piece of upkeep after the other, beside the rounds. */
  #keepUp(task: () => Promise<void>): void {
    const { log } = this.#services.deps;
    this.#upkeep = this.#upkeep.then(task).catch((error) =>
      log.error("image_upkeep_failed", { error: String(error) })
    );
  }
}

async function claimAll(
  tx: Tx,
  claims: readonly HeldImage[],
  now: number,
): Promise<HeldImage[]> {
  // Asked for all at once, which costs one round trip to a server.
  const claimed = await Promise.all(
    claims.map((claim) => claimImage(tx, claim, now, now + LEASE_MS)),
  );
  return claims.filter((_, i) => claimed[i]);
}

/** Whether the host has shown itself alive, in whatever way. */
function isAnswered(outcome: ImageOutcome): boolean {
  if (outcome.kind !== "failed") return true;
  return outcome.code !== "image_timeout" &&
    outcome.code !== "image_host_unreachable";
}
