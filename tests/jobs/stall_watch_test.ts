import { assertEquals } from "@std/assert";
import { systemClock } from "../../src/deps.ts";
import { StallWatch } from "../../src/jobs/stall_watch.ts";
import { TestClock } from "../support/clock.ts";

Deno.test("stall watch: time that goes by tick by tick is no stall", () => {
  const clock = new TestClock();
  const watch = new StallWatch(clock);
  watch.start();
  const began = clock.monotonic();
  clock.advance(60_000);
  assertEquals(watch.since(began), false);
  watch.stop();
  assertEquals(clock.waiting, 0);
});

Deno.test("stall watch: a stall is reported before its tick, and only to those that waited during it", () => {
  let now = 0;
  const watch = new StallWatch({
    ...systemClock,
    monotonic: () => now,
    after: () => () => {},
  });
  watch.start();
  now = 60_000;
  assertEquals(watch.since(0), true, "the tick has not come yet");
  now = 61_000;
  assertEquals([watch.since(30_000), watch.since(60_500)], [true, false]);
});
