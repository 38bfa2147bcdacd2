/**
 * Words of the interface that the page offers. A test holds them to the tables
 * of the service; the page does not import those, which would make it heavier.
 */

export interface Field {
  name: string;
  label: string;
  /** What may stand there; without it the value is text. */
  words?: readonly string[];
  /** What a keyboard on a screen should offer. */
  input?: "numeric" | "decimal" | "date";
  /** Whether it may be empty. */
  clears?: boolean;
}

/** What can be changed attribute by attribute, in the order it is shown. */
export const FIELDS: readonly Field[] = [
  { name: "sku", label: "SKU" },
  { name: "title", label: "Title" },
  { name: "status", label: "Status", words: ["active", "paused"] },
  { name: "price", label: "Price", input: "decimal" },
  {
    name: "compare_at_price",
    label: "Compare-at price",
    input: "decimal",
    clears: true,
  },
  { name: "vat_rate", label: "VAT rate", input: "decimal", clears: true },
  { name: "quantity", label: "Quantity", input: "numeric", clears: true },
  {
    name: "availability",
    label: "Availability",
    words: ["in_stock", "out_of_stock", "preorder", "backorder"],
  },
  { name: "available_at", label: "Available at", input: "date", clears: true },
  {
    name: "condition",
    label: "Condition",
    words: ["new", "refurbished", "used"],
  },
  { name: "brand", label: "Brand", clears: true },
  { name: "mpn", label: "MPN", clears: true },
  { name: "gtin", label: "GTIN", input: "numeric", clears: true },
];

/** What a webhook can be registered for. */
export const TRIGGERS: readonly string[] = [
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
];
