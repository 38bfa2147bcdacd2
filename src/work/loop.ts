/**
 * The loop below every background role: look at the rows, do what is due, say
 * when to look again.
 */
import type { Deps } from "../deps.ts";
import type { Signal } from "../signals.ts";

export interface LoopOptions {
  /** For the log. */
  name: string;
  deps: Pick<Deps, "clock" | "log">;
  /** Wakes the loop before its time. */
  signal: Signal;
  /** Looks again after this long at the latest (another process's rows). */
  idleMs: number;
  /** Does what is due; answers in how many ms it wants to be called again. */
  step: () => Promise<number>;
}

/** After a failed step (a busy database, say) the loop waits this long. */
const AFTER_FAILURE_MS = 1_000;

export class Loop {
  readonly #options: LoopOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the step under way has ended; none follows. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { deps, signal, idleMs, name, step } = this.#options;
    const abort = this.#stopping.signal;
    while (!abort.aborted) {
      // Remembered before the look, so that no wake-up falls between.
      const since = signal.count;
      let pause = AFTER_FAILURE_MS;
      try {
        pause = await step();
      } catch (error) {
        deps.log.error("loop_step_failed", {
          loop: name,
          error: String(error),
        });
      }
      if (pause > 0) {
        const ms = Math.min(pause, idleMs);
        await signal.wait(deps.clock, ms, { abort, since });
      }
    }
  }
}
