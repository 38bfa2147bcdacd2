/** What the processes of a world share: a machine with a clock and a disk. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../src/deps.ts";
import type { FailSqlite } from "../support/failing_sqlite.ts";
import type { Random } from "../support/random.ts";
import type { DataFolders } from "./data_folders.ts";
import type { SimulatedProcess } from "./scheduler.ts";
import type { Kernel } from "./kernel.ts";

/** A log line of a process. */
export interface Logged {
  process: string;
  event: string;
  fields: Record<string, unknown>;
  /** Virtual milliseconds. */
  at: number;
}

/** A finished portion of a maintenance job. */
export interface Portion {
  job: string;
  /** The process, and which of its lives, that did it. */
  life: string;
  /** Virtual milliseconds. */
  at: number;
}

/** The longest durations in a world, in virtual milliseconds. */
export interface Pace {
  /** The latency from a client to the service. */
  latencyMs: number;
  /** A turn of the event loop. */
  turnMs: number;
  /** A commit, during which the process stands still. */
  commitMs: number;
  /** Processor time for a piece of work; 0 in most worlds. */
  workMs: number;
}

const PROMPT: Pace = { latencyMs: 0.5, turnMs: 0.5, commitMs: 1, workMs: 0 };

function drawPace(random: Random): Pace {
  const oneOf = (...values: number[]) => values[random.below(values.length)];
  return {
    latencyMs: oneOf(0.05, 2, 2, 50),
    turnMs: oneOf(0.3, 3, 10, 50),
    commitMs: oneOf(0, 0.5, 5, 30),
    workMs: oneOf(0, 0, 2, 30),
  };
}

/** The wall clock at the beginning of a world. */
const BEGIN = Date.UTC(2026, 10, 20, 8);

export class Machine implements Disposable {
  readonly kernel: Kernel;
  readonly folders: DataFolders;
  /** Whether nothing takes longer than necessary. */
  readonly isPrompt: boolean;
  /** Whether work takes time, depending on its amount. */
  readonly isPriced: boolean;
  readonly pace: Pace;
  /** Log lines that report an error. */
  readonly errors: Logged[] = [];
  /** Log lines that report released leases of other processes. */
  readonly releases: Logged[] = [];
  /** Database connections of running processes. */
  readonly connections = new Set<DatabaseSync>();
  /** Called with each new connection. */
  readonly connected = new Set<(connection: DatabaseSync) => void>();
  /** Calls of SQLite that may have changed a row. */
  writes = 0;
  /** Decides which calls of SQLite fail. */
  failSqlite: FailSqlite = () => null;
  /** Decides which statements change nothing although they must change rows. */
  changesNothing: () => boolean = () => false;
  /** Called when the files have moved to another folder. */
  readonly moved = new Set<() => void>();
  /** Called before each commit. */
  readonly committing = new Set<() => void | Promise<void>>();
  /** By place in the source: kills the process that reaches the place next. */
  readonly kills = new Map<string, (process: SimulatedProcess) => void>();
  /** By place in the source: how long the next process stays there. */
  readonly stays = new Map<string, () => number>();
  readonly portions: Portion[] = [];
  /** At which virtual times the wall clock was set, and by how much. */
  readonly moves: { at: number; ms: number }[] = [];
  #dataDir: string;
  #movedMs = 0;
  readonly #failure = Promise.withResolvers<never>();

  constructor(
    kernel: Kernel,
    folders: DataFolders,
    { isPrompt = false, isPriced = false }: {
      isPrompt?: boolean;
      isPriced?: boolean;
    } = {},
  ) {
    this.kernel = kernel;
    this.folders = folders;
    this.isPrompt = isPrompt;
    this.isPriced = isPriced;
    this.pace = isPrompt ? PROMPT : drawPace(kernel.random("pace"));
    this.#dataDir = folders.make();
    this.failed.catch(() => {});
  }

  /** Rejects with the error that ends the world. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  readonly fail = (error: unknown): void => this.#failure.reject(error);

  get dataDir(): string {
    return this.#dataDir;
  }

  /** Unix milliseconds. */
  now(): number {
    return Math.floor(BEGIN + this.#movedMs + this.kernel.time);
  }

  /** The wall clock at a virtual time, in Unix milliseconds. */
  wallClock(at: number): number {
    return Math.floor(
      BEGIN + at + sum(this.moves.filter((one) => one.at <= at)),
    );
  }

  /** The latest time that the wall clock showed between these virtual times. */
  latestWithin(from: number, to: number): number {
    const ends = this.moves.entries()
      .filter(([, { at }]) => at >= from && at <= to)
      .map(([n, { at }]) => BEGIN + at + sum(this.moves.slice(0, n)));
    return Math.floor(
      Math.max(this.wallClock(from), this.wallClock(to), ...ends),
    );
  }

  /** The latest that the wall clock ever showed. */
  latest(): number {
    return this.latestWithin(0, this.kernel.time);
  }

  /** The clock of threads that share nothing with their process. */
  readonly clock: Clock = {
    now: () => this.now(),
    monotonic: () => this.kernel.time,
    after: (ms, fn) => this.kernel.after(ms, fn),
  };

  /** Calls `fn`; its calls of SQLite do not fail on purpose. */
  withoutFailures(fn: () => void): void {
    const { failSqlite } = this;
    this.failSqlite = () => null;
    try {
      fn();
    } finally {
      this.failSqlite = failSqlite;
    }
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.kernel.after(ms, resolve));
  }

  /** Sets the wall clock forward, or back. */
  moveWallClock(ms: number): void {
    this.moves.push({ at: this.kernel.time, ms });
    this.#movedMs += ms;
  }

  /**
   * A process with these connections was killed. If no other process has any,
   * the next one finds the files as they were on disk.
   */
  crashed(own: ReadonlySet<DatabaseSync>, close: () => void): void {
    if ([...this.connections].some((one) => !own.has(one))) return close();
    const before = this.#dataDir;
    this.#dataDir = this.folders.copy(before);
    close();
    for (const fn of this.moved) fn();
    this.folders.remove(before);
  }

  [Symbol.dispose](): void {
    for (const connection of this.connections) connection.close();
    this.connections.clear();
    this.folders.remove(this.#dataDir);
  }
}

function sum(moves: readonly { ms: number }[]): number {
  return moves.reduce((sum, { ms }) => sum + ms, 0);
}
