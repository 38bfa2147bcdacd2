/** The first rows of every run, and the outcome that every event must have. */
import { assertEquals } from "@std/assert";
import { sometimes } from "../support/sometimes.ts";
import type { WebhookSink } from "../support/webhook_sink.ts";
import type { Emitter, Setter } from "./writers.ts";

/** Creates a webhook, and the products whose attributes are going to be set. */
export async function prepareRows(
  url: string,
  key: string,
  sink: WebhookSink,
  setters: readonly Setter[],
): Promise<void> {
  await post(
    `${url}/seller_api/webhooks`,
    key,
    "<webhook><trigger>order_created</trigger>" +
      `<url>${sink.url(`/hook/${setters[0].sku}`)}</url></webhook>`,
  );
  const products = [...new Set(setters.map(({ sku }) => sku))].map((sku) =>
    `<product><sku>${sku}</sku><title>t</title>` +
    '<price currency="SEK">1</price><quantity>0</quantity></product>'
  );
  await post(
    `${url}/seller_api/bulk_products?v=1.1`,
    key,
    `<products>${products.join("")}</products>`,
  );
}

async function post(url: string, key: string, body: string): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "text/xml", "x-service-auth": key },
    body,
  });
  assertEquals(response.status, 200, await response.text());
}

/** Every event was delivered, each with one id. */
export function checkArrivals(
  sink: WebhookSink,
  emitters: readonly Emitter[],
): void {
  const ids = new Map<string, Set<string>>();
  for (const { text, headers } of sink.received) {
    const reference = /<order>(.*)<\/order>/.exec(text)![1];
    const seen = ids.get(reference) ?? new Set();
    ids.set(reference, seen.add(headers.get("webhook-id")!));
  }
  const sent = new Map(emitters.flatMap(({ events }) => [...events]));
  for (const [reference, id] of sent) {
    assertEquals([...ids.get(reference) ?? []], [id], reference);
  }
  assertEquals(ids.size, sent.size);
  sometimes("redelivery", sink.received.length - sent.size);
}
