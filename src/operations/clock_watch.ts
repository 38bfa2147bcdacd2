/**
 * Detects that the system's clock was set back, and moves due times back by as
 * much. Without this, a clock that was an hour fast and is corrected would
 * delay every delivery and image by an hour, and the operator would see only a
 * queue that does not progress.
 */
import type { Services } from "../services.ts";
import { Signal } from "../jobs/signals.ts";
import { bringForward, type LeaseQueue } from "../jobs/lease_queue.ts";
import { Loop } from "../jobs/loop.ts";

const LOOK_MS = 1_000;
/** Smaller changes are not worth a write; clocks are corrected all the time. */
const WORTH_MS = 2_000;

export class ClockWatch {
  readonly #services: Pick<Services, "deps" | "db" | "signals">;
  readonly #queue: LeaseQueue;
  readonly #loop: Loop;
  readonly #isMine: () => boolean;
  /** Difference between the system's clock and the monotonic clock. */
  #offset: number;

  /**
   * Only one process of a role may move the times; two would move them twice.
   * `isMine` says at each check whether this process does, because another one
   * may have ended since.
   */
  constructor(
    services: Pick<Services, "deps" | "db" | "signals">,
    queue: LeaseQueue,
    isMine: () => boolean,
  ) {
    const { deps } = services;
    this.#services = services;
    this.#queue = queue;
    this.#isMine = isMine;
    this.#offset = this.#currentOffset();
    this.#loop = new Loop({
      name: "clock",
      deps,
      signal: new Signal(),
      idleMs: LOOK_MS,
      step: () => this.#look(),
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  #currentOffset(): number {
    const { clock } = this.#services.deps;
    return clock.now() - clock.monotonic();
  }

  async #look(): Promise<number> {
    const { db, deps, signals } = this.#services;
    const offset = this.#currentOffset();
    const ms = Math.round(this.#offset - offset);
    if (ms > WORTH_MS && this.#isMine()) {
      deps.log.warn("clock_went_back", { ms });
      for (const part of db.parts()) {
        await part.write((tx) =>
          bringForward(tx, this.#queue, deps.clock.now(), ms)
        );
      }
      signals.images.announce();
      signals.deliveries.announce();
      signals.imports.announce();
    }
    this.#offset = offset;
    return LOOK_MS;
  }
}
