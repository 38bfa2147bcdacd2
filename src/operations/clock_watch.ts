/**
 * Detects that the system's clock was set back, and moves due times back by as
 * much. Without this, a clock that was an hour fast and is corrected would
 * delay every delivery and image by an hour, and the operator would see only a
 * queue that does not progress.
 */
import { partsOf } from "../database/db.ts";
import type { Services } from "../services.ts";
import { bringForward, type LeaseQueue } from "../jobs/lease_queue.ts";
import { Loop } from "../jobs/loop.ts";
import type { Signal } from "../jobs/signals.ts";

const LOOK_MS = 1_000;
/** Smaller changes are not worth a write; clocks are corrected all the time. */
const WORTH_MS = 2_000;

interface Watched {
  queue: LeaseQueue;
  /** Wakes those who work on the queue. */
  signal: Signal;
  isMine: () => boolean;
  /**
   * Difference between the system's clock and the monotonic clock, as its times
   * have it.
   */
  offset: number;
}

export class ClockWatch {
  readonly #services: Pick<Services, "deps" | "db">;
  readonly #loop: Loop;
  readonly #watched: Watched[] = [];

  constructor(services: Pick<Services, "deps" | "db">) {
    const { deps } = services;
    this.#services = services;
    this.#loop = new Loop({
      name: "clock",
      deps,
      idleMs: LOOK_MS,
      step: () => this.#look(),
    });
  }

  /**
   * Only one process may move the times of a queue; two would move them twice.
   * `isMine` says at each check whether this process does, because another one
   * may have ended since.
   */
  add(queue: LeaseQueue, signal: Signal, isMine: () => boolean): void {
    const offset = this.#currentOffset();
    this.#watched.push({ queue, signal, isMine, offset });
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
    const offset = this.#currentOffset();
    for (const each of this.#watched) {
      const ms = Math.round(each.offset - offset);
      if (ms > WORTH_MS && each.isMine()) await this.#move(each, ms);
      each.offset = offset;
    }
    return LOOK_MS;
  }

  async #move({ queue, signal }: Watched, ms: number): Promise<void> {
    const { db, deps } = this.#services;
    deps.log.warn("clock_went_back", { ms, queue: queue.table });
    for (const part of partsOf(db)) {
      await part.write((tx) => bringForward(tx, queue, deps.clock.now(), ms));
    }
    signal.announce();
  }
}
