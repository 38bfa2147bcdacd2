/**
 * Disk calls that block their thread. Moving each call to another thread would
 * take several times as long as creating a small file. But a disk may stall,
 * and then the blocked thread seems to hang. So each call sets a flag that
 * other threads can read.
 */

import { systemClock } from "../../deps.ts";
import { totalLimit } from "../../lib/limits.ts";
import { WaitList } from "../../lib/wait_list.ts";

/** The flag of a thread, which can be sent to the thread. */
export type DiskFlag = SharedArrayBuffer;

/** Creates a flag that is not set. */
export function newDiskFlag(): DiskFlag {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** Whether the thread of this flag is in a disk call at present. */
export function isInDiskCall(mark: DiskFlag): boolean {
  return Atomics.load(new Int32Array(mark), 0) !== 0;
}

/**
 * The flag of this thread; no other thread sees it until `useDiskFlag`
 * replaces it.
 */
let own = new Int32Array(newDiskFlag());

/** Makes this thread use the given flag from now on. */
export function useDiskFlag(mark: DiskFlag): void {
  own = new Int32Array(mark);
}

/**
 * Calls `call`, which blocks this thread until the disk answers, with the flag
 * set.
 */
export function diskCall<T>(call: () => T): T {
  Atomics.store(own, 0, 1);
  try {
    return call();
  } finally {
    Atomics.store(own, 0, 0);
  }
}

/**
 * How many of the runtime's 32 blocking threads may wait for the disk; name
 * look-ups use the others (`net/names.ts`).
 */
const THREADS = 8;
export const diskThreads = new WaitList(systemClock, {
  limit: totalLimit(THREADS),
});

/**
 * Calls `call`, which blocks another thread until the disk answers. A stalled
 * disk blocks only a limited number of threads. So name look-ups continue, and
 * do not seem to fail because of their hosts.
 */
export function withDiskThread<T>(call: () => Promise<T>): Promise<T> {
  return diskThreads.run({}, call);
}
