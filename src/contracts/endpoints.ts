/**
 * What each route does, for those who call it. A test holds it to the table of
 * routes; examples and schemas are named, not repeated.
 */
import { ATTRIBUTE_NAMES, STATUSES } from "../catalogue/product.ts";
import { TRIGGERS } from "../webhooks/webhook.ts";
import type { ErrorCode } from "../lib/errors.ts";
import type { AnswerName } from "./answers.ts";
import {
  EVENT_EXAMPLE,
  FEED_EXAMPLE,
  PRODUCTS_EXAMPLE,
  WEBHOOK_EXAMPLE,
} from "./examples.ts";

/** A parameter in the query or a header. */
export interface Parameter {
  name: string;
  about: string;
  in?: "query" | "header";
  /** What is known of its values. */
  schema?: Readonly<Record<string, unknown>>;
}

export interface Endpoint {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** As in the table of routes. */
  path: string;
  /** Whose key it asks for. */
  access: "seller" | "operator" | "public";
  /** A name for programs. */
  operation: string;
  title: string;
  about: string;
  parameters?: readonly Parameter[];
  /** Root element of the document that is sent, and an example. */
  sends?: { root: "products" | "webhook" | "event"; example: string };
  /** Kinds of answer in XML; a media type; null for 204. */
  answers: readonly AnswerName[] | { type: string } | null;
  /** Instead of the examples of the kinds. */
  example?: string;
  /** Errors besides those that every endpoint can answer. */
  errors?: readonly ErrorCode[];
}

const BULK = "/seller_api/bulk_products";
const PRODUCTS = "/seller_api/products";
const WEBHOOKS = "/seller_api/webhooks";

/** Segments of paths. */
export const PATH_PARAMETERS: Readonly<
  Record<string, { about: string; words?: readonly string[] }>
> = {
  transaction_id: { about: "the answer of the upload" },
  sku_or_id: { about: "a SKU, else an id; percent-encode what is special" },
  attribute: { about: "which attribute", words: ATTRIBUTE_NAMES },
  value: { about: "its new value; empty clears it" },
  trigger: { about: "which trigger", words: TRIGGERS },
  id: { about: "a delivery's id" },
  folder: { about: "the first two digits of the SHA-256" },
  file: { about: "the SHA-256, a dot and the type" },
  name: { about: "a file of the page" },
};

const LIMIT: Parameter = {
  name: "limit",
  about: "entries of a page, 1 to 250; 50 when left out",
  schema: { type: "integer", minimum: 1, maximum: 250, default: 50 },
};
const AFTER: Parameter = {
  name: "after",
  about: "goes on behind an earlier page: what its <next> held",
};

