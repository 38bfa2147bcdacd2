import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import {
  type LoggedDelivery,
  replayDelivery,
} from "../../../src/webhooks/delivery_log.ts";
import { RETRIES } from "../../../src/webhooks/webhook.ts";
import {
  rotateOwnSecret,
  rotateWebhookSecret,
} from "../../../src/webhooks/secrets.ts";
import {
  deleteWebhook,
  listWebhooks,
} from "../../../src/webhooks/webhook_rows.ts";
import { ServiceError } from "../../../src/lib/errors.ts";
import { until } from "../../support/clock.ts";
import { WebhookBench } from "../../support/webhook_bench.ts";
import {
  gate,
  type Received,
  WebhookSink,
} from "../../support/webhook_sink.ts";
import { bothEngines } from "../../support/engine.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

/**
 * Whether the package accepts the signature; it then fails to parse XML as
 * JSON.
 */
function verified(secret: string, { headers, text }: Received): boolean {
  try {
    // The package uses the real clock, so the signature is made again.
    const timestamp = Number(headers.get("webhook-timestamp"));
    const id = headers.get("webhook-id")!;
    const expected = new Webhook(secret)
      .sign(id, new Date(timestamp * 1000), text);
    return headers.get("webhook-signature")!.split(" ").includes(expected);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

function status(bench: WebhookBench, code: number): void {
  bench.sink.answering = () => new Response(null, { status: code });
}

/** The key of an event's delivery. */
function keyOf(
  { seller }: WebhookBench,
  { deliveryId }: { deliveryId: string | null },
) {
  return { sellerNo: seller.no, id: deliveryId! };
}

bothEngines.test("an event is delivered, signed, as it was stored", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  const event = await bench.emit("order-1");
  const delivery = await bench.delivery(event, "delivered");
  const [received] = bench.sink.received;
  assertEquals(
    received.text,
    `<event><id>${event.eventId}</id><trigger>order_created</trigger>` +
      "<created_at>2026-11-20T08:00:00.000Z</created_at>" +
      "<data><order>order-1</order></data></event>",
  );
  assertEquals(received.headers.get("webhook-id"), event.eventId);
  assertEquals(
    received.headers.get("content-type"),
    "text/xml; charset=utf-8",
  );
  assertEquals(
    received.headers.get("webhook-timestamp"),
    String(bench.clock.now() / 1000),
  );
  assert(verified(bench.seller.secret, received));
  assertEquals(delivery.attempts, 1);
  const [attempt] = await bench.attempts(event);
  assertEquals(attempt.status, 200);
  assertEquals(attempt.address, "127.0.0.1");
  assertEquals(attempt.error, null);
  assertNotEquals(attempt.durationMs, null);
});

bothEngines.test("a failed delivery is sent again after five seconds, with the same id", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.sink.answering = (_, count) =>
    new Response("no".repeat(1000), { status: count === 1 ? 500 : 201 });
  bench.start();
  const event = await bench.emit("order-1");
  const { dueAt } = await bench.delivery(event, "retrying");
  const wait = dueAt! - bench.clock.now();
  assert(wait >= 4 * SECOND && wait <= 6 * SECOND, `${wait} ms`);
  bench.clock.advance(wait - 1);
  assertEquals(bench.sink.received.length, 1);
  bench.clock.advance(1);
  await bench.delivery(event, "delivered");
  const [first, second] = bench.sink.received;
  assertEquals(
    first.headers.get("webhook-id"),
    second.headers.get("webhook-id"),
  );
  assertNotEquals(
    first.headers.get("webhook-timestamp"),
    second.headers.get("webhook-timestamp"),
  );
  assert(verified(bench.seller.secret, second));
  const attempts = await bench.attempts(event);
  assertEquals(attempts.map(({ status }) => status), [500, 201]);
  assertEquals(attempts[0].answer, "no".repeat(512));
});

Deno.test("a redirect is a failure and is not followed", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.sink.answering = () =>
    new Response(null, { status: 302, headers: { location: "/other" } });
  bench.start();
  const event = await bench.emit("order-1");
  await bench.delivery(event, "retrying");
  assertEquals(bench.sink.at("/other").length, 0);
});

