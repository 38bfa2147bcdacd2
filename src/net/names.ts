/** Resolves host names to addresses that may be dialled. */

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Clock } from "../deps.ts";
import type { Ranges } from "../lib/cidr.ts";
import { RecentValues } from "../lib/recent_values.ts";
import { limitTime } from "./time_limit.ts";
import { isBlocked, isBlockedName } from "./addresses.ts";
import { OutboundError, secondsText } from "./errors.ts";
import { timeShareLimit } from "../lib/limits.ts";
import type { Ask, Monotonic } from "../lib/usage.ts";
import { type Permit, WaitList } from "../lib/wait_list.ts";

/**
 * Returns all addresses of a host name; rejects or returns an empty list if the
 * name has none.
 */
export type Resolver = (name: string) => Promise<readonly string[]>;

// Each look-up occupies a thread until the operating system gives up, even
// after its caller has given up. File access uses the same pool of 32 threads
// in Deno. A look-up that waits for a thread would time out, so the look-ups
// are fewer than the threads.
const LOOKUPS_AT_ONCE = 24;

/** Slots for look-ups; all HTTP clients of a JavaScript thread share them. */
export const lookupSlots = (clock: Monotonic): WaitList =>
  new WaitList(clock, { limit: timeShareLimit(LOOKUPS_AT_ONCE) });

const FRESH_MS = 5_000;
const FAILURE_FRESH_MS = 1_000;
const CACHED_NAMES = 1_000;

/**
 * Resolves names by the operating system's look-up, which also reads the hosts
 * file.
 */
export const systemResolver: Resolver = async (name) => {
  const found = await lookup(name, { all: true, order: "verbatim" });
  return found.map((entry) => entry.address);
};

export interface NamesOptions {
  resolve: Resolver;
  /** Private addresses that may be dialled. */
  allow: Ranges;
  timeoutMs: number;
  clock: Clock;
  slots: WaitList;
}

interface Entry {
  until: number;
  addresses: Promise<readonly string[]>;
}

/**
 * Resolves names and checks their addresses. Concurrent requests for a name
 * share one look-up, and its result is cached for five seconds (a failure for
 * one), so that 250 images of one host cost one look-up. Only checked addresses
 * are cached, and the caller dials only these, so DNS rebinding has no effect.
 *
 * A bounded number of look-ups runs at once, shared among owners, so that one
 * owner's slow name servers do not delay the others.
 */
export class HostNames {
  readonly #options: NamesOptions;
  readonly #known = new RecentValues<Entry>(CACHED_NAMES);

  constructor(options: NamesOptions) {
    this.#options = options;
  }

  /**
   * Returns the addresses of a URL's `hostname`, all of them allowed. A look-up
   * may wait for a slot of the owner; the time-out starts after this wait.
   * @throws {OutboundError} `blocked` if the name or **any** of its addresses
   * is blocked, `unresolved`, `timeout` or `stalled`; the signal's reason, if it
   * is aborted while the look-up waits for a slot.
   */
  async addresses(
    hostname: string,
    ask: Pick<Ask, "owner" | "background"> = {},
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const known = this.#current(hostname);
    if (known !== undefined) return await known;
    const address = this.#literal(hostname);
    if (address !== null) return [address];
    const { slots } = this.#options;
    const slot = slots.tryAcquire(ask);
    if (slot !== undefined) return await this.#begin(hostname, slot);
    const awaited = await slots.waitFor(ask, signal);
    const begun = this.#current(hostname);
    if (begun === undefined) return await this.#begin(hostname, awaited);
    awaited.cancel();
    return await begun;
  }

  #current(name: string): Entry["addresses"] | undefined {
    const known = this.#known.get(name);
    return known && this.#options.clock.monotonic() < known.until
      ? known.addresses
      : undefined;
  }

  #begin(name: string, slot: Permit): Entry["addresses"] {
    const { clock } = this.#options;
    const entry = { until: Infinity, addresses: this.#find(name, slot) };
    const keepFor = (ms: number) => entry.until = clock.monotonic() + ms;
    entry.addresses.then(
      () => keepFor(FRESH_MS),
      () => keepFor(FAILURE_FRESH_MS),
    );
    this.#known.set(name, entry);
    return entry.addresses;
  }

  /**
   * The address, if the host name is one; null if the name must be looked up.
   */
  #literal(name: string): string | null {
    const { allow } = this.#options;
    const literal = name.replace(/^\[(.*)\]$/s, "$1");
    if (isIP(literal) !== 0) {
      if (!isBlocked(literal, allow)) return literal;
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
    return null;
  }

  async #find(name: string, slot: Permit): Promise<readonly string[]> {
    const { allow } = this.#options;
    const found = await this.#resolve(name, slot);
    if (found.some((address) => isBlocked(address, allow))) {
      // The message omits the addresses, which may belong to the service's own
      // network.
      throw new OutboundError(
        "blocked",
        `${name} leads to an address that is not on the public internet; the URL must lead to a public host.`,
      );
    }
    return found;
  }

  /** Holds the slot until the resolver answers, even after the time-out. */
  async #resolve(name: string, slot: Permit): Promise<readonly string[]> {
    const { resolve, timeoutMs, clock } = this.#options;
    const late = Promise.withResolvers<never>();
    const limit = limitTime(clock, timeoutMs, (stalled) =>
      late.reject(
        new OutboundError(
          stalled ? "stalled" : "timeout",
          `The host name ${name} did not resolve within ${
            secondsText(timeoutMs)
          }.`,
        ),
      ));
    try {
      const answer = Promise.try(resolve, name);
      const free = () => slot[Symbol.dispose]();
      answer.then(free, free);
      const found = await Promise.race([answer, late.promise]);
      if (found.length > 0) return found;
      throw new Error("no address");
    } catch (cause) {
      if (cause instanceof OutboundError) throw cause;
      throw new OutboundError(
        limit.hasStalled() ? "stalled" : "unresolved",
        `The host name ${name} does not resolve to an address.`,
        { cause },
      );
    } finally {
      limit.cancel();
    }
  }
}
