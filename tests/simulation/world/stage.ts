/** What a world is played on: processes, a network, faults, and the rows. */
import type { Fault } from "../fault.ts";
import type { ImageRequest } from "../image_hosts.ts";
import type { Portion } from "../machine.ts";
import type { TakenMail } from "../mail_server.ts";
import type { ToOperator } from "../operator_endpoint.ts";
import type { Receipt } from "../webhook_endpoints.ts";
import type { Scheduler, SimulatedProcess } from "../scheduler.ts";

/** A copy of the database. */
export interface Copy extends Disposable {
  rows<T = Record<string, unknown>>(sql: string): T[];
}

export interface Stage {
  readonly scheduler: Scheduler;
  /** In the order of the world's processes. */
  readonly processes: readonly SimulatedProcess[];
  /** What may fail besides whole processes. */
  readonly faults: readonly Fault[];
  /** Unix milliseconds of the wall clock. */
  now(): number;
  /** The latest that the wall clock ever showed. */
  latest(): number;
  /** What the wall clock showed at a virtual time. */
  wallClock(at: number): number;
  /** The latest that the wall clock showed within these virtual times. */
  latestWithin(from: number, to: number): number;
  /** Whether the wall clock was set back within these virtual times. */
  isSetBack(from: number, to: number): boolean;
  /** Moves the wall clock, forward or back. */
  moveClock(ms: number): void;
  /** What the hosts of images were asked, in order. */
  imageRequests(): readonly ImageRequest[];
  /** What the endpoints of webhooks were sent, in order. */
  receipts(): readonly Receipt[];
  /** Mails that the mail server took, in order. */
  mails(): readonly TakenMail[];
  /** What the operator was sent, in order. */
  operatorRequests(): readonly ToOperator[];
  /** Reads the database with a connection of its own. */
  rows<T = Record<string, unknown>>(
    sql: string,
    ...params: (string | number)[]
  ): T[];
  /**
   * Stores copies of the row of a table whose column `key` is `value`, each with
   * these changes, as the service would have stored them over the years.
   */
  copyRows(
    table: string,
    key: string,
    value: string,
    changes: readonly Readonly<Record<string, string | number>>[],
  ): void;
  /** Copies the database beside whatever runs; rejects if that fails. */
  backUp(): Promise<Copy>;
  /** Images under leases that a process had since it began. */
  leftLeases(process: SimulatedProcess): readonly string[];
  /** Images that are stored by their rows, and have no file. */
  lostFiles(): readonly string[];
  /** Files of the image store that no row names. */
  strayFiles(): readonly string[];
  /**
   * Kills the process that is at this place after it was passed so many times;
   * null if there is none in time.
   */
  killedAt(
    place: string,
    passes: number,
    mostMs: number,
  ): Promise<SimulatedProcess | null>;
  /** A number that grows before the rows change. */
  writes(): number;
  /** Images that were being fetched when another worker began to. */
  doubles(): readonly { url: string; at: number }[];
  /** Images that a worker has told it stored. */
  storedImages(): readonly { id: string; process: string; at: number }[];
  /** Resolves when a worker tells that it stored another one, or later. */
  imageStored(mostMs: number): Promise<void>;
  /** Portions of jobs of maintenance that were done, in order. */
  portions(): readonly Portion[];
  /** Lines of the log that say that something is wrong. */
  errors(): readonly { event: string; fields: unknown; at: number }[];
  /** What running processes hold, by name; nothing at zero. */
  held(): Readonly<Record<string, number>>;
}
