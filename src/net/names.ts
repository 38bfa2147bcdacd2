/** From a host name to the addresses that may be dialled for it. */

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Clock } from "../deps.ts";
import { type AllowList, isBlocked, isBlockedName } from "./addresses.ts";
import { duration, OutboundError } from "./errors.ts";
import { ConcurrencyLimit } from "./concurrency_limit.ts";

/** All addresses of a host name. Rejects, or gives none, if it has none. */
export type Resolver = (name: string) => Promise<readonly string[]>;

// Each look-up holds a thread until the operating system gives up, even if
// nobody waits for it any more; file access needs threads of the same pool.
const LOOKUPS_AT_ONCE = 128;

const FRESH_MS = 5_000;
const FAILURE_FRESH_MS = 1_000;
const REMEMBERED = 1_000;

/**
 * Resolves as other programs on the machine do, hosts file included: the
 * operating system's own look-up, a bounded number at once.
 */
export function systemResolver(): Resolver {
  const slots = new ConcurrencyLimit({
    perKey: LOOKUPS_AT_ONCE,
    total: LOOKUPS_AT_ONCE,
  });
  return async (name) => {
    await slots.acquire("");
    try {
      const found = await lookup(name, { all: true, order: "verbatim" });
      return found.map((entry) => entry.address);
    } finally {
      slots.release("");
    }
  };
}

export interface NamesOptions {
  resolve: Resolver;
  allow: AllowList;
  timeoutMs: number;
  clock: Clock;
}

interface Entry {
  until: number;
  addresses: Promise<readonly string[]>;
}

/**
 * Resolves and judges. One look-up serves all who ask for a name at the same
 * time, and its outcome is kept for five seconds (a failure for one), so that
 * 250 images of one host cost one. What is kept are checked addresses, and the
 * caller dials those: a name that changes meanwhile gains nothing.
 */
export class Names {
  readonly #options: NamesOptions;
  readonly #known = new Map<string, Entry>();

  constructor(options: NamesOptions) {
    this.#options = options;
  }

  /**
   * The addresses of a URL's `hostname`, every one of them allowed.
   *
   * @throws {OutboundError} `blocked` if the name or **any** of its addresses
   * is, `unresolved`, or `timeout`.
   */
  addresses(hostname: string): Promise<readonly string[]> {
    const { clock } = this.#options;
    const known = this.#known.get(hostname);
    if (known !== undefined && clock.monotonic() < known.until) {
      return known.addresses;
    }
    const entry = { until: Infinity, addresses: this.#find(hostname) };
    const keepFor = (ms: number) => entry.until = clock.monotonic() + ms;
    entry.addresses.then(
      () => keepFor(FRESH_MS),
      () => keepFor(FAILURE_FRESH_MS),
    );
    this.#remember(hostname, entry);
    return entry.addresses;
  }

  async #find(name: string): Promise<readonly string[]> {
    const { allow } = this.#options;
    const literal = name.replace(/^\[(.*)\]$/s, "$1");
    if (isIP(literal) !== 0) {
      if (!isBlocked(literal, allow)) return [literal];
      throw new OutboundError(
        "blocked",
        `${literal} is not an address on the public internet; the URL must lead to a public host.`,
      );
    }
    if (isBlockedName(name, allow)) {
      throw new OutboundError(
        "blocked",
        `${name} is not a public host name; the URL must lead to a public host.`,
      );
    }
    const found = await this.#resolve(name);
    if (found.some((address) => isBlocked(address, allow))) {
      // The addresses stay out of it: they may be those of our own network.
      throw new OutboundError(
        "blocked",
        `${name} leads to an address that is not on the public internet; the URL must lead to a public host.`,
      );
    }
    return found;
  }

  async #resolve(name: string): Promise<readonly string[]> {
    const { resolve, timeoutMs, clock } = this.#options;
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(timeoutMs, () =>
        reject(
          new OutboundError(
            "timeout",
            `The host name ${name} did not resolve within ${
              duration(timeoutMs)
            }.`,
          ),
        ));
    });
    try {
      const found = await Promise.race([resolve(name), late]);
      if (found.length > 0) return found;
      throw unresolved(name);
    } catch (error) {
      if (error instanceof OutboundError) throw error;
      throw unresolved(name, error);
    } finally {
      cancel();
    }
  }

  #remember(name: string, entry: Entry): void {
    this.#known.delete(name);
    this.#known.set(name, entry);
    if (this.#known.size <= REMEMBERED) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest);
  }
}

function unresolved(name: string, cause?: unknown): OutboundError {
  const message = `The host name ${name} does not resolve to an address.`;
  return new OutboundError("unresolved", message, { cause });
}
