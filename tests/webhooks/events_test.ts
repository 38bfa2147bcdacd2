import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError, type Tx } from "../../src/database/db.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import { markRemoved } from "../../src/sellers/seller_rows.ts";
import type { EventDraft } from "../../src/webhooks/event_document.ts";
import { ingestEvent } from "../../src/webhooks/ingest.ts";
import { deleteWebhook } from "../../src/webhooks/webhook_rows.ts";
import { WebhookBench } from "../support/webhook_bench.ts";
import { bothEngines } from "../support/engine.ts";

function rows(bench: WebhookBench, table: string): Promise<unknown[]> {
  return bench.db.read((sql) => sql.all(`SELECT * FROM ${table}`));
}

function draftOf(reference: string): EventDraft {
  return {
    seller: { text: "acme" },
    trigger: { text: "order_created" },
    reference: { text: reference },
    data: { xml: "" },
    details: [],
  };
}

bothEngines.test("an event and its delivery are stored in one write, or neither is", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const first = await bench.emit("order-1");
  // The second event's delivery gets an id that is already taken.
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
      draftOf("order-2"),
    )
  );
  assertEquals((await rows(bench, "events")).length, 1);
  assertEquals((await rows(bench, "deliveries")).length, 1);
  assertEquals(bench.signals.deliveries.count, woken);
});

bothEngines.test("the same reference is a separate event for another trigger or seller", async () => {
  await using bench = await WebhookBench.open();
  const first = await bench.emit("order-1", "order_created");
  const second = await bench.emit("order-1", "order_paid");
  assert(first.eventId !== second.eventId);
  const again = await bench.emit("order-1", "order_paid");
  assertEquals(again, { ...second, outcome: "repeated" });
  assertEquals((await rows(bench, "events")).length, 2);
});

bothEngines.test("changes between the parsing of an event and its write count", async () => {
  await using bench = await WebhookBench.open();
  /** Sends an event; `between` runs before its first write. */
  const handIn = (reference: string, between: (tx: Tx) => Promise<unknown>) => {
    let before: Promise<unknown> | undefined;
    const db: Db = Object.assign(Object.create(bench.db), {
      write: async (...args: Parameters<Db["write"]>) => {
        await (before ??= bench.db.write(between));
        return await bench.db.write(...args);
      },
    });
    return ingestEvent({ ...bench, db }, draftOf(reference));
  };
  const { deps, seller } = bench;
  const disable = (tx: Tx) =>
    tx.run("UPDATE webhooks SET disabled_at = 1", [], "any");
  const enable = (tx: Tx) =>
    tx.run("UPDATE webhooks SET disabled_at = NULL", [], "any");
  const remove = (tx: Tx) =>
    deleteWebhook(tx, deps, seller.no, "order_created");
  await bench.register();
  assertEquals((await handIn("1", disable)).outcome, "held");
  assertEquals((await handIn("2", enable)).outcome, "queued");
  const { deliveryId, outcome } = await handIn("3", remove);
  assertEquals([deliveryId, outcome], [null, "unheard"]);
  const states = (await bench.deliveries()).map(({ state }) => state);
  assertEquals(states, ["cancelled", "cancelled"]);
  await assertRejects(
    () => handIn("4", (tx) => markRemoved(tx, seller)),
    ServiceError,
  );
});

bothEngines.test("an event whose storing is unknown can be sent again", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const unsure = new DbError("unsure", "broken on purpose");
  /**
   * The first `broken` writes are stored, or not, and their answers are lost.
   */
  const handIn = (reference: string, broken: number, isStored: boolean) => {
    const db: Db = Object.assign(Object.create(bench.db), {
      write: async (...args: Parameters<Db["write"]>) => {
        const breaks = broken-- > 0;
        const result = breaks && !isStored
          ? undefined
          : await bench.db.write(...args);
        if (breaks) throw unsure;
        return result;
      },
    });
    return ingestEvent({ ...bench, db }, draftOf(reference));
  };
  assertEquals((await handIn("1", 1, true)).outcome, "repeated");
  assertEquals((await handIn("2", 1, false)).outcome, "queued");
  assertEquals(await assertRejects(() => handIn("3", 2, true)), unsure);
  assertEquals((await rows(bench, "events")).length, 3);
  assertEquals((await rows(bench, "deliveries")).length, 3);
});
