/**
 * Runs the image worker and restarts it. It notices whatever ends the worker
 * (an error, `Deno.exit`, its memory limit, a hang), at the latest by missed
 * beats. The jobs that it has not reported are then released, and another
 * worker starts after a pause. Hanging threads are counted, and their number is
 * limited.
 */
import type { Deps } from "../../deps.ts";
import { isAtDisk, newDiskMark } from "../storage/disk_call.ts";
import type { FetchedImage } from "../rows/outcomes.ts";
import { markedLease, newJobMark } from "./job_mark.ts";
import type {
  FromImageWorker,
  ImagePhase,
  ImageProgress,
  ImageTask,
  ImageWorkerSettings,
  ToImageWorker,
} from "./messages.ts";
import type { SpawnedWorker, SpawnWorker } from "./spawn.ts";
import { within } from "../../lib/waits.ts";

/**
 * A worker that misses so many beats in a row counts as dead. So this also
 * limits the time to inspect one image.
 */
const MISSED_BEATS = 5;
/** Starting may take longer. */
const MISSED_BEATS_AT_START = 20;
/**
 * Out of memory, a worker may stop receiving messages and live on: it counts as
 * deaf after so many ticks in a row without the ping before the latest.
 */
const DEAF_TICKS = 3;
const FIRST_PAUSE_MS = 100;
/** Short enough that a restart takes less than 10 s in total. */
const LONGEST_PAUSE_MS = 2_000;
/** A worker that has lived for so many beats counts as sound again. */
const SOUND_BEATS = 3;
/** After this many deaths in a row the role has trouble. */
const MANY_DEATHS = 3;
/**
 * A phase with a time limit of its own counts as lost after this long, which
 * includes a margin. Waiting for a slot and storing have no limit here.
 */
const MOST_MS: Partial<Record<ImagePhase, number>> = {
  downloading: 180_000,
  judging: 180_000,
};
/** The most hanging threads; more would use up the machine. */
const MOST_HANGING = 4;
const STOP_MS = 2_000;

export interface ImageThreadOptions {
  deps: Pick<Deps, "clock" | "log">;
  settings: Omit<ImageWorkerSettings, "diskMark" | "jobMark">;
  /** How often it is pinged. */
  beatMs: number;
  spawn: SpawnWorker;
  hanging: HangingWorkers;
  onResults: (results: FetchedImage[]) => void;
  /** It has started and accepts jobs. */
  onReady: () => void;
  /**
   * It has died, and with it all jobs that it has not reported. `culprit` is
   * the lease of the job that it was inspecting; null if there was none, and
   * then no job is to blame.
   */
  onDeath: (culprit: string | null) => void;
}

/** Terminated workers of this process whose threads still run. */
export type HangingWorkers = Set<SpawnedWorker>;

/** One worker, as long as its thread runs. */
interface Life {
  worker: SpawnedWorker;
  diskMark: ReturnType<typeof newDiskMark>;
  jobMark: ReturnType<typeof newJobMark>;
}

interface Job {
  phase: ImagePhase;
  /** Monotonic milliseconds. */
  since: number;
}

export class ImageThread {
  readonly #options: ImageThreadOptions;
  /** The present worker; null while there is none. */
  #life: Life | null = null;
  /** The latest ping before each unreported job was sent, by lease. */
  readonly #given = new Map<string, number>();
  /** The jobs of its latest beat, by lease. */
  #jobs: ReadonlyMap<string, Job> = new Map();
  /** As it told at its latest beat; see `Holder`. */
  #waitMs = 0;
  #ready = false;
  #missed = 0;
  #beats = 0;
  /** Pings sent to the present worker. */
  #pings = 0;
  #deafTicks = 0;
  /** It has reported a result since it started. */
  #hasWorked = false;
  /** Deaths in a row that no job is to blame for. */
  #deaths = 0;
  #lastDeath = "";
  #cancelTimer: () => void = () => {};
  #stopped: (() => void) | null = null;

  constructor(options: ImageThreadOptions) {
    this.#options = options;
  }

  /** Whether it accepts jobs. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Why it does not work, or may soon fail; null if all is well. */
  get trouble(): string | null {
    const { hanging } = this.#options;
    if (this.#life === null && hanging.size >= MOST_HANGING) {
      return "too many image workers hang and cannot be ended: " +
        "restart the process";
    }
    if (this.#deaths >= MANY_DEATHS && !this.#hasWorked) {
      return `the image worker dies again and again: ${this.#lastDeath}`;
    }
    return this.#ready ? null : "the image worker is not running";
  }

  /** How many downloads were in each phase at its latest beat. */
  get phases(): Partial<Record<ImagePhase, number>> {
    const counts: Partial<Record<ImagePhase, number>> = {};
    for (const { phase } of this.#jobs.values()) {
      counts[phase] = (counts[phase] ?? 0) + 1;
    }
    return counts;
  }

  /** As in `Holder`, at its latest beat. */
  oldestWaitMs(): number {
    return this.#waitMs;
  }

  /** Whether the job waited for the store at the worker's latest beat. */
  isStoring(lease: string): boolean {
    return this.#jobs.get(lease)?.phase === "storing";
  }

  start(): void {
    const life = this.#newLife();
    const { diskMark, jobMark } = life;
    this.#life = life;
    this.#missed = 0;
    this.#beats = 0;
    this.#pings = 0;
    this.#deafTicks = 0;
    this.#hasWorked = false;
    const { settings } = this.#options;
    this.#post({ type: "start", settings: { ...settings, diskMark, jobMark } });
    this.#watch();
  }

