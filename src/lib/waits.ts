/** Waiting by a clock, which tests move. */

/** What a clock does. */
interface Timers {
  /** Calls `fn` once after `ms`, unless the returned function is called. */
  after(ms: number, fn: () => void): () => void;
}

/** Resolves after `ms`. */
export function pause(clock: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

/** Waits until `work` has ended, `ms` at most; rejects if it does before. */
export async function within(
  clock: Timers,
  ms: number,
  work: Promise<unknown> | null,
): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(ms, late.resolve);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    cancel();
  }
}
