/**
 * Notices that the system's clock was set back. What is due at a time of day
 * would wait that much longer; so it is brought forward by as much.
 */
import type { Services } from "../services.ts";
import { Signal } from "../jobs/signals.ts";
import type { BringForward } from "./due_times.ts";
import { Loop } from "../jobs/loop.ts";

const LOOK_MS = 1_000;
/** Less than this is not worth a write; clocks are corrected all the time. */
const WORTH_MS = 2_000;

export class ClockWatch {
  readonly #services: Pick<Services, "deps" | "db" | "signals">;
  readonly #bringForward: BringForward;
  readonly #loop: Loop;
  /** Between the time of day and the clock that never goes back. */
  #offset: number;

  /** One process of a role watches; two would move its rows twice. */
  constructor(
    services: Pick<Services, "deps" | "db" | "signals">,
    bringForward: BringForward,
  ) {
    const { deps } = services;
    this.#services = services;
    this.#bringForward = bringForward;
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
    if (ms > WORTH_MS) {
      deps.log.warn("clock_went_back", { ms });
      await db.write((tx) => this.#bringForward(tx, deps.clock.now(), ms));
      signals.images.announce();
      signals.deliveries.announce();
    }
    this.#offset = offset;
    return LOOK_MS;
  }
}
