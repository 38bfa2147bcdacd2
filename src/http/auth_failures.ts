/**
 * Requests that are refused and bear no good key, counted by the address that
 * they come from: who tries keys is slowed down, and cannot fill the log. A
 * request with a good key is never counted and never held up.
 */
import { isIP, isIPv6 } from "node:net";
import type { Clock } from "../deps.ts";
import { ServiceError } from "../lib/errors.ts";
import { RateLimiter } from "./rate_limit.ts";

const REFUSED = { perMinute: 300, burst: 300 };

export class AuthFailureLimiter {
  readonly #refused: RateLimiter;

  constructor(clock: Clock) {
    this.#refused = new RateLimiter(clock);
  }

  /**
   * Counts a refusal; null as long as there are not too many of them. Beyond
   * that the answer to a key is 429, whichever key it was.
   */
  tooMany(address: string): ServiceError | null {
    const { allowed, retryAfter } = this.#refused.take(
      network(address),
      1,
      REFUSED,
    );
    if (allowed) return null;
    return new ServiceError(
      "rate_limited",
      "Too many requests without a valid key came from this address.",
      { headers: { "Retry-After": String(retryAfter) } },
    );
  }
}

/** Of IPv6 one client has a whole /64 to choose addresses from. */
function network(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1];
  const [head, tail = ""] = address.split("::");
  const groups = (text: string) => text === "" ? [] : text.split(":");
  const zeros = 8 - groups(head).length - groups(tail).length;
  return [...groups(head), ...Array(zeros).fill("0"), ...groups(tail)]
    .slice(0, 4).join(":");
}

/**
 * The address of the client behind so many trusted proxies (0: none): each of
 * them appended to `X-Forwarded-For` the address that it was asked from, and
 * what stands before those the client may have made up. Where the header has no
 * address at that place, it is the one that the connection came from.
 */
export function clientAddress(
  request: Request,
  connected: string,
  proxies: number,
): string {
  if (proxies === 0) return connected;
  const forwarded = (request.headers.get("x-forwarded-for") ?? "").split(",");
  const address = bareAddress(forwarded[forwarded.length - proxies] ?? "");
  return isIP(address) === 0 ? connected : address;
}

/** Without a port, and without the brackets that go with one. */
function bareAddress(text: string): string {
  return text.trim()
    .replace(/^\[(.*)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
}
