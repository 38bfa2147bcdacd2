/**
 * The loop below every background role: look at the rows, do what is due, say
 * when to look again.
 */
import type { Deps } from "../deps.ts";
import { yieldToIo } from "../lib/yield_to_io.ts";
import type { Signal } from "./signals.ts";

export interface LoopOptions {
  /** For the log. */
  name: string;
  deps: Pick<Deps, "clock" | "log">;
  /** Wakes the loop before its time. */
  signal: Signal;
  /** Looks again after this long at the latest (another process's rows). */
  idleMs: number;
  /**
   * Does what is due; answers how many ms after its beginning, of which its
   * look at the rows tells, it wants to be called again.
   */
  step: () => Promise<number>;
}

/** After a failed step (a busy database, say) the loop waits this long. */
const AFTER_FAILURE_MS = 1_000;

export class Loop {
  readonly #options: LoopOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #failure: unknown = null;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** What the last step threw; null when it did not. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves when the step under way has ended; none follows. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { deps, signal, idleMs, name, step } = this.#options;
    const { clock, log } = deps;
    const abort = this.#stopping.signal;
    while (!abort.aborted) {
      // Remembered before the look, so that no wake-up falls between.
      const since = signal.count;
      const began = clock.monotonic();
      let pause: number;
      try {
        const nextAt = began + Math.min(await step(), idleMs);
        pause = nextAt - clock.monotonic();
        this.#failure = null;
      } catch (error) {
        this.#failure = error;
        log.error("loop_step_failed", { loop: name, error: String(error) });
        pause = Math.min(AFTER_FAILURE_MS, idleMs);
      }
      if (pause > 0) await signal.wait(clock, pause, { abort, since });
      // On SQLite a step ends without a turn of the event loop: one that is
      // always late would let in nobody.
      else await yieldToIo();
    }
  }
}
