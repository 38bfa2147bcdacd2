/**
 * What comes from outside the program: time, randomness, the log. This is the
 * only file that names `Date.now`, `setTimeout`, randomness or the console, so
 * that a test can hand in its own and never has to sleep.
 */

export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Milliseconds of a clock that never goes back; for durations. */
  monotonic(): number;
  /** Calls `fn` once after `ms`; the answer cancels it. */
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
  /** Whether a level is written, to spare the work of making a line. */
  enabled(level: LogLevel): boolean;
}

export interface Deps {
  clock: Clock;
  ids: Ids;
  log: Log;
  /**
   * Called before every commit of the database. What it throws makes the commit
   * fail; a test has commits fail, or take their time, with it.
   */
  beforeCommit?: () => void | Promise<void>;
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

/** How many ids of one millisecond can be told apart in their order. */
const IDS_PER_MS = 4_096;

/** The millisecond of the last id, and how many ids it had before. */
const lastId = { ms: 0, count: 0 };

/**
 * The time in milliseconds, a count, then random bits (RFC 9562, 5.7 and 6.2,
 * method 1): ids of this process are in the order in which they were made. The
 * random bits are those of a UUID of version 4, which the engine makes in a
 * twentieth of what other sources take.
 */
function uuidV7(): string {
  const now = Date.now();
  if (now > lastId.ms) {
    lastId.ms = now;
    lastId.count = 0;
  } else if (++lastId.count === IDS_PER_MS) {
    lastId.ms++;
    lastId.count = 0;
  }
  const time = lastId.ms.toString(16).padStart(12, "0");
  const count = lastId.count.toString(16).padStart(3, "0");
  const random = crypto.randomUUID().slice("xxxxxxxx-xxxx-4xxx".length);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}${random}`;
}

const LEVELS: LogLevel[] = ["error", "warn", "info", "debug"];

/** A log that writes lines of `level` and graver ones, as JSON, to `write`. */
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

/** Everything real; `more` says what every line of the log has besides. */
export function systemDeps(level: LogLevel, more?: () => LogFields): Deps {
  const log = jsonLog(level, undefined, undefined, more);
  return { clock: systemClock, ids: systemIds, log };
}
