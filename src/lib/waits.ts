/** Waiting by a clock, which tests can advance. */

/** The timers of a clock. */
interface Timers {
  /** Calls `fn` once after `ms`, unless the returned function is called. */
  after(ms: number, fn: () => void): () => void;
}

/** Resolves after `ms`, or when `abort` fires. */
export function pause(
  clock: Timers,
  ms: number,
  abort?: AbortSignal,
): Promise<void> {
  if (abort?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      abort?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    abort?.addEventListener("abort", end, { once: true });
  });
}

/**
 * Waits for `work`, but at most `ms`; rejects if `work` rejects within that
 * time.
 */
export async function waitAtMost(
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
