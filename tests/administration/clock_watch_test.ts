/** A clock that is set back while processes run. */
import { assertEquals } from "@std/assert";
import type { Db } from "../../src/database/db.ts";
import { IMAGES } from "../../src/images/image.ts";
import { DELIVERIES } from "../../src/webhooks/webhook.ts";
import { Signal } from "../../src/jobs/signals.ts";
import { ClockWatch } from "../../src/administration/clock_watch.ts";
import { systemDeps } from "../../src/deps.ts";
import { boot } from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";

const HOUR = 3_600_000;
const LOOK_MS = 1_000;

/**
 * Two watches of a role that the first one has; returns which of them moved the
 * times, and which it woke.
 */
async function watching(
  clock: { setBack: number } & TestClock,
  run: (end: () => void) => Promise<void>,
): Promise<string[]> {
  const moved: string[] = [];
  let hasFirst = true;
  const newWatch = (name: string, isMine: () => boolean) => {
    const log = { error() {}, warn() {}, info() {}, debug() {} };
    const deps = {
      clock,
      log: { ...log, enabled: () => true },
      yieldToIo: () => Promise.resolve(),
    };
    const run = (sql: string, [ms]: readonly number[]) => {
      if (sql.includes("SET due_at")) moved.push(`${name} by ${ms}`);
      return Promise.resolve(1);
    };
    const db = {
      write: (fn: (tx: unknown) => unknown) =>
        fn({ run, get: () => undefined }),
    };
    const services = { deps, db: db as unknown as Db };
    const watch = new ClockWatch(services as never);
    const signalOf = (queue: string) =>
      new Signal(() => moved.push(`${name} wakes ${queue}`));
    watch.add(IMAGES, signalOf("images"), isMine);
    watch.add(DELIVERIES, signalOf("deliveries"), () => false);
    return watch;
  };
  const watches = [
    newWatch("first", () => hasFirst),
    newWatch("second", () => !hasFirst),
  ];
  for (const watch of watches) watch.start();
  await run(() => void (hasFirst = false));
  const stopped = Promise.all(watches.map((watch) => watch.stop()));
  clock.advance(LOOK_MS);
  await stopped;
  return moved;
}

class MovableClock extends TestClock {
  setBack = 0;

  override now(): number {
    return super.now() - this.setBack;
  }
}

async function look(clock: TestClock): Promise<void> {
  clock.advance(LOOK_MS);
  await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("only the process that has the role moves the times", async () => {
  const clock = new MovableClock();
  const moved = await watching(clock, async () => {
    await look(clock);
    clock.setBack = HOUR;
    await look(clock);
    await look(clock);
  });
  assertEquals(moved, [`first by ${HOUR}`, "first wakes images"]);
});

Deno.test("a process that takes over the role moves the times", async () => {
  const clock = new MovableClock();
  const moved = await watching(clock, async (end) => {
    await look(clock);
    end();
    clock.setBack = HOUR;
    await look(clock);
  });
  assertEquals(moved, [`second by ${HOUR}`, "second wakes images"]);
});

bothEngines.test("when all processes of a machine see its clock go back, the times are moved once for each step", async () => {
  await using app = await boot({ config: { roles: ["api"] } });
  const { db } = app.app;
  const body = "<webhook><trigger>order_paid</trigger>" +
    "<url>http://127.0.0.1:1024/hook</url></webhook>";
  await app.call("/seller_api/webhooks", { method: "POST", body });
  await app.call("/seller_api/webhooks/order_paid/test", { method: "POST" });
  const clock = new MovableClock(Date.now());
  const due = clock.now() + 12 * HOUR;
  await db.of(app.sellerNo).write(
    (tx) =>
      tx.run("UPDATE deliveries SET due_at = ? WHERE seller_no = ?", [
        due,
        app.sellerNo,
      ], "any"),
  );
  const deps = { ...systemDeps("error"), clock };
  let woken = 0;
  const watches = [1, 2].map(() => {
    const watch = new ClockWatch({ deps, db });
    watch.add(DELIVERIES, new Signal(() => woken++), () => true);
    watch.start();
    return watch;
  });
  const moved = async () => {
    const row = await db.read((sql) =>
      sql.get<{ at: number }>("SELECT due_at AS at FROM deliveries")
    );
    return due - row!.at;
  };
  await look(clock);
  let movedBy = 0;
  // The second step is as large as the first, and the third comes right after
  // the second: each is another step.
  for (
    const { pause, forth, back } of [
      { pause: 0, forth: 0, back: HOUR },
      { pause: 60_000, forth: 0, back: HOUR },
      { pause: 0, forth: 5 * HOUR, back: 5 * HOUR },
    ]
  ) {
    clock.advance(pause);
    clock.setBack -= forth;
    await look(clock);
    woken = 0;
    clock.setBack += back;
    await until(async () => {
      await look(clock);
      return woken === 2;
    }, "both watches");
    movedBy += back;
    assertEquals(await moved(), movedBy);
  }
  const stopped = Promise.all(watches.map((watch) => watch.stop()));
  clock.advance(LOOK_MS);
  await stopped;
});
