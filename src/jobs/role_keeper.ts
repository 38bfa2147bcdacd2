/**
 * Restarts a background role that is stuck. The role counts its progress, and
 * the keeper reads the count every second. If the count has not changed for a
 * minute although the role could work, the keeper replaces the role by a new
 * one, which continues from the rows of the database.
 */
import type { Holder, InUse } from "../lib/holders.ts";
import { Loop, type LoopDeps } from "./loop.ts";

/** A background role, as its keeper sees it. */
export interface BackgroundRole extends Required<Holder> {
  start(): void;
  /** Records what is done, releases the rest, and ends. */
  stop(): Promise<void>;
  /**
   * Ends at once and drops everything in memory; work in progress is lost.
   * Leases that it does not release expire. Never rejects.
   */
  abandon(): Promise<void>;
  /** Why it cannot work now, for an external reason; null if it can. */
  trouble(): string | null;
  /**
   * Increases with each piece of work done, and with each step that finds
   * nothing due or in progress.
   */
  readonly progress: number;
  inUse(): InUse & { in_flight: number };
}

export interface RoleKeeperOptions {
  name: string;
  deps: LoopDeps;
  /** Creates the role with empty memory. */
  make: () => BackgroundRole;
}

const CHECK_MS = 1_000;
/**
 * A role is restarted after this many checks, one a second, without progress.
 */
const STUCK_CHECKS = 60;

export class RoleKeeper implements Holder {
  readonly #options: RoleKeeperOptions;
  readonly #loop: Loop;
  #role: BackgroundRole;
  #progress = 0;
  /**
   * Checks since the last progress. Seconds are not counted, so that a stall of
   * this process counts as one check.
   */
  #checksWithoutProgress = 0;
  /** Unix milliseconds of the check that saw the last progress. */
  #lastProgressAt: number | null = null;
  /** The role was restarted and has made no progress since. */
  #stuck = false;

  constructor(options: RoleKeeperOptions) {
    this.#options = options;
    this.#role = options.make();
    this.#loop = new Loop({
      name: `${options.name}_keeper`,
      deps: options.deps,
      idleMs: CHECK_MS,
      step: () => Promise.resolve(this.#checkProgress()),
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

  /** Why the role is not ready; null if it is. */
  trouble(): string | null {
    const trouble = this.#role.trouble();
    if (trouble !== null || !this.#stuck) return trouble;
    return "due work has made no progress for a minute";
  }

  /**
   * When the role last made progress, to a second, in Unix milliseconds; or
   * null.
   */
  get lastProgressAt(): number | null {
    return this.#lastProgressAt;
  }

  /** What the role has in use. */
  inUse(): InUse & { in_flight: number } {
    return this.#role.inUse();
  }

  oldestWaitMs(): number {
    return this.#role.oldestWaitMs();
  }

  #checkProgress(): number {
    const { progress } = this.#role;
    if (progress !== this.#progress) {
      this.#progress = progress;
      this.#lastProgressAt = this.#options.deps.clock.now();
      this.#checksWithoutProgress = 0;
      this.#stuck = false;
    } else if (this.#role.trouble() !== null) {
      this.#checksWithoutProgress = 0;
    } else if (++this.#checksWithoutProgress >= STUCK_CHECKS) {
      this.#restart();
    }
    return CHECK_MS;
  }

  #restart(): void {
    const { name, deps, make } = this.#options;
    deps.log.error("role_stuck", { role: name, ...this.#role.inUse() });
    this.#stuck = true;
    this.#checksWithoutProgress = 0;
    const stuck = this.#role;
    this.#role = make();
    this.#progress = this.#role.progress;
    // Not awaited: whatever blocks the role may block this call, too.
    void stuck.abandon();
    this.#role.start();
    deps.log.warn("role_started_anew", { role: name });
  }
}
