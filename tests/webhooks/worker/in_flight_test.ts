import { assert, assertEquals } from "@std/assert";
import type { QueueHead } from "../../../src/webhooks/rows/queue.ts";
import {
  type Flight,
  type Flying,
  IN_ALL,
  InFlight,
} from "../../../src/webhooks/worker/in_flight.ts";
import { TestClock } from "../../support/clock.ts";

const LEASED = { sellerNo: 1, lease: "l", attempt: 1 };

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
  readonly #flying = new Map<Flight, Flying>();

  /** Sends what may be sent; answers that. */
  send(heads: readonly QueueHead[]): Flight[] {
    const flights = this.inFlight.shares(heads).flatMap(({ head, limit }) =>
      Array.from({ length: limit }, (_, n): Flight => ({
        ...head,
        claim: { ...LEASED, id: `${head.webhookId}-${n}` },
        leaseUntil: 0,
      }))
    );
    for (const flight of flights) {
      this.#flying.set(flight, this.inFlight.begin(flight));
    }
    return flights;
  }

  /** Has these answered after so long. */
  answer(flights: readonly Flight[], ms: number): void {
    this.clock.advance(ms);
    for (const flight of flights) this.#flying.get(flight)![Symbol.dispose]();
  }
}

Deno.test("sellers whose endpoints answer late leave room to the others, also when theirs are due longest", () => {
  const endpoints = new Endpoints();
  const slow = Array.from({ length: 10 }, (_, n) => headsOf(`slow${n}`, 13))
    .flat();
  for (let round = 0; round < 5; round++) {
    endpoints.answer(endpoints.send(slow), 19_000);
  }
  endpoints.send(slow);
  assert(endpoints.inFlight.size < IN_ALL / 2, `${endpoints.inFlight.size}`);
  const prompt = endpoints.send([...slow, ...headsOf("prompt", 13)])
    .filter(({ sellerId }) => sellerId === "prompt");
  assert(prompt.length >= 10, `${prompt.length}`);
});

Deno.test("a seller whose endpoints are prompt has four tries at each", () => {
  const endpoints = new Endpoints();
  const heads = headsOf("prompt", 13);
  for (let round = 0; round < 20; round++) {
    endpoints.answer(endpoints.send(heads), 50);
  }
  assertEquals(endpoints.send(heads).length, 4 * 13);
  assertEquals(endpoints.send(heads), []);
});

Deno.test("a lease is renewed in time, and at once if the clock has gone back", () => {
  const { clock, inFlight } = new Endpoints();
  const now = clock.now();
  const leases = [10_001, 15_000, 10_000, 3_600_000 + 12_000];
  const heads = headsOf("seller", leases.length);
  for (const [n, head] of heads.entries()) {
    inFlight.begin({
      ...head,
      claim: { ...LEASED, id: head.webhookId },
      leaseUntil: now + leases[n],
    });
  }
  const renewed = inFlight.toRenew(now).map(({ webhookId }) => webhookId);
  assertEquals(renewed, ["seller-2", "seller-3"]);
});

Deno.test("what was sent and waits for its server leaves its place to others", () => {
  const { inFlight } = new Endpoints();
  const [head] = headsOf("acme", 1);
  const [{ limit }] = inFlight.shares([head]);
  const flying = Array.from(
    { length: limit },
    (_, n) =>
      inFlight.begin({
        ...head,
        claim: { ...LEASED, id: `${n}` },
        leaseUntil: 0,
      }),
  );
  assertEquals(inFlight.shares([head]), []);
  flying[0].place[Symbol.dispose]();
  assertEquals(inFlight.shares([head]).map(({ limit }) => limit), [1]);
  assertEquals(inFlight.size, limit);
  flying[0][Symbol.dispose]();
  assertEquals(inFlight.size, limit - 1);
});
