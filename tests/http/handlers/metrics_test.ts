/** `GET /metrics`: who may read it, what it counts, and which labels there are. */
import { assert, assertEquals } from "@std/assert";
import { QUEUE_NAMES } from "../../../src/jobs/queues.ts";
import { boot, product, type TestApp } from "../../support/app.ts";
import { TestClock, until } from "../../support/clock.ts";
import { bothEngines } from "../../support/engine.ts";
import { ImageHost } from "../../support/image_host.ts";
import { labelsOf, parseMetrics, type Series } from "../../support/metrics.ts";
import { Problem, S3Server } from "../../support/s3_server.ts";
import { WebhookSink } from "../../support/webhook_sink.ts";

const KEY = "metrics-key";
const OPERATOR = "operator-key";
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

const ask = (app: TestApp, headers: Record<string, string> = bearer(KEY)) =>
  app.call("/metrics", { key: null, headers });

async function read(app: TestApp): Promise<Series> {
  return parseMetrics((await ask(app)).text);
}

/** The metrics of the interface, with their labels. */
const METRICS: Record<string, string[]> = {
  seller_build_info: ["engine", "version"],
  seller_http_requests_total: ["method", "route", "status"],
  seller_http_request_duration_seconds: ["route"],
  seller_http_refused_total: ["code"],
  seller_in_progress: ["kind"],
  seller_uploads_total: ["outcome"],
  seller_products_total: ["result"],
  seller_upload_phase_seconds: ["phase"],
  seller_heads_total: ["outcome"],
  seller_imports_total: ["outcome"],
  seller_images_total: ["code", "outcome"],
  seller_image_bytes_total: [],
  seller_image_fetch_seconds: [],
  seller_queue: ["queue", "state"],
  seller_queue_oldest_due_seconds: ["queue"],
  seller_queue_moved_timestamp_seconds: ["queue"],
  seller_role_ready: ["role"],
  seller_wait_seconds: ["queue"],
  seller_events_total: ["outcome", "trigger"],
  seller_delivery_attempts_total: ["outcome"],
  seller_delivery_latency_seconds: [],
  seller_notices_total: ["outcome", "recipient"],
  seller_webhooks: ["state"],
  seller_upkeep_total: ["outcome", "task"],
  seller_upkeep_done_timestamp_seconds: ["task"],
  seller_db_commit_seconds: [],
  seller_db_commit_writes: [],
  seller_db_wait_seconds: ["kind"],
  seller_db_retries_total: ["reason"],
  seller_database_servers: ["state"],
  seller_db_bytes: ["file"],
  seller_event_loop_lag_seconds: [],
  seller_disk_free_bytes: [],
  seller_image_disk_free_bytes: [],
  seller_backup_timestamp_seconds: [],
  seller_change_feed_lag_seconds: [],
  seller_log_lines_lost_total: [],
  seller_snapshot_age_seconds: [],
  process_cpu_seconds_total: [],
  process_resident_memory_bytes: [],
  process_heap_bytes: [],
  process_start_time_seconds: [],
};

Deno.test("metrics: 404 while no key exists, 401 without a valid one", async () => {
  await using app = await boot();
  assertEquals((await ask(app)).status, 404);
  assertEquals((await ask(app, {})).status, 404);

  await using other = await boot({
    config: { metricsKey: KEY, operatorKey: OPERATOR },
  });
  const status = async (headers: Record<string, string>) =>
    (await ask(other, headers)).status;
  const refused = await ask(other, {});
  assertEquals(refused.status, 401);
  assertEquals(refused.headers.get("www-authenticate"), "Bearer");
  assertEquals(await status(bearer("guessed")), 401);
  assertEquals(await status(bearer(other.key)), 401, "a seller's key");
  assertEquals(await status({ Authorization: `Basic ${KEY}` }), 401);
  assertEquals(await status(bearer(OPERATOR)), 200);
  assertEquals(await status({ "X-Service-Auth": OPERATOR }), 200);
  const { headers, text } = await ask(other);
  assertEquals(
    headers.get("content-type"),
    "text/plain; version=0.0.4; charset=utf-8",
  );
  assertEquals(headers.get("cache-control"), "no-store");
  assert(parseMetrics(text).size > 30);

  const long = "k".repeat(300);
  await using third = await boot({ config: { metricsKey: long } });
  assertEquals((await ask(third, bearer(long))).status, 200);
});

