/**
 * Rare paths of the code. A long run that does not reach one of them proves
 * less than it seems to. Tests call `sometimes` on such a path, and a runner
 * ends with `checkSometimes`.
 */
import type { LogFields } from "../../src/deps.ts";
import { parseMetrics } from "./metrics.ts";

interface Run {
  /** A shorter run need not reach all paths. */
  least: number;
  /** What the run's length counts. */
  of: string;
  paths: readonly string[];
}

/** The paths that each run must reach. */
const RUNS = {
  crash: {
    least: 100,
    of: "kills",
    paths: [
      "a request was not answered",
      "what was not answered was stored",
      "what was not answered was not stored",
      "killed while starting",
      "lease taken over",
      "redelivery",
    ],
  },
  failover: {
    least: 1,
    of: "runs",
    paths: [
      "503 answered",
      "retry after a deadlock",
      "retry after a lost connection",
    ],
  },
  faults: {
    least: 1,
    of: "runs of all cells",
    paths: [
      "503 answered",
      "not ready",
      "retry after a lock",
      "the image worker died",
      "the image store failed",
    ],
  },
  nth: {
    least: 1,
    of: "runs of all faults",
    paths: [
      "503 answered",
      "500 answered",
      "start failed",
      "stop failed",
      "leases released",
      "the image store failed",
    ],
  },
  model: {
    least: 10,
    of: "runs",
    paths: [
      "an undo refused",
      "a part of an undo refused",
      "an undo undone",
      "an upload undone twice",
      "products that a file leaves out",
      "a file that would empty too much",
    ],
  },
  soak: {
    least: 10,
    of: "minutes",
    paths: [
      "503 answered",
      "a request was not answered",
      "retry after a lock",
      "the image worker died",
      "the image store failed",
    ],
  },
  simulate: {
    least: 1_000,
    of: "seeds",
    paths: [
      "503 answered",
      "an undo refused",
      "a part of an undo refused",
      "an import stored",
      "a dry run of an import deleted",
      "a dry run of an import stored",
      "a dry run that was overtaken",
      "images of an import tried again",
      "failed images of an upload tried again",
      "an import refused",
      "an import cancelled",
      "a part of a cancelled import stored",
      "an import undone",
      "the end of an import told",
      "the end of a stored dry run told",
      "an undo tried",
      "an undo of an import refused",
      "an answer in JSON",
      "a value that is not as expected",
      "a former price read",
      "a difference added",
      "a hundred tills at once",
      "a lowest price of several currencies",
      "a sale that is on",
      "a sale that is over",
      "a history with a sale",
      "a sale in another currency is not taken back",
      "a file of the stock beside others",
      "a product that its category refuses",
      "a key ended under a wait",
      "a key ended under a stream",
      "products with a GTIN listed",
      "deliveries of a state listed",
      "a webhook signs with its own secret",
      "lists went on behind what is deleted",
      "thousands of uploads listed",
      "a sale is on",
      "a product names a deleted contact",
      "a sale began and ended by itself",
      "attributes of many products set",
      "products that a file leaves out",
      "a file that would empty too much",
      "an import is told",
      "a mail is sent again",
      "the operator is told",
      "small requests beside large ones",
      "products reviewed",
      "redelivery",
      "leases released",
      "the image worker died",
      "the image store failed",
    ],
  },
  /** The commits between which the simulation killed processes. */
  kills: {
    least: 300,
    of: "seeds",
    paths: [
      "killed at: write committed",
      "killed at: answer ready",
      "killed at: import pieces written",
      "killed at: import part checked",
      "killed at: import part stored",
      "killed at: import part of an undo checked",
      "killed at: import part of an undo stored",
      "killed at: import deleted in part",
      "killed at: images of a part retried",
      "killed at: images claimed",
      "killed at: deliveries claimed",
      "killed at: delivery answered",
      "killed at: deliveries recovered in part",
      "killed at: products decided",
      "killed at: removed_sellers portion done",
      "killed at: ended_reviews portion done",
    ],
  },
} as const satisfies Record<string, Run>;

export type Runner = keyof typeof RUNS;
export type RarePath = typeof RUNS[Runner]["paths"][number];

/** Log lines that show a path. */
const LOGGED: Readonly<Record<string, RarePath>> = {
  leases_released: "leases released",
  image_store_failed: "the image store failed",
  image_worker_died: "the image worker died",
  not_ready: "not ready",
};

/** Reasons of `seller_db_retries_total`. */
const RETRIED: Readonly<Record<string, RarePath>> = {
  deadlock: "retry after a deadlock",
  locked: "retry after a lock",
  lost: "retry after a lost connection",
};

const reached = new Map<RarePath, number>();

/** Records that a path was reached, a number of times. */
export function sometimes(path: RarePath, times = 1): void {
  if (times > 0) reached.set(path, (reached.get(path) ?? 0) + times);
}

/** The paths that a part of a run reached, for the parent process. */
export function reachedPaths(): Partial<Record<RarePath, number>> {
  return Object.fromEntries(reached);
}

/** Adds the paths that a part of a run reached. */
export function sometimesInPart(
  part: Partial<Record<RarePath, number>>,
): void {
  for (const [path, times] of Object.entries(part)) {
    sometimes(path as RarePath, times);
  }
}

/** Records the paths that the log of a service shows. */
export function sometimesLogged(lines: Iterable<LogFields>): void {
  for (const { event } of lines) {
    const path = LOGGED[String(event)];
    if (path !== undefined) sometimes(path);
  }
}

/** Records the paths that the metrics of a service show. */
export function sometimesMeasured(metrics: string): void {
  const series = parseMetrics(metrics);
  for (const [reason, path] of Object.entries(RETRIED)) {
    sometimes(
      path,
      series.get(`seller_db_retries_total{reason="${reason}"}`) ?? 0,
    );
  }
}

/**
 * Prints how often each path of a run was reached, and whether that suffices.
 * `size` is the length of the run.
 */
export function checkSometimes(
  runner: Runner,
  size: number,
  print: (line: string) => void = console.log,
): boolean {
  const { least, of } = RUNS[runner];
  const paths: readonly RarePath[] = RUNS[runner].paths;
  print(
    "reached: " +
      paths.map((path) => `${path} ${reached.get(path) ?? 0}`).join(", "),
  );
  const missed = paths.filter((path) => !reached.has(path));
  if (missed.length === 0 || size < least) return true;
  print(`NEVER REACHED in ${size} ${of}: ${missed.join(", ")}`);
  return false;
}
