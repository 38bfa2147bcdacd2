/**
 * Requests hosts that must never be reached, through the production code; only
 * the name look-up and the dialling are replaced.
 */
import type { Clock } from "../../src/deps.ts";
import { Ranges } from "../../src/lib/cidr.ts";
import {
  Outbound,
  OutboundError,
  type OutboundOptions,
} from "../../src/net/outbound.ts";

/** A public address, that of example.com; it is never dialled here. */
const PUBLIC = "93.184.216.34";

/** Hosts in the spellings that a URL allows, and the address of each. */
const BLOCKED_HOSTS: readonly (readonly [string, string])[] = [
  ["0.0.0.0", "0.0.0.0"],
  ["0.255.255.255", "0.255.255.255"],
  ["10.0.0.1", "10.0.0.1"],
  ["100.64.0.1", "100.64.0.1"],
  ["100.100.100.200", "100.100.100.200"],
  ["127.0.0.1", "127.0.0.1"],
  ["127.255.255.254", "127.255.255.254"],
  ["169.254.169.254", "169.254.169.254"],
  ["172.16.0.1", "172.16.0.1"],
  ["172.31.255.255", "172.31.255.255"],
  ["192.0.0.192", "192.0.0.192"],
  ["192.0.2.1", "192.0.2.1"],
  ["192.88.99.1", "192.88.99.1"],
  ["192.168.0.1", "192.168.0.1"],
  ["198.19.255.255", "198.19.255.255"],
  ["198.51.100.1", "198.51.100.1"],
  ["203.0.113.1", "203.0.113.1"],
  ["224.0.0.1", "224.0.0.1"],
  ["255.255.255.255", "255.255.255.255"],
  ["127.1", "127.0.0.1"],
  ["2130706433", "127.0.0.1"],
  ["0x7f000001", "127.0.0.1"],
  ["0177.0.0.1", "127.0.0.1"],
  ["0xa9fea9fe", "169.254.169.254"],
  ["0xA9.254.0251.254", "169.254.169.254"],
  ["①⑥⑨.②⑤④.①⑥⑨.②⑤④", "169.254.169.254"],
  ["[::]", "::"],
  ["[::1]", "::1"],
  ["[::127.0.0.1]", "::7f00:1"],
  ["[::ffff:127.0.0.1]", "::ffff:7f00:1"],
  ["[::ffff:a9fe:a9fe]", "::ffff:a9fe:a9fe"],
  ["[64:ff9b::169.254.169.254]", "64:ff9b::a9fe:a9fe"],
  ["[64:ff9b:1::1]", "64:ff9b:1::1"],
  ["[100::1]", "100::1"],
  ["[2001::1]", "2001::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[2002:7f00:1::]", "2002:7f00:1::"],
  ["[3fff::1]", "3fff::1"],
  ["[5f00::1]", "5f00::1"],
  ["[fd00:ec2::254]", "fd00:ec2::254"],
  ["[fe80::1]", "fe80::1"],
  ["[ff02::1]", "ff02::1"],
  ["localhost", "127.0.0.1"],
  ["LOCALHOST.", "127.0.0.1"],
  ["a.localhost", "127.0.0.1"],
  ["metadata.google.internal", "169.254.169.254"],
  ["printer.local", "192.168.0.1"],
  ["intranet", "10.0.0.1"],
];

/** Addresses that a name may resolve to and that must be blocked. */
const BLOCKED_ANSWERS: readonly string[] = [
  ...new Set(BLOCKED_HOSTS.map(([, address]) => address)),
  "fe80::1%eth0",
  "not an address",
];

/** Longer than a look-up is cached. */
const LATER_MS = 60_000;
const TIMEOUT_MS = 1_000;

export type OpenOutbound = (options: OutboundOptions) => Outbound;

/**
 * How an outbound client fails, one failure in each line; skips targets that
 * the operator allowed. Connects to nothing.
 */
export async function holesOf(
  allowPrivate: readonly string[],
  open: OpenOutbound = (options) => new Outbound(options),
): Promise<string[]> {
  const allowed = new Ranges(allowPrivate);
  const trial = new Trial(allowPrivate, open);
  try {
    await trial.mustReach("www.example.com", [PUBLIC]);
    for (const [host, address] of BLOCKED_HOSTS) {
      if (!allowed.has(address)) await trial.mustRefuse(host, [address]);
    }
    for (const address of BLOCKED_ANSWERS) {
      if (allowed.has(address.replace(/%.*/, ""))) continue;
      await trial.mustRefuse("one.example.com", [address]);
      await trial.mustRefuse("two.example.com", [PUBLIC, address]);
      // The first look-up of the name returned a public address.
      await trial.mustReach("rebound.example.com", [PUBLIC]);
      await trial.mustRefuse("rebound.example.com", [address]);
    }
  } finally {
    trial.close();
  }
  return trial.holes;
}

class Trial {
  readonly holes: string[] = [];
  readonly #outbound: Outbound;
  #answer: readonly string[] = [];
  #dialled: string[] = [];
  #time = 0;

  constructor(allowPrivate: readonly string[], open: OpenOutbound) {
    this.#outbound = open({
      allowPrivate,
      perOrigin: 1,
      total: 1,
      resolve: () => Promise.resolve(this.#answer),
      dial: (address) => {
        this.#dialled.push(address);
        return Promise.reject(new Deno.errors.ConnectionRefused());
      },
      clock: this.#clock(),
    });
  }

  close(): void {
    this.#outbound.close();
  }

  /** Otherwise a client that refuses everything would pass. */
  async mustReach(host: string, answer: readonly string[]): Promise<void> {
    const seen = await this.#ask(host, answer);
    if (seen === "refused" && this.#dialled.join() === answer.join()) return;
    this.#note(host, answer, "a public address is not dialled as it stands");
  }

  async mustRefuse(host: string, answer: readonly string[]): Promise<void> {
    const seen = await this.#ask(host, answer);
    if (this.#dialled.length > 0) {
      this.#note(host, answer, `${this.#dialled.join(", ")} was dialled`);
    } else if (seen !== "blocked") {
      this.#note(host, answer, `the outcome was "${seen}"`);
    }
  }

  /**
   * Returns the kind of failure; every request of the test fails in some way.
   */
  async #ask(host: string, answer: readonly string[]): Promise<string> {
    this.#answer = answer;
    this.#dialled = [];
    this.#time += LATER_MS;
    try {
      await this.#outbound.head(`http://${host}/`, { timeoutMs: TIMEOUT_MS });
      return "answered";
    } catch (error) {
      return error instanceof OutboundError ? error.kind : String(error);
    }
  }

  #note(host: string, answer: readonly string[], what: string): void {
    this.holes.push(`http://${host}/ (${answer.join(", ")}): ${what}`);
  }

  /** A clock that advances between requests only. */
  #clock(): Clock {
    const now = () => this.#time;
    return { now, monotonic: now, after: () => () => {} };
  }
}
