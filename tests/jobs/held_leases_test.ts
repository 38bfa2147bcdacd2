import { assertEquals, assertRejects } from "@std/assert";
import { DbError } from "../../src/database/db.ts";
import { HeldLeases, writeUntilAccepted } from "../../src/jobs/held_leases.ts";
import { DELIVERIES } from "../../src/webhooks/webhook.ts";
import { jsonLog } from "../../src/deps.ts";
import { TestClock } from "../support/clock.ts";
import { WebhookBench } from "../support/webhook_bench.ts";

const lease = (id: string, sellerNo = 1) => ({ sellerNo, id, lease: "l" });

const heldIn = ({ db, clock }: WebhookBench) =>
  new HeldLeases({
    db,
    deps: { clock, log: jsonLog("error", () => {}) },
    queue: DELIVERIES,
    shared: false,
  });

Deno.test("a lease is renewed in time, and at once if the clock was set back", async () => {
  await using bench = await WebhookBench.open();
  const { clock, db } = bench;
  const renewed: number[] = [];
  const of = db.of.bind(db);
  db.of = (sellerNo) => {
    renewed.push(sellerNo);
    return of(sellerNo);
  };
  const leases = heldIn(bench);
  const now = clock.now();
  const ages = [4_999, 0, 5_000, -3_600_000];
  for (const [n, age] of ages.entries()) {
    leases.add([lease(`${n}`, n)], now - age);
  }
  await leases.renew();
  assertEquals(renewed, [2, 3]);
  await leases.renew();
  assertEquals(renewed, [2, 3], "both were renewed");
});

Deno.test("the end of a lease is retried until the database stores it or the role stops", async () => {
  const clock = new TestClock();
  const deps = { clock };
  let writes = 0;
  const db = {
    write: () => {
      writes++;
      return Promise.reject(new DbError("full", "broken on purpose"));
    },
  };
  const stopping = new AbortController();
  const ended = writeUntilAccepted({ db, deps }, () => Promise.resolve(), {
    abort: stopping.signal,
  });
  const failure = assertRejects(() => ended, DbError);
  for (let second = 1; second <= 3; second++) {
    while (clock.waiting === 0) await Promise.resolve();
    assertEquals(writes, second);
    clock.advance(1_000);
  }
  while (clock.waiting === 0) await Promise.resolve();
  stopping.abort();
  await failure;
});

Deno.test("after an outage, a process that came later has time to renew its leases, and no query is made meanwhile", async () => {
  await using bench = await WebhookBench.open();
  const { clock, db } = bench;
  const leases = heldIn(bench);
  let queries = 0;
  const read = db.read.bind(db);
  db.read = ((fn, options) => {
    queries++;
    return read(fn, options);
  }) as typeof db.read;
  assertEquals(await leases.releaseDead(), 0);
  await bench.register();
  await bench.emit("a");
  await db.write((tx) =>
    tx.run(
      "UPDATE deliveries SET due_at = NULL, lease_id = 'other', lease_until = ?",
      [clock.now() + 1_000],
      "any",
    )
  );
  clock.advance(10_001);
  queries = 0;
  for (let ms = 0; ms < 5_000; ms += 1_000) {
    assertEquals(await leases.releaseDead(), 0);
    clock.advance(1_000);
  }
  assertEquals(queries, 1, "of the look that found the outage to be over");
  assertEquals(await leases.releaseDead(), 1, "it did not renew it");
  const row = await db.read((sql) =>
    sql.get("SELECT due_at, lease_id FROM deliveries")
  );
  assertEquals(row, { due_at: clock.now(), lease_id: null });
});
