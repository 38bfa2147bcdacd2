/** The triggers. The page imports this file. */

const REVIEW_START =
  "<review><product>01a1f8a9-48dd-7dda-af68-77c9d5d897a7</product>" +
  "<sku>MUG-1</sku>";

/**
 * When the marketplace sends each trigger, with an example of `<data>`. The
 * marketplace decides about the content of `<data>`, except in events that the
 * service makes itself: decisions of a review and ends of imports.
 */
export const TRIGGER_EXAMPLES = {
  order_created: {
    when: "a customer ordered",
    data: '<order><number>1001</number><total currency="SEK">149.00</total>' +
      "<line><sku>MUG-1</sku><quantity>1</quantity></line></order>",
  },
  order_paid: {
    when: "the order is paid: it can be sent",
    data:
      "<order><number>1001</number><paid_at>2026-11-20T08:00:00Z</paid_at>" +
      "</order>",
  },
  order_updated: {
    when: "the customer or the marketplace changed the order",
    data: "<order><number>1001</number><changed>address</changed></order>",
  },
  order_cancelled: {
    when: "the order is not to be sent",
    data: "<order><number>1001</number><reason>customer</reason></order>",
  },
  order_delivered: {
    when: "the customer has the order",
    data: "<order><number>1001</number>" +
      "<delivered_at>2026-11-23T14:05:00Z</delivered_at></order>",
  },
  return_created: {
    when: "the customer returns products",
    data: "<return><number>7</number><order>1001</order>" +
      "<line><sku>MUG-1</sku><quantity>1</quantity></line></return>",
  },
  return_updated: {
    when: "the return has another state",
    data: "<return><number>7</number><state>received</state></return>",
  },
  refund_created: {
    when: "the customer gets money back",
    data: "<refund><order>1001</order>" +
      '<amount currency="SEK">149.00</amount></refund>',
  },
  message_created: {
    when: "a customer wrote",
    data: "<message><order>1001</order>" +
      "<text>Is it dishwasher-safe?</text></message>",
  },
  review_created: {
    when: "a customer reviewed a product",
    data: "<review><sku>MUG-1</sku><stars>5</stars></review>",
  },
  payout_paid: {
    when: "the marketplace has paid out",
    data: '<payout><number>12</number><amount currency="SEK">4210.50</amount>' +
      "</payout>",
  },
  product_approved: {
    when: "the marketplace shows the product",
    data: REVIEW_START + "<code/><field/><message/></review>",
  },
  product_rejected: {
    when: "the marketplace does not show the product",
    data: REVIEW_START + "<code>logo_in_image</code><field>images</field>" +
      "<message>An image shows a logo.</message></review>",
  },
  import_finished: {
    when: "an import has ended, including dry runs",
    data:
      "<import><import_id>01a1f8b9-1c8d-7e32-8c20-2f1d3b4a5c6e</import_id>" +
      "<name>catalogue.csv</name><status>completed</status><products>" +
      "<total>5000</total><created>12</created><updated>80</updated>" +
      "<unchanged>4908</unchanged></products></import>",
    json: {
      import: {
        import_id: "01a1f8b9-1c8d-7e32-8c20-2f1d3b4a5c6e",
        name: "catalogue.csv",
        status: "completed",
        products: { total: 5000, created: 12, updated: 80, unchanged: 4908 },
      },
    },
  },
} as const satisfies Record<
  string,
  // `json`: the example in JSON, if it has values that are not texts in JSON.
  { when: string; data: string; json?: Readonly<Record<string, unknown>> }
>;

export type Trigger = keyof typeof TRIGGER_EXAMPLES;

export const TRIGGERS = Object.keys(TRIGGER_EXAMPLES) as [
  Trigger,
  ...Trigger[],
];

export function isTrigger(text: string): text is Trigger {
  return Object.hasOwn(TRIGGER_EXAMPLES, text);
}
