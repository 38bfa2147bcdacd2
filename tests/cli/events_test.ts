import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ServiceError } from "../../src/lib/errors.ts";
import { UsageError } from "../../src/cli/command.ts";
import { until } from "../support/clock.ts";
import { listChanges } from "../../src/monitoring/audit.ts";
import { runCommand } from "../support/command.ts";
import { testConfig } from "../support/config.ts";
import { WebhookBench } from "../support/webhook_bench.ts";

/** Runs a command on the bench's data folder. */
function run(
  { dataDir, deps }: WebhookBench,
  ...words: string[]
): Promise<string[]> {
  return runCommand({ config: testConfig({ dataDir }), deps }, ...words);
}

async function dataFile(bench: WebhookBench, text: string): Promise<string> {
  const file = `${bench.dataDir}/data.xml`;
  await Deno.writeTextFile(file, text);
  return file;
}

function emit(bench: WebhookBench, reference: string, file: string) {
  return run(
    bench,
    "emit",
    "--seller",
    "acme",
    "--trigger",
    "order_created",
    "--reference",
    reference,
    file,
  );
}

Deno.test("emit hands in an event with a file's content as data", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const file = await dataFile(bench, "\ufeff<order>\r\n 1 &gt; 0</order>\n");
  const [line, ...rest] = await emit(bench, "order-1", file);
  assertEquals(rest, []);
  assertMatch(line, /^event_id: [0-9a-f-]{36}$/);
  assertEquals(await emit(bench, "order-1", file), [line]);
  bench.start();
  const [{ id }] = await bench.deliveries();
  await bench.delivery({ deliveryId: id }, "delivered");
  assertEquals(bench.sink.received.length, 1);
  assertMatch(
    bench.sink.received[0].text,
    /<data><order>\r\n 1 &gt; 0<\/order>\n<\/data><\/event>$/,
  );
});

Deno.test("emit says that no webhook is registered", async () => {
  await using bench = await WebhookBench.open();
  const file = await dataFile(bench, "<order/>");
  const [, second] = await emit(bench, "order-1", file);
  assertMatch(second, /^delivery: none/);
});

Deno.test("emit reports every mistake, with its place in the file", async () => {
  await using bench = await WebhookBench.open();
  const good = await dataFile(bench, "<order/>");
  const error = await assertRejects(
    () =>
      run(
        bench,
        "emit",
        "--seller",
        "nobody",
        "--trigger",
        "order_made",
        "--reference",
        "x".repeat(256),
        good,
      ),
    UsageError,
  );
  assertEquals(error.mistakes.length, 3);
  for (
    const [text, place] of [
      ["a & b", "line 1, column 3"],
      ["<a>\n <p:b/></a>", "line 2, column 2"],
      ["</data><data>", "line 1"],
      ['<?xml version="1.0"?><a/>', "line 1, column 1"],
      ["<a>".repeat(65) + "</a>".repeat(65), "line 1"],
    ]
  ) {
    const file = await dataFile(bench, text);
    await assertRejects(() => emit(bench, "order-1", file), UsageError, place);
  }
  await assertRejects(
    () => emit(bench, "order-1", `${bench.dataDir}/none.xml`),
    UsageError,
    "There is no file",
  );
  await assertRejects(
    () => emit(bench, "order-1", bench.dataDir),
    UsageError,
    `${bench.dataDir} cannot be read`,
  );
  const large = await dataFile(bench, "x".repeat(256 * 1024 + 1));
  await assertRejects(() => emit(bench, "order-1", large), UsageError, "bytes");
});

