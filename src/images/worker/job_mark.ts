/**
 * Which job a worker is judging at this moment. A thread that hangs or dies says
 * nothing any more; so it writes this down before it begins, where another
 * thread can read it.
 */

/** Where it is written; can be sent to a worker. Holds one lease id. */
export type JobMark = SharedArrayBuffer;

const LENGTH_BYTES = Int32Array.BYTES_PER_ELEMENT;
const LEASE_BYTES = 64;

/** One that says that no job is being judged. */
export function newJobMark(): JobMark {
  return new SharedArrayBuffer(LENGTH_BYTES + LEASE_BYTES);
}

/** The lease of the job that is, or was at its end, being judged. */
export function markedLease(mark: JobMark): string | null {
  const length = Atomics.load(new Int32Array(mark, 0, 1), 0);
  if (length === 0) return null;
  const bytes = new Uint8Array(mark, LENGTH_BYTES, length);
  return new TextDecoder().decode(bytes.slice());
}

/**
 * Does `work` with the bytes of the job with this lease, which it can be blamed
 * for. The lease is ASCII, of 64 characters at most.
 */
export function marked<T>(mark: JobMark, lease: string, work: () => T): T {
  const length = new Int32Array(mark, 0, 1);
  const bytes = new Uint8Array(mark, LENGTH_BYTES, lease.length);
  for (let n = 0; n < lease.length; n++) bytes[n] = lease.charCodeAt(n);
  Atomics.store(length, 0, lease.length);
  try {
    return work();
  } finally {
    Atomics.store(length, 0, 0);
  }
}
