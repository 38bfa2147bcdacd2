import { assertEquals, assertNotEquals } from "@std/assert";
import {
  sweepEvents,
  sweepFormerSecrets,
} from "../../src/webhooks/retention.ts";
import {
  rotateOwnSecret,
  rotateWebhookSecret,
} from "../../src/webhooks/secrets.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { sweepOld } from "../../src/jobs/sweeps.ts";
import { testConfig } from "../support/config.ts";
import { withOneServer } from "../support/one_server.ts";
import { WebhookBench } from "../support/webhook_bench.ts";
import { bothEngines } from "../support/engine.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

function status(bench: WebhookBench, code: number): void {
  bench.sink.answering = () => new Response(null, { status: code });
}

bothEngines.test("a sweep deletes old deliveries but keeps their references", async () => {
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
  const { db, deps } = bench;
  const services = { db, deps, config: testConfig({ dataDir: "" }) };
  const sweep = () => Array.fromAsync(sweepEvents(services));
  const bodies = () =>
    bench.db.read((sql) =>
      sql.all<{ kept: number }>(
        "SELECT body IS NOT NULL AS kept FROM events ORDER BY reference",
      )
    );
  bench.clock.advance(30 * DAY - 6 * SECOND);
  assertEquals(await sweep(), []);
  bench.clock.advance(6 * SECOND);
  assertEquals(await sweep(), [1, 1]);
  assertEquals(await bodies(), [{ kept: 0 }, { kept: 1 }, { kept: 0 }]);
  bench.clock.advance(60 * DAY);
  assertEquals(await sweep(), [1]);
  assertEquals(await bench.deliveries(), []);
  for (const [i, event] of [delivered, held].entries()) {
    const again = await bench.emit(`order-${i + 1}`);
    assertEquals(again, { ...event, outcome: "repeated" });
  }
  const again = await bench.emit("order-3", "order_paid");
  assertEquals(again, { ...unheard, outcome: "repeated" });
  bench.clock.advance(310 * DAY + 10 * SECOND);
  assertEquals(await Array.fromAsync(sweepOld("events", services)), [3]);
  assertNotEquals(await bench.emit("order-3", "order_paid"), unheard);
});

bothEngines.test("former secrets are deleted when they no longer sign", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const { db, deps, seller } = bench;
  await db.write((tx) => rotateWebhookSecret(tx, deps, seller.id));
  await db.write((tx) => rotateOwnSecret(tx, deps, seller.no, "order_created"));
  const sweep = () => Array.fromAsync(sweepFormerSecrets({ db, deps }));
  bench.clock.advance(23 * HOUR);
  assertEquals(await sweep(), [0]);
  bench.clock.advance(2 * HOUR);
  assertEquals([await sweep(), await sweep()], [[2], [0]]);
});

Deno.test("sweeps leave out sellers whose server cannot be reached", async () => {
  await using bench = await WebhookBench.open();
  const { db, deps, seller } = bench;
  const { seller: away } = await db.write((tx) => addSeller(tx, deps, "away"));
  for (const { no, name } of [{ ...seller, name: "acme" }, away]) {
    await bench.register(bench.sink.url(), "order_created", no);
    await db.write((tx) => rotateOwnSecret(tx, deps, no, "order_created"));
    await bench.emit("order-1", "order_paid", name);
  }
  bench.clock.advance(100 * DAY);
  const services = {
    db: withOneServer(db, seller.no),
    deps,
    config: testConfig({ dataDir: "" }),
  };
  assertEquals(await Array.fromAsync(sweepFormerSecrets(services)), [1]);
  assertEquals(await Array.fromAsync(sweepEvents(services)), [1]);
  const left = await db.read((sql) =>
    sql.all<{ no: number; old: number }>(
      `SELECT webhooks.seller_no AS no,
         former_secrets <> '[]' AND body IS NOT NULL AS old
       FROM webhooks JOIN events ON events.seller_no = webhooks.seller_no
       ORDER BY 1`,
    )
  );
  assertEquals(left, [{ no: seller.no, old: 0 }, { no: away.no, old: 1 }]);
});