Deno.test("delivery list has a header and a line for each, the newest first", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.sink.answering = () => new Response(null, { status: 503 });
  bench.start();
  const first = await bench.emit("order-1");
  await bench.delivery(first, "retrying");
  bench.clock.advance(100);
  const second = await bench.emit("order-2");
  const failed = await bench.delivery(second, "retrying");
  const [header, ...lines] = await run(bench, "delivery", "list");
  assertEquals(header.split(/ {2,}/), [
    "delivery_id",
    "state",
    "seller",
    "trigger",
    "event_id",
    "attempts",
    "last_answer",
    "next_attempt",
  ]);
  const newest = (await bench.deliveries()).reverse();
  assertEquals(
    lines.map((line) => line.split(/ {2,}/)[0]),
    newest.map(({ id }) => id),
  );
  assertEquals(
    lines.find((line) => line.includes(failed.id))!.split(/ {2,}/).slice(1),
    [
      "retrying",
      "acme",
      "order_created",
      second.eventId,
      "1",
      "503",
      new Date(failed.dueAt!).toISOString(),
    ],
  );
  const count = async (...flags: string[]) =>
    (await run(bench, "delivery", "list", ...flags)).length - 1;
  assertEquals(await count("--seller", "acme", "--state", "retrying"), 2);
  assertEquals(await count("--state", "delivered"), 0);
  assertEquals(await count("--trigger", "order_paid"), 0);
  assertEquals(await count("--limit", "1"), 1);
  assertEquals(await count("--before", newest[0].id), 1);
  await assertRejects(
    () => count("--before", "order-1"),
    UsageError,
    "id of a",
  );
  const error = await assertRejects(
    () =>
      run(
        bench,
        "delivery",
        "list",
        "--state",
        "lost",
        "--limit",
        "0",
        "--trigger",
        "order_made",
      ),
    UsageError,
  );
  assertEquals(error.mistakes.length, 3);
});

Deno.test("delivery list says that a suspended seller's deliveries wait", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.sink.answering = () => new Response(null, { status: 503 });
  bench.start();
  const delivery = await bench.delivery(
    await bench.emit("order-1"),
    "retrying",
  );
  const next = async () => {
    const [, line] = await run(bench, "delivery", "list");
    return line.split(/ {2,}/).at(-1);
  };
  assertEquals(await next(), new Date(delivery.dueAt!).toISOString());
  await run(bench, "seller", "set", "acme", "status", "suspended");
  bench.clock.advance(60_000);
  assertEquals(await next(), "seller suspended");
  const shown = await run(bench, "delivery", "show", delivery.id);
  assert(shown.includes("next_attempt: seller suspended"));
  assertEquals((await bench.deliveries())[0].dueAt, null);
});

Deno.test("delivery show lists every attempt and quotes the endpoint's answers", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  await bench.delivery(await bench.emit("order-0"), "delivered");
  bench.sink.answering = () => new Response("no\u001b[2J\n", { status: 500 });
  const event = await bench.emit("order-1");
  const { id } = await bench.delivery(event, "retrying");
  const lines = await run(bench, "delivery", "show", id);
  assert(lines.includes("state: retrying"));
  assert(lines.includes(`event_id: ${event.eventId}`));
  const attempts = lines.filter((line) => line.startsWith("attempt "));
  assertEquals(attempts.length, 1, "none of the other delivery");
  assertMatch(attempts[0], /attempt 1: 2026-.*Z {2}500 after \d+ ms/);
  assert(lines.includes('  answer: "no\\u001b[2J\\n"'));
  const upperCase = id.toUpperCase();
  assertEquals(await run(bench, "delivery", "show", upperCase), lines);
  await assertRejects(
    () => run(bench, "delivery", "show", "none"),
    UsageError,
    "no delivery",
  );
});

Deno.test("delivery replay sends one delivery again, or all in a state", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  const first = await bench.emit("order-1");
  const { id } = await bench.delivery(first, "delivered");
  assertEquals(
    await run(bench, "delivery", "replay", id.toUpperCase()),
    [`replayed: ${id}`],
  );
  bench.signals.deliveries.notify();
  assertEquals((await bench.delivery(first, "delivered")).id, id);
  bench.clock.advance(60_000);
  const second = await bench.emit("order-2");
  await bench.delivery(second, "delivered");
  const replayed = (...flags: string[]) =>
    run(bench, "delivery", "replay", "--state", "delivered", ...flags);
  assertEquals(await replayed("--since", "2026-11-20T08:00:30Z"), [
    "replayed: 1",
  ]);
  bench.clock.advance(2_000);
  await bench.delivery(second, "delivered");
  assertEquals(await replayed(), ["replayed: 2"]);
  for (
    const words of [
      [],
      [id, "--state", "delivered"],
      ["--state", "pending"],
      ["--state", "exhausted", "--since", "lately"],
      [id, "--since", "2026-11-20"],
      ["none"],
    ]
  ) {
    await assertRejects(
      () => run(bench, "delivery", "replay", ...words),
      UsageError,
    );
  }
});

Deno.test("delivery replay sends all in a state, however many there are", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  bench.start();
  for (let n = 0; n < 120; n++) await bench.emit(`order-${n}`);
  await until(async () => {
    const delivered = await bench.db.read((sql) =>
      sql.all("SELECT id FROM deliveries WHERE state = 'delivered'")
    );
    return delivered.length === 120;
  }, "all delivered");
  assertEquals(
    await run(bench, "delivery", "replay", "--state", "delivered"),
    ["replayed: 120"],
  );
});

