import { assert, assertEquals } from "@std/assert";
import type { QueueHead } from "../../../src/webhooks/rows/queue.ts";
import type { Permit } from "../../../src/lib/usage.ts";
import {
  ATTEMPTS_IN_ALL,
  InFlight,
} from "../../../src/webhooks/worker/in_flight.ts";
import { TestClock } from "../../support/clock.ts";

function headsOf(seller: string, urls: number): QueueHead[] {
  return Array.from({ length: urls }, (_, n) => ({
    sellerNo: 1,
    webhookId: `${seller}-${n}`,
    sellerId: seller,
    url: `https://${seller}.example/${n}`,
    failing: false,
    dueAt: 0,
  }));
}

class Endpoints {
  readonly clock = new TestClock();
  readonly inFlight = new InFlight(this.clock);
  readonly #places = new Map<QueueHead, Permit>();

  get size(): number {
    return this.#places.size;
  }

  /** Sends what may be sent; returns it. */
  send(heads: readonly QueueHead[]): QueueHead[] {
    const flights = this.inFlight.shares(heads).flatMap(({ head, limit }) =>
      Array.from({ length: limit }, () => ({ ...head }))
    );
    for (const flight of flights) {
      this.#places.set(flight, this.inFlight.acquire(flight));
    }
    return flights;
  }

  /** Lets these be answered after this time. */
  answer(flights: readonly QueueHead[], ms: number): void {
    this.clock.advance(ms);
    for (const flight of flights) {
      this.#places.get(flight)![Symbol.dispose]();
      this.#places.delete(flight);
    }
  }
}

Deno.test("sellers whose endpoints answer late leave room for others, even when their deliveries are due longest", () => {
  const endpoints = new Endpoints();
  const slow = Array.from({ length: 10 }, (_, n) => headsOf(`slow${n}`, 13))
    .flat();
  for (let round = 0; round < 5; round++) {
    endpoints.answer(endpoints.send(slow), 19_000);
  }
  endpoints.send(slow);
  assert(endpoints.size < ATTEMPTS_IN_ALL / 2, `${endpoints.size}`);
  const prompt = endpoints.send([...slow, ...headsOf("prompt", 13)])
    .filter(({ sellerId }) => sellerId === "prompt");
  assert(prompt.length >= 10, `${prompt.length}`);
});

Deno.test("a seller whose endpoints are prompt has four attempts at each", () => {
  const endpoints = new Endpoints();
  const heads = headsOf("prompt", 13);
  for (let round = 0; round < 20; round++) {
    endpoints.answer(endpoints.send(heads), 50);
  }
  assertEquals(endpoints.send(heads).length, 4 * 13);
  assertEquals(endpoints.send(heads), []);
});

Deno.test("a sent delivery that waits for its server leaves its slot to others", () => {
  const { inFlight } = new Endpoints();
  const [head] = headsOf("acme", 1);
  const [{ limit }] = inFlight.shares([head]);
  const places = Array.from({ length: limit }, () => inFlight.acquire(head));
  assertEquals(inFlight.shares([head]), []);
  places[0][Symbol.dispose]();
  assertEquals(inFlight.shares([head]).map(({ limit }) => limit), [1]);
});
