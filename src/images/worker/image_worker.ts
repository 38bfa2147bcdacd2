/**
 * The image worker: downloads images and reports the results, without a
 * database. `thread.ts` sends jobs to the worker, and starts another worker
 * when it dies.
 */
import type { Clock } from "../../deps.ts";
import { Calls } from "../../lib/calls.ts";
import type { InUse } from "../../lib/holders.ts";
import { type Network, Outbound } from "../../net/outbound.ts";
import { USER_AGENT } from "../../version.ts";
import type { ImageStore } from "../storage/blob_store.ts";
import { ImageFetcher } from "./download.ts";
import { PER_ORIGIN } from "./limits.ts";
import type {
  FromImageWorker,
  ImageTask,
  ImageWorkerSettings,
  ToImageWorker,
  UploadStep,
} from "./messages.ts";
import { ResultBatch } from "./result_batch.ts";
import { ImageUploads } from "./uploads.ts";

export interface ImageWorkerOptions {
  clock: Clock;
  /** How to reach hosts; the system's network by default. */
  network?: Partial<Network>;
  /** Opens the store of the settings. */
  openStore: (settings: ImageWorkerSettings) => ImageStore;
  /** Sends a message to the main thread. */
  post: (message: FromImageWorker) => void;
}

export class ImageWorker {
  readonly #options: ImageWorkerOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Calls();
  readonly #results: ResultBatch;
  #fetcher: ImageFetcher | null = null;
  #uploads: ImageUploads | null = null;
  #store: ImageStore | null = null;
  #outbound: Outbound | null = null;

  constructor(options: ImageWorkerOptions) {
    const { clock, post } = options;
    this.#options = options;
    this.#results = new ResultBatch(
      clock,
      (results) => post({ type: "done", results }),
    );
  }

  /** All zero if it has no job. */
  inUse(): InUse {
    return {
      ...this.#store?.inUse(),
      running: this.#running.size,
      uploads: this.#uploads?.size ?? 0,
      ...this.#outbound?.inUse(),
    };
  }

  /** Handles a message of the main thread. */
  receive(message: ToImageWorker): void {
    switch (message.type) {
      case "start":
        return this.#start(message.settings);
      case "fetch":
        return this.#fetchTasks(message.tasks);
      case "upload":
        return this.#takeStep(message.step);
      case "ping":
        return this.#beat();
      case "stop":
        return void this.#stop();
    }
  }

  /** Reports an error that nothing caught, and stops fetching. */
  breakDown(error: unknown): void {
    this.#stopping.abort();
    this.#post({ type: "broken", error: String(error) });
  }

  #start(settings: ImageWorkerSettings): void {
    const { clock, network, openStore } = this.#options;
    this.#outbound = new Outbound({
      allowPrivate: settings.allowPrivate,
      userAgent: USER_AGENT,
      perOrigin: PER_ORIGIN,
      ...network,
      clock,
    });
    this.#store = openStore(settings);
    const onFault = (error: unknown) =>
      this.#post({ type: "fault", error: String(error) });
    this.#fetcher = new ImageFetcher(this.#outbound, this.#store, clock, {
      ...settings,
      onFault,
    });
    this.#uploads = new ImageUploads({
      store: this.#store,
      jobMark: settings.jobMark,
      answer: (lease, outcome) =>
        this.#post({ type: "upload", lease, outcome }),
      onFault,
    });
    this.#beat();
  }

  /**
   * Sends a beat, after all results: a job that is neither reported nor in
   * progress counts as lost.
   */
  #beat(): void {
    // If memory runs out, a thread may skip its `finally` blocks and continue.
    if (this.#fetcher?.inspecting) {
      return this.breakDown("it stopped at an image");
    }
    this.#results.flush();
    const jobs = this.#fetcher?.jobs ?? [];
    const waitMs = Math.max(
      this.#outbound?.oldestWaitMs() ?? 0,
      this.#store?.oldestWaitMs() ?? 0,
    );
    this.#post({ type: "beat", jobs, waitMs });
  }

  #fetchTasks(tasks: readonly ImageTask[]): void {
    this.#results.expect(tasks.length);
    for (const task of tasks) {
      this.#running.add(this.#fetchOne(task))
        .catch((error) => this.breakDown(error));
    }
  }

  async #fetchOne(task: ImageTask): Promise<void> {
    if (this.#fetcher === null) return;
    try {
      const { signal } = this.#stopping;
      this.#results.add(await this.#fetcher.fetch(task, signal));
    } catch (error) {
      // `stop` aborted the job, and the main thread releases it.
      if (!this.#stopping.signal.aborted) throw error;
    }
  }

  #takeStep(step: UploadStep): void {
    if (this.#uploads === null) return;
    this.#running.add(this.#uploads.take(step))
      .catch((error) => this.breakDown(error));
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await this.#uploads?.dropAll();
    await this.#running.ended();
    this.#outbound?.close();
    this.#results.flush();
    this.#post({ type: "stopped" });
  }

  #post(message: FromImageWorker): void {
    this.#options.post(message);
  }
}
