/** The feed of events, in which the payload of a delivery stands. */
import type { Client } from "./client.ts";
import { childrenOf, find, textOf } from "./xml.ts";

/** Pages of the feed that are looked through for one event. */
const PAGES = 20;

/**
 * The event as it is delivered; null if it is not in the feed: test events are
 * not, and old ones no more.
 */
export async function loadEvent(
  client: Client,
  trigger: string,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  for (let page = 0, after = ""; page < PAGES; page++) {
    const query = new URLSearchParams({ trigger, limit: "250" });
    if (after !== "") query.set("after", after);
    const answer = await client.read(`/seller_api/events?${query}`, { signal });
    const events = childrenOf(find(answer, "events"), "event");
    const found = events.find((event) => textOf(event, "id") === id);
    if (found !== undefined) {
      return new XMLSerializer().serializeToString(found);
    }
    const next = textOf(answer, "next");
    if (events.length === 0 || next === null || next === after) return null;
    after = next;
  }
  return null;
}

/** What an event of a trigger looks like. */
export function sampleOf(trigger: string): string {
  return `<event>
  <id>01a1f8b2-0b5c-7d0e-8a4e-5a9d3a6f2c11</id>
  <trigger>${trigger}</trigger>
  <created_at>2026-11-20T08:00:00.000Z</created_at>
  <data>what the marketplace says of it, for example
    <reference>1001</reference>
  </data>
</event>`;
}
