/** The stage of a world: processes, a network, faults, and the rows. */
import type { Fault } from "../fault.ts";
import type { ImageRequest } from "../image_hosts.ts";
import type { Logged, Portion } from "../machine.ts";
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
  /** Faults other than of whole processes. */
  readonly faults: readonly Fault[];
  /** Unix milliseconds of the wall clock. */
  now(): number;
  /** The latest that the wall clock ever showed. */
  latest(): number;
  /** The wall clock at a virtual time. */
  wallClock(at: number): number;
  /** The latest time that the wall clock showed between these virtual times. */
  latestWithin(from: number, to: number): number;
  /** Whether the wall clock was set back between these virtual times. */
  isSetBack(from: number, to: number): boolean;
  /** Moves the wall clock, forward or back. */
  moveClock(ms: number): void;
  /** The requests to the hosts of images, in order. */
  imageRequests(): readonly ImageRequest[];
  /** The requests to the endpoints of webhooks, in order. */
  receipts(): readonly Receipt[];
  /** Mails that the mail server accepted, in order. */
  mails(): readonly TakenMail[];
  /** The requests to the operator's endpoint, in order. */
  operatorRequests(): readonly ToOperator[];
  /** Reads the database on a separate connection. */
  rows<T = Record<string, unknown>>(
    sql: string,
    ...params: (string | number)[]
  ): T[];
  /**
   * Stores copies of the table's row whose column `key` is `value`, each with
   * these changes, as the service would have stored them over the years.
   */
  copyRows(
    table: string,
    key: string,
    value: string,
    changes: readonly Readonly<Record<string, string | number>>[],
  ): Promise<void>;
  /** Copies the database while processes run; rejects if that fails. */
  backUp(): Promise<Copy>;
  /**
   * Leases of images that a process has received since it began, and still has.
   */
  leftLeases(process: SimulatedProcess): readonly string[];
  /** Images that are stored according to their rows, but have no file. */
  lostFiles(): readonly string[];
  /** Files of the image store to which no row refers. */
  strayFiles(): readonly string[];
  /**
   * Kills the process that reaches this place after it was passed this many
   * times; null if none does in time.
   */
  killedAt(
    place: string,
    passes: number,
    mostMs: number,
  ): Promise<SimulatedProcess | null>;
  /**
   * The process that reaches this place next stays there for `ms`. Resolves when
   * it is there, or after `mostMs`.
   */
  staysAt(place: string, ms: number, mostMs: number): Promise<void>;
  /** A number that increases before rows change. */
  writes(): number;
  /** Images that were being fetched when another worker began to fetch them. */
  doubles(): readonly { url: string; at: number }[];
  /** Images that a worker has reported as stored. */
  storedImages(): readonly { id: string; process: string; at: number }[];
  /** Whether the image store has lost all its images. */
  hasLostImages(): boolean;
  /** Resolves when a worker reports another stored image, or after `mostMs`. */
  imageStored(mostMs: number): Promise<void>;
  /** Finished portions of maintenance jobs, in order. */
  portions(): readonly Portion[];
  /** Log lines that report an error. */
  errors(): readonly Logged[];
  /** Log lines that report released leases of other processes. */
  releases(): readonly Logged[];
  /** What running processes have in use, by name; without zeros. */
  held(): Readonly<Record<string, number>>;
}
