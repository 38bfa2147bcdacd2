import { assertEquals } from "@std/assert";
import { limitTime } from "../../src/net/time_limit.ts";
import { TestClock } from "../support/clock.ts";

function limited(ms: number) {
  const clock = new TestClock();
  const calls: boolean[] = [];
  const limit = limitTime(clock, ms, (stalled) => calls.push(stalled));
  return { clock, calls, ...limit };
}

Deno.test("limitTime() ends at its limit", () => {
  const { clock, calls } = limited(5_000);
  clock.advance(4_999);
  assertEquals(calls, []);
  clock.advance(1);
  assertEquals(calls, [false]);
  clock.advance(60_000);
  assertEquals(calls, [false]);
});

for (const stalledAt of [0, 1_000, 4_900]) {
  Deno.test(`limitTime() does not count a stall of this process, at ${stalledAt} ms`, () => {
    const { clock, calls } = limited(5_000);
    clock.advance(stalledAt);
    clock.leap(3_600_000);
    clock.advance(5_000 - stalledAt - 1);
    assertEquals(calls, []);
    clock.advance(250);
    assertEquals(calls, [true], "it stood still");
  });
}

Deno.test("limitTime() detects a stall of this thread before its timer fires", () => {
  const { clock, hasStalled, cancel } = limited(60_000);
  clock.advance(30_000);
  assertEquals(hasStalled(), false);
  cancel();
  clock.leap(1_000);
  assertEquals(hasStalled(), false, "a busy second");
  clock.leap(3_000);
  assertEquals(hasStalled(), true);
});

Deno.test("limitTime() detects a stall of this thread within a slice", () => {
  const { clock, hasStalled } = limited(60_000);
  clock.leap(3_000);
  assertEquals(hasStalled(), true);
});

Deno.test("limitTime() counts a slice that is a little late", () => {
  const { clock, calls } = limited(5_000);
  for (let n = 0; n < 15; n++) clock.leap(330);
  clock.advance(50);
  assertEquals(calls, [false]);
});

Deno.test("limitTime() does not count time in which this thread hardly reads events", () => {
  const { clock, calls } = limited(5_000);
  for (let n = 0; n < 20; n++) clock.leap(1_000);
  assertEquals(calls, []);
  clock.leap(1_000);
  assertEquals(calls, [true]);
});

Deno.test("limitTime() can be cancelled, even after a stall", () => {
  const before = limited(5_000);
  before.cancel();
  before.clock.advance(10_000);
  assertEquals(before.calls, []);
  const after = limited(5_000);
  after.clock.leap(10_000);
  after.cancel();
  after.clock.advance(10_000);
  assertEquals(after.calls, []);
});