bothEngines.test("metrics: events are counted, and no label names a seller", async () => {
  await using host = new ImageHost();
  await using sink = new WebhookSink();
  await using app = await boot({
    config: {
      metricsKey: KEY,
      operatorKey: OPERATOR,
      roles: ["api", "images", "webhooks"],
    },
  });
  const images = (...paths: string[]) =>
    `<images>${
      paths.map((path) => `<image>${host.url}${path}</image>`).join("")
    }</images>`;
  const products = product("SKU-1", images("/good/a.png", "/missing/b.png")) +
    product("SKU-2");
  const once = { "Idempotency-Key": "once" };
  const uploaded = await app.upload(products, "", once);
  await app.upload(products, "", once);
  await app.status(uploaded, "?wait=10");
  await app.upload(product("SKU-3"), "&dry_run=true");
  await app.upload(product("SKU-1", "<wrong/>"), "&dry_run=true");
  await app.upload(product("SKU-1", "<wrong/>"));
  await app.call("/seller_api/imports?dry_run=true", {
    method: "POST",
    body: `<products>${product("SKU-3")}</products>`,
  });
  await app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>order_created</trigger><url>${sink.url()}</url></webhook>`,
  });
  for (const reference of ["1", "1"]) {
    await app.call("/operator_api/events", {
      method: "POST",
      key: OPERATOR,
      body:
        `<event><seller>acme</seller><trigger>order_created</trigger><reference>${reference}</reference></event>`,
    });
  }
  await app.call("/seller_api/none/of/these", {});
  await app.call("/at-random-1", { key: null });
  await app.call("/at-random-2", { key: null });
  await until(async () =>
    (await read(app)).get(
      'seller_delivery_attempts_total{outcome="delivered"}',
    ) === 1
  );
  await until(async () =>
    (await read(app)).get(
      'seller_queue_moved_timestamp_seconds{queue="images"}',
    ) !==
      undefined
  );

  const run = '{task="uploads",outcome="done"}';
  await until(async () =>
    (await read(app)).get(`seller_upkeep_total${run}`) === 1
  );

  const { text } = await ask(app);
  const series = parseMetrics(text);
  const at = (name: string) => series.get(name);
  assertEquals(at('seller_uploads_total{outcome="accepted"}'), 1);
  assertEquals(at('seller_uploads_total{outcome="repeated"}'), 1);
  assertEquals(at('seller_uploads_total{outcome="dry_run"}'), 2);
  assertEquals(at('seller_uploads_total{outcome="refused"}'), 1);
  assertEquals(at('seller_products_total{result="created"}'), 2);
  assertEquals(at('seller_heads_total{outcome="ok"}'), 2);
  assertEquals(at('seller_images_total{outcome="stored",code=""}'), 1);
  assertEquals(
    at('seller_images_total{outcome="failed",code="image_not_found"}'),
    1,
  );
  assert(at("seller_image_bytes_total")! > 0);
  assertEquals(at("seller_image_fetch_seconds_count"), 2);
  for (const phase of ["body", "decode", "heads", "write"]) {
    const count = at(`seller_upload_phase_seconds_count{phase="${phase}"}`);
    assert(count! > 0, phase);
  }
  const event = 'seller_events_total{trigger="order_created",outcome=';
  assertEquals(at(`${event}"queued"}`), 1);
  assertEquals(at(`${event}"repeated"}`), 1);
  assertEquals(at("seller_delivery_latency_seconds_count"), 1);
  const upkeep = at('seller_upkeep_done_timestamp_seconds{task="uploads"}')!;
  assert(Math.abs(upkeep - Date.now() / 1_000) < 60);
  const none = 'seller_http_requests_total{method="GET",route="none",status=';
  assertEquals(at(`${none}"404"}`), 3, "all unknown paths together");
  assertEquals(at('seller_http_refused_total{code="record_invalid"}'), 2);
  assert(at("seller_db_commit_writes_count")! > 5);
  assertEquals(at('seller_in_progress{kind="request"}'), 1, "this one");

  for (const queue of QUEUE_NAMES) {
    for (const state of ["waiting", "in_flight"]) {
      const name = `seller_queue{queue="${queue}",state="${state}"}`;
      assertEquals(at(name), 0, name);
    }
  }
  assertEquals(at('seller_queue_oldest_due_seconds{queue="notices"}'), 0);

  assertEquals(at('seller_db_wait_seconds_count{kind="queue"}')! > 0, true);
  const labels = labelsOf(text);
  // Nothing was retried, so no reason appears yet.
  labels.seller_db_retries_total = METRICS.seller_db_retries_total;
  // No notice was sent.
  labels.seller_notices_total = METRICS.seller_notices_total;
  assertEquals(labels, METRICS);
  for (const word of ["SKU-", "acme", app.sellerId, "127.0.0.1", "random"]) {
    assert(!text.includes(word), word);
  }
});

Deno.test("metrics: a waiting request is not measured as a slow one", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { metricsKey: KEY } });
  const uploaded = await app.upload(
    product("A", `<images><image>${host.url}/good/a.png</image></images>`),
  );
  await app.status(uploaded, "?wait=1");
  await app.status(uploaded);
  const route = "/seller_api/bulk_products/:transaction_id";
  const series = await read(app);
  assertEquals(
    series.get(`seller_http_request_duration_seconds_count{route="${route}"}`),
    1,
  );
  const requests = `seller_http_requests_total{method="GET",route="${route}"`;
  assertEquals(series.get(`${requests},status="200"}`), 2);
});

bothEngines.test("metrics: figures of the database come from a snapshot at most 15 s old", async () => {
  const clock = new TestClock();
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { metricsKey: KEY },
    deps: { clock },
  });
  const webhooks = async () =>
    (await read(app)).get('seller_webhooks{state="active"}');
  // The last value of a snapshot.
  await until(async () => (await read(app)).has("seller_disk_free_bytes"));
  assertEquals(await webhooks(), 0);
  await app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>order_paid</trigger><url>${sink.url()}</url></webhook>`,
  });
  clock.advance(4_000);
  const series = await read(app);
  assertEquals(series.get("seller_snapshot_age_seconds"), 4);
  assertEquals(await webhooks(), 0);
  clock.advance(10_999);
  await until(async () => await webhooks() === 1);
});

