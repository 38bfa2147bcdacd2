import { assert, assertEquals } from "@std/assert";
import {
  DownloadLimits,
  type Lane,
  OriginHistory,
} from "../../../src/images/worker/limits.ts";

function takeAll(slots: DownloadLimits, lane: Lane): number {
  let taken = 0;
  while (slots.room(lane) > 0) {
    slots.take(lane);
    taken++;
  }
  return taken;
}

/** Nothing is in flight. */
function empty(): { slots: DownloadLimits; history: OriginHistory } {
  const history = new OriginHistory();
  return { slots: new DownloadLimits(history, []), history };
}

const origin = (n: number) => `https://${n}.example`;

Deno.test("slots: an origin never asked gets four, one that answers 16 and three times as many ahead", () => {
  const { slots, history } = empty();
  const lane = { sellerId: "a", origin: origin(1) };
  assertEquals(takeAll(slots, lane), 4);
  history.note(lane.origin, true);
  assertEquals(takeAll(slots, lane), 60);
  history.note(lane.origin, false);
  assertEquals(slots.room(lane), 0);
});

Deno.test("slots: never more than 64 in flight, and 48 for one seller", () => {
  const { slots, history } = empty();
  for (let n = 0; n < 10; n++) history.note(origin(n), true);
  const lanes = (sellerId: string) =>
    Array.from({ length: 10 }, (_, n) => ({ sellerId, origin: origin(n) }));
  for (const lane of lanes("a")) takeAll(slots, lane);
  assertEquals(lanes("a").filter((lane) => slots.room(lane) > 0), []);
  const others = lanes("b").map((lane) => takeAll(slots, lane));
  assert(others.reduce((sum, n) => sum + n) >= 16, String(others));
  assert(slots.full);
});

Deno.test("slots: origins that hang leave room for those never asked and for good ones", () => {
  const { slots, history } = empty();
  history.note(origin(0), true);
  for (let n = 1; n <= 20; n++) {
    history.note(origin(n), false);
    takeAll(slots, { sellerId: `s${n}`, origin: origin(n) });
  }
  assertEquals(slots.room({ sellerId: "x", origin: origin(20) }), 0);
  assertEquals(slots.room({ sellerId: "x", origin: origin(21) }), 1);
  assertEquals(slots.room({ sellerId: "x", origin: origin(0) }), 64);
});

Deno.test("slots: what is in flight has taken its own, and no plan takes more", () => {
  const history = new OriginHistory();
  const lane = { sellerId: "a", origin: origin(1) };
  const room = () => new DownloadLimits(history, [lane]).room(lane);
  assertEquals(takeAll(new DownloadLimits(history, [lane]), lane), 3);
  assertEquals(room(), 3, "a plan that is not carried out costs nothing");
});
