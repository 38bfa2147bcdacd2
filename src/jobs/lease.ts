/** How long a process holds a row of a queue before it must renew its lease. */
export const LEASE_MS = 15_000;
/** A lease is renewed this long after it was made or renewed. */
export const RENEW_MS = 5_000;
