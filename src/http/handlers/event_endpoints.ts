/** Events: operators send them, sellers pull them. */
import type { AnswerForm } from "../../contracts/answer_form.ts";
import { EVENT_LIMIT, eventInJson, eventInXml } from "../../webhooks/event.ts";
import {
  eventsAfter,
  type EventsQuery,
  type FeedEvent,
  type Listable,
  makeListable,
} from "../../webhooks/event_feed.ts";
import { recordInvalid } from "../../lib/errors.ts";
import { EncodedElement } from "../../xml/encode.ts";
import type { Exchange } from "../server/exchange.ts";
import { readPage } from "../server/list.ts";
import {
  AFTER,
  EVENT_ID_FILTER,
  PAGE_SIZE,
  REFERENCE_FILTER,
  TRIGGER_FILTER,
  waitUntil,
} from "../server/parameters.ts";
import { fieldCursor, numberField } from "../server/cursor.ts";
import { QueryReader, readOption } from "../server/query.ts";
import { pollUntil, waitInSlot } from "./waiting.ts";
import {
  EVENT_LIMITS,
  readEventDocument,
} from "../../webhooks/event_document.ts";
import { ingestEvent as ingest } from "../../webhooks/ingest.ts";
import { EVENT_EXAMPLE } from "../../contracts/examples.ts";
import { endpoint } from "../server/route.ts";

const WAIT = waitUntil("there is an event");

/** Every answer has a `<next>`, so a client can always continue. */
export const listEvents = endpoint({
  operation: "listEvents",
  title: "Pull events",
  about:
    "Your events in order, with or without a webhook. Every answer has a " +
    "<next>: store it, and send it as after in the next request.",
  parameters: [
    AFTER,
    PAGE_SIZE,
    TRIGGER_FILTER,
    REFERENCE_FILTER,
    EVENT_ID_FILTER,
    WAIT,
  ],
  answers: ["events"],
  waits: true,
}, async (exchange) => {
  const waitMs = readOption(exchange.query, WAIT) ?? 0;
  const place = readPlace(exchange.query);
  const { seller, services } = exchange;
  const found = await makeListable(services, seller, place);
  checkCursor(place.after, found);
  if (waitMs > 0 && found.count === 0) {
    await waitForEvent(exchange, place, waitMs);
  }
  const { list, after } = await readPage<number, never>(
    exchange,
    "event",
    place,
    async (sql, after, limit) => {
      const query = { ...place, after, limit };
      const events = await eventsAfter(sql, seller.no, query);
      const isFull = events.length === limit;
      return {
        entries: events.map(eventEntry(exchange.form)),
        next: isFull ? events[limit - 1].number : null,
      };
    },
    seller.no,
  );
  return { xml: { events: { event: list }, next: after } };
});

function readPlace(query: URLSearchParams): EventsQuery {
  const reader = new QueryReader(query);
  const place = {
    after: reader.cursor(EVENT_CURSOR) ?? 0,
    trigger: reader.read(TRIGGER_FILTER),
    reference: reader.read(REFERENCE_FILTER),
    id: reader.read(EVENT_ID_FILTER),
    limit: reader.limit(),
  };
  reader.finish();
  return place;
}

/** A cursor is the number of the last event that was read. */
const EVENT_CURSOR = fieldCursor(numberField(/0|[1-9]\d{0,14}/y));

/**
 * Throws 422 for a cursor beyond the last event, as after the operator restored
 * a backup. Otherwise the client would miss events without notice.
 */
function checkCursor(after: number, { last }: Listable): void {
  if (after <= last) return;
  throw recordInvalid([{
    field: "after",
    code: "not_allowed",
    message: `after is ${after}, and your last event is number ${last}; it ` +
      "must be the <next> of an earlier page. If it is, the service " +
      "was restored from a backup: begin again without after.",
  }]);
}

async function waitForEvent(
  exchange: Exchange,
  place: EventsQuery,
  ms: number,
): Promise<void> {
  const { services, seller } = exchange;
  const readNext = async () => {
    const query = { ...place, limit: 1 };
    const { count } = await makeListable(services, seller, query);
    return count > 0 ? true : null;
  };
  const awaited = { signal: services.signals.events, key: seller.id };
  await waitInSlot(
    exchange,
    ms,
    (abort) => pollUntil(exchange, awaited, abort, readNext),
  );
}

/** An event in the list, with its body exactly as it is signed. */
function eventEntry({ name }: AnswerForm) {
  const write = name === "json" ? eventInJson : eventInXml;
  return ({ number, body }: FeedEvent) => ({
    node: new EncodedElement(write(body)),
    cursor: number,
  });
}

export const ingestEvent = endpoint({
  operation: "ingestEvent",
  title: "Send an event",
  about:
    "The event is on disk when the answer arrives. A repeated request with " +
    "the same seller, trigger and reference returns the first id and " +
    "delivers nothing twice; if its data differ, it is refused.",
  sends: { root: "event", example: EVENT_EXAMPLE },
  answers: ["event"],
  errors: ["reference_reused"],
}, async ({ services, body, parse }) => {
  const bytes = await body(EVENT_LIMIT);
  const draft = readEventDocument(parse(bytes, EVENT_LIMITS), bytes);
  const { eventId, deliveryId, trigger, outcome } = await ingest(
    services,
    draft,
  );
  services.metrics.events.add(1, trigger, outcome);
  return {
    xml: {
      event_id: eventId,
      delivery: deliveryId === null ? "none" : undefined,
    },
  };
});