Deno.test("metrics: a process without the role api serves them on loopback", async () => {
  await using app = await boot({
    config: { metricsKey: KEY, metricsPort: 0, roles: ["images"] },
  });
  assertEquals(app.app.url, null);
  const get = (path: string, headers = {}) =>
    fetch(app.app.metricsUrl + path, { headers });
  assert(app.app.metricsUrl!.startsWith("http://127.0.0.1:"));
  const health = await get("/healthz");
  assertEquals(health.status, 200);
  await health.body?.cancel();
  await until(async () => {
    const ready = await get("/readyz");
    await ready.body?.cancel();
    return ready.status === 200;
  });
  const refused = await get("/metrics");
  assertEquals(refused.status, 401);
  await refused.body?.cancel();
  const other = await get("/docs");
  assertEquals(other.status, 404);
  await other.body?.cancel();
  const metrics = await (await get("/metrics", bearer(KEY))).text();
  assert(parseMetrics(metrics).has('seller_in_progress{kind="image"}'));
});

Deno.test("metrics: while the image store is unreachable, the role images is not ready", async () => {
  await using store = new S3Server();
  await using host = new ImageHost();
  await using app = await boot({
    config: { ...store.config(), metricsKey: KEY, roles: ["api", "images"] },
  });
  const ready = async () =>
    (await read(app)).get('seller_role_ready{role="images"}');
  await until(async () => await ready() === 1);
  store.meddle = ({ method }) => new Problem(503, "SlowDown").response(method);
  const image = `<images><image>${host.url}/good/a.png</image></images>`;
  assertEquals((await app.upload(product("A", image))).status, 200);
  await until(async () => await ready() === 0);
  store.meddle = () => null;
  await until(async () => await ready() === 1);
});
