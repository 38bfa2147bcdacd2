import { assert, assertEquals } from "@std/assert";
import type { Param, Tx } from "../../src/store/db.ts";
import {
  cancelDeliveries,
  claimDeliveries,
  endedLeases,
  freeDeliveries,
  hastenDeliveries,
  holdDeliveries,
  queueHeads,
} from "../../src/store/deliveries.ts";
import {
  listDeliveries,
  settledDeliveries,
  sweepDeliveries,
} from "../../src/store/delivery_log.ts";
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

/** What the engine plans for every statement that `fn` runs. */
async function plans(
  bench: WebhookBench,
  fn: (tx: Tx) => Promise<unknown>,
): Promise<string[]> {
  const details: string[] = [];
  await bench.db.write(async (tx) => {
    const explain = async (text: string, params?: readonly Param[]) => {
      const rows = await tx.all<{ detail: string }>(
        `EXPLAIN QUERY PLAN ${text}`,
        params,
      );
      details.push(...rows.map(({ detail }) => detail));
    };
    await fn({
      all: async (text, params) => (await explain(text, params), []),
      get: async (text, params) => (await explain(text, params), undefined),
      run: async (text, params) => (await explain(text, params), 0),
      runMany: () => Promise.resolve(),
      onCommit: () => {},
    });
  });
  return details;
}

Deno.test("no statement of the queue looks at every delivery", async () => {
  await using bench = await WebhookBench.open();
  const claim = {
    webhookId: "w",
    url: "u",
    limit: 4,
    leaseId: "l",
    leaseUntil: 0,
    now: 0,
  };
  const statements: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => queueHeads(tx, 0),
    (tx) => claimDeliveries(tx, claim),
    (tx) => endedLeases(tx, 0),
    (tx) => hastenDeliveries(tx, "w", 0),
    (tx) => holdDeliveries(tx, "w", 0),
    (tx) => freeDeliveries(tx, "w", 0),
    (tx) => cancelDeliveries(tx, "w", 0),
    (tx) => sweepDeliveries(tx, 0),
    (tx) => settledDeliveries(tx, "exhausted", 0, 1),
    (tx) => listDeliveries(tx, { sellerId: "s", trigger: "t", limit: 1 }),
  ];
  for (const statement of statements) {
    const details = await plans(bench, statement);
    assert(details.length > 0);
    const scans = details.filter((detail) =>
      /^SCAN (deliveries|events|delivery_attempts)/.test(detail)
    );
    assertEquals(scans, [], String(statement));
  }
});
