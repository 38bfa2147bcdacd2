/**
 * The table of all maintenance jobs. A sweep deletes rows and files whose
 * retention (`retention.ts` of a feature) has ended; other jobs finish what a
 * write left undone. The log and the metrics call them upkeep. Each job belongs
 * to a role. One of the processes that share a data folder runs the jobs of a
 * role; on PostgreSQL all processes run them, one write at a time.
 */
import type { Role } from "../config.ts";
import type { Services } from "../services.ts";
import { PeriodicJobs, type RunOutcome } from "../jobs/periodic_jobs.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/durations.ts";
import {
  finishImageChanges,
  sweepIdempotencyKeys,
  sweepUndo,
  sweepUploads,
} from "../catalogue/retention.ts";
import {
  sweepEvents,
  sweepFormerSecrets,
  sweepReferences,
} from "../webhooks/retention.ts";
import { sweepRemovedSellers } from "../sellers/removal.ts";
import {
  sweepParts,
  sweepUnnamed,
  sweepUnneeded,
  UNNAMED_FILES,
} from "../images/retention.ts";
import { MISSING_IMAGES, refetchMissing } from "../images/verify.ts";
import { IMAGES } from "../images/image.ts";
import { correctTimes } from "../jobs/lease_queue.ts";
import { DELIVERIES } from "../webhooks/webhook.ts";
import { sweepHourlyCounts } from "./hourly_counts.ts";

/** The services that jobs use. */
export type MaintenanceServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "images" | "metrics"
>;

export interface MaintenanceJob {
  /** For the log and the metrics. */
  name: string;
  /** Processes with this role run the job. */
  role: Role;
  /** Milliseconds from the end of a run to the start of the next. */
  everyMs: number;
  /**
   * Each step is one small write or read, and yields how many items it handled.
   */
  run: (services: MaintenanceServices) => AsyncGenerator<number, void>;
}

/**
 * The interval of jobs that finish what a write of any process left undone. A
 * run without work reads an index once; a signal could be lost.
 */
const OFTEN = SECOND_MS;

export const MAINTENANCE: readonly MaintenanceJob[] = [
  {
    name: "uploads",
    role: "api",
    everyMs: HOUR_MS,
    run: sweepUploads,
  },
  {
    name: "undo",
    role: "api",
    everyMs: HOUR_MS,
    run: sweepUndo,
  },
  {
    name: "idempotency_keys",
    role: "api",
    everyMs: 10 * MINUTE_MS,
    run: sweepIdempotencyKeys,
  },
  {
    name: "image_changes",
    role: "api",
    everyMs: OFTEN,
    run: finishImageChanges,
  },
  {
    name: "removed_sellers",
    role: "api",
    everyMs: OFTEN,
    run: sweepRemovedSellers,
  },
  {
    name: "hourly_counts",
    role: "api",
    everyMs: DAY_MS,
    run: sweepHourlyCounts,
  },
  {
    name: "events",
    role: "webhooks",
    everyMs: HOUR_MS,
    run: sweepEvents,
  },
  {
    name: "references",
    role: "webhooks",
    everyMs: HOUR_MS,
    run: sweepReferences,
  },
  {
    name: "former_secrets",
    role: "webhooks",
    everyMs: HOUR_MS,
    run: sweepFormerSecrets,
  },
  {
    name: "delivery_times",
    role: "webhooks",
    everyMs: Infinity,
    run: ({ db, deps, signals }) =>
      correctTimes(db, DELIVERIES, deps.clock.now(), signals.deliveries),
  },
  {
    name: "image_times",
    role: "images",
    everyMs: Infinity,
    run: ({ db, deps, signals }) =>
      correctTimes(db, IMAGES, deps.clock.now(), signals.images),
  },
  {
    name: "image_parts",
    role: "images",
    everyMs: MINUTE_MS,
    run: sweepParts,
  },
  {
    name: MISSING_IMAGES,
    role: "images",
    everyMs: MINUTE_MS,
    run: refetchMissing,
  },
  {
    name: UNNAMED_FILES,
    role: "images",
    everyMs: 5 * OFTEN,
    run: sweepUnnamed,
  },
  {
    name: "unneeded_images",
    role: "images",
    everyMs: DAY_MS,
    run: sweepUnneeded,
  },
];

/**
 * The jobs of a role; `isOurs`: whether this process runs them. Each role has a
 * loop of its own, because an image store that stalls holds up its jobs.
 */
export function maintenanceOf(
  services: MaintenanceServices,
  role: Role,
  isOurs: () => boolean,
): PeriodicJobs {
  const jobs = MAINTENANCE.filter((job) => job.role === role);
  return new PeriodicJobs(
    `${role}_maintenance`,
    jobs.map(({ name, everyMs, run }) => ({
      name,
      everyMs,
      isOurs,
      run: () => run(services),
      ended: (outcome) => countRun(services, name, outcome),
    })),
    services.deps,
  );
}

function countRun(
  { deps, metrics }: MaintenanceServices,
  name: string,
  outcome: RunOutcome,
): void {
  metrics.maintenanceRuns.add(1, name, outcome);
  if (outcome === "done") {
    metrics.maintenanceDone.set(deps.clock.now() / 1_000, name);
  }
}
