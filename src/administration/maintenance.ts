/**
 * The table of all maintenance jobs. A sweep deletes old rows, as
 * `database/schema.ts` declares, or files and whole records (`retention.ts` of
 * a feature). Other jobs finish what a write left undone. The log and the
 * metrics call them upkeep. Each job belongs to a role. On SQLite, one of the
 * processes that share a data folder runs the jobs of a role; on PostgreSQL all
 * processes run them, one write at a time.
 */
import type { Role } from "../config.ts";
import type { Services } from "../services.ts";
import { QUEUES } from "../jobs/queues.ts";
import { PeriodicJobs, type RunOutcome } from "../jobs/periodic_jobs.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/durations.ts";
import { sweepContacts } from "../catalogue/contact_retention.ts";
import { finishImageChanges } from "../images/shown_images.ts";
import { sweepEvents, sweepFormerSecrets } from "../webhooks/retention.ts";
import { sweepOld, SWEPT } from "../jobs/sweeps.ts";
import { sweepEndedReviews } from "../reviews/policy.ts";
import { sweepRemovedSellers } from "./removal.ts";
import {
  sweepTemporaryFiles,
  sweepUnnamed,
  sweepUnnamedImages,
  sweepUnneeded,
  UNNAMED_FILES,
} from "../images/retention.ts";
import { MISSING_IMAGES, refetchMissing } from "../images/verify.ts";
import {
  sweepImportDocuments,
  sweepImportKeys,
  sweepImports,
} from "../imports/retention.ts";
import { correctTimes, type LeaseQueue } from "../jobs/lease_queue.ts";
import { announceRules } from "../notices/beginning_rules.ts";
import { sweepNotices } from "../notices/retention.ts";

export type MaintenanceServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "images" | "metrics" | "mailer"
>;

export interface MaintenanceJob {
  name: string;
  /** Processes with this role run the job. */
  role: Role;
  /** Milliseconds from the end of a run to the start of the next. */
  everyMs: number;
  run: Run;
}

/** Each step is one small write or read; yields how many items it handled. */
type Run = (services: MaintenanceServices) => AsyncGenerator<number, void>;

/**
 * The interval of jobs that finish what a write of any process left undone.
 * They do not wait for signals, because a signal may be lost; a run without
 * work reads an index once.
 */
const OFTEN_MS = SECOND_MS;

const JOBS: readonly MaintenanceJob[] = [
  ...SWEPT.map(({ name, kept: { job: of, role, everyMs } }) =>
    maintenanceJob(of, role, everyMs, (services) => sweepOld(name, services))
  ),
  maintenanceJob("imports", "api", HOUR_MS, sweepImports),
  maintenanceJob("import_keys", "api", 10 * SECOND_MS, sweepImportKeys),
  maintenanceJob("import_documents", "api", OFTEN_MS, sweepImportDocuments),
  maintenanceJob("image_changes", "api", OFTEN_MS, finishImageChanges),
  maintenanceJob("removed_sellers", "api", OFTEN_MS, sweepRemovedSellers),
  maintenanceJob("ended_reviews", "api", OFTEN_MS, sweepEndedReviews),
  maintenanceJob("unneeded_contacts", "api", HOUR_MS, sweepContacts),
  maintenanceJob("notices", "api", HOUR_MS, sweepNotices),
  maintenanceJob("beginning_rules", "api", HOUR_MS, announceRules),
  maintenanceJob("events", "webhooks", HOUR_MS, sweepEvents),
  maintenanceJob("former_secrets", "webhooks", HOUR_MS, sweepFormerSecrets),
  maintenanceJob("image_parts", "images", MINUTE_MS, sweepTemporaryFiles),
  // A process with the role `api` may receive uploaded images on another
  // machine than the role `images`.
  maintenanceJob("upload_parts", "api", MINUTE_MS, sweepTemporaryFiles),
  maintenanceJob("unnamed_images", "images", HOUR_MS, sweepUnnamedImages),
  maintenanceJob(MISSING_IMAGES, "images", MINUTE_MS, refetchMissing),
  maintenanceJob(UNNAMED_FILES, "images", 5 * OFTEN_MS, sweepUnnamed),
  maintenanceJob("unneeded_images", "images", DAY_MS, sweepUnneeded),
];

function maintenanceJob(
  name: string,
  role: Role,
  everyMs: number,
  run: Run,
): MaintenanceJob {
  return { name, role, everyMs, run };
}

/** Corrects the times of a queue once, at the start of the process. */
function timeCorrection(queue: LeaseQueue): MaintenanceJob {
  const { kind, process } = QUEUES[queue.table];
  return maintenanceJob(
    `${kind}_times`,
    process,
    Infinity,
    ({ db, deps, signals }) =>
      correctTimes(db, queue, deps.clock.now(), signals[queue.table]),
  );
}

/**
 * The jobs of a role, including those of its `queues`; `isOurs`: whether this
 * process runs them. Each role has its own loop, so that a stalled image store
 * delays only the jobs of its role.
 */
export function maintenanceOf(
  services: MaintenanceServices,
  role: Role,
  queues: readonly LeaseQueue[],
  isOurs: () => boolean,
): PeriodicJobs {
  const jobs = [...queues.map(timeCorrection), ...JOBS]
    .filter((job) => job.role === role);
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
