/**
 * Metrics that are expensive to compute. They are computed at intervals, so
 * that frequent scrapes cause no work for the database.
 */
import type { Services } from "../services.ts";
import { outageOf } from "../database/db.ts";
import { ownImageFolder } from "../images/storage/open.ts";
import { Loop } from "../jobs/loop.ts";
import { QUEUE_NAMES, QUEUES } from "../jobs/queues.ts";
import { lastBackup } from "../notices/backup_time.ts";
import { countBacklog, countWebhooks, oldestDueMs } from "./backlog.ts";
import { changeHorizon } from "../database/change_feed.ts";

const EVERY_MS = 10_000;
/** The interval of a timer whose delay measures the event loop's lag. */
const TICK_MS = 250;

type SnapshotServices = Pick<
  Services,
  "config" | "db" | "deps" | "disks" | "metrics"
>;

export class Snapshot {
  readonly #services: SnapshotServices;
  readonly #loop: Loop;
  /** Monotonic milliseconds. */
  #takenAt: number;
  #longestLagMs = 0;
  /** The change horizon, and when it last moved (monotonic milliseconds). */
  #horizon = { below: 0, since: 0 };
  /** The state of the only server, if the database is not spread. */
  readonly #only = { isUp: true };
  #cancelTick = () => {};

  constructor(services: SnapshotServices) {
    const { db, deps, metrics } = services;
    this.#services = services;
    this.#takenAt = deps.clock.monotonic();
    metrics.snapshotAge.watch(() =>
      (deps.clock.monotonic() - this.#takenAt) / 1_000
    );
    const serversThat = (state: boolean) => () =>
      (db.spread?.servers ?? [this.#only])
        .filter(({ isUp }) => isUp === state).length;
    metrics.databaseServers.watch(serversThat(true), "up");
    metrics.databaseServers.watch(serversThat(false), "away");
    this.#loop = new Loop({
      name: "snapshot",
      deps,
      idleMs: EVERY_MS,
      step: () => this.#step(),
    });
  }

  start(): void {
    this.#loop.start();
    this.#tick();
  }

  async stop(): Promise<void> {
    this.#cancelTick();
    await this.#loop.stop();
  }

  #tick(): void {
    const { clock } = this.#services.deps;
    const due = clock.monotonic() + TICK_MS;
    this.#cancelTick = clock.after(TICK_MS, () => {
      const lateMs = clock.monotonic() - due;
      this.#longestLagMs = Math.max(this.#longestLagMs, lateMs);
      this.#tick();
    });
  }

  async #step(): Promise<number> {
    const { deps, metrics } = this.#services;
    metrics.eventLoopLag.set(this.#longestLagMs / 1_000);
    this.#longestLagMs = 0;
    try {
      await this.#takeDatabase();
      this.#only.isUp = true;
      await this.#takeDisk();
      this.#takenAt = deps.clock.monotonic();
    } catch (error) {
      this.#only.isUp = outageOf(error) === null;
      // The metric `seller_snapshot_age_seconds` shows the failure.
      deps.log.debug("snapshot_failed", { error: String(error) });
    }
    return EVERY_MS;
  }

  /** Reads in separate transactions, so that other reads can run in between. */
  async #takeDatabase(): Promise<void> {
    const { db, deps, metrics } = this.#services;
    const now = deps.clock.now();
    const backlog = await db.read(countBacklog);
    const { queue, queueOldestDue } = metrics;
    for (
      const [name, { waiting, inFlight }] of Object.entries(backlog.queues)
    ) {
      queue.set(waiting, name, "waiting");
      queue.set(inFlight, name, "in_flight");
    }
    queue.set(backlog.held, "deliveries", "held");
    queue.set(backlog.exhausted, "deliveries", "exhausted");
    const single = { single: true };
    for (const name of QUEUE_NAMES.filter((name) => QUEUES[name].showsAge)) {
      const ms = await db.read((sql) => oldestDueMs(sql, name, now), single);
      queueOldestDue.set(ms / 1_000, name);
    }
    const { below, next } = await db.read(changeHorizon, single);
    const at = deps.clock.monotonic();
    if (below === next || below !== this.#horizon.below) {
      this.#horizon = { below, since: at };
    }
    metrics.changeFeedLag.set((at - this.#horizon.since) / 1_000);
    const backup = await db.read(lastBackup, single);
    if (backup !== null) metrics.backup.set(backup / 1_000);
    const webhooks = await db.read(countWebhooks, single);
    for (const [state, n] of Object.entries(webhooks)) {
      metrics.webhooks.set(n, state);
    }
  }

  async #takeDisk(): Promise<void> {
    const { config, db, deps, disks, metrics } = this.#services;
    const sizes = await db.sizes();
    for (const [file, bytes] of Object.entries(sizes)) {
      metrics.dbBytes.set(bytes, file);
    }
    const images = ownImageFolder(config);
    if (images !== null) {
      metrics.imageDiskFree.set(await deps.disk.free(images));
    }
    metrics.diskFree.set(await deps.disk.free(config.dataDir));
    await disks.update();
  }
}
