import { assertEquals, assertRejects } from "@std/assert";
import { DbError } from "../../src/database/db.ts";
import { HeldLeases, writeEnd } from "../../src/jobs/held_leases.ts";
import { DELIVERIES } from "../../src/webhooks/webhook.ts";
import { TestClock } from "../support/clock.ts";
import { WebhookBench } from "../support/webhook_bench.ts";

const lease = (id: string, sellerNo = 1) => ({ sellerNo, id, lease: "l" });

Deno.test("a lease is renewed in time, and at once if the clock has gone back", async () => {
  await using bench = await WebhookBench.open();
  const { clock, db } = bench;
  const renewed: number[] = [];
  const write = db.write.bind(db);
  db.write = ((fn, options) => {
    renewed.push(options?.seller ?? 0);
    return write(fn, options);
  }) as typeof db.write;
  const leases = new HeldLeases({ db, deps: { clock }, queue: DELIVERIES });
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

Deno.test("the end of a lease is written again until the database takes it, or the role stops", async () => {
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
  const ended = writeEnd({ db, deps }, () => Promise.resolve(), {
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
