/**
 * The metrics of the service. No label contains a seller, a URL or a SKU, and
 * every label has a short list of values.
 */
import type { DbMeter } from "../database/db.ts";
import { systemClock } from "../deps.ts";
import { Counter, Gauge, Histogram, type Metric } from "../lib/metric.ts";
import { VERSION } from "../version.ts";

/** Seconds, for answers from memory or disk. */
const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
/** Seconds, for work that waits for other hosts. */
const LONG = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Seconds, for work that may wait for hours. */
const VERY_LONG = [0.1, 0.5, 1, 5, 30, 60, 300, 1_800, 7_200, 36_000, 172_800];
const WRITES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export class Metrics {
  readonly buildInfo = new Gauge(
    "seller_build_info",
    "1; the labels say which program and database this is.",
    ["version", "engine"],
  );
  readonly requests = new Counter(
    "seller_http_requests_total",
    "Requests that were answered.",
    ["method", "route", "status"],
  );
  readonly requestSeconds = new Histogram(
    "seller_http_request_duration_seconds",
    "From the arrival of a request until its answer is ready; without requests that wait or stream.",
    SHORT,
    ["route"],
  );
  readonly refusals = new Counter(
    "seller_http_refused_total",
    "Error answers, by code.",
    ["code"],
  );
  readonly inProgress = new Gauge(
    "seller_in_progress",
    "Work in progress in this process.",
    ["kind"],
  );
  readonly uploads = new Counter(
    "seller_uploads_total",
    "Uploads, by outcome; every dry run counts as dry_run.",
    ["outcome"],
  );
  readonly imports = new Counter(
    "seller_imports_total",
    "Imports that were accepted or ended, by outcome.",
    ["outcome"],
  );
  readonly products = new Counter(
    "seller_products_total",
    "Products of accepted uploads and undos.",
    ["result"],
  );
  readonly uploadPhase = new Histogram(
    "seller_upload_phase_seconds",
    "Duration of each phase of an upload.",
    LONG,
    ["phase"],
  );
  readonly probes = new Counter(
    "seller_heads_total",
    "HEAD requests to image URLs, by outcome.",
    ["outcome"],
  );
  readonly images = new Counter(
    "seller_images_total",
    "Attempts to fetch an image, by outcome.",
    ["outcome", "code"],
  );
  readonly imageBytes = new Counter(
    "seller_image_bytes_total",
    "Bytes of images that were downloaded.",
    [],
  );
  readonly imageFetch = new Histogram(
    "seller_image_fetch_seconds",
    "From the beginning of a download until its image is stored or refused.",
    LONG,
    [],
  );
  readonly queue = new Gauge(
    "seller_queue",
    "Jobs in a queue, counted up to 100,000.",
    ["queue", "state"],
  );
  readonly queueOldestDue = new Gauge(
    "seller_queue_oldest_due_seconds",
    "How long the oldest job that is due has waited.",
    ["queue"],
  );
  readonly queueMoved = new Gauge(
    "seller_queue_moved_timestamp_seconds",
    "When this process last made progress with a job, or had no job to do; Unix time.",
    ["queue"],
  );
  readonly roleReady = new Gauge(
    "seller_role_ready",
    "Whether a role of this process can do its work: 1 or 0.",
    ["role"],
  );
  readonly wait = new Gauge(
    "seller_wait_seconds",
    "How long the oldest waiter has waited although it could run.",
    ["queue"],
  );
  readonly events = new Counter(
    "seller_events_total",
    "Events that the operator sent.",
    ["trigger", "outcome"],
  );
  readonly deliveries = new Counter(
    "seller_delivery_attempts_total",
    "Attempts to deliver an event, by outcome.",
    ["outcome"],
  );
  readonly deliveryLatency = new Histogram(
    "seller_delivery_latency_seconds",
    "From the arrival of an event until its webhook accepted it.",
    VERY_LONG,
    [],
  );
  readonly notices = new Counter(
    "seller_notices_total",
    "Mails to sellers and requests to the operator, by outcome.",
    ["recipient", "outcome"],
  );
  readonly webhooks = new Gauge(
    "seller_webhooks",
    "Registered webhooks.",
    ["state"],
  );
  // Not `job`: a scrape adds a label of that name.
  readonly maintenanceRuns = new Counter(
    "seller_upkeep_total",
    "Runs of maintenance jobs, by outcome.",
    ["task", "outcome"],
  );
  readonly maintenanceDone = new Gauge(
    "seller_upkeep_done_timestamp_seconds",
    "When this process last completed a maintenance job; Unix time.",
    ["task"],
  );
  readonly dbCommit = new Histogram(
    "seller_db_commit_seconds",
    "How long a commit took.",
    SHORT,
    [],
  );
  readonly dbCommitWrites = new Histogram(
    "seller_db_commit_writes",
    "Writes that shared a commit.",
    WRITES,
    [],
  );
  readonly dbWait = new Histogram(
    "seller_db_wait_seconds",
    "How long the oldest write of a commit waited, by reason.",
    SHORT,
    ["kind"],
  );
  readonly dbRetries = new Counter(
    "seller_db_retries_total",
    "Writes that were repeated.",
    ["reason"],
  );
  readonly databaseServers = new Gauge(
    "seller_database_servers",
    "Servers of the database that have rows of sellers: up, away.",
    ["state"],
  );
  readonly dbBytes = new Gauge(
    "seller_db_bytes",
    "Size of the database.",
    ["file"],
  );
  readonly eventLoopLag = new Gauge(
    "seller_event_loop_lag_seconds",
    "The longest delay of a timer in the last ten seconds.",
    [],
  );
  readonly diskFree = new Gauge(
    "seller_disk_free_bytes",
    "Free space of the file system that holds the data folder.",
    [],
  );
  readonly imageDiskFree = new Gauge(
    "seller_image_disk_free_bytes",
    "Free space of the file system that holds the folder of SELLER_IMAGE_STORE.",
    [],
  );
  readonly backup = new Gauge(
    "seller_backup_timestamp_seconds",
    "When the command backup last succeeded; Unix time.",
    [],
  );
  readonly changeFeedLag = new Gauge(
    "seller_change_feed_lag_seconds",
    "How long a change in progress has delayed the operator's feed of products.",
    [],
  );
  readonly snapshotAge = new Gauge(
    "seller_snapshot_age_seconds",
    "Age of the figures that come from the database and the disk.",
    [],
  );
  readonly logLinesLost = new Gauge(
    "seller_log_lines_lost_total",
    "Lines of the log that were dropped because nobody read them.",
    [],
    "counter",
  );

  readonly db: DbMeter = {
    committed: (ms, writes) => {
      this.dbCommit.observe(ms / 1_000);
      this.dbCommitWrites.observe(writes);
    },
    waited: (kind, ms) => this.dbWait.observe(ms / 1_000, kind),
    retried: (reason) => this.dbRetries.add(1, reason),
  };

  /** All metrics above, in this order, then the metrics of the process. */
  readonly all: readonly Metric[] = [
    ...Object.values(this).filter((value) => "samples" in value),
    ...processMetrics(),
  ];

  /** @param engine the engine of the database: `sqlite` or `postgres` */
  constructor(engine: string) {
    this.buildInfo.set(1, VERSION, engine);
  }

  /** All metrics in the text format of Prometheus, and its media type. */
  async text(): Promise<{ text: string; type: string }> {
    const { Exposition } = await import("./exposition.ts");
    const exposition = new Exposition(this.all);
    return { text: await exposition.text(), type: exposition.contentType };
  }
}

/** Metrics of the process, named as in Prometheus' own libraries. */
function processMetrics(): Metric[] {
  const startedAt = (systemClock.now() - systemClock.monotonic()) / 1_000;
  const read = (
    name: string,
    help: string,
    value: () => number,
    type: "gauge" | "counter" = "gauge",
  ) => {
    const gauge = new Gauge(name, help, [], type);
    gauge.watch(value);
    return gauge;
  };
  return [
    read(
      "process_cpu_seconds_total",
      "User and system CPU time.",
      () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
      "counter",
    ),
    read(
      "process_resident_memory_bytes",
      "Memory in RAM.",
      () => Deno.memoryUsage().rss,
    ),
    read(
      "process_heap_bytes",
      "Memory of JavaScript objects of the main thread.",
      () => Deno.memoryUsage().heapUsed,
    ),
    read(
      "process_start_time_seconds",
      "When the process started; Unix time.",
      () => startedAt,
    ),
  ];
}
