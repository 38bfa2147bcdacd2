/** When a request that failed at another host is repeated. */

export interface RetrySchedule {
  /**
   * Milliseconds to wait after the first failed attempt, the second, and so on.
   */
  delaysMs: readonly number[];
  /** The longest `Retry-After` that is honoured, in milliseconds. */
  retryAfterMs: number;
}

const JITTER = 0.2;

/**
 * Milliseconds until the next attempt after `failures` (≥ 1) failed ones; null
 * after the last attempt. `fraction` (0…1) selects a point within ±20 %;
 * `retryAfter`, in milliseconds, is the pause that the host requested.
 */
export function retryDelay(
  { delaysMs, retryAfterMs }: RetrySchedule,
  failures: number,
  fraction: number,
  retryAfter = 0,
): number | null {
  const delay = delaysMs[failures - 1];
  if (delay === undefined) return null;
  const jittered = delay * (1 + JITTER * (2 * fraction - 1));
  return Math.round(Math.max(jittered, Math.min(retryAfter, retryAfterMs)));
}

/** The longest of the pauses, in milliseconds. */
export function longestDelayMs(
  { delaysMs, retryAfterMs }: RetrySchedule,
): number {
  const longest = delaysMs.reduce((most, delay) => Math.max(most, delay));
  return Math.max(retryAfterMs, (1 + JITTER) * longest);
}

/** The longest time of all pauses without a `Retry-After`, in milliseconds. */
export function totalDelayMs({ delaysMs }: RetrySchedule): number {
  return (1 + JITTER) * delaysMs.reduce((sum, delay) => sum + delay);
}
