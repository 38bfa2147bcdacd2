/** The base of every simulated part: virtual time, and choices by the seed. */
import type { Random } from "../support/random.ts";

export interface Scheduler {
  /** Virtual milliseconds since the world began; never goes back. */
  readonly time: number;
  /**
   * Calls `fn` in `ms` virtual milliseconds. The seed orders calls that are due
   * at the same time. The returned function cancels the call.
   */
  after(ms: number, fn: () => void): () => void;
  /**
   * The random numbers of one part, by name. They depend on the seed, but not
   * on how many numbers other parts have drawn.
   */
  random(name: string): Random;
  /** Adds a line to the trace. Called often, so the line is a function. */
  trace(line: () => string): void;
  /** Whether faults may begin now; false during the recovery at the end. */
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
   * not at all, or it disconnects after this many virtual milliseconds.
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
   * Calls the handler. Resolves with the complete answer; with null if the
   * client got none, because it disconnected or the process was killed.
   */
  request(request: SimulatedRequest): Promise<SimulatedAnswer | null>;
  /** SIGKILL: memory is lost; what is on disk stays. */
  kill(): void;
  /** SIGTERM: resolves when the process has ended. */
  stop(): Promise<void>;
  /** Starts the process again; rejects if the start fails. */
  start(): Promise<void>;
}
