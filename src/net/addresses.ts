/**
 * Addresses and names to which the service never connects on a seller's behalf:
 * everything outside the public internet, as listed in the IANA special-purpose
 * registries.
 */

import { isIP } from "node:net";
import { Ranges, withoutZone } from "../lib/cidr.ts";
import { withoutTrailing } from "../lib/trim.ts";

const BLOCKED_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

// Everything outside it is blocked: loopback, link-local and unique local
// addresses, and each form that embeds an IPv4 address (mapped, NAT64).
const GLOBAL_IPV6 = ["2000::/3"];

const BLOCKED_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const blockedIpv4 = new Ranges(BLOCKED_IPV4);
const globalIpv6 = new Ranges(GLOBAL_IPV6);
const blockedIpv6 = new Ranges(BLOCKED_IPV6);

/**
 * Whether an IP address must not be dialled: it is private, and not in `allow`.
 * Text that is not an address in its usual notation is blocked, too.
 */
export function isBlocked(address: string, allow = new Ranges([])): boolean {
  const bare = withoutZone(address);
  const family = isIP(bare);
  if (family === 0) return true;
  if (allow.has(bare)) return false;
  return family === 4
    ? blockedIpv4.has(bare)
    : !globalIpv6.has(bare) || blockedIpv6.has(bare);
}

// A cluster's internal services end in `.svc`; no such top-level domain exists.
const PRIVATE_SUFFIX = /\.(localhost|local|internal|svc)$/;

/**
 * Whether only a private network can resolve a host name: it has no dot, is
 * `localhost`, or ends in `.localhost`, `.local`, `.internal` or `.svc`. Always
 * false if the allow-list has entries, because such names are then checked by
 * their addresses.
 */
export function isBlockedName(name: string, allow = new Ranges([])): boolean {
  if (!allow.isEmpty) return false;
  const bare = withoutTrailing(name.toLowerCase(), ".");
  return !bare.includes(".") || PRIVATE_SUFFIX.test(bare);
}
