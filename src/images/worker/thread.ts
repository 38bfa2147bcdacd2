/**
 * Runs the image worker and restarts it. Each second it pings the worker, and
 * the worker answers with a beat that lists its jobs. A worker is dead if it
 * ends or if its last complete beat is too long ago. Then its jobs are
 * released, and another worker starts. Only the job that the dead worker was
 * inspecting is blamed. Hanging threads are counted, and their number is
 * limited.
 *
 * No image can keep the thread busy for long: each is read in a limited number
 * of steps (`formats/reader.ts`). The restart is for faults that no limit
 * prevents, such as an error of the runtime or lack of memory.
 */
import type { Deps } from "../../deps.ts";
import { isInDiskCall, newDiskFlag } from "../storage/disk_call.ts";
import type { FetchedImage } from "../rows/outcomes.ts";
import { markedLease, newJobMark } from "./job_mark.ts";
import type {
  FromImageWorker,
  ImagePhase,
  ImageTask,
  ImageWorkerSettings,
  ToImageWorker,
  UploadOutcome,
  UploadStep,
} from "./messages.ts";
import type { SpawnedWorker, SpawnWorker } from "./spawn.ts";
import { waitAtMost } from "../../lib/waits.ts";

/**
 * A worker is dead after this many pings in a row without a complete beat. The
 * number allows for a start on a busy machine.
 */
const BEAT_LIMIT = 10;
const RESTART_MS = 1_000;
const SILENCE = "it did not respond";
/** The most hanging threads; more would use up the machine. */
const MOST_HANGING = 4;
const STOP_MS = 2_000;

export interface ImageThreadOptions {
  deps: Pick<Deps, "clock" | "log">;
  settings: Omit<ImageWorkerSettings, "diskFlag" | "jobMark">;
  /** How often the worker is pinged. */
  beatMs: number;
  spawn: SpawnWorker;
  hanging: HangingWorkers;
  onResults: (results: FetchedImage[]) => void;
  /** The worker has answered a step of an upload. */
  onUpload?: (lease: string, outcome: UploadOutcome) => void;
  /** The worker has started and accepts jobs. */
  onReady: () => void;
  /**
   * Called when the worker has died; its unreported jobs are lost. `culprit` is
   * the lease of the job that it was inspecting, which is blamed; null if there
   * was none.
   */
  onDeath: (culprit: string | null) => void;
}

/** Terminated workers of this process whose threads still run. */
export type HangingWorkers = Set<SpawnedWorker>;

/** One worker, as long as its thread runs. */
interface Life {
  worker: SpawnedWorker;
  diskFlag: ReturnType<typeof newDiskFlag>;
  jobMark: ReturnType<typeof newJobMark>;
}

export class ImageThread {
  readonly #options: ImageThreadOptions;
  /** The current worker; null while there is none. */
  #life: Life | null = null;
  /** The leases of the jobs that the worker has not reported. */
  readonly #given = new Set<string>();
  /** The jobs at the last ping; a complete beat lists all of them. */
  #asked: readonly string[] = [];
  /** The phases of the jobs in the latest beat, by lease. */
  #jobs: ReadonlyMap<string, ImagePhase> = new Map();
  /** `waitMs` of the latest beat. */
  #waitMs = 0;
  #ready = false;
  /** Pings since the latest complete beat. */
  #missed = 0;
  /** Why no complete beat has arrived. */
  #silence = SILENCE;
  /** Why the latest worker died. */
  #lastDeath: string | null = null;
  #cancelTimer: () => void = () => {};
  #stopped: (() => void) | null = null;

  constructor(options: ImageThreadOptions) {
    this.#options = options;
  }

