import { assertEquals } from "@std/assert";
import { sellerDeliveries } from "../../src/webhooks/delivery_log.ts";
import { TRIGGERS } from "../../src/webhooks/trigger.ts";
import { bothEngines } from "../support/engine.ts";
import { WebhookBench } from "../support/webhook_bench.ts";

bothEngines.test("deliveries in a state are found behind many others, with bounded reads", async () => {
  await using bench = await WebhookBench.open();
  for (const trigger of TRIGGERS) await bench.register(undefined, trigger);
  const { deliveryId } = await bench.emit("oldest");
  await bench.db.write((tx) =>
    tx.run("UPDATE deliveries SET state = 'exhausted' WHERE id = ?", [
      deliveryId,
    ], "any")
  );
  const emitted = Array.from(
    { length: 520 },
    (_, n) => bench.emit(`order-${n}`, TRIGGERS[n % TRIGGERS.length]),
  );
  await Promise.all(emitted);
  const read = (after: string | null) =>
    bench.db.read((sql) =>
      sellerDeliveries(sql, {
        sellerNo: bench.seller.no,
        trigger: null,
        state: "exhausted",
        reference: null,
      }, { after, limit: 1 })
    );
  const first = await read(null);
  assertEquals([first.found, first.scanned], [[], 500]);
  const second = await read(first.next);
  assertEquals(second.found.map(({ id }) => id), [deliveryId]);
  assertEquals(second.next, null);
});