Deno.test("an unreachable host is a failure with its own code", async () => {
  await using bench = await WebhookBench.open();
  const gone = new WebhookSink();
  const url = gone.url();
  await gone[Symbol.asyncDispose]();
  await bench.register(url);
  bench.start();
  const event = await bench.emit("order-1");
  const delivery = await bench.delivery(event, "retrying");
  assertEquals(delivery.lastAnswer, "refused");
  assertEquals((await bench.attempts(event))[0].error, "refused");
});

bothEngines.test("a retry waits for Retry-After", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.sink.answering = () =>
    new Response(null, { status: 429, headers: { "retry-after": "3600" } });
  bench.start();
  const event = await bench.emit("order-1");
  const { dueAt } = await bench.delivery(event, "retrying");
  assertEquals(dueAt! - bench.clock.now(), HOUR);
});

Deno.test("a large answer is read up to a limit and judged by its status", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.sink.answering = () => new Response("x".repeat(1_000_000));
  bench.start();
  const event = await bench.emit("order-1");
  await bench.delivery(event, "delivered");
  assertEquals((await bench.attempts(event))[0].answer?.length, 1024);
});

bothEngines.test("a delivery is exhausted after its retries; a replay restarts the schedule", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  status(bench, 503);
  bench.start();
  const event = await bench.emit("order-1");
  for (const tries of RETRIES.delaysMs.keys()) {
    let delivery: LoggedDelivery;
    await until(async () => {
      [delivery] = await bench.deliveries();
      return delivery.state === "retrying" && delivery.attempts === tries + 1;
    });
    bench.clock.advance(delivery!.dueAt! - bench.clock.now());
  }
  const exhausted = await bench.delivery(event, "exhausted");
  const tries = RETRIES.delaysMs.length + 1;
  assertEquals(exhausted.attempts, tries);
  assertEquals(exhausted.dueAt, null);
  assertEquals((await bench.webhook()).disabledAt, null);
  await bench.register(bench.sink.url("/mended"));
  status(bench, 500);
  const replayed = await bench.db.write((tx) =>
    replayDelivery(tx, exhausted, bench.clock.now())
  );
  assertEquals(replayed, "due");
  bench.signals.deliveries.notify();
  const again = await bench.delivery(event, "retrying");
  assertEquals(again.attempts, tries + 1);
  assert(again.dueAt! - bench.clock.now() <= 6 * SECOND);
  const ids = bench.sink.received.map(({ headers }) =>
    headers.get("webhook-id")
  );
  assertEquals(new Set(ids), new Set([event.eventId]));
});

bothEngines.test("410 disables the webhook; posting it again releases held deliveries", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  status(bench, 410);
  bench.start();
  const first = await bench.emit("order-1");
  await bench.delivery(first, "held");
  assertEquals((await bench.webhook()).disabledAt, bench.clock.now());
  const second = await bench.emit("order-2");
  await bench.delivery(second, "held");
  assertEquals(bench.sink.received.length, 1);
  status(bench, 200);
  await bench.register();
  await bench.delivery(first, "delivered");
  await bench.delivery(second, "delivered");
  assertEquals((await bench.webhook()).disabledAt, null);
});

bothEngines.test("each webhook of a seller fails, and is disabled, for itself", async () => {
  await using bench = await WebhookBench.open();
  const triggers = ["order_created", "order_cancelled", "order_paid"] as const;
  for (const trigger of triggers) {
    await bench.register(bench.sink.url(`/${trigger}`), trigger);
  }
  const statusOf = new Map([["/order_created", 500], [
    "/order_cancelled",
    410,
  ]]);
  bench.sink.answering = ({ path }) =>
    new Response(null, { status: statusOf.get(path) ?? 200 });
  bench.start();
  const since = bench.clock.now();
  const ends = ["retrying", "held", "delivered"];
  for (const [n, trigger] of triggers.entries()) {
    const event = await bench.emit(`order-${n}`, trigger);
    await bench.delivery(event, ends[n]);
  }
  const webhooks = await bench.db.read((sql) =>
    listWebhooks(sql, bench.seller.no)
  );
  assertEquals(
    webhooks.map((
      { trigger, failingSince, lastError, disabledAt },
    ) => [trigger, failingSince, lastError, disabledAt]),
    [
      ["order_created", since, "500", null],
      ["order_cancelled", since, "410", since],
      ["order_paid", null, null, null],
    ],
  );
});

