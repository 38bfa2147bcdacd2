/**
 * Deliveries in flight and their limits, shared among sellers by how long their
 * endpoints take.
 */
import { mustRenew } from "../../jobs/lease.ts";
import type { Clock } from "../../deps.ts";
import { type Hold, OwnerTimes } from "../../net/hold_times.ts";
import type { Claim, QueueHead } from "../rows/queue.ts";

/** Most attempts in flight to one URL, for all webhooks together. */
const PER_ENDPOINT = 4;
/** The same while the webhook is failing. */
const PER_FAILING_ENDPOINT = 1;
/** Most attempts in flight in total. */
export const IN_ALL = 256;
/** The share of failing webhooks; the rest is reserved for the others. */
const FAILING_IN_ALL = 192;

/** An attempt in flight. */
export interface Flight {
  claim: Claim;
  webhookId: string;
  sellerId: string;
  url: string;
  /** The webhook was failing when this was claimed. */
  failing: boolean;
  /** Unix milliseconds. */
  leaseUntil: number;
}

/** How many deliveries of a webhook may be claimed. */
export interface ClaimShare {
  head: QueueHead;
  limit: number;
}

export class InFlight {
  /** Each with its seller's hold, until the endpoint has answered. */
  readonly #flights = new Map<Flight, Hold | null>();
  readonly #byUrl = new Map<string, Set<Flight>>();
  readonly #times: OwnerTimes;

  constructor(clock: Clock) {
    this.#times = new OwnerTimes(clock);
  }

  get size(): number {
    return this.#flights.size;
  }

  /** Whether a claim is in flight. */
  holds({ id, leaseId }: Claim): boolean {
    return this.#flights.keys().some(({ claim }) =>
      claim.id === id && claim.leaseId === leaseId
    );
  }

  add(flight: Flight): void {
    this.#flights.set(flight, this.#times.begin(flight.sellerId));
    const sameUrl = this.#byUrl.get(flight.url) ?? new Set();
    this.#byUrl.set(flight.url, sameUrl.add(flight));
  }

  /** Ends the hold: the seller does not pay for the time after the answer. */
  answered(flight: Flight): void {
    this.#flights.get(flight)?.end();
    this.#flights.set(flight, null);
  }

  remove(flight: Flight): void {
    this.answered(flight);
    this.#flights.delete(flight);
    const sameUrl = this.#byUrl.get(flight.url);
    if (sameUrl?.delete(flight) && sameUrl.size === 0) {
      this.#byUrl.delete(flight.url);
    }
  }

  /** Deliveries whose lease must be renewed at `now` (Unix milliseconds). */
  toRenew(now: number): Flight[] {
    return [...this.#flights.keys()].filter(({ leaseUntil }) =>
      mustRenew(leaseUntil, now)
    );
  }

  /**
   * How many deliveries each webhook may send, in the order of `heads`, within
   * all limits.
   */
  shares(heads: readonly QueueHead[]): ClaimShare[] {
    const shares: ClaimShare[] = [];
    const given = new Map<string, { all: number; failing: number }>();
    const givenTo = new Map<string, number>();
    let room = IN_ALL - this.size;
    const failing = [...this.#flights.keys()].filter((flight) =>
      flight.failing
    );
    let failingRoom = FAILING_IN_ALL - failing.length;
    for (const head of heads) {
      const taken = given.get(head.url) ?? { all: 0, failing: 0 };
      const limit = Math.min(
        this.#sellerRoom(head, givenTo.get(head.sellerId) ?? 0, room),
        head.failing ? failingRoom : room,
        this.#endpointRoom(head, taken),
      );
      if (limit <= 0) continue;
      room -= limit;
      taken.all += limit;
      if (head.failing) {
        failingRoom -= limit;
        taken.failing += limit;
      }
      given.set(head.url, taken);
      const own = givenTo.get(head.sellerId) ?? 0;
      givenTo.set(head.sellerId, own + limit);
      shares.push({ head, limit });
    }
    return shares;
  }

  #sellerRoom({ sellerId }: QueueHead, given: number, room: number): number {
    const own = this.#times.held(sellerId) + given;
    return Math.min(room, Math.ceil(this.#times.most(sellerId, room) - own));
  }

  #endpointRoom(
    { webhookId, url, failing }: QueueHead,
    taken: { all: number; failing: number },
  ): number {
    const flights = [...this.#byUrl.get(url) ?? []];
    const room = PER_ENDPOINT - flights.length - taken.all;
    if (!failing) return room;
    // Deliveries that began before the webhook failed count, too.
    const failingFlights = flights.filter((flight) =>
      flight.failing || flight.webhookId === webhookId
    );
    return Math.min(
      room,
      PER_FAILING_ENDPOINT - failingFlights.length - taken.failing,
    );
  }
}
