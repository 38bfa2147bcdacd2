/** The table of endpoints: path, access, parameters, handler, documentation. */
import { getHealth, getReadiness } from "./handlers/health_endpoints.ts";
import {
  getChapter,
  getDocs,
  getDocsStyle,
  getOpenApi,
  getProductsSchema,
  getResponsesSchema,
} from "./handlers/contract_endpoints.ts";
import { getImage } from "./handlers/image_endpoints.ts";
import {
  getRefusedProducts,
  getTransaction,
  listTransactions,
  retryImages,
} from "./handlers/transaction_endpoints.ts";
import {
  addSeller,
  addSellerKey,
  deleteKey,
  deleteSeller,
  getAccount,
  listSellerKeys,
  listSellers,
  putSellerAttribute,
  rotateSellerSecrets,
} from "./handlers/seller_endpoints.ts";
import { listAudit } from "./handlers/audit_endpoints.ts";
import { ingestEvent, listEvents } from "./handlers/event_endpoints.ts";
import { getMetrics } from "./handlers/metrics_endpoints.ts";
import { getAsset, getPage } from "./handlers/page_endpoints.ts";
import { bulkUpload, undoUpload } from "./handlers/upload_endpoints.ts";
import {
  deleteProduct,
  followProducts,
  getProduct,
  listProducts,
  putAttribute,
} from "./handlers/product_endpoints.ts";
import { getStatus } from "./handlers/status_endpoints.ts";
import {
  listAllRefusals,
  listOwnRefusals,
} from "./handlers/refusal_endpoints.ts";
import {
  ACCEPT,
  AFTER,
  CHANGED,
  DRY_RUN,
  IDEMPOTENCY_KEY,
  LIMIT,
  SEARCH,
  SELLER,
  SINCE,
  STATE,
  STATUS,
  TRIGGER,
  UNTIL,
  UPDATED_SINCE,
  VERSION,
  waitUntil,
} from "./server/parameters.ts";
import type { Route } from "./server/router.ts";
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listSellerDeliveries,
  listWebhooks,
  recoverWebhook,
  replayDelivery,
  rotateSecret,
  testWebhook,
} from "./handlers/webhook_endpoints.ts";
import type { Endpoint } from "../contracts/endpoint.ts";
import {
  EVENT_EXAMPLE,
  FEED_EXAMPLE,
  KEY_EXAMPLE,
  PRODUCTS_EXAMPLE,
  SELLER_EXAMPLE,
  WEBHOOK_EXAMPLE,
} from "../contracts/examples.ts";

const BULK = "/seller_api/bulk_products";
const PRODUCTS = "/seller_api/products";
const WEBHOOKS = "/seller_api/webhooks";
const SELLERS = "/operator_api/sellers";

