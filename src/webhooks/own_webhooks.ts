/** Changes that sellers make to their own webhooks and deliveries. */
import { notFound, type ServiceError } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { findDelivery, replayDelivery } from "./delivery_log.ts";
import { type RotatedSecret, rotateOwnSecret } from "./secrets.ts";
import type { Trigger } from "./trigger.ts";
import type { DeliveryState } from "./webhook.ts";
import { deleteWebhook } from "./webhook_rows.ts";

/** Deletes a webhook; throws 404 if there is none for the trigger. */
export async function removeWebhook(
  { db, deps }: Pick<Services, "db" | "deps">,
  { no }: Seller,
  trigger: string,
): Promise<void> {
  const found = await db.of(no).write(
    (tx) => deleteWebhook(tx, deps, no, trigger),
  );
  if (!found) throw notFound("webhook");
}

/** Like `rotateOwnSecret`; throws 404 if there is no webhook. */
export async function rotateSecretOfOwn(
  { db, deps }: Pick<Services, "db" | "deps">,
  { no }: Seller,
  trigger: Trigger,
): Promise<RotatedSecret> {
  const rotated = await db.of(no).write(
    (tx) => rotateOwnSecret(tx, deps, no, trigger),
  );
  if (rotated === undefined) throw noWebhook(trigger);
  return rotated;
}

/** Replays a delivery, and returns its state; throws 404. */
export function replayOwnDelivery(
  { db, deps, signals }: Pick<Services, "db" | "deps" | "signals">,
  { no }: Seller,
  { trigger, id }: { trigger: string; id: string },
): Promise<{ eventId: string; state: DeliveryState }> {
  return db.of(no).write(async (tx) => {
    const before = await findDelivery(tx, no, id);
    if (before?.trigger !== trigger) throw notFound("delivery");
    const replay = await replayDelivery(tx, before, deps.clock.now());
    if (replay === "no_webhook") throw noWebhook(trigger);
    if (replay === "due") tx.onCommit(() => signals.deliveries.announce());
    return await findDelivery(tx, no, id) ?? before;
  });
}

/** The 404 for a trigger without a webhook. */
export function noWebhook(trigger: string): ServiceError {
  return notFound(`webhook; register one for ${trigger} first`);
}
