/** Faults of the database file, caused with means of the real engine. */
import { DatabaseSync } from "node:sqlite";
import { DbError } from "../../src/database/db.ts";
import { databaseFile } from "../../src/database/open.ts";
import type { Fault } from "./fault.ts";
import type { Machine } from "./machine.ts";

/** The pause of another program that tries to get the lock. */
const LOCK_AGAIN_MS = 3;
/** Excludes errors at which a program stops, or may answer 500. */
const FAILURES = ["SQLITE_BUSY", "SQLITE_IOERR", "SQLITE_FULL"] as const;
/** The share of calls that fail. */
const SHARES = [0.01, 0.1, 1];
/**
 * The share of statements that change nothing although they must change rows.
 */
const IDLE_SHARES = [0.01, 0.1, 1];
/** The longest commit on a slow disk. */
const SLOW_MS = 3_000;

export function databaseFaults(machine: Machine): Fault[] {
  const ours = (name: string, begin: () => () => void): Fault => ({
    name,
    of: "ours",
    begin,
  });
  const random = machine.kernel.random("database faults");
  const committing = (hook: () => void | Promise<void>) => () => {
    machine.committing.add(hook);
    return () => void machine.committing.delete(hook);
  };
  return [
    ours("another program writes to the database", () => lock(machine)),
    ours(
      "the disk of the database is full",
      () => setting(machine, fill, (one) => one.exec(NO_LIMIT)),
    ),
    ours("the database is read-only", () =>
      setting(
        machine,
        (one) => one.exec("PRAGMA query_only = ON"),
        (one) => one.exec("PRAGMA query_only = OFF"),
      )),
    ours(
      "commits fail",
      committing(() => {
        if (random.below(2) > 0) return;
        throw new DbError("full", "disk I/O error, on purpose");
      }),
    ),
    ...FAILURES.map((name) =>
      ours(`some calls of SQLite fail: ${name}`, () => {
        const share = SHARES[random.below(SHARES.length)];
        machine.failSqlite = ({ method }) =>
          method !== "close" && random.next() < share ? name : null;
        return () => machine.failSqlite = () => null;
      })
    ),
    ours("some statements change nothing", () => {
      const share = IDLE_SHARES[random.below(IDLE_SHARES.length)];
      machine.changesNothing = () => random.next() < share;
      return () => machine.changesNothing = () => false;
    }),
    ours(
      "commits are slow",
      committing(() => machine.pause(random.next() ** 2 * SLOW_MS)),
    ),
  ];
}

const NO_LIMIT = "PRAGMA max_page_count = 4294967294";

/** Leaves the file no room for another page. */
function fill(connection: DatabaseSync): void {
  const pages = connection.prepare("PRAGMA page_count").get()!.page_count;
  connection.exec(`PRAGMA max_page_count = ${pages}`);
}

/** Changes a setting of all connections, including those made meanwhile. */
function setting(
  machine: Machine,
  begin: (connection: DatabaseSync) => void,
  end: (connection: DatabaseSync) => void,
): () => void {
  const change = (fn: typeof begin, connections: Iterable<DatabaseSync>) =>
    machine.withoutFailures(() => {
      // The application closes some connections itself.
      for (const one of connections) if (one.isOpen) fn(one);
    });
  const atOpening = (connection: DatabaseSync) => change(begin, [connection]);
  change(begin, machine.connections);
  machine.connected.add(atOpening);
  return () => {
    machine.connected.delete(atOpening);
    change(end, machine.connections);
  };
}

/** Lets another program hold the lock, as soon as it gets it. */
function lock(machine: Machine): () => void {
  const open = () => new DatabaseSync(databaseFile(machine.dataDir));
  let other = open();
  let cancel = () => {};
  const tryIt = () => {
    try {
      other.exec("BEGIN IMMEDIATE");
    } catch {
      cancel = machine.kernel.after(LOCK_AGAIN_MS, tryIt);
    }
  };
  const follow = () => {
    cancel();
    other.close();
    other = open();
    tryIt();
  };
  tryIt();
  machine.moved.add(follow);
  return () => {
    machine.moved.delete(follow);
    cancel();
    other.close();
  };
}
