import { assertEquals, assertStringIncludes } from "@std/assert";
import { systemClock } from "../../src/deps.ts";
import { boot, child, type TestApp, textAt } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { contract } from "../support/forms.ts";

const HOOK = "/seller_api/webhooks/order_created";

function bootDelivering(): Promise<TestApp> {
  return boot({ config: { roles: ["api", "webhooks"] } });
}

async function register(app: TestApp, sink: WebhookSink): Promise<void> {
  const body = "<webhook><trigger>order_created</trigger>" +
    `<url>${sink.url()}</url></webhook>`;
  const { status } = await app.call("/seller_api/webhooks", {
    method: "POST",
    body,
  });
  assertEquals(status, 200);
}

function post(app: TestApp, path: string, key = app.key) {
  return app.call(`${HOOK}${path}`, { method: "POST", key });
}

async function delivered(app: TestApp): Promise<boolean> {
  const { xml } = await app.call(`${HOOK}/deliveries`);
  return textAt(xml, "deliveries/delivery/state") === "delivered";
}

contract.test("a seller tests a webhook and has the event sent again", async () => {
  await using sink = new WebhookSink();
  await using app = await bootDelivering();
  await register(app, sink);
  const tested = await post(app, "/test");
  assertEquals(tested.status, 200, tested.text);
  const delivery = child(tested.xml, "delivery");
  assertEquals(textAt(delivery, "state"), "pending");
  await until(() => delivered(app));
  assertStringIncludes(sink.received[0].text, '<event test="true">');

  const id = textAt(delivery, "id");
  const replayed = await post(app, `/deliveries/${id}/replay`);
  assertEquals(textAt(replayed.xml, "delivery/state"), "pending");
  await until(() => sink.received.length === 2);
  const ids = sink.received.map(({ headers }) => headers.get("webhook-id"));
  const eventId = textAt(delivery, "event_id");
  assertEquals(ids, [eventId, eventId]);
});

contract.test("webhooks and deliveries of another seller cannot be tested or replayed", async () => {
  await using sink = new WebhookSink();
  await using app = await bootDelivering();
  await register(app, sink);
  const id = textAt((await post(app, "/test")).xml, "delivery/id");
  const other = await app.addSeller("globex");
  const asked = [
    await post(app, "/test", other),
    await post(app, `/deliveries/${id}/replay`, other),
    await post(app, "/deliveries/none/replay"),
    await app.call("/seller_api/webhooks/refund_created/test", {
      method: "POST",
    }),
    await app.call("/seller_api/webhooks/no_trigger/test", { method: "POST" }),
    await app.call(
      `/seller_api/webhooks/refund_created/deliveries/${id}/replay`,
      { method: "POST" },
    ),
  ];
  assertEquals(asked.map(({ status }) => status), asked.map(() => 404));
  await until(() => delivered(app));
  assertEquals(sink.received.length, 1);
});

contract.test("held deliveries stay held, and a removed webhook gets no delivery", async () => {
  await using sink = new WebhookSink();
  await using app = await bootDelivering();
  await register(app, sink);
  await app.app.db.write((tx) =>
    tx.run("UPDATE webhooks SET disabled_at = ?", [systemClock.now()], "any")
  );
  const tested = await post(app, "/test");
  assertEquals(textAt(tested.xml, "delivery/state"), "held");
  const replay = `/deliveries/${textAt(tested.xml, "delivery/id")}/replay`;
  const held = await post(app, replay);
  assertEquals([held.status, textAt(held.xml, "delivery/state")], [
    200,
    "held",
  ]);
  await app.call(HOOK, { method: "DELETE" });
  assertEquals((await post(app, replay)).status, 404);
  assertEquals(sink.received, []);
});
