import { assert, assertEquals } from "@std/assert";
import {
  DownloadLimits,
  type Lane,
} from "../../../src/images/worker/limits.ts";

function takeAll(slots: DownloadLimits, lane: Lane): number {
  let taken = 0;
  while (slots.room(lane) > 0) {
    slots.take(lane);
    taken++;
  }
  return taken;
}

const origin = (n: number) => `https://${n}.example`;

Deno.test("slots: an origin never asked gets four, one that answers 16 and three times as many ahead", () => {
  const slots = new DownloadLimits();
  const lane = { sellerId: "a", origin: origin(1) };
  assertEquals(takeAll(slots, lane), 4);
  slots.note(lane.origin, true);
  assertEquals(takeAll(slots, lane), 60);
  slots.note(lane.origin, false);
  assertEquals(slots.room(lane), 0);
});

Deno.test("slots: never more than 64 in flight, and 48 for one seller", () => {
  const slots = new DownloadLimits();
  for (let n = 0; n < 10; n++) slots.note(origin(n), true);
  const lanes = (sellerId: string) =>
    Array.from({ length: 10 }, (_, n) => ({ sellerId, origin: origin(n) }));
  for (const lane of lanes("a")) takeAll(slots, lane);
  assertEquals(lanes("a").filter((lane) => slots.room(lane) > 0), []);
  const others = lanes("b").map((lane) => takeAll(slots, lane));
  assert(others.reduce((sum, n) => sum + n) >= 16, String(others));
  assert(slots.full);
});

Deno.test("slots: origins that hang leave room for those never asked and for good ones", () => {
  const slots = new DownloadLimits();
  slots.note(origin(0), true);
  for (let n = 1; n <= 20; n++) {
    slots.note(origin(n), false);
    takeAll(slots, { sellerId: `s${n}`, origin: origin(n) });
  }
  assertEquals(slots.room({ sellerId: "x", origin: origin(20) }), 0);
  assertEquals(slots.room({ sellerId: "x", origin: origin(21) }), 1);
  assertEquals(slots.room({ sellerId: "x", origin: origin(0) }), 64);
});

Deno.test("slots: what is freed can be taken again", () => {
  const slots = new DownloadLimits();
  const lane = { sellerId: "a", origin: origin(1) };
  const taken = takeAll(slots, lane);
  for (let n = 0; n < taken; n++) slots.free(lane);
  assertEquals(takeAll(slots, lane), taken);
});
