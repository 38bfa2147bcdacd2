/**
 * Waits for a lock of a SQLite file that another process holds. SQLite's own
 * wait would block the thread and every request, so its busy time-out is 0, and
 * the wait uses timers.
 */
import type { Deps } from "../../deps.ts";
import { DbError } from "../db.ts";
import { pause } from "../../lib/waits.ts";

export type LockWaitDeps = Pick<Deps, "clock" | "ids">;

/** The longest first pause, and the longest pause. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

/**
 * Pauses between attempts: each is twice as long as the previous one, with
 * jitter.
 */
export class Backoff {
  readonly #deps: LockWaitDeps;
  #atMost = FIRST_PAUSE_MS;

  constructor(deps: LockWaitDeps) {
    this.#deps = deps;
  }

  async pause(): Promise<void> {
    const { clock, ids } = this.#deps;
    const [random] = ids.random(1);
    const ms = this.#atMost * (1 + random / 255) / 2;
    this.#atMost = Math.min(2 * this.#atMost, LONGEST_PAUSE_MS);
    await pause(clock, ms);
  }
}

/** Whether another process holds the lock. */
export function isBusy(error: unknown): error is DbError {
  return error instanceof DbError && error.kind === "busy";
}

/**
 * Calls `attempt` until no lock prevents it. Rethrows its errors, and rethrows
 * `busy` once the clock's monotonic time has passed `until()`.
 */
export async function whenUnlocked<T>(
  attempt: () => T | Promise<T>,
  until: () => number,
  deps: LockWaitDeps,
): Promise<T> {
  const backoff = new Backoff(deps);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || deps.clock.monotonic() >= until()) throw error;
    }
    await backoff.pause();
  }
}
