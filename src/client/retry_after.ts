/**
 * The delay of a `Retry-After` header in milliseconds from `now`: seconds or an
 * HTTP date (RFC 9110, 10.2.3); 0 without a header, and for an invalid one. The
 * service has the same function, but this package imports nothing of the
 * service.
 */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
