/** Ranges of IP addresses, as in 10.0.0.0/8 or fd00::/8. */
import { BlockList, isIP } from "node:net";

export interface Cidr {
  address: string;
  prefix: number;
  family: "ipv4" | "ipv6";
}

/** Parses a range; null if the text is not one. */
export function parseCidr(text: string): Cidr | null {
  const [address, prefix, ...rest] = text.split("/");
  const version = address.includes("%") ? 0 : isIP(address);
  if (version === 0 || rest.length > 0) return null;
  const length = /^(0|[1-9]\d{0,2})$/.test(prefix ?? "") ? Number(prefix) : NaN;
  if (!(length <= (version === 4 ? 32 : 128))) return null;
  return { address, prefix: length, family: version === 4 ? "ipv4" : "ipv6" };
}

/**
 * The bits of an address, and of one of the groups in which it is written, by
 * family.
 */
const BITS = { ipv4: [32n, 8n], ipv6: [128n, 16n] } as const;

/**
 * The range in canonical form; null if it is already canonical. 10.1.2.3/8
 * looks like one address, but is a range of 16 million.
 */
export function wholeRange({ address, prefix, family }: Cidr): string | null {
  const [bits, groupBits] = BITS[family];
  const value = groupsOf(address, family)
    .reduce((all, group) => all << groupBits | BigInt(group), 0n);
  const rest = bits - BigInt(prefix);
  const start = value >> rest << rest;
  if (start === value) return null;
  const groups: bigint[] = [];
  for (let at = bits - groupBits; at >= 0n; at -= groupBits) {
    groups.push(start >> at & (1n << groupBits) - 1n);
  }
  const written = family === "ipv4" ? groups.join(".") : shortIpv6(
    groups.map((group) => group.toString(16)).join(":"),
  );
  return `${written}/${prefix}`;
}

function groupsOf(address: string, family: Cidr["family"]): number[] {
  if (family === "ipv4") return address.split(".").map(Number);
  const [before, after] = shortIpv6(address).split("::").map((groups) =>
    groups.split(":").filter(Boolean).map((group) => parseInt(group, 16))
  );
  if (after === undefined) return before;
  return [
    ...before,
    ...Array(8 - before.length - after.length).fill(0),
    ...after,
  ];
}

/**
 * Spells an address as URLs do: without leading zeros and without an IPv4 part.
 */
function shortIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/**
 * Ranges of addresses, IPv4 and IPv6 separately: a `BlockList` with IPv4 rules
 * would also apply them to mapped IPv6 addresses, which must be checked as
 * IPv6.
 */
export class Ranges {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  readonly isEmpty: boolean;

  /** @throws {TypeError} if one of the texts is not a range. */
  constructor(cidrs: readonly string[]) {
    this.isEmpty = cidrs.length === 0;
    for (const text of cidrs) {
      const cidr = parseCidr(text);
      if (cidr === null) throw new TypeError(`"${text}" is not a CIDR`);
      const { address, prefix, family } = cidr;
      this.#lists[family].addSubnet(address, prefix, family);
    }
  }

  /** Whether an address is in one of the ranges; its zone is ignored. */
  has(address: string): boolean {
    if (this.isEmpty) return false;
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    return this.#lists[family].check(withoutZone(address), family);
  }
}

/** An address without its zone (`%eth0`), which only names an interface. */
export function withoutZone(address: string): string {
  return address.replace(/%.*$/s, "");
}

const MAPPED = new Ranges(["::ffff:0:0/96"]);

/** Whether a range has only IPv4 addresses that are mapped into IPv6. */
export function isMapped({ address, prefix, family }: Cidr): boolean {
  return family === "ipv6" && prefix >= 96 && MAPPED.has(address);
}

/**
 * An IPv4 address that is mapped into IPv6, as IPv4; other addresses unchanged.
 */
export function unmapped(address: string): string {
  if (!address.includes(":") || !MAPPED.has(address)) return address;
  const [high, low] = groupsOf(withoutZone(address), "ipv6").slice(-2);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
