/** Metrics that are computed at intervals. */
import { assertEquals } from "@std/assert";
import { systemDeps } from "../../src/deps.ts";
import { Metrics } from "../../src/monitoring/metrics.ts";
import { Snapshot } from "../../src/administration/snapshot.ts";
import { TestClock, until } from "../support/clock.ts";
import { parseMetrics } from "../support/metrics.ts";

const TAKEN_EVERY_MS = 10_000;

Deno.test("the longest delay of a timer is shown until the next snapshot", async () => {
  const clock = new TestClock();
  const metrics = new Metrics("sqlite");
  let taken = 0;
  const snapshot = new Snapshot({
    deps: { ...systemDeps("debug"), clock },
    metrics,
    db: {
      spread: null,
      read() {
        taken++;
        throw new Error("no database");
      },
    },
  } as never);
  const lag = async () => {
    const { text } = await metrics.text();
    return parseMetrics(text).get("seller_event_loop_lag_seconds");
  };
  const next = async () => {
    const before = taken;
    await until(() => {
      clock.advance(TAKEN_EVERY_MS / 4);
      return taken > before;
    }, "the next snapshot");
  };
  snapshot.start();
  await until(() => taken === 1, "the first snapshot");
  assertEquals(await lag(), 0);
  clock.stall(950);
  await next();
  assertEquals(await lag(), 0.7);
  await next();
  assertEquals(await lag(), 0);
  await snapshot.stop();
});
