/** Events, which hold the payloads of deliveries. */
import type {
  Client,
  DeliveredEvent,
  Trigger,
  Webhook,
} from "../../client/mod.ts";
import { eventXml } from "../../webhooks/event_text.ts";
import { TRIGGER_EXAMPLES } from "../../webhooks/trigger.ts";
import { indented } from "../lib/markup.ts";

export type WebhookFormat = NonNullable<Webhook["format"]>;

/**
 * The event of a delivery; null if the feed of events does not have it: test
 * events are never in the feed, and old ones have been deleted.
 */
export async function loadEvent(
  client: Client,
  id: string,
  format: WebhookFormat,
  signal: AbortSignal,
): Promise<string | null> {
  if (format === "json") {
    const { events: [event] } = await client.listEvents({ id }, { signal });
    return event === undefined ? null : JSON.stringify(event);
  }
  const xml = await client.xml.listEvents({ id }, { signal });
  const from = xml.indexOf("<event>");
  const to = xml.lastIndexOf("</event>") + "</event>".length;
  return from < 0 ? null : xml.slice(from, to);
}

/** The body of a test event, which has no data, as the service signs it. */
export function testEventBody(
  event: Pick<DeliveredEvent, "id" | "trigger" | "created_at">,
  format: WebhookFormat,
): string {
  const { id, trigger, created_at } = event;
  return format === "json"
    ? JSON.stringify({ test: true, id, trigger, created_at, data: {} })
    : eventXml({ id, trigger, created_at, test: true, data: "" });
}

/** An example of an event of a trigger. */
export function sampleEvent(trigger: Trigger): string {
  return indented(eventXml({
    id: "01a1f8b2-0b5c-7d0e-8a4e-5a9d3a6f2c11",
    trigger,
    created_at: "2026-11-20T08:00:00.000Z",
    data: TRIGGER_EXAMPLES[trigger].data,
  }));
}
