/**
 * External dependencies: time, randomness, the log. This is the only file that
 * uses `setTimeout`, randomness or the console, and the only one but
 * `lib/tracing.ts` (times of spans) that uses `Date.now`, so that tests can
 * replace them and never sleep.
 */

import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import { setImmediate } from "node:timers";
import { type Disk, systemDisk } from "./lib/disk.ts";
import { yieldToIo } from "./lib/yield_to_io.ts";

export interface Clock {
  /**
   * Unix milliseconds. So are all times that are numbers, unless a comment says
   * otherwise.
   */
  now(): number;
  /** Milliseconds of a monotonic clock, for durations. */
  monotonic(): number;
  /** Calls `fn` once after `ms`; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
}

export interface Ids {
  /** A new UUID, version 7. */
  uuid(): string;
  /** `bytes` random bytes. */
  random(bytes: number): Uint8Array<ArrayBuffer>;
}

export type LogLevel = "error" | "warn" | "info" | "debug";
export type LogFields = Record<string, unknown>;

/** One JSON line per event; never keys, secrets or bodies. */
export interface Log {
  error(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  debug(event: string, fields?: LogFields): void;
  /** Whether a level is written; saves the work of building a line. */
  enabled(level: LogLevel): boolean;
}

/** The constructor of the driver's `DatabaseSync`. */
export type ConnectSqlite = (
  file: string,
  options: DatabaseSyncOptions,
) => DatabaseSync;

export interface Deps {
  clock: Clock;
  ids: Ids;
  log: Log;
  disk: Disk;
  /** Lets small requests that have arrived meanwhile be read and answered. */
  yieldToIo: () => Promise<void>;
  /** Resolves in the next turn of the event loop. */
  nextTurn: () => Promise<void>;
  /**
   * Called at named places where the order of events matters; tests wait there.
   */
  maybe?: (place: string) => Promise<void>;
  /** How many lines of the log were lost because its reader stalled. */
  lostLogLines?: () => number;
  /**
   * Called before every commit of the database; if it throws, the commit fails.
   * Tests make commits fail or slow with it.
   */
  beforeCommit?: () => void | Promise<void>;
  /**
   * Called before each statement that must change rows. If it returns true, the
   * statement changes none, as can happen on a cluster; tests lose changes with
   * it.
   */
  changesNothing?: () => boolean;
  /** Opens a connection to a SQLite file; `new DatabaseSync` by default. */
  connectSqlite?: ConnectSqlite;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    const id = setTimeout(fn, ms);
    return () => clearTimeout(id);
  },
};

export const systemIds: Ids = {
  uuid: uuidV7,
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
};

/** Resolves in the next turn of the event loop. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** How many ids of one millisecond keep their order. */
const IDS_PER_MS = 4_096;

/**
 * The millisecond of the last id, the prefix of its ids, and how many ids it
 * has so far.
 */
const lastId = { ms: 0, prefix: "", count: 0 };

/**
 * The time in milliseconds, a counter, then random bits (RFC 9562, 5.7 and 6.2,
 * method 1): the ids of a process are ordered by creation. The random bits come
 * from a version 4 UUID, which is twenty times as fast as other sources.
 */
function uuidV7(): string {
  const now = Date.now();
  if (now > lastId.ms) beginMillisecond(now);
  else if (++lastId.count === IDS_PER_MS) beginMillisecond(lastId.ms + 1);
  const count = lastId.count.toString(16).padStart(3, "0");
  const random = crypto.randomUUID().slice("xxxxxxxx-xxxx-4xxx".length);
  return `${lastId.prefix}${count}${random}`;
}

function beginMillisecond(ms: number): void {
  // Two small numbers take half the time of a large one.
  const high = Math.floor(ms / 65_536).toString(16).padStart(8, "0");
  const low = (ms % 65_536).toString(16).padStart(4, "0");
  lastId.ms = ms;
  lastId.prefix = `${high}-${low}-7`;
  lastId.count = 0;
}

const LEVELS: LogLevel[] = ["error", "warn", "info", "debug"];

/**
 * A log that writes lines of `level` and more severe ones, as JSON, to `write`.
 */
export function jsonLog(
  level: LogLevel,
  write: (line: string) => void = (line) => console.error(line),
  now: () => number = systemClock.now,
  more: () => LogFields = () => ({}),
): Log {
  const threshold = LEVELS.indexOf(level);
  const at = (lineLevel: LogLevel) => {
    if (LEVELS.indexOf(lineLevel) > threshold) return () => {};
    return (event: string, fields: LogFields = {}) =>
      write(
        JSON.stringify({
          time: new Date(now()).toISOString(),
          level: lineLevel,
          event,
          ...more(),
          ...fields,
        }),
      );
  };
  return {
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    enabled: (wanted) => LEVELS.indexOf(wanted) <= threshold,
  };
}

/**
 * The real dependencies. `more` is added to every line of the log. Lines go to
 * `write`, by default to standard error at once.
 */
export function systemDeps(
  level: LogLevel,
  more?: () => LogFields,
  write?: (line: string) => void,
): Deps {
  const log = jsonLog(level, write, undefined, more);
  return {
    clock: systemClock,
    ids: systemIds,
    log,
    disk: systemDisk,
    yieldToIo,
    nextTurn,
  };
}