  /** Sends jobs to the worker; only while it is ready. */
  fetch(tasks: ImageTask[]): void {
    if (tasks.length === 0) return;
    for (const { lease } of tasks) this.#given.set(lease, this.#pings);
    this.#post({ type: "fetch", tasks });
  }

  /** Terminates the worker as if it had died; another one follows. */
  replace(why: string): void {
    if (this.#life !== null) this.#died(why);
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
      await within(this.#options.deps.clock, STOP_MS, stopped.promise);
    }
    this.#ready = false;
    // It may have died meanwhile. From here on its end is no death.
    const life = this.#life;
    this.#life = null;
    if (life !== null) this.#end(life);
    const ends = [...this.#options.hanging].map(({ ended }) => ended);
    await within(this.#options.deps.clock, STOP_MS, Promise.all(ends));
  }

  #newLife(): Life {
    const isPresent = () => this.#life === life;
    const worker = this.#options.spawn({
      message: (message) => {
        if (isPresent()) this.#heard(message);
      },
      died: (why) => {
        if (isPresent()) this.#died(why);
      },
    });
    const life = { worker, diskMark: newDiskMark(), jobMark: newJobMark() };
    return life;
  }

  #post(message: ToImageWorker): void {
    this.#life?.worker.post(message);
  }

  #heard(message: FromImageWorker): void {
    const { deps, onReady, onResults } = this.#options;
    this.#missed = 0;
    switch (message.type) {
      case "beat":
        if (++this.#beats === SOUND_BEATS) this.#deaths = 0;
        this.#waitMs = message.waitMs;
        this.#compare(message.number, message.jobs);
        if (this.#life === null || this.#ready) return;
        this.#ready = true;
        return onReady();
      case "tick":
        return this.#listens(message.heard);
      case "done":
        this.#hasWorked = true;
        for (const { lease } of message.results) this.#given.delete(lease);
        return onResults(message.results);
      case "fault":
        return deps.log.error("image_worker_fault", { error: message.error });
      case "broken":
        return this.#died(message.error, message.culprit);
      case "stopped":
        return this.#stopped?.();
    }
  }

  /** Notices that the worker does not receive messages. */
  #listens(heard: number): void {
    this.#deafTicks = heard < this.#pings - 1 ? this.#deafTicks + 1 : 0;
    if (this.#deafTicks === DEAF_TICKS) this.#died("it hears nothing", null);
  }

  /** Notices a job that is missing from the beat, or over its time limit. */
  #compare(ping: number, jobs: readonly ImageProgress[]): void {
    const now = this.#options.deps.clock.monotonic();
    const before = this.#jobs;
    this.#jobs = new Map(jobs.map(({ lease, phase }) => {
      const known = before.get(lease);
      return [lease, known?.phase === phase ? known : { phase, since: now }];
    }));
    const isForgotten = [...this.#given].some(([lease, given]) =>
      given < ping && !this.#jobs.has(lease)
    );
    const isLate = [...this.#jobs.values()].some(({ phase, since }) =>
      now - since > (MOST_MS[phase] ?? Infinity)
    );
    if (isForgotten || isLate) this.#died("it lost a job", null);
  }

  /**
   * Counts missed beats by timer, so that a pause of this process counts once.
   */
  #watch(): void {
    const { deps, beatMs } = this.#options;
    this.#cancelTimer = deps.clock.after(beatMs, () => {
      const life = this.#life;
      if (life === null) return;
      const most = this.#ready ? MISSED_BEATS : MISSED_BEATS_AT_START;
      // A stalled disk would also stall a new worker.
      if (!isAtDisk(life.diskMark)) this.#missed++;
      if (this.#missed > most) return this.#died("it gave no sign of life");
      this.#post({ type: "ping", number: ++this.#pings });
      this.#watch();
    });
  }

  /** `known`: the culprit, if the thread still runs and inspects other jobs. */
  #died(why: string, known?: string | null): void {
    const { deps, onDeath } = this.#options;
    const life = this.#life;
    if (life === null) return;
    const culprit = known === undefined ? markedLease(life.jobMark) : known;
    this.#cancelTimer();
    this.#life = null;
    this.#ready = false;
    this.#given.clear();
    this.#jobs = new Map();
    this.#waitMs = 0;
    this.#end(life);
    this.#stopped?.();
    // A job's fault does not count against the worker.
    const pause = culprit === null
      ? Math.min(FIRST_PAUSE_MS * 2 ** this.#deaths++, LONGEST_PAUSE_MS)
      : FIRST_PAUSE_MS;
    this.#lastDeath = why;
    deps.log.error("image_worker_died", {
      why,
      judging: culprit ?? undefined,
      restart_in_ms: pause,
    });
    if (this.#stopped === null) {
      this.#cancelTimer = deps.clock.after(pause, () => this.#startAgain());
    }
    onDeath(culprit);
  }

  /** Starts another worker, unless too many threads hang. */
  #startAgain(): void {
    const { deps, hanging } = this.#options;
    if (hanging.size < MOST_HANGING) return this.start();
    deps.log.error("image_workers_hang", { threads: hanging.size });
    Promise.race([...hanging].map(({ ended }) => ended)).then(() => {
      if (this.#stopped === null) this.#startAgain();
    });
  }

  /** Terminates a worker; it ends unless it hangs. */
  #end({ worker }: Life): void {
    const { hanging } = this.#options;
    hanging.add(worker);
    worker.ended.then(() => hanging.delete(worker));
    worker.terminate();
  }
}
