/**
 * What becomes of the writes of a transaction that cannot be committed. Every
 * write is run a bounded number of times: those by whose fault it was undone run
 * by themselves the next time, and so does one that others undid too often.
 */
import { outageOf, type RetryReason } from "../db.ts";
import { isLost, PostgresError, type PostgresTx } from "./connection.ts";

/** How often a write is tried while deadlocks undo it. */
const DEADLOCK_TRIES = 6;
/** How often it is tried while other processes insert the same keys. */
const TAKEN_TRIES = 6;
/** How often it is tried if the connection breaks before the commit. */
const TRIES = 2;
/** How often other writes may undo one before it is run by itself. */
const UNDONE_LIMIT = 4;

/** What counts of a write that waits for its result. */
export interface TriedWrite {
  /** To be run by itself, because a transaction that it shared failed. */
  alone: boolean;
  /** How often it was run, without those that another write undid. */
  tries: number;
  /** How often another write of its transaction undid it. */
  undone: number;
  /** Monotonic time after which it is not retried. */
  until: number;
}

/** The result of one write in a transaction that is still open. */
export type Called =
  & { write: TriedWrite; tx: Pick<PostgresTx, "failure" | "hasWritten"> }
  & ({ ok: true; value: unknown } | { ok: false; error: unknown });

/**
 * Throws if the transaction cannot be committed because of some of its writes,
 * which run by themselves the next time.
 */
export function refuseSpoilt(called: readonly Called[]): void {
  const errors = called.map(spoiltBy);
  const first = errors.find((error) => error !== null);
  if (first === undefined) return;
  const isCause = (error: unknown) => error !== null && !isAborted(error);
  for (const [n, { write }] of called.entries()) {
    // A lost connection is no write's fault.
    write.alone ||= isCause(errors[n]) && !isLost(errors[n]);
  }
  throw errors.find(isLost) ?? errors.find(isCause) ?? first;
}

/** Why this write keeps the transaction from being committed; null: it does not. */
function spoiltBy(one: Called): unknown {
  const { failure, hasWritten } = one.tx;
  if (one.ok) return failure;
  const isHarmless = failure === null && !hasWritten &&
    !(one.error instanceof PostgresError);
  return isHarmless ? null : one.error;
}

/** Whether an error only follows from another one of the transaction. */
export function isAborted(error: unknown): boolean {
  return error instanceof PostgresError && error.aborted;
}

/**
 * Why each of the writes of a transaction that was undone is run again; null:
 * it is rejected.
 */
export function whyAgain(
  writes: readonly TriedWrite[],
  error: unknown,
  now: number,
): (RetryReason | null)[] {
  // Where nobody knows whose fault it was, each shows it by itself.
  const isKnown = writes.some(({ alone }) => alone);
  return writes.map((write) => {
    if (isLost(error) && now > write.until) return null;
    const reason = reasonFor(write, error, writes.length);
    if (reason === "undone") {
      write.tries--;
      write.undone++;
      write.alone ||= !isKnown || write.undone === UNDONE_LIMIT;
    }
    return reason;
  });
}

/** For one write of a transaction that had so many. */
function reasonFor(
  write: TriedWrite,
  error: unknown,
  writes: number,
): RetryReason | null {
  const known = error instanceof PostgresError ? error : null;
  if (known?.again) {
    // Who shared the transaction of a deadlock has no part in it.
    if (writes > 1 && !write.alone) return "undone";
    return write.tries < DEADLOCK_TRIES ? "deadlock" : null;
  }
  if (isLost(error)) return write.tries < TRIES ? "lost" : null;
  // The one that waited for the lock is refused, however long the others waited
  // with it.
  if (writes > 1 && known?.kind === "busy" && !write.alone) {
    return write.tries < TRIES ? "locked" : null;
  }
  // Those that failed are alone, the others are together again.
  if (writes > 1 && outageOf(error) === null) return "undone";
  // Another process inserted the key between our look and our insert; the next
  // look sees it.
  if (known?.kind === "unique") {
    return write.tries < TAKEN_TRIES ? "taken" : null;
  }
  return null;
}

/**
 * Whether writes that have waited too long would wait for the cause of this
 * error again: the server, or a lock.
 */
export function mayLast(error: unknown): boolean {
  const isDeadlock = error instanceof PostgresError && error.again;
  return outageOf(error) !== null && !isDeadlock;
}
