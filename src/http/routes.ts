/**
 * The table of endpoints: method, path and handler, grouped by the kind of key
 * that a request needs. Endpoints for sellers also have a scope. The file of a
 * handler has the documentation of its endpoint.
 */
import { listAudit } from "./handlers/audit_endpoints.ts";
import {
  getAttributesSchema,
  getChapter,
  getDocs,
  getDocsStyle,
  getLlmsText,
  getOpenApi,
  getOperatorFile,
  getProductsSchema,
  getResponsesSchema,
  getSecurityContact,
} from "./handlers/contract_endpoints.ts";
import {
  deleteContact,
  followContacts,
  getContact,
  listContacts,
  putContact,
} from "./handlers/contact_endpoints.ts";
import { ingestEvent, listEvents } from "./handlers/event_endpoints.ts";
import {
  beginImport,
  cancelImport,
  getImport,
  getImportResults,
  getRefusedOfImport,
  listImports,
  retryImportImages,
  storeImport,
  undoImport,
} from "./handlers/import_endpoints.ts";
import { getHistory } from "./handlers/history_endpoints.ts";
import { getImage, uploadImage } from "./handlers/image_endpoints.ts";
import {
  getCategory,
  listAllCategories,
  listCategories,
  putCategories,
} from "./handlers/category_endpoints.ts";
import {
  addOwnKey,
  listOwnKeys,
  revokeOwnKey,
  rotateOwnKey,
} from "./handlers/key_endpoints.ts";
import {
  deleteMapping,
  getMapping,
  listMappings,
  putMapping,
} from "./handlers/mapping_endpoints.ts";
import {
  getDatabase,
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
import {
  askToUnsubscribe,
  subscribeAgain,
  unsubscribe,
} from "./handlers/notice_endpoints.ts";
import { listAllRefusals, listRefusals } from "./handlers/refusal_endpoints.ts";
import {
  decideReviews,
  getRejectedProducts,
  listReasons,
  listReviews,
  putReasons,
} from "./handlers/review_endpoints.ts";
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
import {
  undoUpload,
  uploadAttributes,
  uploadProducts,
} from "./handlers/upload_endpoints.ts";
import { listTriggers, putTrigger } from "./handlers/trigger_endpoints.ts";
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
import {
  operatorViewsOf,
  type Route,
  routes,
  sellerRoutes,
} from "./server/route.ts";

const FOR_SELLERS = sellerRoutes("/seller_api", {
  "POST /bulk_products": ["products", uploadProducts],
  "GET /bulk_products/:transaction_id": ["products", getTransaction],
  "GET /bulk_products/:transaction_id/refused": [
    "products",
    getRefusedProducts,
  ],
  "GET /bulk_products": ["products", listTransactions],
  "POST /bulk_products/:transaction_id/images/retry": ["products", retryImages],
  "POST /bulk_products/:transaction_id/undo": ["products", undoUpload],
  "POST /bulk_attributes": ["products", uploadAttributes],
  "POST /images": ["products", uploadImage],
  "POST /imports": ["products", beginImport],
  "GET /imports": ["products", listImports],
  "GET /imports/:import_id": ["products", getImport],
  "GET /imports/:import_id/results": ["products", getImportResults],
  "GET /imports/:import_id/refused": ["products", getRefusedOfImport],
  "DELETE /imports/:import_id": ["products", cancelImport],
  "POST /imports/:import_id/images/retry": ["products", retryImportImages],
  "POST /imports/:import_id/undo": ["products", undoImport],
  "POST /imports/:import_id/store": ["products", storeImport],
  "PUT /products/:sku_or_id/attribute/:attribute/:value": [
    "products",
    putAttribute,
  ],
  "GET /products": ["products", listProducts],
  "GET /products/rejected": ["products", getRejectedProducts],
  "GET /products/:sku_or_id": ["products", getProduct],
  "GET /products/:sku_or_id/history": ["products", getHistory],
  "DELETE /products/:sku_or_id": ["products", deleteProduct],
  "POST /webhooks": ["webhooks", createWebhook],
  "GET /webhooks": ["webhooks", listWebhooks],
  "DELETE /webhooks/:trigger": ["webhooks", deleteWebhook],
  "POST /webhooks/:trigger/test": ["webhooks", testWebhook],
  "POST /webhooks/:trigger/recover": ["webhooks", recoverWebhook],
  "POST /webhooks/:trigger/rotate_secret": ["webhooks", rotateWebhookSecret],
  "GET /webhooks/:trigger/deliveries": ["webhooks", listDeliveries],
  "POST /webhooks/:trigger/deliveries/:id/replay": ["webhooks", replayDelivery],
  "GET /events": ["webhooks", listEvents],
  "GET /triggers": ["any", listTriggers],
  "GET /contacts": ["products", listContacts],
  "GET /contacts/:name": ["products", getContact],
  "PUT /contacts/:name": ["products", putContact],
  "DELETE /contacts/:name": ["products", deleteContact],
  "GET /mappings": ["products", listMappings],
  "GET /mappings/:name": ["products", getMapping],
  "PUT /mappings/:name": ["products", putMapping],
  "DELETE /mappings/:name": ["products", deleteMapping],
  "GET /categories": ["any", listCategories],
  "GET /categories/:category": ["any", getCategory],
  "GET /keys": ["keys", listOwnKeys],
  "POST /keys": ["keys", addOwnKey],
  "DELETE /keys/:key_id": ["keys", revokeOwnKey],
  "POST /keys/:key_id/rotate": ["any", rotateOwnKey],
  "GET /refusals": ["read", listRefusals],
  "GET /account": ["any", getAccount],
});

const FOR_OPERATORS = routes("operator", "/operator_api", {
  "POST /events": ingestEvent,
  "GET /products": followProducts,
  "GET /contacts": followContacts,
  "GET /sellers": listSellers,
  "POST /sellers": addSeller,
  "PUT /sellers/:seller/attribute/:seller_attribute/:value": putSellerAttribute,
  "DELETE /sellers/:seller": removeSeller,
  "GET /sellers/:seller/keys": listSellerKeys,
  "POST /sellers/:seller/keys": addSellerKey,
  "DELETE /keys/:key_id": revokeKey,
  "POST /sellers/:seller/rotate_secret": rotateSellerSecret,
  "GET /sellers/:seller/deliveries": listSellerDeliveries,
  "GET /reviews": listReviews,
  "POST /reviews": decideReviews,
  "GET /review_reasons": listReasons,
  "PUT /review_reasons": putReasons,
  "GET /categories": listAllCategories,
  "PUT /categories": putCategories,
  "PUT /triggers/:trigger_name": putTrigger,
  "GET /refusals": listAllRefusals,
  "GET /audit": listAudit,
  "GET /status": getStatus,
  "GET /database": getDatabase,
});

/** The routes at SELLER_METRICS_PORT. */
export const MONITORING_ROUTES: readonly Route[] = [
  ...routes("metrics", "", { "GET /metrics": getMetrics }),
  ...routes("public", "", {
    "GET /healthz": getHealth,
    "GET /readyz": getReadiness,
  }),
];

const FOR_ALL = routes("public", "", {
  "GET /images/:folder/:file": getImage,
  "GET /seller_api/schemas/products-1.1.xsd": getProductsSchema,
  "GET /seller_api/schemas/attributes-1.1.xsd": getAttributesSchema,
  "GET /seller_api/schemas/responses-1.1.xsd": getResponsesSchema,
  "GET /openapi.json": getOpenApi(() => ENDPOINTS),
  "GET /docs": getDocs,
  "GET /docs/:chapter": getChapter(() => ENDPOINTS),
  "GET /docs/files/:file": getOperatorFile,
  "GET /llms.txt": getLlmsText,
  "GET /": getPage,
  "GET /assets/:version/:name": getAsset,
  "GET /docs.css": getDocsStyle,
  "GET /notices/:seller/:signature": askToUnsubscribe,
  "POST /notices/:seller/:signature": unsubscribe,
  "POST /notices/:seller/:signature/again": subscribeAgain,
  "GET /.well-known/security.txt": getSecurityContact,
});

/** All routes but the operator's views. */
const DIRECT_ROUTES: readonly Route[] = [
  ...FOR_SELLERS,
  ...FOR_OPERATORS,
  ...MONITORING_ROUTES,
  ...FOR_ALL,
];

export const ROUTES: readonly Route[] = [
  ...DIRECT_ROUTES,
  ...operatorViewsOf(FOR_SELLERS),
];

/**
 * The documented routes. The operator's views are missing, because they are
 * documented as the seller's routes.
 */
export const ENDPOINTS: readonly Endpoint[] = DIRECT_ROUTES.flatMap((
  { method, path, access, scope, documentation },
) =>
  documentation === null
    ? []
    : [{ method, path, access, scope, ...documentation }]
);