export const ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: BULK,
    access: "seller",
    parameters: [VERSION, DRY_RUN, ACCEPT, IDEMPOTENCY_KEY],
    handler: bulkUpload,
    upload: true,
    documentation: {
      operation: "uploadProducts",
      title: "Upload products",
      about: "Creates or updates up to 250 products, all or none (with " +
        "accept=valid: those without a problem). Each image URL " +
        "must answer HEAD with 200; the images are fetched after the answer.",
      sends: { root: "products", example: PRODUCTS_EXAMPLE },
      answers: ["upload", "dry_run"],
      errors: ["unsupported_version", "conflict", "too_many_products"],
    },
  },
  {
    method: "GET",
    path: `${BULK}/:transaction_id`,
    access: "seller",
    parameters: [
      waitUntil("the status is final"),
      AFTER,
    ],
    handler: getTransaction,
    waits: true,
    documentation: {
      operation: "getTransaction",
      title: "Watch an upload",
      about: "What became of each product, and how far the images are. With " +
        "Accept: text/event-stream, a stream of progress events and a final one.",
      streams: "events progress, with <transaction> without its results, and " +
        "final at the end",
      answers: ["transaction"],
      errors: ["not_found", "record_invalid"],
    },
  },
  {
    method: "GET",
    path: `${BULK}/:transaction_id/refused`,
    access: "seller",
    handler: getRefusedProducts,
    documentation: {
      operation: "getRefusedProducts",
      title: "Refused products of an upload",
      about: "What accept=valid did not store, as a document <products> to " +
        "correct and upload: each product byte for byte as it was sent, " +
        "behind a comment with its problems.",
      answers: { type: "text/xml" },
      errors: ["not_found"],
    },
  },
  {
    method: "GET",
    path: BULK,
    access: "seller",
    parameters: [AFTER, LIMIT],
    handler: listTransactions,
    documentation: {
      operation: "listTransactions",
      title: "Recent uploads",
      about: "The newest first, with counters and without results.",
      answers: ["transactions"],
      errors: ["record_invalid"],
    },
  },
  {
    method: "POST",
    path: `${BULK}/:transaction_id/images/retry`,
    access: "seller",
    handler: retryImages,
    documentation: {
      operation: "retryImages",
      title: "Try failed images again",
      about: "Answers how many image references are tried again.",
      answers: ["images_retry"],
      errors: ["not_found"],
    },
  },
  {
    method: "POST",
    path: `${BULK}/:transaction_id/undo`,
    access: "seller",
    parameters: [
      CHANGED,
      DRY_RUN,
      IDEMPOTENCY_KEY,
    ],
    handler: undoUpload,
    documentation: {
      operation: "undoUpload",
      title: "Take an upload back",
      about:
        "Restores the former value of every field that the upload changed, " +
        "and deletes the products that it created, all or nothing. The undo " +
        "is a transaction, which can be undone as well. A dry run answers the " +
        "counts, as with changed=keep, and what was changed since.",
      answers: ["upload", "undo_dry_run"],
      errors: ["not_found", "conflict", "record_invalid"],
    },
  },
  {
    method: "PUT",
    path: `${PRODUCTS}/:sku_or_id/attribute/:attribute/:value`,
    access: "seller",
    handler: putAttribute,
    documentation: {
      operation: "putAttribute",
      title: "Change one attribute",
      about: "By the rules of the upload. A body is ignored.",
      answers: null,
      errors: ["not_found", "record_invalid"],
    },
  },
  {
    method: "GET",
    path: PRODUCTS,
    access: "seller",
    parameters: [
      AFTER,
      LIMIT,
      UPDATED_SINCE,
      STATUS,
      SEARCH,
    ],
    handler: listProducts,
    documentation: {
      operation: "listProducts",
      title: "Read products out",
      about:
        "In the order of their creation, so that a page shows no product " +
        "twice and misses none while others are written. What stands in " +
        "<products> can be uploaded as it is. With a filter a page may be short, " +
        "or empty, before the end: go on while there is a <next>.",
      answers: ["products"],
      errors: ["record_invalid"],
    },
  },
  {
    method: "GET",
    path: `${PRODUCTS}/:sku_or_id`,
    access: "seller",
    handler: getProduct,
    documentation: {
      operation: "getProduct",
      title: "Read a product out",
      about: "Its fields, its times, and the state of its images.",
      answers: ["product"],
      errors: ["not_found"],
    },
  },
  {
    method: "DELETE",
    path: `${PRODUCTS}/:sku_or_id`,
    access: "seller",
    handler: deleteProduct,
    documentation: {
      operation: "deleteProduct",
      title: "Delete a product",
      about:
        "Its SKU is free at once; its variants stay, and its images stay " +
        "while another product shows them.",
      answers: ["success"],
      errors: ["not_found"],
    },
  },
  {
    method: "POST",
    path: WEBHOOKS,
    access: "seller",
    handler: createWebhook,
    documentation: {
      operation: "createWebhook",
      title: "Register a webhook",
      about: "One for each trigger; another URL takes the place of the first.",
      sends: { root: "webhook", example: WEBHOOK_EXAMPLE },
      answers: ["success"],
    },
  },
  {
    method: "GET",
    path: WEBHOOKS,
    access: "seller",
    handler: listWebhooks,
    documentation: {
      operation: "listWebhooks",
      title: "List webhooks",
      about: "The oldest first; one that fails says since when and why.",
      answers: ["webhooks"],
    },
  },
  {
    method: "DELETE",
    path: `${WEBHOOKS}/:trigger`,
    access: "seller",
    handler: deleteWebhook,
    documentation: {
      operation: "deleteWebhook",
      title: "Remove a webhook",
      about: "What waits for it is cancelled.",
      answers: ["success"],
      errors: ["not_found"],
    },
  },
  {
    method: "POST",
    path: `${WEBHOOKS}/:trigger/test`,
    access: "seller",
    handler: testWebhook,
    documentation: {
      operation: "testWebhook",
      title: "Try a webhook",
      about: 'Sends it <event test="true">.',
      answers: ["delivery"],
      errors: ["not_found"],
    },
  },
  {
    method: "POST",
    path: `${WEBHOOKS}/:trigger/recover`,
    access: "seller",
    parameters: [
      SINCE,
      UNTIL,
    ],
    handler: recoverWebhook,
    documentation: {
      operation: "recoverWebhook",
      title: "Deliver again what was missed",
      about: "Events whose delivery was exhausted or cancelled, or for which " +
        "there was no webhook. Answers how many deliveries are queued or held; " +
        "what is pending already is not counted.",
      answers: ["recovery"],
      errors: ["not_found", "record_invalid"],
    },
  },
  {
    method: "POST",
    path: `${WEBHOOKS}/:trigger/rotate_secret`,
    access: "seller",
    handler: rotateSecret,
    documentation: {
      operation: "rotateWebhookSecret",
      title: "Give a webhook a new secret",
      about: "The webhook has a secret of its own from then on. For 24 h " +
        "deliveries are signed with the former secret as well.",
      answers: ["webhook_secret"],
      errors: ["not_found"],
    },
  },
  {
    method: "GET",
    path: `${WEBHOOKS}/:trigger/deliveries`,
    access: "seller",
    parameters: [AFTER, LIMIT],
    handler: listDeliveries,
    documentation: {
      operation: "listDeliveries",
      title: "Recent deliveries",
      about: "The newest first, each with its last ten tries.",
      answers: ["deliveries"],
      errors: ["not_found", "record_invalid"],
    },
  },
  {
    method: "POST",
    path: `${WEBHOOKS}/:trigger/deliveries/:id/replay`,
    access: "seller",
    handler: replayDelivery,
    documentation: {
      operation: "replayDelivery",
      title: "Send a delivery anew",
      about: "Answers the delivery's new state. A delivery that is under way " +
        "stays as it is.",
      answers: ["delivery"],
      errors: ["not_found"],
    },
  },
  {
    method: "GET",
    path: "/seller_api/events",
    access: "seller",
    parameters: [
      AFTER,
      LIMIT,
      TRIGGER,
      waitUntil("there is an event"),
    ],
    handler: listEvents,
    waits: true,
    documentation: {
      operation: "listEvents",
      title: "Pull events",
      about: "Every event of yours in order, whether or not a webhook was " +
        "registered. Every answer has a <next>: keep the last one and ask " +
        "again.",
      answers: ["events"],
      errors: ["record_invalid"],
    },
  },
  {
    method: "GET",
    path: "/seller_api/refusals",
    access: "seller",
    parameters: [AFTER, LIMIT],
    handler: listOwnRefusals,
    documentation: {
      operation: "listRefusals",
      title: "Refused requests",
      about:
        "The last 100, the newest first: what was refused with a 4xx, and " +
        "why.",
      answers: ["refusals"],
      errors: ["record_invalid"],
    },
  },
  {
    method: "GET",
    path: "/seller_api/account",
    access: "seller",
    handler: getAccount,
    documentation: {
      operation: "getAccount",
      title: "Your account",
      about: "Your name, your limits and what counts against them.",
      answers: ["account"],
    },
  },
  {
    method: "POST",
    path: "/operator_api/events",
    access: "operator",
    handler: ingestEvent,
    documentation: {
      operation: "ingestEvent",
      title: "Hand an event in",
      about: "The event is on disk when the answer arrives. The same seller, " +
        "trigger and reference again return the first id and deliver nothing " +
        "twice.",
      sends: { root: "event", example: EVENT_EXAMPLE },
      answers: ["event"],
    },
  },
  {
    method: "GET",
    path: "/operator_api/products",
    access: "operator",
    parameters: [AFTER, LIMIT],
    handler: followProducts,
    documentation: {
      operation: "followProducts",
      title: "Follow the catalogue",
      about:
        "The latest state of each changed product of all sellers, in the " +
        "order of change; what becomes of its images is a change too. A deleted " +
        "product has deleted_at, and only its id and SKU. seller_id never " +
        "changes; a rename moves no product. Every page but an empty one has " +
        "a <next>, which stays good for ever: keep the last one and ask again.",
      answers: ["products"],
      example: FEED_EXAMPLE,
      errors: ["record_invalid"],
    },
  },
  {
    method: "GET",
    path: SELLERS,
    access: "operator",
    parameters: [AFTER, LIMIT],
    handler: listSellers,
    documentation: {
      operation: "listSellers",
      title: "List sellers",
      about: "In the order of their creation, with their limits and what " +
        "counts against them.",
      answers: ["sellers"],
      errors: ["record_invalid"],
    },
  },
  {
    method: "POST",
    path: SELLERS,
    access: "operator",
    handler: addSeller,
    documentation: {
      operation: "addSeller",
      title: "Create a seller",
      about: "With a first key and a webhook secret, which are shown once.",
      sends: { root: "seller", example: SELLER_EXAMPLE },
      answers: ["new_seller"],
    },
  },
  {
    method: "PUT",
    path: `${SELLERS}/:seller/attribute/:seller_attribute/:value`,
    access: "operator",
    handler: putSellerAttribute,
    documentation: {
      operation: "putSellerAttribute",
      title: "Change a seller",
      about: "A limit is a whole number; an empty one is the default of the " +
        "settings. A body is ignored.",
      answers: null,
      errors: ["not_found", "record_invalid"],
    },
  },
  {
    method: "DELETE",
    path: `${SELLERS}/:seller`,
    access: "operator",
    handler: deleteSeller,
    documentation: {
      operation: "removeSeller",
      title: "Remove a seller",
      about: "With its products, uploads, webhooks, events and keys. The " +
        "seller is unknown and its name free at once; its data goes within " +
        "seconds. This cannot be undone.",
      answers: ["success"],
      errors: ["not_found"],
    },
  },
  {
    method: "GET",
    path: `${SELLERS}/:seller/keys`,
    access: "operator",
    handler: listSellerKeys,
    documentation: {
      operation: "listSellerKeys",
      title: "List a seller's keys",
      about: "The oldest first, also those that were revoked.",
      answers: ["keys"],
      errors: ["not_found"],
    },
  },
  {
    method: "POST",
    path: `${SELLERS}/:seller/keys`,
    access: "operator",
    handler: addSellerKey,
    documentation: {
      operation: "addSellerKey",
      title: "Give a seller one more key",
      about: "The key is shown once.",
      sends: { root: "key", example: KEY_EXAMPLE },
      answers: ["new_key"],
      errors: ["not_found"],
    },
  },
  {
    method: "DELETE",
    path: "/operator_api/keys/:key_id",
    access: "operator",
    handler: deleteKey,
    documentation: {
      operation: "revokeKey",
      title: "Revoke a key",
      about: "Every process refuses the key within a second.",
      answers: ["success"],
      errors: ["not_found"],
    },
  },
  {
    method: "POST",
    path: `${SELLERS}/:seller/rotate_secret`,
    access: "operator",
    handler: rotateSellerSecrets,
    documentation: {
      operation: "rotateSellerSecret",
      title: "Give a seller a new webhook secret",
      about: "For 24 h deliveries are signed with the former secret as well. " +
        "Webhooks with a secret of their own keep it.",
      answers: ["webhook_secret"],
      errors: ["not_found", "rate_limited"],
    },
  },
  {
    method: "GET",
    path: `${SELLERS}/:seller/deliveries`,
    access: "operator",
    parameters: [
      STATE,
      TRIGGER,
      AFTER,
      LIMIT,
    ],
    handler: listSellerDeliveries,
    documentation: {
      operation: "listSellerDeliveries",
      title: "A seller's deliveries",
      about: "The newest first, each with its last ten tries, also those of " +
        "webhooks that were deleted. With a state, a page may hold few or " +
        "none and still have a <next>.",
      answers: ["deliveries"],
      errors: ["not_found", "record_invalid"],
    },
  },
  {
    method: "GET",
    path: "/operator_api/refusals",
    access: "operator",
    parameters: [
      SELLER,
      AFTER,
      LIMIT,
    ],
    handler: listAllRefusals,
    documentation: {
      operation: "listAllRefusals",
      title: "Refused requests of sellers",
      about: "The last 100 of each seller, the newest first.",
      answers: ["refusals"],
      errors: ["not_found", "record_invalid"],
    },
  },
  {
    method: "GET",
    path: "/operator_api/audit",
    access: "operator",
    parameters: [AFTER, LIMIT],
    handler: listAudit,
    documentation: {
      operation: "listAudit",
      title: "The audit log",
      about: "What operators changed and who did, the newest first.",
      answers: ["audit"],
      errors: ["record_invalid"],
    },
  },
  {
    method: "GET",
    path: "/operator_api/status",
    access: "operator",
    handler: getStatus,
    documentation: {
      operation: "getStatus",
      title: "How things stand",
      about:
        "What waits, which webhooks fail (the 100 that failed first), and " +
        "the last 24 hours: uploads, images fetched and failed, deliveries tried.",
      answers: ["status"],
    },
  },
  {
    method: "GET",
    path: "/metrics",
    access: "metrics",
    handler: getMetrics,
    documentation: {
      operation: "getMetrics",
      title: "Metrics",
      about: "In the text format of Prometheus. 404 while there is neither " +
        "SELLER_METRICS_KEY nor an operator key.",
      answers: { type: "text/plain" },
      errors: ["not_found"],
    },
  },
  {
    method: "GET",
    path: "/healthz",
    access: "public",
    handler: getHealth,
    documentation: {
      operation: "getHealth",
      title: "Alive",
      about: "The process runs and answers.",
      answers: ["health"],
    },
  },
  {
    method: "GET",
    path: "/readyz",
    access: "public",
    handler: getReadiness,
    documentation: {
      operation: "getReadiness",
      title: "Ready",
      about:
        "200 when the service can do its work, else 503. With the operator's " +
        "key it says what it looked at.",
      answers: ["health"],
    },
  },
  {
    method: "GET",
    path: "/images/:folder/:file",
    access: "public",
    handler: getImage,
    documentation: {
      operation: "getImage",
      title: "A stored image",
      about:
        "At the path in a product's href. The file never changes. Ranges of " +
        "bytes can be requested.",
      answers: { type: "image/*" },
      errors: ["not_found"],
    },
  },
  {
    method: "GET",
    path: "/seller_api/schemas/products-1.1.xsd",
    access: "public",
    handler: getProductsSchema,
    documentation: {
      operation: "getProductsSchema",
      title: "Schema of uploads",
      about: "XML Schema 1.0.",
      answers: { type: "application/xml" },
    },
  },
  {
    method: "GET",
    path: "/seller_api/schemas/responses-1.1.xsd",
    access: "public",
    handler: getResponsesSchema,
    documentation: {
      operation: "getResponsesSchema",
      title: "Schema of answers",
      about: "XML Schema 1.0.",
      answers: { type: "application/xml" },
    },
  },
  {
    method: "GET",
    path: "/openapi.json",
    access: "public",
    handler: getOpenApi(() => ENDPOINTS),
    documentation: {
      operation: "getOpenApi",
      title: "OpenAPI description",
      about: "OpenAPI 3.1.",
      answers: { type: "application/json" },
    },
  },
  {
    method: "GET",
    path: "/docs",
    access: "public",
    handler: getDocs,
    documentation: {
      operation: "getDocs",
      title: "The handbook",
      about: "Lists its chapters.",
      answers: { type: "text/html" },
    },
  },
  {
    method: "GET",
    path: "/docs/:chapter",
    access: "public",
    handler: getChapter(() => ENDPOINTS),
    documentation: {
      operation: "getChapter",
      title: "A chapter of the handbook",
      about: "Among them this reference, which the service generates from " +
        "the tables that it works by.",
      answers: { type: "text/html" },
      errors: ["not_found"],
    },
  },
  {
    method: "GET",
    path: "/",
    access: "public",
    handler: getPage,
    documentation: null,
  },
  {
    method: "GET",
    path: "/assets/:name",
    access: "public",
    handler: getAsset,
    documentation: null,
  },
  {
    method: "GET",
    path: "/docs.css",
    access: "public",
    handler: getDocsStyle,
    documentation: null,
  },
];

/** What SELLER_METRICS_PORT serves. */
export const MONITORING: readonly Route[] = ROUTES.filter(({ path }) =>
  ["/metrics", "/healthz", "/readyz"].includes(path)
);

/** The documented rows. */
export const ENDPOINTS: readonly Endpoint[] = ROUTES.flatMap((
  { handler: _, documentation, ...address },
) => documentation === null ? [] : [{ ...address, ...documentation }]);
