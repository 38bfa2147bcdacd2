/**
 * Limits failed requests without a valid key by client address, so that
 * guessing keys is slow and cannot fill the log. A request with a valid key is
 * never counted or delayed.
 */
import { isIP, isIPv6 } from "node:net";
import type { Clock } from "../../deps.ts";
import { unmapped } from "../../lib/cidr.ts";
import { ServiceError } from "../../lib/errors.ts";
import { RateLimiter } from "./rate_limit.ts";

/** How many failures of one network are answered with 401, not 429. */
const FAILURE_RATE = { perMinute: 300, burst: 300 };

export class AuthFailureLimiter {
  readonly #failures: RateLimiter;

  constructor(clock: Clock) {
    this.#failures = new RateLimiter(clock);
  }

  /** Counts a failure. Returns the error 429 if there are too many, else null. */
  count(address: string): ServiceError | null {
    const { allowed, retryAfter } = this.#failures.take(
      networkOf(address),
      1,
      FAILURE_RATE,
    );
    if (allowed) return null;
    return new ServiceError(
      "rate_limited",
      "Too many requests without a valid key came from this address.",
      { headers: { "Retry-After": String(retryAfter) } },
    );
  }
}

/**
 * The network whose failures are counted together: the /64 of an IPv6 address,
 * because one client may use any address of it.
 */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head, tail = ""] = address.split("::");
  const groups = (text: string) => text === "" ? [] : text.split(":");
  const zeros = 8 - groups(head).length - groups(tail).length;
  return [...groups(head), ...Array(zeros).fill("0"), ...groups(tail)]
    .slice(0, 4).join(":");
}

/**
 * The address of the client behind this many trusted proxies (0: none). Each
 * proxy appended the address of its client to `X-Forwarded-For`; earlier
 * entries may be forged. If the entry of the first trusted proxy is not a valid
 * address, the result is the address of the connection.
 */
export function clientAddress(
  request: Request,
  connectionAddress: string,
  proxies: number,
): string {
  if (proxies === 0) return unmapped(connectionAddress);
  const forwarded = (request.headers.get("x-forwarded-for") ?? "").split(",");
  const address = bareAddress(forwarded[forwarded.length - proxies] ?? "");
  return unmapped(isIP(address) === 0 ? connectionAddress : address);
}

/** An address without port and brackets. */
function bareAddress(text: string): string {
  return text.trim()
    .replace(/^\[(.*)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
}
