/**
 * Keeps a background role going. The role counts each time that its due work
 * moves; the keeper looks at that count every second, and starts the role anew
 * from its rows when the count has stood still for a minute although the role
 * could work.
 */
import type { Deps, LogFields } from "../deps.ts";
import { Loop } from "./loop.ts";
import { Signal } from "./signals.ts";

/** A background role, as its keeper sees it. */
export interface BackgroundRole {
  start(): void;
  /** Records what is done, gives the rest back, and ends. */
  stop(): Promise<void>;
  /**
   * Ends at once and drops everything in memory: nothing that is under way
   * counts any more. Gives its leases back, if the database takes that. Never
   * rejects.
   */
  abandon(): Promise<void>;
  /** Why it cannot work at present, through no fault of its own; else null. */
  trouble(): string | null;
  /**
   * Counts up when due work moves, and at each look that finds none which may.
   */
  readonly moves: number;
  /** What it holds, for the log. */
  held(): LogFields & { in_flight: number };
}

export interface RoleKeeperOptions {
  name: string;
  deps: Pick<Deps, "clock" | "log">;
  /** Makes the role, with nothing in memory. */
  make: () => BackgroundRole;
}

const LOOK_MS = 1_000;
/** Looks without a move, one a second, after which a role is started anew. */
const STUCK_LOOKS = 60;

export class RoleKeeper {
  readonly #options: RoleKeeperOptions;
  readonly #loop: Loop;
  #role: BackgroundRole;
  #moves = 0;
  /** Looks since the last move; looks, so that a stall of this process is one. */
  #still = 0;
  /** Unix milliseconds of the look that saw the last move. */
  #movedAt: number | null = null;
  /** The role was started anew and has not moved since. */
  #stuck = false;

  constructor(options: RoleKeeperOptions) {
    this.#options = options;
    this.#role = options.make();
    this.#loop = new Loop({
      name: `${options.name}_keeper`,
      deps: options.deps,
      signal: new Signal(),
      idleMs: LOOK_MS,
      step: () => Promise.resolve(this.#look()),
    });
  }

  start(): void {
    this.#role.start();
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#role.stop();
  }

  /** Why the role is not ready; null when it is. */
  trouble(): string | null {
    const trouble = this.#role.trouble();
    if (trouble !== null || !this.#stuck) return trouble;
    return "its due work has not moved for a minute";
  }

  /** When the role last moved, to a second, in Unix milliseconds; or null. */
  get movedAt(): number | null {
    return this.#movedAt;
  }

  /** How many jobs the role is at. */
  get inFlight(): number {
    return this.#role.held().in_flight;
  }

  #look(): number {
    const { moves } = this.#role;
    if (moves !== this.#moves) {
      this.#moves = moves;
      this.#movedAt = this.#options.deps.clock.now();
      this.#still = 0;
      this.#stuck = false;
    } else if (this.#role.trouble() !== null) {
      this.#still = 0;
    } else if (++this.#still >= STUCK_LOOKS) {
      this.#startAnew();
    }
    return LOOK_MS;
  }

  #startAnew(): void {
    const { name, deps, make } = this.#options;
    deps.log.error("role_stuck", { role: name, ...this.#role.held() });
    this.#stuck = true;
    this.#still = 0;
    const stuck = this.#role;
    this.#role = make();
    this.#moves = this.#role.moves;
    // Not waited for: whatever keeps the role from moving may keep this, too.
    void stuck.abandon();
    this.#role.start();
    deps.log.warn("role_started_anew", { role: name });
  }
}
