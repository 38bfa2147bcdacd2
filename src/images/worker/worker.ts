/**
 * The image worker: a thread without a database that downloads images and
 * reports the results. The main thread sends it jobs and restarts it whenever
 * it dies.
 */
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { systemClock } from "../../deps.ts";
import { leaveMarksIn } from "../storage/disk_call.ts";
import { openImageStore } from "../storage/open.ts";
import { Outbound } from "../../net/outbound.ts";
import { StallWatch } from "../../jobs/stall_watch.ts";
import type { ImageOutcome } from "../image.ts";
import { USER_AGENT } from "../../version.ts";
import { ImageFetcher } from "./download.ts";
import type {
  FromImageWorker,
  ImageTask,
  ImageWorkerSettings,
  ToImageWorker,
} from "./messages.ts";
import { TOTAL } from "./limits.ts";
import { ResultBatch } from "./result_batch.ts";

/**
 * Niceness of this thread and of those that write its files. With 10 it waited
 * for a core four times as long as it ran, beside a busy main thread.
 */
const NICENESS = 3;
/** Interval of ticks. */
const TICK_MS = 250;

const INTERRUPTED: ImageOutcome = { kind: "interrupted" };

const stopping = new AbortController();
const running = new Set<Promise<void>>();
const results = new ResultBatch(
  systemClock,
  (results) => post({ type: "done", results }),
);
/** The number of the latest ping. */
let heard = 0;

parentPort?.on("message", (message: ToImageWorker) => {
  switch (message.type) {
    case "start":
      return start(message.settings);
    case "fetch":
      return fetchAll(message.tasks);
    case "ping":
      heard = message.number;
      return beat(heard);
    case "stop":
      return void stop();
  }
});

giveWay();

const stalls = new StallWatch(systemClock);
stalls.start();
let fetcher: ImageFetcher | null = null;
let outbound: Outbound | null = null;
let cancelTick = () => {};
keepTicking();

function keepTicking(): void {
  cancelTick = systemClock.after(TICK_MS, () => {
    tick();
    keepTicking();
  });
}

function start(settings: ImageWorkerSettings): void {
  leaveMarksIn(settings.diskMark);
  outbound = new Outbound({
    allowPrivate: settings.allowPrivate,
    // The fetcher limits downloads. The client has more slots than that, so it
    // shares look-ups among sellers, and downloads only of a slow seller.
    perOrigin: 4 * TOTAL,
    total: 4 * TOTAL,
    userAgent: USER_AGENT,
  });
  const store = openImageStore(settings.store, systemClock);
  store.prepare();
  fetcher = new ImageFetcher(outbound, store, systemClock, {
    ...settings,
    onFault: (error) => post({ type: "fault", error: String(error) }),
  });
  beat(0);
}

/** Results first: a job neither among them nor in progress counts as lost. */
function beat(number: number): void {
  results.flush();
  post({ type: "beat", number, jobs: fetcher?.jobs ?? [] });
}

/** Out of memory, a thread may skip its `finally` blocks and live on. */
function tick(): void {
  const culprit = fetcher?.judging ?? null;
  if (culprit !== null) {
    const error = "it stopped amid an image";
    return post({ type: "broken", error, culprit });
  }
  post({ type: "tick", heard });
}

/** HTTP requests have priority where cores are scarce. */
function giveWay(): void {
  try {
    // On Linux, this affects only this thread and those that it starts.
    setPriority(NICENESS);
  } catch {
    // Not permitted or not supported: all threads are then equal.
  }
}

function fetchAll(tasks: readonly ImageTask[]): void {
  results.expect(tasks.length);
  for (const task of tasks) {
    const run = fetchOne(task);
    running.add(run);
    run.finally(() => running.delete(run));
  }
}

async function fetchOne(task: ImageTask): Promise<void> {
  if (fetcher === null) return;
  const began = systemClock.monotonic();
  try {
    const fetched = await fetcher.fetch(task, stopping.signal);
    const { outcome } = fetched;
    const mayPass = outcome.kind === "failed" && outcome.transient;
    const interrupted = mayPass && stalls.since(began);
    results.add({ ...fetched, outcome: interrupted ? INTERRUPTED : outcome });
  } catch (error) {
    // Aborted by `stop`: the main thread releases the job.
    if (!stopping.signal.aborted) throw error;
  }
}

async function stop(): Promise<void> {
  stopping.abort();
  stalls.stop();
  cancelTick();
  await Promise.allSettled(running);
  outbound?.close();
  results.flush();
  post({ type: "stopped" });
}

/** No image is being inspected when an error arrives here. */
function breakDown(error: unknown): void {
  post({ type: "broken", error: String(error), culprit: null });
}

// Otherwise the runtime would print these past the log.
globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  breakDown(event.error ?? event.message);
});
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  breakDown(event.reason);
});

function post(message: FromImageWorker): void {
  parentPort?.postMessage(message);
}