bothEngines.test("five days of only failures disable the webhook", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  status(bench, 500);
  bench.start();
  const begun = bench.clock.now();
  let number = 0;
  while ((await bench.webhook()).disabledAt === null) {
    assert(number < 20, "never disabled");
    await bench.emit(`order-${number++}`);
    await until(async () => {
      // The pause after a failure, longer with each.
      bench.clock.advance(SECOND);
      const states = (await bench.deliveries()).map(({ state }) => state);
      return ["retrying", "held"].includes(states[states.length - 1]);
    }, "the first try");
    bench.clock.advance(15 * HOUR);
    await until(async () => {
      bench.clock.advance(SECOND);
      return (await bench.deliveries()).every(({ state, dueAt }) =>
        state !== "sending" && (dueAt ?? Infinity) > bench.clock.now()
      );
    });
  }
  assert((await bench.webhook()).disabledAt! - begun >= 5 * DAY);
  const states = (await bench.deliveries()).map(({ state }) => state);
  assert(states.includes("held"));
  assert(!states.includes("retrying") && !states.includes("pending"));
});

bothEngines.test("a success restarts the five days", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  for (const [number, code] of [500, 200, 500].entries()) {
    status(bench, code);
    const event = await bench.emit(`order-${number}`);
    await bench.delivery(event, code === 200 ? "delivered" : "retrying");
    const [row] = await bench.db.read((sql) =>
      sql.all<{ failures: number; failing_since: number | null }>(
        "SELECT failures, failing_since FROM webhooks",
      )
    );
    assertEquals(row.failures, code === 200 ? 0 : 1);
    assertEquals(
      row.failing_since,
      code === 200 ? null : bench.clock.now(),
    );
    bench.clock.advance(SECOND);
  }
});

bothEngines.test("a new URL gets the waiting deliveries at once", async () => {
  await using bench = await WebhookBench.open();
  await bench.register(bench.sink.url("/old"));
  bench.sink.answering = ({ path }) =>
    new Response(null, { status: path === "/old" ? 500 : 200 });
  bench.start();
  const event = await bench.emit("order-1");
  await bench.delivery(event, "retrying");
  bench.clock.advance(SECOND);
  await bench.register(bench.sink.url("/new"));
  await bench.delivery(event, "delivered");
  assertEquals(bench.sink.at("/new").length, 1);
  assertEquals(bench.sink.at("/old").length, 1);
});

bothEngines.test("a late 410 of a former URL does not disable the new one", async () => {
  await using bench = await WebhookBench.open();
  await bench.register(bench.sink.url("/old"));
  const { open, opened } = gate();
  bench.sink.answering = async ({ path }) => {
    if (path !== "/old") return new Response();
    await opened;
    return new Response(null, { status: 410 });
  };
  bench.start();
  const event = await bench.emit("order-1");
  await until(() => bench.sink.received.length === 1);
  await bench.register(bench.sink.url("/new"));
  open();
  await bench.delivery(event, "delivered");
  assertEquals((await bench.webhook()).disabledAt, null);
});

bothEngines.test("deleting a webhook cancels deliveries that wait, are held or fail later", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const { open, opened } = gate();
  bench.sink.answering = async (_, count) => {
    if (count > 1) await opened;
    return new Response(null, { status: 500 });
  };
  bench.start();
  const waiting = await bench.emit("order-1");
  await bench.delivery(waiting, "retrying");
  bench.clock.advance(100);
  const sending = await bench.emit("order-2");
  await bench.delivery(sending, "sending");
  await until(() => bench.sink.received.length === 2);
  await bench.db.write((tx) =>
    deleteWebhook(tx, bench.deps, bench.seller.no, "order_created")
  );
  await bench.delivery(waiting, "cancelled");
  open();
  await bench.delivery(sending, "cancelled");
  assertEquals(await bench.webhook(), undefined);
  const replayed = await bench.db.write((tx) =>
    replayDelivery(tx, keyOf(bench, waiting), bench.clock.now())
  );
  assertEquals(replayed, "no_webhook");
});

