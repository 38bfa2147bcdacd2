import { assertEquals } from "@std/assert";
import { pause } from "../../src/lib/waits.ts";
import { TestClock } from "../support/clock.ts";

Deno.test("a pause ends after its time, or when it is aborted; no timer is left", async () => {
  const clock = new TestClock();
  const ended: string[] = [];
  const abort = new AbortController();
  const pauseOf = (name: string, signal?: AbortSignal) =>
    pause(clock, 1_000, signal).then(() => ended.push(name));
  const both = [pauseOf("timed"), pauseOf("aborted", abort.signal)];
  clock.advance(999);
  await Promise.resolve();
  assertEquals(ended, []);
  abort.abort();
  await both[1];
  assertEquals([ended, clock.waiting], [["aborted"], 1]);
  clock.advance(1);
  await both[0];
  assertEquals([ended, clock.waiting], [["aborted", "timed"], 0]);
  await pause(clock, 1_000, abort.signal);
  assertEquals(clock.waiting, 0, "aborted before");
});
