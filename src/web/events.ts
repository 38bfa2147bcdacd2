/** The feed of events, in which the payload of a delivery stands. */
import type { Client, DeliveredEvent, Trigger } from "../client/mod.ts";
import { TRIGGER_EXAMPLES } from "../webhooks/trigger.ts";
import { indented } from "./markup.ts";

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
  signal: AbortSignal,
): Promise<{ body: string } | "absent" | "far"> {
  let left = PAGES;
  const query = { trigger, limit: 250 };
  for await (const { events } of client.pages.listEvents(query, { signal })) {
    const found = events.find((event) => event.id === id);
    if (found !== undefined) return { body: eventBody(found) };
    if (--left === 0) return "far";
  }
  return "absent";
}

/** As the service writes and signs it. */
export function eventBody(event: DeliveredEvent): string {
  const { id, trigger, created_at, data, test } = event;
  return `<event${test ? ' test="true"' : ""}><id>${id}</id>` +
    `<trigger>${trigger}</trigger><created_at>${created_at}</created_at>` +
    `<data>${data}</data></event>`;
}

/** What an event of a trigger may look like. */
export function sampleOf(trigger: Trigger): string {
  return indented(eventBody({
    id: "01a1f8b2-0b5c-7d0e-8a4e-5a9d3a6f2c11",
    trigger,
    created_at: "2026-11-20T08:00:00.000Z",
    data: TRIGGER_EXAMPLES[trigger].data,
  }));
}