const UPLOAD: readonly Parameter[] = [
  {
    name: "v",
    about: "version; 1.1 when left out",
    schema: { type: "string", enum: ["1.1"] },
  },
  {
    name: "dry_run",
    about: "true does everything but the write",
    schema: { type: "boolean", default: false },
  },
  {
    name: "Idempotency-Key",
    in: "header",
    about: "up to 255 characters, kept 24 h: the same request again gets the " +
      "first answer",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
];

export const ENDPOINTS: readonly Endpoint[] = [
  {
    method: "POST",
    path: BULK,
    access: "seller",
    operation: "uploadProducts",
    title: "Upload products",
    about:
      "Creates or updates up to 250 products, all or none. Each image URL " +
      "must answer HEAD with 200; the images are fetched after the answer.",
    parameters: UPLOAD,
    sends: { root: "products", example: PRODUCTS_EXAMPLE },
    answers: ["upload", "dry_run"],
    errors: ["unsupported_version", "conflict", "too_many_products"],
  },
  {
    method: "GET",
    path: `${BULK}/:transaction_id`,
    access: "seller",
    operation: "getTransaction",
    title: "Watch an upload",
    about: "What became of each product, and how far the images are. With " +
      "Accept: text/event-stream, a stream of progress events and a final one.",
    parameters: [{
      name: "wait",
      about: "seconds, up to 30: answers when the status is final, or then",
      schema: { type: "integer", minimum: 0 },
    }],
    answers: ["transaction"],
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: BULK,
    access: "seller",
    operation: "listTransactions",
    title: "Recent uploads",
    about: "The newest first, with counters and without results.",
    parameters: [AFTER, LIMIT],
    answers: ["transactions"],
    errors: ["record_invalid"],
  },
  {
    method: "POST",
    path: `${BULK}/:transaction_id/images/retry`,
    access: "seller",
    operation: "retryImages",
    title: "Try failed images again",
    about: "Answers how many references that are.",
    answers: ["images_retry"],
    errors: ["not_found"],
  },
  {
    method: "PUT",
    path: `${PRODUCTS}/:sku_or_id/attribute/:attribute/:value?`,
    access: "seller",
    operation: "putAttribute",
    title: "Change one attribute",
    about: "By the rules of the upload. A body is ignored.",
    answers: null,
    errors: ["not_found", "record_invalid"],
  },
  {
    method: "GET",
    path: PRODUCTS,
    access: "seller",
    operation: "listProducts",
    title: "Read products out",
    about: "In the order of their creation, so that a page shows no product " +
      "twice and misses none while others are written. What stands in " +
      "<products> can be uploaded as it is. With a filter a page may be short, " +
      "or empty, before the end: go on while there is a <next>.",
    parameters: [
      AFTER,
      LIMIT,
      {
        name: "updated_since",
        about: "only what changed then or later; ISO 8601",
        schema: { type: "string", format: "date-time" },
      },
      {
        name: "status",
        about: "only products with this status",
        schema: { type: "string", enum: STATUSES },
      },
      {
        name: "q",
        about: "only products whose SKU or title holds this, in any case",
        schema: { type: "string", maxLength: 150 },
      },
    ],
    answers: ["products"],
    errors: ["record_invalid"],
  },
  {
    method: "GET",
    path: `${PRODUCTS}/:sku_or_id`,
    access: "seller",
    operation: "getProduct",
    title: "Read a product out",
    about: "Its fields, its times, and the state of its images.",
    answers: ["product"],
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: WEBHOOKS,
    access: "seller",
    operation: "createWebhook",
    title: "Register a webhook",
    about: "One for each trigger; another URL takes the place of the first.",
    sends: { root: "webhook", example: WEBHOOK_EXAMPLE },
    answers: ["success"],
  },
  {
    method: "GET",
    path: WEBHOOKS,
    access: "seller",
    operation: "listWebhooks",
    title: "List webhooks",
    about: "The oldest first.",
    answers: ["webhooks"],
  },
  {
    method: "DELETE",
    path: `${WEBHOOKS}/:trigger`,
    access: "seller",
    operation: "deleteWebhook",
    title: "Remove a webhook",
    about: "What waits for it is cancelled.",
    answers: ["success"],
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: `${WEBHOOKS}/:trigger/test`,
    access: "seller",
    operation: "testWebhook",
    title: "Try a webhook",
    about: 'Sends it <event test="true">.',
    answers: ["delivery"],
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: `${WEBHOOKS}/:trigger/deliveries`,
    access: "seller",
    operation: "listDeliveries",
    title: "Recent deliveries",
    about: "The newest first, with every try.",
    parameters: [AFTER, LIMIT],
    answers: ["deliveries"],
    errors: ["not_found", "record_invalid"],
  },
  {
    method: "POST",
    path: `${WEBHOOKS}/:trigger/deliveries/:id/replay`,
    access: "seller",
    operation: "replayDelivery",
    title: "Send a delivery anew",
    about: "Answers its state then; one that is on its way stays as it is.",
    answers: ["delivery"],
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/operator_api/events",
    access: "operator",
    operation: "ingestEvent",
    title: "Hand an event in",
    about:
      "It is on disk when the answer arrives. The same seller, trigger and " +
      "reference again return the first id and deliver nothing twice.",
    sends: { root: "event", example: EVENT_EXAMPLE },
    answers: ["event"],
  },
  {
    method: "GET",
    path: "/operator_api/products",
    access: "operator",
    operation: "followProducts",
    title: "Follow the catalogue",
    about: "The latest state of each changed product of all sellers, in the " +
      "order of change; what becomes of its images is a change too. Every page " +
      "but an empty one has a <next>, which stays good for ever: keep the last " +
      "one and ask again.",
    parameters: [AFTER, LIMIT],
    answers: ["products"],
    example: FEED_EXAMPLE,
    errors: ["record_invalid"],
  },
  {
    method: "GET",
    path: "/operator_api/sellers",
    access: "operator",
    operation: "listSellers",
    title: "List sellers",
    about: "In the order of their creation.",
    parameters: [AFTER, LIMIT],
    answers: ["sellers"],
    errors: ["record_invalid"],
  },
  {
    method: "GET",
    path: "/operator_api/status",
    access: "operator",
    operation: "getStatus",
    title: "How things stand",
    about: "What waits, which webhooks fail (the 100 that failed first), and " +
      "the last 24 hours: uploads, images fetched and failed, deliveries tried.",
    answers: ["status"],
  },
  {
    method: "GET",
    path: "/healthz",
    access: "public",
    operation: "getHealth",
    title: "Alive",
    about: "The process runs and answers.",
    answers: ["health"],
  },
  {
    method: "GET",
    path: "/readyz",
    access: "public",
    operation: "getReadiness",
    title: "Ready",
    about:
      "200 when the service can do its work, else 503. With the operator's " +
      "key it says what it looked at.",
    answers: ["health"],
  },
  {
    method: "GET",
    path: "/images/:folder/:file",
    access: "public",
    operation: "getImage",
    title: "A stored image",
    about:
      "At the path that a product's href says. It never changes; a range " +
      "of its bytes can be had.",
    answers: { type: "image/*" },
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/seller_api/schemas/products-1.1.xsd",
    access: "public",
    operation: "getProductsSchema",
    title: "Schema of uploads",
    about: "XML Schema 1.0.",
    answers: { type: "application/xml" },
  },
  {
    method: "GET",
    path: "/seller_api/schemas/responses-1.1.xsd",
    access: "public",
    operation: "getResponsesSchema",
    title: "Schema of answers",
    about: "XML Schema 1.0.",
    answers: { type: "application/xml" },
  },
  {
    method: "GET",
    path: "/openapi.json",
    access: "public",
    operation: "getOpenApi",
    title: "OpenAPI description",
    about: "OpenAPI 3.1.",
    answers: { type: "application/json" },
  },
  {
    method: "GET",
    path: "/docs",
    access: "public",
    operation: "getDocs",
    title: "This documentation",
    about: "Written from the tables that the service works by.",
    answers: { type: "text/html" },
  },
];

/** Errors of every endpoint that asks for this key, or takes a document. */
export function errorsOf(
  { access, sends, errors = [] }: Endpoint,
): ErrorCode[] {
  const common: ErrorCode[] = ["malformed_request", "internal", "unavailable"];
  if (access !== "public") common.push("unauthorized");
  if (access === "seller") common.push("rate_limited");
  if (sends !== undefined) {
    common.push(
      "malformed_xml",
      "request_timeout",
      "body_too_large",
      "unsupported_media_type",
      "record_invalid",
    );
  }
  return [...new Set([...common, ...errors])];
}
