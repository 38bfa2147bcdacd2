/**
 * All upkeep: what removes old rows and files, and finishes what a write left.
 * Each job belongs to a role. Of the processes that share a data folder one does
 * the jobs of a role; processes on PostgreSQL each do them, and take turns
 * write by write.
 */
import type { Role } from "../config.ts";
import type { Services } from "../services.ts";
import { PeriodicJobs } from "../jobs/periodic_jobs.ts";
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
import { refetchMissing, sweepParts, sweepUnneeded } from "../images/upkeep.ts";
import { sweepHourlyCounts } from "./hourly_counts.ts";

/** What jobs are given. */
export type MaintenanceServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "images"
>;

export interface MaintenanceJob {
  /** For the log. */
  name: string;
  /** Its processes do the job. */
  role: Role;
  /** From the end of a run to the beginning of the next. */
  everyMs: number;
  /** Each step is one small write or look; it yields how many things it did. */
  run: (services: MaintenanceServices) => AsyncGenerator<number, void>;
}

const ONCE = Infinity;

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
    everyMs: SECOND_MS,
    run: finishImageChanges,
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
    name: "image_parts",
    role: "images",
    everyMs: MINUTE_MS,
    run: sweepParts,
  },
  {
    name: "missing_images",
    role: "images",
    everyMs: ONCE,
    run: refetchMissing,
  },
  {
    name: "unneeded_images",
    role: "images",
    everyMs: DAY_MS,
    run: sweepUnneeded,
  },
];

/** The jobs of these roles; `isOurs` tells whether this process does them. */
export function maintenanceOf(
  services: MaintenanceServices,
  roles: readonly Role[],
  isOurs: (role: Role) => boolean,
): PeriodicJobs {
  const jobs = MAINTENANCE.filter(({ role }) => roles.includes(role));
  return new PeriodicJobs(
    "maintenance",
    jobs.map(({ name, role, everyMs, run }) => ({
      name,
      everyMs,
      isOurs: () => isOurs(role),
      run: () => run(services),
    })),
    services.deps,
  );
}
