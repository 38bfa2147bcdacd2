/**
 * Detects that the system's clock was set back, and moves due times back by the
 * same amount. Otherwise the correction of a clock that was an hour fast would
 * delay every delivery and image by an hour, and the operator would see only a
 * queue without progress.
 */
import type { Tx } from "../database/db.ts";
import type { Services } from "../services.ts";
import { type LeaseQueue, moveTimesBack } from "../jobs/lease_queue.ts";
import { Loop } from "../jobs/loop.ts";
import { readPosition, writePosition } from "../jobs/positions.ts";
import type { Signal } from "../jobs/signals.ts";
import { sectionsOf } from "../database/sections.ts";

const CHECK_MS = 1_000;
/** Smaller changes are not worth a write; clocks are corrected all the time. */
const LEAST_STEP_MS = 2_000;
/** Processes of one machine see a step of its clock within this time. */
const SAME_MS = 10_000;

interface WatchedQueue {
  queue: LeaseQueue;
  /** Wakes the roles that work on the queue. */
  signal: Signal;
  isMine: () => boolean;
  /**
   * The system's clock minus the monotonic clock when the queue's times were
   * last correct.
   */
  offset: number;
}

export class ClockWatch {
  readonly #services: Pick<Services, "deps" | "db">;
  readonly #loop: Loop;
  readonly #watched: WatchedQueue[] = [];

  constructor(services: Pick<Services, "deps" | "db">) {
    const { deps } = services;
    this.#services = services;
    this.#loop = new Loop({
      name: "clock",
      deps,
      idleMs: CHECK_MS,
      step: () => this.#checkClock(),
    });
  }

  /**
   * `isMine` is called at each check, because this process may take the queue
   * over from a process that has ended.
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

  async #checkClock(): Promise<number> {
    const offset = this.#currentOffset();
    for (const each of this.#watched) {
      const ms = Math.round(each.offset - offset);
      if (ms > LEAST_STEP_MS && each.isMine()) await this.#moveTimes(each, ms);
      each.offset = offset;
    }
    return CHECK_MS;
  }

  async #moveTimes({ queue, signal }: WatchedQueue, ms: number): Promise<void> {
    const { db, deps } = this.#services;
    deps.log.warn("clock_went_back", { ms, queue: queue.table });
    for (const [n, section] of sectionsOf(db).entries()) {
      const step = { name: `clock ${queue.table} ${n}`, ms };
      await section.write(async (tx) => {
        const now = deps.clock.now();
        if (await isFirst(tx, step, now)) {
          await moveTimesBack(tx, queue, now, ms);
        }
      }, { order: step.name });
    }
    signal.announce();
  }
}

/**
 * Whether no other process has moved the times for this step of the clock. All
 * processes of a machine see the step; two of them would move the times twice.
 */
async function isFirst(
  tx: Tx,
  { name, ms }: { name: string; ms: number },
  now: number,
): Promise<boolean> {
  // NaN if no step was recorded; NaN equals nothing.
  const [at, by] = (await readPosition(tx, name)).split(" ").map(Number);
  const isSame = Math.abs(now - at) < SAME_MS &&
    Math.abs(ms - by) < LEAST_STEP_MS;
  if (!isSame) await writePosition(tx, name, `${now} ${ms}`);
  return !isSame;
}
