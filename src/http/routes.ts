/** The interface's table of contents. Sections are those of interface.md. */
import { getHealth, getReadiness } from "./health.ts";
import {
  getDocs,
  getDocsStyle,
  getOpenApi,
  getProductsSchema,
  getResponsesSchema,
} from "./contracts.ts";
import { getImage } from "./image_files.ts";
import { retryImages } from "./images.ts";
import { ingestEvent } from "./operator.ts";
import { getAsset, getPage } from "./page.ts";
import { bulkUpload, putAttribute } from "./products.ts";
import { followProducts, getStatus, listSellers } from "./operator_readout.ts";
import { getProduct, listProducts, listTransactions } from "./readout.ts";
import type { Route } from "./router.ts";
import { getTransaction } from "./transactions.ts";
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  testWebhook,
} from "./webhooks.ts";

const BULK = "/seller_api/bulk_products";
const PRODUCTS = "/seller_api/products";
const WEBHOOKS = "/seller_api/webhooks";

// deno-fmt-ignore
export const ROUTES: readonly Route[] = [
  // the interface as specified
  { method: "POST",   access: "seller", handler: bulkUpload,     path: BULK, upload: true },
  { method: "GET",    access: "seller", handler: getTransaction, path: `${BULK}/:transaction_id`, waits: true },
  { method: "PUT",    access: "seller", handler: putAttribute,   path: `${PRODUCTS}/:sku_or_id/attribute/:attribute/:value?` },
  { method: "POST",   access: "seller", handler: createWebhook,  path: WEBHOOKS },
  { method: "GET",    access: "seller", handler: listWebhooks,   path: WEBHOOKS },
  { method: "DELETE", access: "seller", handler: deleteWebhook,  path: `${WEBHOOKS}/:trigger` },

  // extensions for sellers
  { method: "POST",   access: "seller", handler: retryImages,    path: `${BULK}/:transaction_id/images/retry` },
  { method: "GET",    access: "seller", handler: listDeliveries, path: `${WEBHOOKS}/:trigger/deliveries` },
  { method: "POST",   access: "seller", handler: testWebhook,    path: `${WEBHOOKS}/:trigger/test` },
  { method: "POST",   access: "seller", handler: replayDelivery, path: `${WEBHOOKS}/:trigger/deliveries/:id/replay` },
  { method: "GET",    access: "seller", handler: listProducts,   path: PRODUCTS },
  { method: "GET",    access: "seller", handler: getProduct,     path: `${PRODUCTS}/:sku_or_id` },
  { method: "GET",    access: "seller", handler: listTransactions, path: BULK },

  // the page
  { method: "GET",    access: "public", handler: getPage,        path: "/" },
  { method: "GET",    access: "public", handler: getAsset,       path: "/assets/:name" },

  // for the operator
  { method: "POST",   access: "operator", handler: ingestEvent,  path: "/operator_api/events" },
  { method: "GET",    access: "operator", handler: followProducts, path: "/operator_api/products" },
  { method: "GET",    access: "operator", handler: listSellers,  path: "/operator_api/sellers" },
  { method: "GET",    access: "operator", handler: getStatus,    path: "/operator_api/status" },

  // for whoever watches the service
  { method: "GET",    access: "public", handler: getHealth,      path: "/healthz" },
  { method: "GET",    access: "public", handler: getReadiness,   path: "/readyz" },

  // stored images
  { method: "GET",    access: "public", handler: getImage,       path: "/images/:folder/:file" },

  // published contracts
  { method: "GET",    access: "public", handler: getProductsSchema,  path: "/seller_api/schemas/products-1.1.xsd" },
  { method: "GET",    access: "public", handler: getResponsesSchema, path: "/seller_api/schemas/responses-1.1.xsd" },
  { method: "GET",    access: "public", handler: getOpenApi,     path: "/openapi.json" },
  { method: "GET",    access: "public", handler: getDocs,        path: "/docs" },
  { method: "GET",    access: "public", handler: getDocsStyle,   path: "/docs.css" },
];
