/** Ranges of IP addresses, as in 10.0.0.0/8 or fd00::/8. */
import { isIP } from "node:net";

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
