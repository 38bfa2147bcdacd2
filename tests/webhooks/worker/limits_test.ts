import { assert, assertEquals } from "@std/assert";
import { until } from "../../support/clock.ts";
import { WebhookBench } from "../../support/webhook_bench.ts";
import { gate } from "../../support/webhook_sink.ts";
import { bothEngines } from "../../support/engine.ts";

function status(bench: WebhookBench, code: number): void {
  bench.sink.answering = () => new Response(null, { status: code });
}

bothEngines.test("at most four attempts are in flight to an endpoint, however many triggers share it", async () => {
  await using bench = await WebhookBench.open();
  await bench.register(bench.sink.url(), "order_created");
  await bench.register(bench.sink.url(), "order_paid");
  let hanging = 0;
  let { open, opened } = gate();
  bench.sink.answering = async () => {
    hanging++;
    await opened;
    return new Response();
  };
  for (let i = 0; i < 12; i++) {
    await bench.emit(`order-${i}`, i % 2 ? "order_created" : "order_paid");
  }
  bench.start();
  for (const upTo of [4, 8, 12]) {
    await until(() => hanging === upTo, `${upTo} under way`);
    await new Promise((done) => setTimeout(done, 20));
    assertEquals(hanging, upTo);
    const release = open;
    ({ open, opened } = gate());
    release();
  }
  open();
  await until(async () =>
    (await bench.deliveries()).every(({ state }) => state === "delivered")
  );
  assertEquals(bench.sink.peak(), 4);
});

bothEngines.test("one attempt is in flight to an endpoint while it fails", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  status(bench, 500);
  bench.start();
  await bench.delivery(await bench.emit("order-0"), "retrying");
  let { open, opened } = gate();
  let hanging = 0;
  bench.sink.answering = async () => {
    hanging++;
    await opened;
    return new Response(null, { status: 500 });
  };
  for (let i = 1; i <= 6; i++) await bench.emit(`order-${i}`);
  for (const upTo of [1, 2, 3]) {
    // The pause after a failure, a little longer with each.
    bench.clock.advance(100);
    await until(() => hanging === upTo, `try ${upTo}`);
    await new Promise((done) => setTimeout(done, 20));
    assertEquals(hanging, upTo);
    const release = open;
    ({ open, opened } = gate());
    release();
    await until(async () =>
      (await bench.deliveries()).every(({ state }) => state !== "sending")
    );
  }
  open();
});

bothEngines.test("an endpoint that hangs does not delay others", async () => {
  await using bench = await WebhookBench.open();
  await bench.register(bench.sink.url("/dead"), "order_paid");
  await bench.register(bench.sink.url("/good"), "order_created");
  const { open, opened } = gate();
  bench.sink.answering = async ({ path }) => {
    if (path === "/dead") await opened;
    return new Response();
  };
  for (let i = 0; i < 50; i++) await bench.emit(`dead-${i}`, "order_paid");
  bench.start();
  await until(() => bench.sink.at("/dead").length === 4);
  for (let i = 0; i < 20; i++) {
    await bench.delivery(await bench.emit(`good-${i}`), "delivered");
  }
  assertEquals(bench.sink.at("/dead").length, 4);
  open();
});

bothEngines.test("the delivery that has been due longest is sent first", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.sink.answering = async () => {
    await new Promise((done) => setTimeout(done, 2));
    return new Response();
  };
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) {
    ids.push((await bench.emit(`order-${i}`)).eventId);
    bench.clock.advance(1);
  }
  bench.start();
  await until(() => bench.sink.received.length === 12);
  const order = bench.sink.received.map(({ headers }) =>
    ids.indexOf(headers.get("webhook-id")!)
  );
  // Four at once may overtake each other, but no more.
  for (const [place, number] of order.entries()) {
    assert(Math.abs(place - number) < 4, order.join(" "));
  }
});