  /** Whether the worker accepts jobs. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Why the worker does not work, or may soon fail; null if all is well. */
  get trouble(): string | null {
    const { hanging } = this.#options;
    if (this.#life === null && hanging.size >= MOST_HANGING) {
      return "too many image workers hang and cannot be ended: " +
        "restart the process";
    }
    if (this.#ready) return null;
    return this.#lastDeath === null
      ? "the image worker is not running"
      : "the image worker is not running; the last one died: " +
        `${this.#lastDeath}`;
  }

  /** How many downloads were in each phase at the latest beat. */
  get phases(): Partial<Record<ImagePhase, number>> {
    const counts: Partial<Record<ImagePhase, number>> = {};
    for (const phase of this.#jobs.values()) {
      counts[phase] = (counts[phase] ?? 0) + 1;
    }
    return counts;
  }

  /** See `Holder`; the value of the latest beat. */
  oldestWaitMs(): number {
    return this.#waitMs;
  }

  start(): void {
    const life = this.#newLife();
    const { diskFlag, jobMark } = life;
    this.#life = life;
    this.#asked = [];
    this.#missed = 0;
    this.#silence = SILENCE;
    const { settings } = this.#options;
    this.#post({ type: "start", settings: { ...settings, diskFlag, jobMark } });
    this.#watch();
  }

  /** Sends jobs to the worker; call it only while it is ready. */
  fetch(tasks: readonly ImageTask[]): void {
    if (tasks.length === 0) return;
    for (const { lease } of tasks) this.#given.add(lease);
    this.#post({ type: "fetch", tasks });
  }

  /** Whether there is a worker, which may not be ready yet. */
  get running(): boolean {
    return this.#life !== null;
  }

  /**
   * Sends a step of an upload to the worker, which carries it out when it is
   * ready. Does nothing if there is no worker.
   */
  upload(step: UploadStep): void {
    this.#post({ type: "upload", step });
  }

  /**
   * Stops the worker: aborts downloads, and reports finished ones before this
   * resolves.
   */
  async stop(): Promise<void> {
    this.#cancelTimer();
    const stopped = Promise.withResolvers<void>();
    this.#stopped = stopped.resolve;
    if (this.#life !== null) {
      this.#post({ type: "stop" });
      await waitAtMost(this.#options.deps.clock, STOP_MS, stopped.promise);
    }
    this.#ready = false;
    // The worker may have died meanwhile. From here on, its end does not count
    // as a death.
    const life = this.#life;
    this.#life = null;
    if (life !== null) this.#end(life);
    const ends = [...this.#options.hanging].map(({ ended }) => ended);
    await waitAtMost(this.#options.deps.clock, STOP_MS, Promise.all(ends));
  }

  #newLife(): Life {
    const isPresent = () => this.#life === life;
    const worker = this.#options.spawn({
      message: (message) => {
        if (isPresent()) this.#onMessage(message);
      },
      died: (why) => {
        if (isPresent()) this.#died(why);
      },
    });
    const life = { worker, diskFlag: newDiskFlag(), jobMark: newJobMark() };
    return life;
  }

  #post(message: ToImageWorker): void {
    this.#life?.worker.post(message);
  }

  #onMessage(message: FromImageWorker): void {
    const { deps, onReady, onResults, onUpload } = this.#options;
    switch (message.type) {
      case "beat":
        this.#waitMs = message.waitMs;
        this.#jobs = new Map(
          message.jobs.map(({ lease, phase }) => [lease, phase]),
        );
        this.#silence = this.#isComplete() ? SILENCE : "it lost a job";
        if (this.#silence === SILENCE) this.#missed = 0;
        if (this.#ready) return;
        this.#ready = true;
        return onReady();
      case "done":
        for (const { lease } of message.results) this.#given.delete(lease);
        return onResults(message.results);
      case "upload":
        return onUpload?.(message.lease, message.outcome);
      case "fault":
        return deps.log.error("image_worker_fault", { error: message.error });
      case "broken":
        return this.#died(message.error);
      case "stopped":
        return this.#stopped?.();
    }
  }

  /** Whether the latest beat lists every job. */
  #isComplete(): boolean {
    return this.#asked.every((lease) =>
      !this.#given.has(lease) || this.#jobs.has(lease)
    );
  }

  /**
   * Pings the worker, and counts pings instead of seconds, so that a pause of
   * this process counts once.
   */
  #watch(): void {
    const { deps, beatMs } = this.#options;
    this.#cancelTimer = deps.clock.after(beatMs, () => {
      const life = this.#life;
      if (life === null) return;
      // A stalled disk would also stall a new worker.
      if (!isInDiskCall(life.diskFlag)) this.#missed++;
      if (this.#missed > BEAT_LIMIT) return this.#died(this.#silence);
      this.#asked = [...this.#given];
      this.#post({ type: "ping" });
      this.#watch();
    });
  }

  #died(why: string): void {
    const { deps, onDeath } = this.#options;
    const life = this.#life;
    if (life === null) return;
    const culprit = markedLease(life.jobMark);
    this.#cancelTimer();
    this.#life = null;
    this.#ready = false;
    this.#given.clear();
    this.#jobs = new Map();
    this.#waitMs = 0;
    this.#end(life);
    this.#stopped?.();
    this.#lastDeath = why;
    deps.log.error("image_worker_died", {
      why,
      inspecting: culprit ?? undefined,
    });
    if (this.#stopped === null) {
      this.#cancelTimer = deps.clock.after(
        RESTART_MS,
        () => this.#restart(),
      );
    }
    onDeath(culprit);
  }

  /** Starts another worker, unless too many threads hang. */
  #restart(): void {
    const { deps, hanging } = this.#options;
    if (hanging.size < MOST_HANGING) return this.start();
    deps.log.error("image_workers_hang", { threads: hanging.size });
    void Promise.race([...hanging].map(({ ended }) => ended)).then(() => {
      if (this.#stopped === null) this.#restart();
    });
  }

  /** Terminates a worker; one that hangs continues. */
  #end({ worker }: Life): void {
    const { hanging } = this.#options;
    hanging.add(worker);
    void worker.ended.then(() => hanging.delete(worker));
    worker.terminate();
  }
}
