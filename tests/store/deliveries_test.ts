import { assert, assertEquals } from "@std/assert";
import { endedLeases, queueHeads } from "../../src/store/deliveries.ts";
import { sweepDeliveries } from "../../src/store/delivery_log.ts";
import { WebhookBench } from "../support/webhook_bench.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

function status(bench: WebhookBench, code: number): void {
  bench.sink.answering = () => new Response(null, { status: code });
}

Deno.test("a sweep deletes what was kept long enough, and knows the reference still", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const role = bench.start();
  const delivered = await bench.emit("order-1");
  await bench.delivery(delivered, "delivered");
  status(bench, 410);
  const held = await bench.emit("order-2");
  await bench.delivery(held, "held");
  const unheard = await bench.emit("order-3", "order_paid");
  await Promise.all([role.stop(), bench.clock.advance(5 * SECOND)]);
  const sweep = () =>
    bench.db.write((tx) => sweepDeliveries(tx, bench.clock.now()));
  const bodies = () =>
    bench.db.read((sql) =>
      sql.all<{ kept: number }>(
        "SELECT body IS NOT NULL AS kept FROM events ORDER BY reference",
      )
    );
  bench.clock.advance(30 * DAY - 6 * SECOND);
  assertEquals(await sweep(), 0);
  bench.clock.advance(6 * SECOND);
  assertEquals([await sweep(), await sweep(), await sweep()], [1, 1, 0]);
  assertEquals(await bodies(), [{ kept: 0 }, { kept: 1 }, { kept: 0 }]);
  bench.clock.advance(60 * DAY);
  assertEquals([await sweep(), await sweep()], [1, 0]);
  assertEquals(await bench.deliveries(), []);
  for (const [i, event] of [delivered, held].entries()) {
    assertEquals(await bench.emit(`order-${i + 1}`), event);
  }
  assertEquals(await bench.emit("order-3", "order_paid"), unheard);
});

Deno.test("the heads of the queue are found by index, whatever the backlog", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  await bench.emit("order-1");
  const plan = await bench.db.read(async (sql) => {
    const explained: string[] = [];
    const recording = {
      ...sql,
      all: async <T>(text: string, params?: readonly (string | number)[]) => {
        const rows = await sql.all<{ detail: string }>(
          `EXPLAIN QUERY PLAN ${text}`,
          params,
        );
        explained.push(...rows.map(({ detail }) => detail));
        return [] as T[];
      },
    };
    await queueHeads({ ...recording, get: sql.get.bind(sql) }, 0);
    await endedLeases({ ...recording, get: sql.get.bind(sql) }, 0);
    return explained.filter((detail) => detail.includes("deliveries"));
  });
  assert(plan.length >= 4, plan.join("\n"));
  for (const detail of plan) {
    assert(
      /SEARCH deliveries USING .*INDEX|SCAN deliveries USING COVERING INDEX deliveries_queue/
        .test(detail),
      detail,
    );
  }
});
