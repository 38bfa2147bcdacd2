/** An event as a seller's endpoint receives it. */
import { isDeepStrictEqual } from "node:util";
import { lineReader, wordReader } from "../lib/values.ts";
import { jsonWriter } from "../json/encode.ts";
import { instanceOf } from "../json/instance.ts";
import type { XmlNode } from "../xml/encode.ts";
import { XML_LIMITS } from "../xml/handlers.ts";
import { ANY, one, type Shape, TIME, UUID, word } from "../xml/shapes.ts";
import { eventXml } from "./event_text.ts";
import { type Trigger, TRIGGERS } from "./trigger.ts";

export interface Event {
  /** UUID; also the `webhook-id` of every try to deliver it. */
  id: string;
  trigger: Trigger;
  createdAt: number;
  /** What stands inside `<data>`, as the emitter wrote it. */
  data: string;
  /** Made to test a webhook, on a request of the seller; nothing happened. */
  test: boolean;
}

/** The body of a delivery, `<event>`. */
export const DELIVERED_EVENT: Shape<XmlNode> = {
  type: "delivered_event",
  attributes: {
    test: { form: { kind: "boolean" }, about: "true: the seller tries it" },
  },
  content: [
    one("id", UUID),
    one("trigger", word(TRIGGERS)),
    one("created_at", TIME),
    one("data", ANY, "any elements, as the operator sent them"),
  ],
};

/** Bytes of an event document at most. */
export const EVENT_LIMIT = 256 * 1024;
/** Nested elements inside `<data>` at most. */
export const DATA_DEPTH = 64;

export const readReference = lineReader(255);
export const readTrigger = wordReader(TRIGGERS);

/**
 * The body of a delivery, encoded once: it is stored, and signed unchanged
 * unless the webhook takes JSON.
 */
export function eventBody(event: Event): Uint8Array {
  const created_at = new Date(event.createdAt).toISOString();
  return new TextEncoder().encode(eventXml({ ...event, created_at }));
}

const writeEvent = jsonWriter(DELIVERED_EVENT);
const LIMITS = { ...XML_LIMITS, depth: DATA_DEPTH + 2 };

/** The same body in JSON; data that is empty is an object, like most. */
export function eventJson(body: Uint8Array): string {
  const event = instanceOf(body, DELIVERED_EVENT, LIMITS) as XmlNode;
  return writeEvent(event.data === "" ? { ...event, data: {} } : event);
}

/** Whether the data of an event with this body are equal, as JSON values. */
export function hasData(body: Uint8Array, data: string): boolean {
  const event = JSON.parse(eventJson(body));
  const other = eventBody({ ...event, createdAt: 0, data, test: false });
  return isDeepStrictEqual(event.data, JSON.parse(eventJson(other)).data);
}
