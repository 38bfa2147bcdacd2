/** The name of each operation in the typed client: its noun and its verb. */

export type ClientKind = "seller" | "operator";

interface ClientCall {
  /** The clients that have the operation. */
  clients: readonly ClientKind[];
  /** `noun.verb`: `products.list` is `client.products.list()`. */
  name: `${string}.${string}`;
}

function seller(name: ClientCall["name"]): ClientCall {
  return { clients: ["seller"], name };
}

function operator(name: ClientCall["name"]): ClientCall {
  return { clients: ["operator"], name };
}

/** Operations that need no key. */
function both(name: ClientCall["name"]): ClientCall {
  return { clients: ["seller", "operator"], name };
}

/** By the name of the operation in the OpenAPI description. */
export const CALLS: Readonly<Record<string, ClientCall | undefined>> = {
  uploadProducts: seller("uploads.create"),
  getTransaction: seller("uploads.get"),
  getRefusedProducts: seller("uploads.refused"),
  listTransactions: seller("uploads.list"),
  retryImages: seller("uploads.retryImages"),
  undoUpload: seller("uploads.undo"),
  uploadAttributes: seller("uploads.setAttributes"),
  uploadImage: seller("images.upload"),
  beginImport: seller("imports.create"),
  listImports: seller("imports.list"),
  getImport: seller("imports.get"),
  getImportResults: seller("imports.results"),
  getRefusedOfImport: seller("imports.refused"),
  cancelImport: seller("imports.cancel"),
  retryImportImages: seller("imports.retryImages"),
  undoImport: seller("imports.undo"),
  storeImport: seller("imports.store"),
  putAttribute: seller("products.setAttribute"),
  listProducts: seller("products.list"),
  getRejectedProducts: seller("products.rejected"),
  getProduct: seller("products.get"),
  getHistory: seller("products.history"),
  deleteProduct: seller("products.delete"),
  createWebhook: seller("webhooks.create"),
  listWebhooks: seller("webhooks.list"),
  deleteWebhook: seller("webhooks.delete"),
  testWebhook: seller("webhooks.test"),
  recoverWebhook: seller("webhooks.recover"),
  rotateWebhookSecret: seller("webhooks.rotateSecret"),
  listDeliveries: seller("deliveries.list"),
  replayDelivery: seller("deliveries.replay"),
  listEvents: seller("events.list"),
  listTriggers: seller("triggers.list"),
  listMappings: seller("mappings.list"),
  getMapping: seller("mappings.get"),
  putMapping: seller("mappings.put"),
  deleteMapping: seller("mappings.delete"),
  listContacts: seller("contacts.list"),
  getContact: seller("contacts.get"),
  putContact: seller("contacts.put"),
  deleteContact: seller("contacts.delete"),
  followContacts: operator("feed.contacts"),
  listCategories: seller("categories.list"),
  getCategory: seller("categories.get"),
  listOwnKeys: seller("keys.list"),
  addOwnKey: seller("keys.create"),
  revokeOwnKey: seller("keys.revoke"),
  rotateOwnKey: seller("keys.rotate"),
  listRefusals: seller("refusals.list"),
  getAccount: seller("account.get"),
  ingestEvent: operator("events.create"),
  followProducts: operator("feed.list"),
  listSellers: operator("sellers.list"),
  addSeller: operator("sellers.create"),
  putSellerAttribute: operator("sellers.setAttribute"),
  removeSeller: operator("sellers.delete"),
  listSellerKeys: operator("keys.list"),
  addSellerKey: operator("keys.create"),
  revokeKey: operator("keys.revoke"),
  rotateSellerSecret: operator("sellers.rotateSecret"),
  listSellerDeliveries: operator("deliveries.list"),
  listReviews: operator("reviews.list"),
  decideReviews: operator("reviews.decide"),
  listReasons: operator("reasons.list"),
  putReasons: operator("reasons.put"),
  listAllCategories: operator("categories.list"),
  putCategories: operator("categories.put"),
  putTrigger: operator("triggers.put"),
  listAllRefusals: operator("refusals.list"),
  listAudit: operator("audit.list"),
  getStatus: operator("status.get"),
  getDatabase: operator("database.get"),
  getMetrics: operator("metrics.get"),
  getHealth: both("service.health"),
  getReadiness: both("service.readiness"),
  getImage: both("images.get"),
  getProductsSchema: both("service.productsSchema"),
  getAttributesSchema: both("service.attributesSchema"),
  getResponsesSchema: both("service.responsesSchema"),
  getOpenApi: both("service.openApi"),
  getDocs: both("service.handbook"),
  getChapter: both("service.chapter"),
};
