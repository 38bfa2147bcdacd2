/** What the processes of a world share: a machine with a clock and a disk. */
import type { DatabaseSync } from "node:sqlite";
import type { DataFolders } from "./data_folders.ts";
import type { Kernel } from "./kernel.ts";
import type { SimulatedProcess } from "./scheduler.ts";

/** A line of a log that says that something is wrong. */
export interface LoggedError {
  process: string;
  event: string;
  fields: Record<string, unknown>;
  /** Virtual milliseconds. */
  at: number;
}

/** When a world begins, by its wall clock. */
const BEGIN = Date.UTC(2026, 10, 20, 8);

export class Machine implements Disposable {
  readonly kernel: Kernel;
  readonly folders: DataFolders;
  readonly processes: SimulatedProcess[] = [];
  readonly errors: LoggedError[] = [];
  /** Connections to the database of processes that run. */
  readonly connections = new Set<DatabaseSync>();
  /** Called with each new one of them. */
  readonly connected: ((connection: DatabaseSync) => void)[] = [];
  /** Called before each commit. */
  readonly committing: (() => void | Promise<void>)[] = [];
  #dataDir: string;
  #wallClockMs = BEGIN;
  /** Called at what ends the world. */
  fail: (error: unknown) => void = () => {};

  constructor(kernel: Kernel, folders: DataFolders) {
    this.kernel = kernel;
    this.folders = folders;
    this.#dataDir = folders.make();
  }

  get dataDir(): string {
    return this.#dataDir;
  }

  /** Unix milliseconds. */
  now(): number {
    return Math.floor(this.#wallClockMs + this.kernel.time);
  }

  /** Sets the wall clock forward, or back. */
  moveWallClock(ms: number): void {
    this.#wallClockMs += ms;
  }

  /**
   * A process was killed: where no other one runs, what follows finds the
   * files as they were on disk.
   */
  crashed(close: () => void): void {
    if (this.processes.some(({ running }) => running)) return close();
    const before = this.#dataDir;
    this.#dataDir = this.folders.copy(before);
    close();
    this.folders.remove(before);
  }

  [Symbol.dispose](): void {
    for (const connection of this.connections) connection.close();
    this.connections.clear();
    this.folders.remove(this.#dataDir);
  }
}