bothEngines.test("a cancelled delivery can be replayed to the current webhook", async () => {
  await using bench = await WebhookBench.open();
  await bench.register(bench.sink.url("/old"));
  const event = await bench.emit("order-1");
  await bench.db.write((tx) =>
    deleteWebhook(tx, bench.deps, bench.seller.no, "order_created")
  );
  await bench.register(bench.sink.url("/new"));
  bench.start();
  await bench.db.write((tx) =>
    replayDelivery(tx, keyOf(bench, event), bench.clock.now())
  );
  bench.signals.deliveries.notify();
  await bench.delivery(event, "delivered");
  assertEquals(bench.sink.at("/new").length, 1);
  assertEquals(bench.sink.at("/old").length, 0);
});

bothEngines.test("a rotated secret signs together with the new one for a day", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  const { secret, oldUntil } = await bench.db.write((tx) =>
    rotateWebhookSecret(tx, bench.deps, bench.seller.id)
  );
  assertEquals(oldUntil, bench.clock.now() + DAY);
  await bench.delivery(await bench.emit("order-1"), "delivered");
  bench.clock.advance(DAY - 1);
  await bench.delivery(await bench.emit("order-2"), "delivered");
  bench.clock.advance(1);
  await bench.delivery(await bench.emit("order-3"), "delivered");
  const both = bench.sink.received.map((received) => [
    verified(secret, received),
    verified(bench.seller.secret, received),
  ]);
  assertEquals(both, [[true, true], [true, true], [true, false]]);
});

bothEngines.test("every secret signs until its promised end, however often secrets are rotated", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  const secrets = [{ secret: bench.seller.secret, until: Infinity }];
  const rotate = (own: boolean) =>
    bench.db.write(async (tx) => {
      const { deps, seller } = bench;
      const rotated = own
        ? await rotateOwnSecret(tx, deps, seller.no, "order_created")
        : await rotateWebhookSecret(tx, deps, seller.id);
      secrets[secrets.length - 1].until = rotated!.oldUntil;
      secrets.push({ secret: rotated!.secret, until: Infinity });
    });
  for (const own of [false, false, true, true]) {
    await rotate(own);
    bench.clock.advance(HOUR);
  }
  const refusal = await assertRejects(() => rotate(true), ServiceError);
  assertEquals(
    [refusal.code, refusal.headers],
    ["rate_limited", { "Retry-After": `${20 * 3_600}` }],
  );
  // A new secret of the seller does not affect a webhook with its own secret.
  const other = await bench.db.write((tx) =>
    rotateWebhookSecret(tx, bench.deps, bench.seller.id)
  );
  bench.clock.advance(20 * HOUR - 1);
  for (let step = 0; step < 5; step++) {
    await bench.delivery(await bench.emit(`order-${step}`), "delivered");
    const received = bench.sink.received.at(-1)!;
    assertEquals(
      secrets.map(({ secret }) => verified(secret, received)),
      secrets.map(({ until }) => bench.clock.now() < until),
      `step ${step}`,
    );
    assertEquals(verified(other.secret, received), false);
    bench.clock.advance(HOUR);
  }
});

bothEngines.test("a webhook keeps its own secret when its URL changes, until it is deleted", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  const { secret } =
    (await bench.db.write((tx) =>
      rotateOwnSecret(tx, bench.deps, bench.seller.no, "order_created")
    ))!;
  await bench.register(bench.sink.url("/other"));
  await bench.delivery(await bench.emit("order-1"), "delivered");
  await bench.db.write((tx) =>
    deleteWebhook(tx, bench.deps, bench.seller.no, "order_created")
  );
  await bench.register();
  await bench.delivery(await bench.emit("order-2"), "delivered");
  const signed = bench.sink.received.map((received) => [
    verified(secret, received),
    verified(bench.seller.secret, received),
  ]);
  assertEquals(signed, [[true, true], [false, true]]);
});

bothEngines.test("a webhook shows since when and why it fails, until it succeeds", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  const since = bench.clock.now();
  const look = async () => {
    const { failingSince, lastError } = await bench.webhook();
    return [failingSince, lastError];
  };
  bench.sink.answering = () => new Response(null, { status: 500 });
  const event = await bench.emit("order-1");
  await bench.delivery(event, "retrying");
  assertEquals(await look(), [since, "500"]);
  bench.sink.answering = () => new Response();
  await until(async () => {
    bench.clock.advance(1_000);
    return (await bench.deliveries())[0].state === "delivered";
  });
  assertEquals(await look(), [null, null]);
});
