import { assert, assertEquals } from "@std/assert";
import {
  DownloadLimits,
  type DownloadSource,
  OriginHistory,
} from "../../../src/images/worker/limits.ts";
import { Owners, Usage } from "../../../src/lib/usage.ts";
import { TestClock } from "../../support/clock.ts";

function takeAll(slots: DownloadLimits, source: DownloadSource): number {
  let taken = 0;
  while (slots.room(source) > 0) {
    slots.take(source);
    taken++;
  }
  return taken;
}

/**
 * Nothing is in flight; some sellers have prompt downloads, others slow ones.
 */
function empty(prompt: readonly string[] = [], slow: readonly string[] = []) {
  const history = new OriginHistory();
  const clock = new TestClock();
  const owners = new Owners(clock);
  const usage = new Usage(owners);
  const held = (sellers: readonly string[], ms: number) => {
    for (const seller of sellers) {
      const holds = Array.from(
        { length: 500 },
        () => usage.acquire({ owner: seller }),
      );
      clock.advance(ms);
      for (const hold of holds) hold[Symbol.dispose]();
    }
  };
  held(prompt, 100);
  held(slow, 40_000);
  const planned = (inFlight: DownloadSource[]) =>
    new DownloadLimits(history, owners, inFlight);
  return { slots: planned([]), history, planned };
}

const origin = (n: number) => `https://${n}.example`;

Deno.test("limits: a new origin gets four requests, one that answers at most 64", () => {
  const { slots, history } = empty(["a"]);
  const source = { sellerId: "a", origin: origin(1) };
  assertEquals(takeAll(slots, source), 4);
  history.set(source.origin, true);
  const more = takeAll(slots, source);
  assert(more >= 50 && more <= 60, `${more} more`);
  history.set(source.origin, false);
  assertEquals(slots.room(source), 0);
});

const sources = (sellerId: string, first: number) =>
  Array.from(
    { length: 10 },
    (_, n) => ({ sellerId, origin: origin(first + n) }),
  );

Deno.test("limits: a seller leaves as many slots free as it has", () => {
  const { slots, history } = empty(["a", "b"]);
  for (let n = 0; n < 20; n++) history.set(origin(n), true);
  const taken = (sellerId: string, first: number) =>
    sources(sellerId, first).map((source) => takeAll(slots, source))
      .reduce((sum, n) => sum + n);
  assertEquals(taken("a", 0), 128);
  assertEquals(taken("b", 10), 64);
});

Deno.test("limits: sellers whose hosts are slow get few slots, although the hosts answer", () => {
  const slow = ["a", "b"];
  const { slots, history } = empty(["c"], slow);
  for (let n = 0; n < 30; n++) history.set(origin(n), true);
  let held = 0;
  for (const [n, seller] of slow.entries()) {
    for (const source of sources(seller, 10 * n)) {
      held += takeAll(slots, source);
    }
  }
  assert(held <= 14, `${held} held`);
  assert(takeAll(slots, { sellerId: "c", origin: origin(20) }) >= 16);
});

Deno.test("limits: a seller without room has room at none of its origins", () => {
  const { slots, history } = empty(["prompt"], ["slow"]);
  for (let n = 0; n < 30; n++) history.set(origin(n), true);
  const ofEach = (sellerId: string) => [
    ...sources(sellerId, 0),
    { sellerId, origin: origin(40) },
  ];
  for (const seller of ["slow", "prompt"]) {
    for (const source of sources(seller, 10)) {
      assert(slots.hasRoom(seller) || slots.room(source) === 0);
      takeAll(slots, source);
    }
    if (slots.hasRoom(seller)) continue;
    for (const source of ofEach(seller)) assertEquals(slots.room(source), 0);
  }
  assertEquals(slots.hasRoom("slow"), false);
  assertEquals(slots.hasRoom("new"), true);
});

Deno.test("limits: within an origin, too, a seller leaves room for others", () => {
  const { slots, history } = empty([], ["slow"]);
  const shared = origin(1);
  assertEquals(takeAll(slots, { sellerId: "slow", origin: shared }), 1);
  assertEquals(takeAll(slots, { sellerId: "new", origin: shared }), 2);
  history.set(shared, true);
  assert(slots.room({ sellerId: "new", origin: shared }) > 0);
});

Deno.test("limits: origins that hang leave room for new and good origins, and for sellers without a slot", () => {
  const { slots, history } = empty();
  history.set(origin(0), true);
  for (let n = 1; n <= 20; n++) {
    history.set(origin(n), false);
    takeAll(slots, { sellerId: `s${n}`, origin: origin(n) });
  }
  assertEquals(slots.room({ sellerId: "s1", origin: origin(20) }), 0);
  assertEquals(slots.room({ sellerId: "s1", origin: origin(21) }), 1);
  history.set(origin(21), false);
  assertEquals(slots.room({ sellerId: "s1", origin: origin(21) }), 0);
  assertEquals(slots.room({ sellerId: "x", origin: origin(21) }), 1);
  assert(slots.room({ sellerId: "x", origin: origin(0) }) > 1);
});

Deno.test("limits: requests in flight keep their slots, and no plan exceeds the limits", () => {
  const { planned } = empty(["a"]);
  const source = { sellerId: "a", origin: origin(1) };
  assertEquals(takeAll(planned([source]), source), 3);
  assertEquals(
    planned([source]).room(source),
    3,
    "a plan that is not carried out costs nothing",
  );
});
