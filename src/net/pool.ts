/** Idle connections that can be reused. */

import type { Clock } from "../deps.ts";
import type { HttpConnection } from "./http_connection.ts";

// Long enough for a seller who sends one upload after another. If the host
// closes a connection earlier, `watch` notices.
export const IDLE_MS = 15_000;

interface Idle {
  connection: HttpConnection;
  since: number;
}

/** Idle connections by origin; the most recently used is reused first. */
export class Pool {
  readonly #idle = new Map<string, Idle[]>();
  readonly #limit: number;
  readonly #clock: Clock;
  #size = 0;
  #cancelSweep: (() => void) | undefined;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Idle connections. */
  get size(): number {
    return this.#size;
  }

  /** Takes a connection to one of these addresses, if there is one. */
  take(
    origin: string,
    addresses: readonly string[],
  ): HttpConnection | undefined {
    const list = this.#idle.get(origin);
    // Network devices may have dropped a connection that was idle for longer.
    const from = this.#clock.monotonic() - IDLE_MS;
    const found = list?.findLast(({ connection, since }) =>
      since > from && addresses.includes(connection.address)
    );
    if (found !== undefined) this.#remove(origin, found);
    return found?.connection;
  }

  /**
   * Keeps a connection for some seconds, or closes it if it cannot be reused.
   */
  put(origin: string, connection: HttpConnection): void {
    if (!connection.clean) return connection.close();
    if (this.#size >= this.#limit) this.#dropOldest();
    const entry = { connection, since: this.#clock.monotonic() };
    const list = this.#idle.get(origin);
    if (list === undefined) this.#idle.set(origin, [entry]);
    else list.push(entry);
    this.#size++;
    connection.watch(() => {
      this.#remove(origin, entry);
      connection.close();
    });
    this.#cancelSweep ??= this.#clock.after(IDLE_MS, () => this.#sweep());
  }

  /** Closes all connections. */
  close(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    this.#closeSince(Infinity);
  }

  #sweep(): void {
    this.#closeSince(this.#clock.monotonic() - IDLE_MS);
    this.#cancelSweep = this.#size === 0
      ? undefined
      : this.#clock.after(IDLE_MS, () => this.#sweep());
  }

  #closeSince(latest: number): void {
    for (const [origin, list] of this.#idle) {
      for (const entry of list.filter((entry) => entry.since <= latest)) {
        this.#remove(origin, entry);
        entry.connection.close();
      }
    }
  }

  #dropOldest(): void {
    for (const [origin, [oldest]] of this.#idle) {
      this.#remove(origin, oldest);
      return oldest.connection.close();
    }
  }

  #remove(origin: string, entry: Idle): void {
    const list = this.#idle.get(origin);
    const at = list?.indexOf(entry) ?? -1;
    if (list === undefined || at < 0) return;
    list.splice(at, 1);
    this.#size--;
    if (list.length === 0) this.#idle.delete(origin);
  }
}
