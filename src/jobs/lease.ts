/** How long a process holds a row of a queue before it must renew its lease. */
export const LEASE_MS = 15_000;
/** A lease is renewed this long after it was made or renewed. */
export const RENEW_MS = 5_000;

/**
 * Whether a lease until `until` must be renewed at `now`: some time after it was
 * made, or at once if the clock has gone back since.
 */
export function mustRenew(until: number, now: number): boolean {
  const left = until - now;
  return left <= LEASE_MS - RENEW_MS || left > LEASE_MS;
}
