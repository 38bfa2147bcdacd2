/**
 * Tracks whether the image store accepts images. Once the store refuses a
 * download, no further downloads start; small probes, one at a time, find out
 * when downloads can continue. So ten thousand jobs do not each try a full
 * store, and a job that waits for the store loses no attempt.
 */
import type { ImageStore } from "../storage/blob_store.ts";
import { storeFailureOf } from "../storage/failure.ts";
import { Loop, type LoopDeps } from "../../jobs/loop.ts";
import { OngoingFailure } from "../../jobs/ongoing_failure.ts";
import { Signal } from "../../jobs/signals.ts";
import type { StoreFailure } from "../image.ts";

/** The pause between probes of a failing store; doubled each time. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5_000;
/** A store that was not used for this long is also probed. */
const QUIET_MS = 15_000;
/** The trouble until the first probe has ended, because a probe may hang. */
const NO_ANSWER = "the image store has not answered yet";
/** A store that does not answer a probe within this time counts as failing. */
const PROBE_MS = 10_000;

export interface StoreWatchOptions {
  deps: LoopDeps;
  store: ImageStore;
  /** Called when downloads may start again. */
  onRecovery: () => void;
}

export class StoreWatch {
  readonly #options: StoreWatchOptions;
  readonly #failed = new Signal();
  readonly #loop: Loop;
  readonly #failures: OngoingFailure;
  #trouble: string | null = NO_ANSWER;
  /** Monotonic milliseconds of the next probe; the first is at the start. */
  #probeAt = 0;
  #pause = FIRST_PAUSE_MS;
  #isStopped = false;

  constructor(options: StoreWatchOptions) {
    const { deps } = options;
    this.#options = options;
    this.#failures = new OngoingFailure(deps.clock);
    this.#loop = new Loop({
      name: "image_store",
      deps,
      signal: this.#failed,
      idleMs: QUIET_MS,
      step: () => this.#step(),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /**
   * Stops the probes; does not wait for a probe in progress, and ignores its
   * result.
   */
  stop(): void {
    this.#isStopped = true;
    void this.#loop.stop();
  }

  /** Why images cannot be stored at present; null if they can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Records that a download was stored. */
  stored(): void {
    this.#pause = FIRST_PAUSE_MS;
    this.#recovered();
  }

  /** Records that the store refused a download. */
  failed(failure: StoreFailure): void {
    if (this.#trouble === null) this.#note(failure);
  }

  #note({ full, cause }: StoreFailure): void {
    if (this.#isStopped) return;
    const { clock, log } = this.#options.deps;
    if (this.#failures.shouldLog(cause)) {
      log.error("image_store_failed", { full, error: cause });
    }
    const what = full ? "is full" : "cannot be written";
    this.#trouble =
      `the image store ${what}: see image_store_failed in the log`;
    this.#probeAt = clock.monotonic() + this.#pause;
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE_MS);
    this.#failed.notify();
  }

  #recovered(): void {
    if (this.#isStopped) return;
    const { clock, log } = this.#options.deps;
    this.#probeAt = clock.monotonic() + QUIET_MS;
    const before = this.#trouble;
    if (before === null) return;
    this.#trouble = null;
    this.#failures.ended();
    if (before !== NO_ANSWER) log.info("image_store_works_again");
    this.#options.onRecovery();
  }

  async #step(): Promise<number> {
    const { clock } = this.#options.deps;
    const pause = this.#probeAt - clock.monotonic();
    if (pause > 0) return pause;
    const cancel = clock.after(PROBE_MS, () =>
      this.#note({
        full: false,
        cause: `a probe was not answered in ${PROBE_MS / 1_000} s`,
      }));
    try {
      await this.#options.store.probe();
      this.#recovered();
    } catch (error) {
      this.#note(storeFailureOf(error));
    } finally {
      cancel();
    }
    return this.#probeAt - clock.monotonic();
  }
}
