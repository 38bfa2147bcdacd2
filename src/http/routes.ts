/**
 * The table of endpoints: method, path, handler, by whose key they need. What a
 * handler takes and answers is documented beside it.
 */
import { listAudit } from "./handlers/audit_endpoints.ts";
import {
  getChapter,
  getDocs,
  getDocsStyle,
  getOpenApi,
  getOperatorFile,
  getProductsSchema,
  getResponsesSchema,
  getSecurityContact,
} from "./handlers/contract_endpoints.ts";
import { ingestEvent, listEvents } from "./handlers/event_endpoints.ts";
import {
  beginImport,
  cancelImport,
  getImport,
  getImportResults,
  getRefusedOfImport,
  listImports,
  undoImport,
} from "./handlers/import_endpoints.ts";
import { getImage } from "./handlers/image_endpoints.ts";
import {
  deleteMapping,
  getMapping,
  listMappings,
  putMapping,
} from "./handlers/mapping_endpoints.ts";
import {
  getHealth,
  getMetrics,
  getReadiness,
  getStatus,
} from "./handlers/monitoring_endpoints.ts";
import { getAsset, getPage } from "./handlers/page_endpoints.ts";
import {
  deleteProduct,
  followProducts,
  getProduct,
  listProducts,
  putAttribute,
} from "./handlers/product_endpoints.ts";
import { listAllRefusals, listRefusals } from "./handlers/refusal_endpoints.ts";
import {
  addSeller,
  addSellerKey,
  getAccount,
  listSellerKeys,
  listSellers,
  putSellerAttribute,
  removeSeller,
  revokeKey,
  rotateSellerSecret,
} from "./handlers/seller_endpoints.ts";
import {
  getRefusedProducts,
  getTransaction,
  listTransactions,
  retryImages,
} from "./handlers/transaction_endpoints.ts";
import { undoUpload, uploadProducts } from "./handlers/upload_endpoints.ts";
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listSellerDeliveries,
  listWebhooks,
  recoverWebhook,
  replayDelivery,
  rotateWebhookSecret,
  testWebhook,
} from "./handlers/webhook_endpoints.ts";
import type { Endpoint } from "../contracts/endpoint.ts";
import { type Route, routes } from "./server/route.ts";

const FOR_SELLERS = routes("seller", "/seller_api", {
  "POST /bulk_products": uploadProducts,
  "GET /bulk_products/:transaction_id": getTransaction,
  "GET /bulk_products/:transaction_id/refused": getRefusedProducts,
  "GET /bulk_products": listTransactions,
  "POST /bulk_products/:transaction_id/images/retry": retryImages,
  "POST /bulk_products/:transaction_id/undo": undoUpload,
  "POST /imports": beginImport,
  "GET /imports": listImports,
  "GET /imports/:import_id": getImport,
  "GET /imports/:import_id/results": getImportResults,
  "GET /imports/:import_id/refused": getRefusedOfImport,
  "DELETE /imports/:import_id": cancelImport,
  "POST /imports/:import_id/undo": undoImport,
  "PUT /products/:sku_or_id/attribute/:attribute/:value": putAttribute,
  "GET /products": listProducts,
  "GET /products/:sku_or_id": getProduct,
  "DELETE /products/:sku_or_id": deleteProduct,
  "POST /webhooks": createWebhook,
  "GET /webhooks": listWebhooks,
  "DELETE /webhooks/:trigger": deleteWebhook,
  "POST /webhooks/:trigger/test": testWebhook,
  "POST /webhooks/:trigger/recover": recoverWebhook,
  "POST /webhooks/:trigger/rotate_secret": rotateWebhookSecret,
  "GET /webhooks/:trigger/deliveries": listDeliveries,
  "POST /webhooks/:trigger/deliveries/:id/replay": replayDelivery,
  "GET /events": listEvents,
  "GET /mappings": listMappings,
  "GET /mappings/:name": getMapping,
  "PUT /mappings/:name": putMapping,
  "DELETE /mappings/:name": deleteMapping,
  "GET /refusals": listRefusals,
  "GET /account": getAccount,
});

const FOR_OPERATORS = routes("operator", "/operator_api", {
  "POST /events": ingestEvent,
  "GET /products": followProducts,
  "GET /sellers": listSellers,
  "POST /sellers": addSeller,
  "PUT /sellers/:seller/attribute/:seller_attribute/:value": putSellerAttribute,
  "DELETE /sellers/:seller": removeSeller,
  "GET /sellers/:seller/keys": listSellerKeys,
  "POST /sellers/:seller/keys": addSellerKey,
  "DELETE /keys/:key_id": revokeKey,
  "POST /sellers/:seller/rotate_secret": rotateSellerSecret,
  "GET /sellers/:seller/deliveries": listSellerDeliveries,
  "GET /refusals": listAllRefusals,
  "GET /audit": listAudit,
  "GET /status": getStatus,
});

/** What SELLER_METRICS_PORT serves. */
export const MONITORING: readonly Route[] = [
  ...routes("metrics", "", { "GET /metrics": getMetrics }),
  ...routes("public", "", {
    "GET /healthz": getHealth,
    "GET /readyz": getReadiness,
  }),
];

const FOR_ALL = routes("public", "", {
  "GET /images/:folder/:file": getImage,
  "GET /seller_api/schemas/products-1.1.xsd": getProductsSchema,
  "GET /seller_api/schemas/responses-1.1.xsd": getResponsesSchema,
  "GET /openapi.json": getOpenApi(() => ENDPOINTS),
  "GET /docs": getDocs,
  "GET /docs/:chapter": getChapter(() => ENDPOINTS),
  "GET /docs/files/:file": getOperatorFile,
  "GET /": getPage,
  "GET /assets/:name": getAsset,
  "GET /docs.css": getDocsStyle,
  "GET /.well-known/security.txt": getSecurityContact,
});

export const ROUTES: readonly Route[] = [
  ...FOR_SELLERS,
  ...FOR_OPERATORS,
  ...MONITORING,
  ...FOR_ALL,
];

/** The documented rows. */
export const ENDPOINTS: readonly Endpoint[] = ROUTES.flatMap((
  { method, path, access, documentation },
) =>
  documentation === null ? [] : [{ method, path, access, ...documentation }]
);
