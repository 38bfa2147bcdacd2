/** An event as a seller's endpoint receives it. */
import { isDeepStrictEqual } from "node:util";
import { lineReader, wordReader } from "../lib/values.ts";
import { jsonWriter } from "../json/encode.ts";
import { valueFromXml } from "../json/instance.ts";
import { parseExactly } from "../json/exact.ts";
import { parseJsonAsXml, xmlContentOf } from "../json/tree.ts";
import type { XmlNode } from "../xml/encode.ts";
import { XML_LIMITS } from "../xml/handlers.ts";
import { ANY, one, type Shape, TIME, UUID, word } from "../xml/shapes.ts";
import { eventXml } from "./event_text.ts";
import { type Trigger, TRIGGERS } from "./trigger.ts";

/** The data of an event, in the format in which they were sent. */
export type EventData =
  /** The content of `<data>`. */
  | { xml: string }
  /** A JSON value; numbers are unchanged, as they were sent. */
  | { json: string };

export interface Event {
  /** UUID; also the `webhook-id` of every attempt to deliver it. */
  id: string;
  trigger: Trigger;
  createdAt: number;
  data: EventData;
  /** A test event, which the seller requested. */
  test: boolean;
}

/** The body of a delivery, `<event>`. */
export const DELIVERED_EVENT: Shape<XmlNode> = {
  type: "delivered_event",
  attributes: {
    test: {
      form: { kind: "boolean" },
      about: "true: a test event, which the seller requested",
    },
  },
  content: [
    one("id", UUID),
    one("trigger", word(TRIGGERS)),
    one("created_at", TIME),
    one("data", ANY, "any elements, as the operator sent them"),
  ],
};

/** The most bytes of an event document. */
export const EVENT_LIMIT = 256 * 1024;
/** The most nested elements inside `<data>`. */
export const DATA_DEPTH = 64;

export const readReference = lineReader(255);
export const readTrigger = wordReader(TRIGGERS);

/**
 * The body of a delivery in the format of its data, encoded once: it is stored,
 * and sent unchanged to webhooks of that format.
 */
export function eventBody(event: Event): Uint8Array {
  const { id, trigger, test, data } = event;
  const created_at = new Date(event.createdAt).toISOString();
  const text = "xml" in data
    ? eventXml({ id, trigger, created_at, test, data: data.xml })
    : eventText({ id, trigger, created_at, ...test && { test } }, data.json);
  return new TextEncoder().encode(text);
}

function eventText(
  head: Record<string, string | boolean>,
  data: string,
): string {
  return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}

const writeEvent = jsonWriter(DELIVERED_EVENT);
const LIMITS = { ...XML_LIMITS, depth: DATA_DEPTH + 2 };
const DATA = { name: "data", shape: ANY };

/** The body in JSON: JSON data unchanged, XML data converted. */
export function eventInJson(body: Uint8Array): string {
  if (isJson(body)) return new TextDecoder().decode(body);
  const event = valueFromXml(body, DELIVERED_EVENT, LIMITS) as XmlNode;
  // Empty data become an object, like most data.
  return writeEvent(event.data === "" ? { ...event, data: {} } : event);
}

/** The body in XML: XML data byte for byte, JSON data converted. */
export function eventInXml(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  if (!isJson(body)) return text;
  const { data, ...event } = parseExactly(text) as {
    data: unknown;
    id: string;
    trigger: Trigger;
    created_at: string;
    test?: boolean;
  };
  return eventXml({ ...event, data: xmlOfData(JSON.stringify(data)) });
}

/** The body as it is sent to a webhook of this format. */
export function bodyIn(format: "xml" | "json", body: Uint8Array): Uint8Array {
  if (isJson(body) === (format === "json")) return body;
  const text = format === "json" ? eventInJson(body) : eventInXml(body);
  return new TextEncoder().encode(text);
}

/** The content of `<data>` for a JSON value. */
export function xmlOfData(json: string): string {
  const bytes = new TextEncoder().encode(json);
  return xmlContentOf(parseJsonAsXml(bytes, DATA, LIMITS).any!);
}

const BRACE = "{".charCodeAt(0);

function isJson(body: Uint8Array): boolean {
  return body[0] === BRACE;
}

/**
 * Whether the event with this body has equal data. JSON is compared as values;
 * data in different formats are compared as XML, where every value is a text.
 */
export function hasData(body: Uint8Array, data: EventData): boolean {
  const isInJson = "json" in data;
  const [one, other] = isInJson === isJson(body)
    ? [eventInJson(body), eventInJson(bodyWith(data))]
    : isInJson
    ? [eventInJson(body), eventInJson(bodyWith({ xml: xmlOfData(data.json) }))]
    : [
      eventInJson(new TextEncoder().encode(eventInXml(body))),
      eventInJson(bodyWith(data)),
    ];
  return isDeepStrictEqual(JSON.parse(one).data, JSON.parse(other).data);
}

function bodyWith(data: EventData): Uint8Array {
  return eventBody({
    id: "",
    trigger: TRIGGERS[0],
    createdAt: 0,
    data,
    test: false,
  });
}
