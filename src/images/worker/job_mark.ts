/**
 * The job that a worker is inspecting. A thread that hangs or dies cannot
 * report its job, so it writes the lease to shared memory before the
 * inspection.
 */

/** Shared memory for one lease id; can be sent to a worker. */
export type JobMark = SharedArrayBuffer;

const LENGTH_BYTES = Int32Array.BYTES_PER_ELEMENT;
const LEASE_BYTES = 128;

/** Creates a mark without a job. */
export function newJobMark(): JobMark {
  return new SharedArrayBuffer(LENGTH_BYTES + LEASE_BYTES);
}

/**
 * The lease of the job that is being inspected, or that was being inspected
 * when the worker died.
 */
export function markedLease(mark: JobMark): string | null {
  const length = Atomics.load(new Int32Array(mark, 0, 1), 0);
  if (length === 0) return null;
  const bytes = new Uint8Array(mark, LENGTH_BYTES, length);
  return new TextDecoder().decode(bytes.slice());
}

/**
 * Calls `work`; until it ends, the mark has the lease of this job. If there is
 * already a mark, the thread stopped at that job for lack of memory, and the
 * mark does not change. The lease is ASCII, of at most 128 characters.
 */
export function marked<T>(mark: JobMark, lease: string, work: () => T): T {
  const length = new Int32Array(mark, 0, 1);
  if (Atomics.load(length, 0) !== 0) return work();
  const bytes = new Uint8Array(mark, LENGTH_BYTES, lease.length);
  for (let n = 0; n < lease.length; n++) bytes[n] = lease.charCodeAt(n);
  Atomics.store(length, 0, lease.length);
  try {
    return work();
  } finally {
    Atomics.store(length, 0, 0);
  }
}
