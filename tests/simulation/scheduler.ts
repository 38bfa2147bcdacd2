/** What every simulated part runs on: virtual time, and choices by the seed. */
import type { Random } from "../support/random.ts";

export interface Scheduler {
  /** Virtual milliseconds since the world began; never goes back. */
  readonly time: number;
  /**
   * Calls `fn` in `ms` virtual milliseconds. Among calls that are due at the
   * same time the seed chooses the order. The returned function cancels it.
   */
  after(ms: number, fn: () => void): () => void;
  /**
   * The random numbers of one part, by name. They follow from the seed and do
   * not depend on how many the other parts have drawn.
   */
  random(name: string): Random;
  /** Adds a line to the trace; called often, so the line is built lazily. */
  trace(line: () => string): void;
  /** Whether faults may begin now; false in the time of recovery at the end. */
  readonly faulty: boolean;
}

/** A request to a simulated process, as a client sends it. */
export interface SimulatedRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer>;
  /** Bytes of each piece of the body, and virtual milliseconds between two. */
  pieces?: { bytes: number; everyMs: number };
  /**
   * How the client reads the answer: at once, a piece at a time with pauses,
   * not at all, or it goes away after so many virtual milliseconds.
   */
  reader?: { slowMs: number } | { leavesAfterMs: number } | "stops";
}

export interface SimulatedAnswer {
  status: number;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

/** A process of the service in the simulation. */
export interface SimulatedProcess {
  readonly name: string;
  readonly running: boolean;
  /**
   * Calls the handler. Resolves with the whole answer, or with null if the
   * client got none: it went away, or the process was killed.
   */
  request(request: SimulatedRequest): Promise<SimulatedAnswer | null>;
  /** SIGKILL: everything in memory is dropped; what is on disk stays. */
  kill(): void;
  /** SIGTERM: resolves when it has ended. */
  stop(): Promise<void>;
  /** Starts it again; rejects if the start fails. */
  start(): Promise<void>;
}
