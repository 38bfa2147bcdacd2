/** The interface's table of contents. Sections are those of interface.md. */
import { retryImages } from "./images.ts";
import { ingestEvent } from "./operator.ts";
import { bulkUpload, putAttribute } from "./products.ts";
import type { Route } from "./router.ts";
import { getTransaction } from "./transactions.ts";
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
} from "./webhooks.ts";

const BULK = "/seller_api/bulk_products";
const WEBHOOKS = "/seller_api/webhooks";

// deno-fmt-ignore
export const ROUTES: readonly Route[] = [
  // the interface as specified
  { method: "POST",   access: "seller", handler: bulkUpload,     path: BULK },
  { method: "GET",    access: "seller", handler: getTransaction, path: `${BULK}/:transaction_id`, waits: true },
  { method: "PUT",    access: "seller", handler: putAttribute,   path: "/seller_api/products/:sku_or_id/attribute/:attribute/:value?" },
  { method: "POST",   access: "seller", handler: createWebhook,  path: WEBHOOKS },
  { method: "GET",    access: "seller", handler: listWebhooks,   path: WEBHOOKS },
  { method: "DELETE", access: "seller", handler: deleteWebhook,  path: `${WEBHOOKS}/:trigger` },

  // extensions for sellers
  { method: "POST",   access: "seller", handler: retryImages,    path: `${BULK}/:transaction_id/images/retry` },
  { method: "GET",    access: "seller", handler: listDeliveries, path: `${WEBHOOKS}/:trigger/deliveries` },

  // for the operator
  { method: "POST",   access: "operator", handler: ingestEvent,  path: "/operator_api/events" },
];
