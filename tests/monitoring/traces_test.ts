/** What the service reports to a collector, by Deno's own OpenTelemetry. */
import { assert, assertEquals, assertLess } from "@std/assert";
import { product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { OtlpReceiver, type Span } from "../support/otlp.ts";
import { temporaryFolder } from "../support/process.ts";
import { OPERATOR, Service } from "../processes/service.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

/** The names of a trace as a tree, in alphabetical order. */
function tree(spans: readonly Span[], parent: string): unknown[] {
  return spans.filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name, spanId }) => {
      const below = tree(spans, spanId);
      return below.length === 0 ? name : [name, below];
    });
}

Deno.test("traces: spans of uploads, images and deliveries, without data of sellers", async () => {
  await using receiver = new OtlpReceiver();
  await using host = new ImageHost();
  await using sink = new WebhookSink();
  await using folder = await temporaryFolder();
  await using service = await Service.start(folder.path, {
    env: { ...receiver.env(), SELLER_LOG: "debug" },
  });
  const key = service.keys.get("acme")!;
  const traced: (string | null)[] = [];
  host.everyGet = (request) => {
    traced.push(request.headers.get("traceparent"));
    return new Response(null, { status: 404 });
  };
  const call = async (path: string, init: RequestInit, apiKey = key) => {
    const headers = { "X-Service-Auth": apiKey, "Content-Type": "text/xml" };
    const answer = await fetch(service.url + path, { ...init, headers });
    return { status: answer.status, text: await answer.text() };
  };
  await call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>order_paid</trigger><url>${sink.url()}/hidden-hook</url></webhook>`,
  });
  const image =
    `<images><image>${host.url}/good/hidden-image.png</image></images>`;
  const uploaded = await call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    body: `<products>${product("HIDDEN-SKU", image)}</products>`,
  });
  assertEquals(uploaded.status, 200, uploaded.text);
  const path = "/seller_api/products/HIDDEN-SKU/attribute/title/hidden-title";
  await call(path, { method: "PUT" });
  await call("/hidden-path?q=hidden-query", { method: "GET" });
  await call("/operator_api/events", {
    method: "POST",
    body:
      "<event><seller>acme</seller><trigger>order_paid</trigger><reference>hidden-reference</reference></event>",
  }, OPERATOR);
  const id = /<transaction_id>(.*?)</.exec(uploaded.text)![1];
  await call(`/seller_api/bulk_products/${id}?wait=20`, { method: "GET" });
  await until(async () => {
    const deliveries = "/seller_api/webhooks/order_paid/deliveries";
    const { text } = await call(deliveries, { method: "GET" });
    return text.includes("<state>delivered</state>");
  });
  const began = performance.now();
  const { code, stderr } = await service.program.stop();
  assertEquals(code, 0, stderr);
  assertLess(performance.now() - began, 10_000);

  const { spans } = receiver;
  const named = (name: string) => {
    const found = spans.filter((span) => span.name === name);
    assertEquals(found.length, 1, name);
    return found[0];
  };
  const upload = named("POST /seller_api/bulk_products");
  assertEquals(tree(spans, upload.spanId), [
    ["db.write", ["upload.plan"]],
    "upload.decode",
    "upload.heads",
  ]);
  const update = named(
    "PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value",
  );
  assertEquals(tree(spans, update.spanId), ["db.write"]);
  const unknown = named("GET");
  assertEquals(unknown.attributes["http.response.status_code"], "404");
  assertEquals(
    [named("image.fetch")].map(({ parentSpanId, attributes }) => [
      parentSpanId,
      attributes.code,
    ]),
    [["", "image_not_found"]],
  );
  const attempt = named("delivery.attempt");
  assertEquals(attempt.parentSpanId, "");
  assertEquals(attempt.attributes.outcome, "delivered");
  assertEquals(tree(spans, attempt.spanId), ["db.write"]);

  const reported = receiver.spans.filter((span) =>
    /hidden/i.test(JSON.stringify(span))
  );
  assertEquals(reported, [], "a seller's own words");
  assert(!/hidden|"url\./i.test(receiver.text));
  assert(!receiver.text.includes(key) && !receiver.text.includes(OPERATOR));
  for (const url of [host.url, sink.url()]) {
    // The digits alone may be part of a time or an id.
    const port = new RegExp(String.raw`\b${new URL(url).port}\b`);
    assert(!port.test(receiver.text), "a seller's address");
  }
  assertEquals(traced, [null]);
  assertEquals(sink.received[0].headers.get("traceparent"), null);

  const lines = stderr.trimEnd().split("\n").map((line) => JSON.parse(line));
  const accepted = lines.find(({ event }) => event === "upload_accepted");
  assertEquals(accepted.trace_id, upload.traceId);
  const tried = lines.find(({ event }) => event === "delivery_tried");
  assertEquals(tried.trace_id, attempt.traceId);
});