Deno.test("webhook test sends an event marked as a test", async () => {
  await using bench = await WebhookBench.open();
  await assertRejects(
    () => run(bench, "webhook", "test", "--seller", "acme", "order_created"),
    UsageError,
    "no webhook registered",
  );
  await bench.register();
  const lines = await run(
    bench,
    "webhook",
    "test",
    "--seller",
    "acme",
    "order_created",
  );
  const [eventId, deliveryId] = lines.map((line) => line.split(": ")[1]);
  bench.start();
  await bench.delivery({ deliveryId }, "delivered");
  assertEquals(
    bench.sink.received[0].text,
    `<event test="true"><id>${eventId}</id><trigger>order_created</trigger>` +
      "<created_at>2026-11-20T08:00:00.000Z</created_at><data></data></event>",
  );
});

Deno.test("webhook rotate-secret prints the webhook's own secret once", async () => {
  await using bench = await WebhookBench.open();
  const rotate = () =>
    run(
      bench,
      "webhook",
      "rotate-secret",
      "order_created",
      "--seller",
      "acme",
    );
  await assertRejects(rotate, UsageError, "no webhook registered");
  await bench.register();
  const [secret, until] = await rotate();
  assertMatch(secret, /^webhook_secret: whsec_[A-Za-z0-9+/]{43}=$/);
  assertEquals(until, "old_secret_until: 2026-11-21T08:00:00.000Z");
  for (let i = 0; i < 3; i++) await rotate();
  await assertRejects(rotate, ServiceError, "4 former secrets still sign");
});

Deno.test("key rotate-secret prints the new secret once", async () => {
  await using bench = await WebhookBench.open();
  const [secret, until] = await run(bench, "key", "rotate-secret", "acme");
  assertMatch(secret, /^webhook_secret: whsec_[A-Za-z0-9+/]{43}=$/);
  assertEquals(until, "old_secret_until: 2026-11-21T08:00:00.000Z");
  assert(!secret.includes(bench.seller.secret));
});

/** Delivers the events `order_created` of acme that had no webhook. */
function recoverOrders(bench: WebhookBench, ...more: string[]) {
  const words = ["webhook", "recover", "order_created", "--seller", "acme"];
  return run(bench, ...words, ...more);
}

Deno.test("webhook recover delivers events that had no webhook", async () => {
  await using bench = await WebhookBench.open();
  const { eventId } = await bench.emit("order-1");
  const recover = (...more: string[]) => recoverOrders(bench, ...more);
  await assertRejects(
    () => recover("--since", "2026-11-20"),
    UsageError,
    "no webhook registered",
  );
  await bench.register();
  await assertRejects(
    () => recover("--since", "yesterday", "--until", "now"),
    UsageError,
    "--until is",
  );
  assertEquals(await recover("--since", "2026-11-20T08:00:01Z"), ["queued: 0"]);
  assertEquals(
    await recover("--since", "2026-11-20", "--until", "2026-11-21"),
    ["queued: 1"],
  );
  const all = { who: null, seller: null, since: null, until: null };
  const { found: [change] } = await bench.db.read((sql) =>
    listChanges(sql, all, { after: null, limit: 1 })
  );
  assertEquals([change.action, change.seller, change.detail], [
    "webhook recover",
    "acme",
    "order_created from 2026-11-20T00:00:00.000Z to " +
    "2026-11-21T00:00:00.000Z: 1 queued",
  ]);
  bench.start();
  await until(() => bench.sink.received.length === 1);
  assertEquals(bench.sink.received[0].headers.get("webhook-id"), eventId);

  await bench.db.write((tx) =>
    tx.run("UPDATE webhooks SET disabled_at = 1", [], "any")
  );
  await bench.emit("order-2");
  assertEquals(
    await recover("--since", "2026-11-20", "--until", "2026-11-21"),
    ["queued: 1", "held: 1"],
  );
});

Deno.test("webhook recover delivers events however many there are", async () => {
  await using bench = await WebhookBench.open();
  for (let n = 0; n < 300; n++) await bench.emit(`order-${n}`);
  await bench.register();
  assertEquals(
    await recoverOrders(
      bench,
      ...["--since", "2026-11-20", "--until", "2026-11-21"],
    ),
    ["queued: 300"],
  );
});
