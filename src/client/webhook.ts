/** Reads the event in a delivery. */
import { parseObject } from "./errors.ts";
import {
  SignatureError,
  type SignedDelivery,
  type Verification,
  verifySignature,
} from "./signature.ts";
import type { DeliveredEvent } from "./types.ts";

/** `data` is markup or a JSON value, depending on the format of the webhook. */
export type VerifiedEvent = DeliveredEvent;

/**
 * Returns the event if the service signed the delivery; otherwise throws
 * `SignatureError`.
 */
export async function verifyWebhook(
  delivery: SignedDelivery,
  verification: Verification = {},
): Promise<VerifiedEvent> {
  const body = await verifySignature(delivery, verification);
  const event = body.startsWith("{") ? parseObject(body) : eventIn(body);
  if (event === null) throw new SignatureError("The body is not an event.");
  return event as unknown as DeliveredEvent;
}

/** The beginning of an event in XML, up to the data. */
const BEFORE_DATA =
  /^<event( test="true")?><id>([^<]*)<\/id><trigger>([^<]*)<\/trigger><created_at>([^<]*)<\/created_at><data>/;

function eventIn(xml: string): DeliveredEvent | null {
  const match = BEFORE_DATA.exec(xml);
  if (match === null) return null;
  const [{ length }, test, id, trigger, created_at] = match;
  const data = xml.slice(length, xml.lastIndexOf("</data>"));
  const event = { id, trigger, created_at, data } as DeliveredEvent;
  return test === undefined ? event : { test: true, ...event };
}
