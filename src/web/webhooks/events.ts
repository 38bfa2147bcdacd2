/** The feed of events, in which the payload of a delivery stands. */
import { PAGE_LIMIT } from "../../lib/request_limits.ts";
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

/** Pages of the feed that are looked through for one event. */
const PAGES = 20;

/**
 * The event as it is delivered; "absent" if it is not in the feed: test events
 * are not, and old ones no more; "far" if it may be behind what is looked
 * through.
 */
export async function loadEvent(
  client: Client,
  trigger: Trigger,
  id: string,
  format: WebhookFormat,
  signal: AbortSignal,
): Promise<{ body: string } | "absent" | "far"> {
  let left = PAGES;
  const query = { trigger, limit: PAGE_LIMIT.maximum };
  let after: string | undefined;
  for await (
    const { events, next } of client.pages.listEvents(query, { signal })
  ) {
    const at = events.findIndex((event) => event.id === id);
    if (at >= 0 && format === "json") {
      return { body: JSON.stringify(events[at]) };
    }
    if (at >= 0) {
      const xml = await client.xml.listEvents({ ...query, after }, { signal });
      return { body: eventIn(xml, id, events[at + 1]?.id) };
    }
    if (--left === 0) return "far";
    after = next;
  }
  return "absent";
}

/** The event as it stands in its feed, before another one or the end. */
function eventIn(xml: string, id: string, nextId: string | undefined): string {
  const from = xml.indexOf(startOf(id));
  const next = nextId === undefined ? -1 : xml.indexOf(startOf(nextId), from);
  const to = next < 0 ? xml.lastIndexOf("</event>") + "</event>".length : next;
  return xml.slice(from, to);
}

function startOf(id: string): string {
  return `<event><id>${id}</id>`;
}

/** A test event as the service writes and signs it: it has no data. */
export function testEventBody(
  event: Pick<DeliveredEvent, "id" | "trigger" | "created_at">,
  format: WebhookFormat,
): string {
  const { id, trigger, created_at } = event;
  return format === "json"
    ? JSON.stringify({ test: true, id, trigger, created_at, data: {} })
    : eventXml({ id, trigger, created_at, test: true, data: "" });
}

/** What an event of a trigger may look like. */
export function sampleOf(trigger: Trigger): string {
  return indented(eventXml({
    id: "01a1f8b2-0b5c-7d0e-8a4e-5a9d3a6f2c11",
    trigger,
    created_at: "2026-11-20T08:00:00.000Z",
    data: TRIGGER_EXAMPLES[trigger].data,
  }));
}
