import { assert, assertEquals, assertRejects } from "@std/assert";
import { ingestEvent } from "../../src/webhooks/ingest.ts";
import { WebhookBench } from "../support/webhook_bench.ts";
import { bothEngines } from "../support/engine.ts";

function rows(bench: WebhookBench, table: string): Promise<unknown[]> {
  return bench.db.read((sql) => sql.all(`SELECT * FROM ${table}`));
}

bothEngines.test("event and delivery are one write, or none", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const first = await bench.emit("order-1");
  // The second event's delivery asks for an id that is taken.
  const ids = [crypto.randomUUID(), first.deliveryId!];
  const woken = bench.signals.deliveries.count;
  await assertRejects(() =>
    ingestEvent(
      {
        db: bench.db,
        deps: {
          clock: bench.clock,
          ids: { ...bench.deps.ids, uuid: () => ids.shift()! },
        },
        signals: bench.signals,
      },
      {
        seller: { text: "acme" },
        trigger: { text: "order_created" },
        reference: { text: "order-2" },
        data: "",
        details: [],
      },
    )
  );
  assertEquals((await rows(bench, "events")).length, 1);
  assertEquals((await rows(bench, "deliveries")).length, 1);
  assertEquals(bench.signals.deliveries.count, woken);
});

bothEngines.test("one reference can be another event for another trigger or seller", async () => {
  await using bench = await WebhookBench.open();
  const first = await bench.emit("order-1", "order_created");
  const second = await bench.emit("order-1", "order_paid");
  assert(first.eventId !== second.eventId);
  const again = await bench.emit("order-1", "order_paid");
  assertEquals(again, { ...second, outcome: "repeated" });
  assertEquals((await rows(bench, "events")).length, 2);
});
