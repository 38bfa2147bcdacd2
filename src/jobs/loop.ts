/**
 * The loop of a background role: it calls a step, waits for the time that the
 * step returns or for a signal, and calls the step again.
 */
import type { Deps } from "../deps.ts";
import { OngoingFailure } from "./ongoing_failure.ts";
import { Signal } from "./signals.ts";

export type LoopDeps = Pick<
  Deps,
  "clock" | "log" | "maybe" | "yieldToIo"
>;

export interface LoopOptions {
  /** For the log. */
  name: string;
  deps: LoopDeps;
  /** Wakes the loop before its time; by default nothing does. */
  signal?: Signal;
  /** The longest wait, because another process may have changed the rows. */
  idleMs: number;
  /**
   * Does the due work. Returns the milliseconds from the start of this call to
   * the start of the next.
   */
  step: () => Promise<number>;
}

/** The pause after a failed step (a busy database, for example). */
const AFTER_FAILURE_MS = 1_000;

export class Loop {
  readonly #options: Required<LoopOptions>;
  #isStopping = false;
  #running: Promise<void> | null = null;
  #failure: unknown = null;

  constructor(options: LoopOptions) {
    this.#options = { signal: new Signal(), ...options };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The error of the last step; null if it succeeded. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves when the current step has ended; starts no other. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#options.signal.notify();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { deps, signal, idleMs, name, step } = this.#options;
    const { clock, log, yieldToIo } = deps;
    const failures = new OngoingFailure(clock);
    while (!this.#isStopping) {
      // Read before the step looks at the rows, so that no wake-up is lost in
      // between.
      const since = signal.count;
      const began = clock.monotonic();
      let pause: number;
      try {
        const ms = await step();
        await deps.maybe?.(`${name} stepped`);
        const nextAt = began + Math.min(ms, idleMs);
        pause = nextAt - clock.monotonic();
        this.#failure = null;
        failures.ended();
      } catch (error) {
        this.#failure = error;
        const reason = String(error);
        if (failures.shouldLog(reason)) {
          log.error("loop_step_failed", { loop: name, error: reason });
        }
        pause = Math.min(AFTER_FAILURE_MS, idleMs);
      }
      if (pause > 0) await signal.wait(clock, pause, { since });
      // On SQLite a step never yields to the event loop. Without this, a loop
      // that is always late would block every request.
      else await yieldToIo();
    }
  }
}
