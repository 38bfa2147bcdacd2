/** The event in a delivery. */
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
 * The event of a delivery that the service signed; throws `SignatureError` for
 * any other.
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

/** What precedes the data of an event, as the service writes it. */
const HEAD =
  /^<event( test="true")?><id>([^<]*)<\/id><trigger>([^<]*)<\/trigger><created_at>([^<]*)<\/created_at><data>/;

function eventIn(xml: string): DeliveredEvent | null {
  const found = HEAD.exec(xml);
  if (found === null) return null;
  const [{ length }, test, id, trigger, created_at] = found;
  const data = xml.slice(length, xml.lastIndexOf("</data>"));
  const event = { id, trigger, created_at, data } as DeliveredEvent;
  return test === undefined ? event : { test: true, ...event };
}
