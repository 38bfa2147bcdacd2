/** What a world is played on: processes, a network, faults, and the rows. */
import type { Scheduler, SimulatedProcess } from "../scheduler.ts";

export interface Stage {
  readonly scheduler: Scheduler;
  /** In the order of the world's processes. */
  readonly processes: readonly SimulatedProcess[];
  /** What may fail besides whole processes. */
  readonly faults: readonly Fault[];
  /** Unix milliseconds of the wall clock. */
  now(): number;
  /** Moves the wall clock, forward or back. */
  moveClock(ms: number): void;
  /** What the endpoints of webhooks were sent, in order. */
  receipts(): readonly Receipt[];
  /** Reads the database with a connection of its own. */
  rows<T = Record<string, unknown>>(
    sql: string,
    ...params: (string | number)[]
  ): T[];
  /** What running processes hold, by name; nothing at zero. */
  held(): Readonly<Record<string, number>>;
}

/** Something that may fail for a while. */
export interface Fault {
  /** As in "the database is busy". */
  readonly name: string;
  /** Whom it may hit; a fault of ours must not be charged to a seller. */
  readonly of: "ours" | "network";
  /** Begins; the returned function ends it. */
  begin(): () => void;
}

/** A request that an endpoint was sent. */
export interface Receipt {
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** What it answered; null for nothing. */
  status: number | null;
  /** Virtual milliseconds. */
  at: number;
}
