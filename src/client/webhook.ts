/** The event in a delivery. */
import { decode, parseXml } from "./decode.ts";
import { DELIVERED_EVENT, type DeliveredEvent } from "./types.ts";
import {
  SignatureError,
  type SignedDelivery,
  type Verification,
  verifySignature,
} from "./signature.ts";

/**
 * The event of a delivery that the service signed. Throws `SignatureError`
 * otherwise.
 */
export async function verifyWebhook(
  delivery: SignedDelivery,
  verification: Verification = {},
): Promise<DeliveredEvent> {
  const event = parseXml(await verifySignature(delivery, verification));
  if (event === null) throw new SignatureError("The body is no XML.");
  return decode(event, DELIVERED_EVENT) as DeliveredEvent;
}
