/**
 * Limits the concurrency of requests to each host. A new host gets few requests
 * at once. Each answer raises the number by one, so it doubles after that many
 * answers, and no burst overflows the host's queue of connections. A request
 * without an answer halves the number.
 *
 * If the host accepts a connection late, its queue was full and it dropped the
 * first packet. Then the number is reduced to the connections that the host had
 * accepted at the same time, at most to half. From there on, the number grows
 * by one with each round of answers.
 */
import { RecentValues } from "../lib/recent_values.ts";

/** Concurrent requests to a new host. */
const FIRST_AT_ONCE = 8;
/** TCP sends the first packet again after one second. */
export const LATE_CONNECT_MS = 1_000;
/** How many hosts are remembered. */
const HOSTS = 10_000;

interface HostPace {
  atOnce: number;
  /** How often `atOnce` was reduced. */
  reductions: number;
  /** From this number on, `atOnce` grows by one with each round. */
  slowFrom: number;
  /** Answers in the current round, once growth is linear. */
  answers: number;
  /** Requests in flight whose connection the host has accepted. */
  accepted: number;
  /** The highest value of `accepted` since the last reduction. */
  mostAccepted: number;
  /** Slots reserved for repeated requests, by owner. */
  reserved: Map<string, number>;
}

/**
 * A slot for a repeated request, which is sent before other requests of its
 * owner; other owners are not affected. Releasing the slot again has no effect.
 */
export class ReservedSlot {
  readonly #owner: string;
  #host: HostPace | null = null;

  constructor(owner = "") {
    this.#owner = owner;
  }

  reserve(host: HostPace): void {
    this.#host = host;
    this.#add(host, 1);
  }

  /** Releases the slot; returns whether there was one. */
  release(): boolean {
    const host = this.#host;
    this.#host = null;
    if (host !== null) this.#add(host, -1);
    return host !== null;
  }

  #add({ reserved }: HostPace, n: number): void {
    const now = (reserved.get(this.#owner) ?? 0) + n;
    if (now === 0) reserved.delete(this.#owner);
    else reserved.set(this.#owner, now);
  }
}

/** The paces of all hosts, by origin. */
export class Paces {
  readonly #most: number;
  readonly #hosts = new RecentValues<HostPace>(HOSTS);

  /** @param most the most requests to one host at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many requests this host gets at once. */
  atOnce(origin: string): number {
    return this.#hosts.peek(origin)?.atOnce ?? this.#first;
  }

  /** The slots of this host that the owner has reserved. */
  reserved(origin: string, owner = ""): number {
    return this.#hosts.peek(origin)?.reserved.get(owner) ?? 0;
  }

  /** Records that a request to this host begins. */
  begin(origin: string): PacedRequest {
    const host = this.#hosts.get(origin) ?? {
      atOnce: this.#first,
      reductions: 0,
      slowFrom: Infinity,
      answers: 0,
      accepted: 0,
      mostAccepted: 0,
      reserved: new Map(),
    };
    this.#hosts.set(origin, host);
    return new PacedRequest(host, this.#most);
  }

  get #first(): number {
    return Math.min(FIRST_AT_ONCE, this.#most);
  }
}

/**
 * A request that changes the pace of its host. If it began before the last
 * reduction, it neither raises nor reduces the pace.
 */
export class PacedRequest {
  /** How many requests the host got at once when this one began. */
  readonly atOnce: number;
  readonly #host: HostPace;
  readonly #most: number;
  readonly #reductions: number;
  #isAccepted = false;

  constructor(host: HostPace, most: number) {
    this.#host = host;
    this.#most = most;
    this.atOnce = host.atOnce;
    this.#reductions = host.reductions;
  }

  /** The request has a connection. */
  accepted(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    const host = this.#host;
    host.accepted++;
    host.mostAccepted = Math.max(host.mostAccepted, host.accepted);
  }

  /** The host has not accepted the connection within `LATE_CONNECT_MS`. */
  late(): void {
    const host = this.#host;
    if (!this.#isCurrent) return;
    this.#reduce(Math.min(host.mostAccepted, Math.floor(host.atOnce / 2)));
    host.slowFrom = host.atOnce;
  }

  /**
   * The host has answered. `inFlight` counts its requests, including this one:
   * if they are far fewer than allowed, the answer does not show that the host
   * accepts more.
   */
  answered(inFlight: number): void {
    const host = this.#host;
    if (!this.#isCurrent || 2 * inFlight < host.atOnce) return;
    if (host.atOnce >= host.slowFrom) {
      host.answers++;
      if (host.answers < host.atOnce) return;
      host.answers = 0;
    }
    host.atOnce = Math.min(this.#most, host.atOnce + 1);
  }

  /**
   * The host did not answer in time, or the connection broke. `retrySlot` is the
   * reserved slot of the request if it is sent again.
   */
  failed(retrySlot: ReservedSlot | null = null): void {
    retrySlot?.reserve(this.#host);
    if (this.#isCurrent) this.#reduce(Math.floor(this.#host.atOnce / 2));
  }

  /** The request has ended, in any way. */
  ended(): void {
    if (this.#isAccepted) this.#host.accepted--;
    this.#isAccepted = false;
  }

  #reduce(atOnce: number): void {
    const host = this.#host;
    host.atOnce = Math.max(1, atOnce);
    host.reductions++;
    host.answers = 0;
    host.mostAccepted = host.accepted;
  }

  get #isCurrent(): boolean {
    return this.#reductions === this.#host.reductions;
  }
}
