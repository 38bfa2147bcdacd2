/**
 * Runs periodic jobs, one small portion of one job at a time, so that no job
 * delays a request.
 */
import { MAINTENANCE, type Tx } from "../database/db.ts";
import { SECOND_MS } from "../lib/durations.ts";
import { Loop, type LoopDeps } from "./loop.ts";
import { OngoingFailure } from "./ongoing_failure.ts";
import { type Sections, sectionsOf } from "../database/sections.ts";

export interface PeriodicJob {
  /** For the log. */
  name: string;
  /**
   * Milliseconds from the end of a run to the start of the next; Infinity: runs
   * once, at the start.
   */
  everyMs: number;
  /** Whether this process runs the job; called before each portion. */
  isOurs: () => boolean;
  /** Each step does one portion and yields how many items it handled. */
  run: () => AsyncGenerator<number, void>;
  /** Called whenever a run ends. */
  ended?: (outcome: RunOutcome) => void;
}

export type RunOutcome = "done" | "failed";

/**
 * While a job belongs to another process, the loop checks again at this interval.
 */
const CHECK_AGAIN_MS = 10 * SECOND_MS;
/** A failed job starts again after this long. */
const AFTER_FAILURE_MS = 5 * SECOND_MS;
/**
 * The pause after a portion, as a multiple of the time that the portion took.
 */
const PAUSE_FACTOR = 9;
const PAUSE_MAX_MS = SECOND_MS;

interface Scheduled {
  job: PeriodicJob;
  /** Monotonic milliseconds. */
  dueAt: number;
  /** The current run. */
  run: AsyncGenerator<number, void> | null;
  /** Items handled by the current run. */
  done: number;
  failures: OngoingFailure;
}

export class PeriodicJobs {
  readonly #deps: LoopDeps;
  readonly #jobs: readonly Scheduled[];
  readonly #loop: Loop;
  #isStopping = false;

  /** All jobs are due at the start. */
  constructor(
    name: string,
    jobs: readonly PeriodicJob[],
    deps: LoopDeps,
  ) {
    this.#deps = deps;
    const dueAt = deps.clock.monotonic();
    this.#jobs = jobs.map((job) => {
      const failures = new OngoingFailure(deps.clock);
      return { job, dueAt, run: null, done: 0, failures };
    });
    this.#loop = new Loop({
      name,
      deps,
      idleMs: CHECK_AGAIN_MS,
      step: () => this.#step(),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /**
   * Resolves when the current portion has ended; starts no other. The caller
   * may close the database earlier, so a portion that fails meanwhile logs
   * nothing.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#loop.stop();
  }

  async #step(): Promise<number> {
    const { clock } = this.#deps;
    const began = clock.monotonic();
    const next = this.#next();
    if (next === undefined) return Infinity;
    if (next.dueAt <= began) {
      const pause = await this.#doPortion(next);
      next.dueAt = clock.monotonic() + pause;
    }
    return this.#next()!.dueAt - began;
  }

  /** The job with the earliest due time. */
  #next(): Scheduled | undefined {
    let [next] = this.#jobs;
    for (const job of this.#jobs) if (job.dueAt < next.dueAt) next = job;
    return next;
  }

  /** Returns the milliseconds until the job is due again. */
  async #doPortion(scheduled: Scheduled): Promise<number> {
    const { clock, log } = this.#deps;
    const { name, everyMs, isOurs, run, ended } = scheduled.job;
    const began = clock.monotonic();
    try {
      if (!isOurs()) return CHECK_AGAIN_MS;
      scheduled.run ??= run();
      const portion = await scheduled.run.next();
      if (!portion.done) {
        scheduled.done += portion.value;
        await this.#deps.maybe?.(`${name} portion done`);
        return Math.min(
          PAUSE_FACTOR * (clock.monotonic() - began),
          PAUSE_MAX_MS,
        );
      }
      if (scheduled.done > 0) {
        log.info("upkeep_done", { job: name, count: scheduled.done });
      }
      scheduled.run = null;
      scheduled.done = 0;
      scheduled.failures.ended();
      ended?.("done");
      return everyMs;
    } catch (error) {
      const reason = String(error);
      if (!this.#isStopping && scheduled.failures.shouldLog(reason)) {
        log.error("upkeep_failed", { job: name, error: reason });
      }
      scheduled.run = null;
      ended?.("failed");
      return AFTER_FAILURE_MS;
    }
  }
}

/** In each section, writes portions until a portion handles nothing. */
export async function* untilNoneInAnySection(
  db: Sections,
  portion: (tx: Tx) => Promise<number>,
): AsyncGenerator<number, void> {
  for (const section of sectionsOf(db)) {
    yield* untilNone(() => section.write(portion, MAINTENANCE));
  }
}

/** Runs portions until a portion handles nothing. */
export async function* untilNone(
  portion: () => Promise<number>,
): AsyncGenerator<number, void> {
  for (let done; (done = await portion()) > 0;) yield done;
}
