import { assertEquals } from "@std/assert";
import { limitTime } from "../../src/net/time_limit.ts";
import { TestClock } from "../support/clock.ts";

function limited(ms: number) {
  const clock = new TestClock();
  let calls = 0;
  const cancel = limitTime(clock, ms, () => calls++);
  return { clock, cancel, calls: () => calls };
}

Deno.test("limitTime() ends at its time", () => {
  const { clock, calls } = limited(5_000);
  clock.advance(4_999);
  assertEquals(calls(), 0);
  clock.advance(1);
  assertEquals(calls(), 1);
  clock.advance(60_000);
  assertEquals(calls(), 1);
});

Deno.test("limitTime() waits on after a stall of this process", () => {
  const { clock, calls } = limited(5_000);
  clock.advance(4_000);
  clock.leap(3_000); // two seconds too late
  assertEquals(calls(), 0);
  clock.advance(1_999);
  assertEquals(calls(), 0);
  clock.advance(1);
  assertEquals(calls(), 1);
});

Deno.test("limitTime() waits no longer than its time once more", () => {
  const { clock, calls } = limited(5_000);
  clock.leap(3_600_000);
  clock.advance(5_000);
  assertEquals(calls(), 1);
});

Deno.test("limitTime() can be taken back, also after a stall", () => {
  const before = limited(5_000);
  before.cancel();
  before.clock.advance(10_000);
  assertEquals(before.calls(), 0);
  const after = limited(5_000);
  after.clock.leap(10_000);
  after.cancel();
  after.clock.advance(10_000);
  assertEquals(after.calls(), 0);
});
