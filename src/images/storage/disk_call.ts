/**
 * Calls that keep their thread waiting for the disk. Handing each to yet
 * another thread takes several times as long as making a small file does; but a
 * disk may also stall, and the thread then looks as if it hung. So a call leaves
 * a mark where another thread can see it.
 */

import { ConcurrencyLimit } from "../../net/concurrency_limit.ts";

/** Where a thread leaves its mark; can be sent to it. */
export type DiskMark = SharedArrayBuffer;

/** One that says that its thread is in no call. */
export function newDiskMark(): DiskMark {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** Whether the thread that has this mark is in a call at this moment. */
export function isAtDisk(mark: DiskMark): boolean {
  return Atomics.load(new Int32Array(mark), 0) !== 0;
}

/** This thread's mark; one that nobody sees until it is told another. */
let own = new Int32Array(newDiskMark());

/** Has this thread leave its marks there from now on. */
export function leaveMarksIn(mark: DiskMark): void {
  own = new Int32Array(mark);
}

/** Calls `call`, which waits for the disk. */
export function diskCall<T>(call: () => T): T {
  Atomics.store(own, 0, 1);
  try {
    return call();
  } finally {
    Atomics.store(own, 0, 0);
  }
}

/**
 * Of the 32 threads that the runtime has for each of ours, those that look-ups
 * of names leave (`net/names.ts`).
 */
const THREADS = 8;
const threads = new ConcurrencyLimit({ perKey: THREADS, total: THREADS });

/**
 * Calls `call`, which has another thread wait for the disk. A disk that hangs
 * keeps only so many threads: look-ups go on, and blame no host.
 */
export async function diskTurn<T>(call: () => Promise<T>): Promise<T> {
  using _thread = await threads.acquire("");
  return await call();
}
