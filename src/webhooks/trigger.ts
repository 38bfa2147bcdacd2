/** Which triggers there are. The page imports this file. */

export const TRIGGERS = [
  "order_created",
  "order_paid",
  "order_updated",
  "order_cancelled",
  "order_delivered",
  "return_created",
  "return_updated",
  "refund_created",
  "message_created",
  "review_created",
  "payout_paid",
  "product_approved",
  "product_rejected",
] as const;

export type Trigger = typeof TRIGGERS[number];

export function isTrigger(text: string): text is Trigger {
  return (TRIGGERS as readonly string[]).includes(text);
}
