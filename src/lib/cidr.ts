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
  const length = /^\d{1,3}$/.test(prefix ?? "") ? Number(prefix) : NaN;
  if (!(length <= (version === 4 ? 32 : 128))) return null;
  return { address, prefix: length, family: version === 4 ? "ipv4" : "ipv6" };
}

/**
 * Ranges of addresses, each family for itself: a `BlockList` with IPv4 rules
 * applies them to mapped IPv6 addresses as well, which must be checked as IPv6.
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

  /** Whether an address lies in one of them, whatever its zone. */
  has(address: string): boolean {
    if (this.isEmpty) return false;
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    return this.#lists[family].check(withoutZone(address), family);
  }
}

/** A zone (`fe80::1%eth0`) only names an interface. */
export function withoutZone(address: string): string {
  return address.replace(/%.*$/s, "");
}

const MAPPED = new Ranges(["::ffff:0:0/96"]);

/** Whether a range has nothing but IPv4 addresses that were mapped into IPv6. */
export function isMapped({ address, prefix, family }: Cidr): boolean {
  return family === "ipv6" && prefix >= 96 && MAPPED.has(address);
}

/** An IPv4 address that was mapped into IPv6, as IPv4; others as they are. */
export function unmapped(address: string): string {
  if (!address.includes(":") || !MAPPED.has(address)) return address;
  // A URL spells it in one way, such as [::ffff:c000:209].
  const { hostname } = new URL(`http://[${withoutZone(address)}]`);
  const [high, low] = hostname.match(/[0-9a-f]+/g)!.slice(-2)
    .map((group) => parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
