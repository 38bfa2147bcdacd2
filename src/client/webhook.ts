/** The event in a delivery. */
import { decode, parseXml } from "./decode.ts";
import { DELIVERED_EVENT, type DeliveredEvent } from "./types.ts";
import {
  SignatureError,
  type SignedDelivery,
  type Verification,
  verifySignature,
} from "./signature.ts";

/** `data`: markup, or what JSON held, in the format of the webhook. */
export type VerifiedEvent = Omit<DeliveredEvent, "data"> & { data: unknown };

/**
 * The event of a delivery that the service signed. Throws `SignatureError`
 * otherwise.
 */
export async function verifyWebhook(
  delivery: SignedDelivery,
  verification: Verification = {},
): Promise<VerifiedEvent> {
  const body = await verifySignature(delivery, verification);
  if (body.startsWith("{")) return JSON.parse(body);
  const event = parseXml(body);
  if (event === null) throw new SignatureError("The body is no XML.");
  return decode(event, DELIVERED_EVENT) as DeliveredEvent;
}
