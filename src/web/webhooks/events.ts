/** Loads events, whose texts are the payloads of deliveries. */
import type {
  Client,
  DeliveredEvent,
  Trigger,
  Webhook,
} from "../../client/mod.ts";
import { eventXml } from "../../webhooks/event_text.ts";
import { indented } from "../lib/markup.ts";

export type WebhookFormat = NonNullable<Webhook["format"]>;

/**
 * The text of a delivery's event; null if the event is not stored, because it is
 * a test event or has been deleted by retention.
 */
export async function loadEvent(
  client: Client,
  id: string,
  format: WebhookFormat,
  signal: AbortSignal,
): Promise<string | null> {
  if (format === "json") {
    const { events: [event] } = await client.events.list({ id }, { signal });
    return event === undefined ? null : JSON.stringify(event);
  }
  const xml = await client.xml.events.list({ id }, { signal });
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

/** When the marketplace sends a trigger's events, and an example of an event. */
export interface TriggerDescription {
  about: string;
  event: string;
}

const SAMPLE = {
  id: "01a1f8b2-0b5c-7d0e-8a4e-5a9d3a6f2c11",
  created_at: "2026-11-20T08:00:00.000Z",
};

/** Loads the descriptions and examples of all triggers, in both formats. */
export async function loadTriggers(client: Client, signal: AbortSignal) {
  const [{ triggers }, xml] = await Promise.all([
    client.triggers.list({ signal }),
    client.xml.triggers.list({ signal }),
  ]);
  return { triggers, xml };
}

/** The description of a trigger, with an example event in a format. */
export function describeTrigger(
  { triggers, xml }: Awaited<ReturnType<typeof loadTriggers>>,
  trigger: Trigger,
  format: WebhookFormat,
): TriggerDescription {
  const { about, example } = triggers.find(({ name }) => name === trigger)!;
  const event = format === "json"
    ? JSON.stringify({ ...SAMPLE, trigger, data: example }, null, 2)
    : indented(eventXml({
      ...SAMPLE,
      trigger,
      data: exampleIn(xml, trigger),
    }));
  return { about, event };
}

/** The example of a trigger in the list of all triggers, as XML. */
function exampleIn(list: string, trigger: Trigger): string {
  const begin = list.indexOf(`<trigger><name>${trigger}</name>`);
  const next = list.indexOf("<trigger><name>", begin + 1);
  const entry = list.slice(begin, next < 0 ? list.length : next);
  const tag = "<example>";
  const end = entry.lastIndexOf("</example>");
  return end < 0 ? "" : entry.slice(entry.indexOf(tag) + tag.length, end);
}
