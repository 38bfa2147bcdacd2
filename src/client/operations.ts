/**
 * The operations of the interface: signatures and paths. `deno task client`
 * writes this file from the tables of the service.
 */
import type { CallOptions, Encoded } from "./connection.ts";
import type { List } from "./list.ts";
import type { OperationTable } from "./operation.ts";
import type {
  Account,
  AttributeName,
  AuditEntry,
  Backlog,
  Categories,
  Category,
  Contact,
  ContactChange,
  DatabaseServer,
  DeliveredEvent,
  Delivery,
  DeliveryState,
  DetailCode,
  Disk,
  DryRun,
  ErrorCode,
  FailingWebhook,
  FollowedProduct,
  Hour,
  Import,
  ImportResult,
  LoggedDelivery,
  MappedColumn,
  MappedValue,
  Mapping,
  NewKey,
  NewSeller,
  PriceChange,
  Product,
  ProductAttributes,
  Queue,
  Refusal,
  ReviewedProduct,
  Seller,
  SellerAttribute,
  SellerKey,
  SentProduct,
  Transaction,
  Trigger,
  TriggerMeaning,
  UploadedImage,
  Webhook,
} from "./types.ts";
/** The input of `POST /seller_api/bulk_products`. */
export interface UploadProductsInput {
  /** the document, as an object or encoded */
  products: SentProduct[] | Encoded;
  /** the version of the interface; 1.1 if left out */
  v?: "1.1";
  /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
  show?: "former";
  /** valid: store the valid products even if others are refused; if left out, all products are stored or none */
  accept?: "valid";
  /** a name for the upload or import, such as the file name */
  name?: string;
}

/** The answer of `POST /seller_api/bulk_products`. */
export interface UploadProductsAnswer {
  transaction_id: string;
  /** only with accept=valid; left out if 0 */
  refused?: number;
}

/** The answer of `POST /seller_api/bulk_products` with `dry_run`. */
export interface UploadProductsDryRunAnswer {
  dry_run: DryRun;
}

/** The input of `GET /seller_api/bulk_products/:transaction_id`. */
export interface GetTransactionQuery {
  /** the id in the answer of the upload */
  transaction_id: string;
  /** seconds to wait, up to 30, until the status is final */
  wait?: number;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
}

/** The answer of `GET /seller_api/bulk_products/:transaction_id`. */
export interface GetTransactionAnswer {
  transaction: Transaction;
}

/** The input of `GET /seller_api/bulk_products/:transaction_id/refused`. */
export interface GetRefusedProductsQuery {
  /** the id in the answer of the upload */
  transaction_id: string;
}

/** The input of `GET /seller_api/bulk_products`. */
export interface ListTransactionsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /seller_api/bulk_products`. */
export interface ListTransactionsAnswer {
  transactions: Transaction[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `POST /seller_api/bulk_products/:transaction_id/images/retry`. */
export interface RetryImagesInput {
  /** the id in the answer of the upload */
  transaction_id: string;
}

/** The answer of `POST /seller_api/bulk_products/:transaction_id/images/retry`. */
export interface RetryImagesAnswer {
  transaction_id: string;
  images: {
    retried: number;
  };
}

/** The input of `POST /seller_api/bulk_products/:transaction_id/undo`. */
export interface UndoUploadInput {
  /** the id in the answer of the upload */
  transaction_id: string;
  /** keep: undo only the fields that have not changed since; if left out, the undo is refused if any field has changed since */
  changed?: "keep";
}

/** The answer of `POST /seller_api/bulk_products/:transaction_id/undo`. */
export interface UndoUploadAnswer {
  transaction_id: string;
  /** only with accept=valid; left out if 0 */
  refused?: number;
}

/** The answer of `POST /seller_api/bulk_products/:transaction_id/undo` with `dry_run`. */
export interface UndoUploadDryRunAnswer {
  dry_run: DryRun;
}

/** The input of `POST /seller_api/bulk_attributes`. */
export interface UploadAttributesInput {
  /** the document, as an object or encoded */
  products: ProductAttributes[] | Encoded;
  /** the version of the interface; 1.1 if left out */
  v?: "1.1";
  /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
  show?: "former";
  /** valid: store the valid products even if others are refused; if left out, all products are stored or none */
  accept?: "valid";
  /** quantity: set the quantity of your products that are missing in the document to 0 */
  complete?: "quantity";
  /** with complete=quantity: refuse the request if more than this percentage of the products in stock would be set to 0; 10 if left out */
  at_most?: number;
  /** a name for the upload or import, such as the file name */
  name?: string;
}

/** The answer of `POST /seller_api/bulk_attributes`. */
export interface UploadAttributesAnswer {
  transaction_id: string;
  /** only with accept=valid; left out if 0 */
  refused?: number;
}

/** The answer of `POST /seller_api/bulk_attributes` with `dry_run`. */
export interface UploadAttributesDryRunAnswer {
  dry_run: DryRun;
}

/** The input of `POST /seller_api/images`. */
export interface UploadImageInput {
  /** the file */
  image: Blob;
}

/** The answer of `POST /seller_api/images`. */
export interface UploadImageAnswer {
  image: UploadedImage;
}

/** The input of `POST /seller_api/imports`. */
export interface BeginImportInput {
  /** the document, as an object or encoded */
  products: SentProduct[] | Encoded;
  /** the version of the interface; 1.1 if left out */
  v?: "1.1";
  /** true: check everything, but store nothing */
  dry_run?: boolean;
  /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
  show?: "former";
  /** valid: store the valid products even if others are refused; if left out, all products are stored or none */
  accept?: "valid";
  /** a name for the upload or import, such as the file name */
  name?: string;
}

/** The answer of `POST /seller_api/imports`. */
export interface BeginImportAnswer {
  import_id: string;
}

/** The input of `GET /seller_api/imports`. */
export interface ListImportsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /seller_api/imports`. */
export interface ListImportsAnswer {
  imports: Import[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /seller_api/imports/:import_id`. */
export interface GetImportQuery {
  /** the id in the answer of the import */
  import_id: string;
  /** seconds to wait, up to 30, until the status is final */
  wait?: number;
}

/** The answer of `GET /seller_api/imports/:import_id`. */
export interface GetImportAnswer {
  import: Import;
}

/** The input of `GET /seller_api/imports/:import_id/results`. */
export interface GetImportResultsQuery {
  /** the id in the answer of the import */
  import_id: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
  /** only products with this result */
  result?:
    | "created"
    | "updated"
    | "unchanged"
    | "deleted"
    | "refused"
    | "not_stored";
  /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
  show?: "former";
}

/** The answer of `GET /seller_api/imports/:import_id/results`. */
export interface GetImportResultsAnswer {
  results: ImportResult[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /seller_api/imports/:import_id/refused`. */
export interface GetRefusedOfImportQuery {
  /** the id in the answer of the import */
  import_id: string;
}

/** The input of `DELETE /seller_api/imports/:import_id`. */
export interface CancelImportInput {
  /** the id in the answer of the import */
  import_id: string;
}

/** The answer of `DELETE /seller_api/imports/:import_id`. */
export interface CancelImportAnswer {
  success: boolean;
}

/** The input of `POST /seller_api/imports/:import_id/images/retry`. */
export interface RetryImportImagesInput {
  /** the id in the answer of the import */
  import_id: string;
}

/** The answer of `POST /seller_api/imports/:import_id/images/retry`. */
export interface RetryImportImagesAnswer {
  import_id: string;
  /** image references that are tried again */
  retried: number;
}

/** The input of `POST /seller_api/imports/:import_id/undo`. */
export interface UndoImportInput {
  /** the id in the answer of the import */
  import_id: string;
  /** keep: undo only the fields that have not changed since; if left out, the undo is refused if any field has changed since */
  changed?: "keep";
  /** true: check everything, but store nothing */
  dry_run?: boolean;
}

/** The answer of `POST /seller_api/imports/:import_id/undo`. */
export interface UndoImportAnswer {
  import_id: string;
}

/** The input of `POST /seller_api/imports/:import_id/store`. */
export interface StoreImportInput {
  /** the id in the answer of the import */
  import_id: string;
}

/** The answer of `POST /seller_api/imports/:import_id/store`. */
export interface StoreImportAnswer {
  import_id: string;
}

/** The input of `PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value`. */
export interface PutAttributeInput {
  /** a product's SKU or id; if both match, the SKU takes precedence */
  sku_or_id: string;
  /** the attribute */
  attribute: AttributeName;
  /** the new value; an empty value clears the attribute */
  value: string;
  /** the value that the attribute must have now; if it has another value, the answer is 412 changed_since with the current value */
  expected?: string;
  /** true: the value is a difference to add to the current value, as in quantity/-2; a result out of range is refused */
  change?: boolean;
}

/** The input of `GET /seller_api/products`. */
export interface ListProductsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
  /** only products that changed at this time or later; ISO 8601 */
  updated_since?: string;
  /** only products with this status; deleted: the ids and SKUs of deleted products, the oldest deletion first */
  status?: "active" | "paused" | "deleted";
  /** only products with this state of review */
  review?: "pending" | "approved" | "rejected";
  /** only products with an image in this state */
  images?: "pending" | "stored" | "failed";
  /** only products with exactly this GTIN */
  gtin?: string;
  /** only products whose SKU or title contains this, ignoring case */
  q?: string;
  /** the field to sort by; default: created_at */
  sort?: "created_at" | "sku" | "title" | "price" | "quantity" | "updated_at";
  /** the direction; default: asc */
  order?: "asc" | "desc";
}

/** The answer of `GET /seller_api/products`. */
export interface ListProductsAnswer {
  products: Product[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /seller_api/products/rejected`. */
export interface GetRejectedProductsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
}

/** The input of `GET /seller_api/products/:sku_or_id`. */
export interface GetProductQuery {
  /** a product's SKU or id; if both match, the SKU takes precedence */
  sku_or_id: string;
}

/** The answer of `GET /seller_api/products/:sku_or_id`. */
export interface GetProductAnswer {
  product: Product;
}

/** The input of `GET /seller_api/products/:sku_or_id/history`. */
export interface GetHistoryQuery {
  /** a product's SKU or id; if both match, the SKU takes precedence */
  sku_or_id: string;
  /** the attribute whose changes are listed */
  attribute: "price";
  /** the <next> of an earlier page, to continue after it */
  after?: string;
}

/** The answer of `GET /seller_api/products/:sku_or_id/history`. */
export interface GetHistoryAnswer {
  changes: PriceChange[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `DELETE /seller_api/products/:sku_or_id`. */
export interface DeleteProductInput {
  /** a product's SKU or id; if both match, the SKU takes precedence */
  sku_or_id: string;
}

/** The answer of `DELETE /seller_api/products/:sku_or_id`. */
export interface DeleteProductAnswer {
  success: boolean;
}

/** The input of `POST /seller_api/webhooks`. */
export interface CreateWebhookInput {
  /** the document, as an object or encoded */
  webhook: {
    trigger: Trigger;
    url: string;
    /** format of deliveries; xml by default */
    format?: "xml" | "json";
    /** only in answers; ignored in requests */
    disabled_at?: string | null;
    /** only in answers; ignored in requests */
    failing_since?: string | null;
    /** only in answers; ignored in requests */
    last_error?: string | null;
  } | Encoded;
}

/** The answer of `POST /seller_api/webhooks`. */
export interface CreateWebhookAnswer {
  success: boolean;
}

/** The answer of `GET /seller_api/webhooks`. */
export interface ListWebhooksAnswer {
  webhook: Webhook[];
}

/** The input of `DELETE /seller_api/webhooks/:trigger`. */
export interface DeleteWebhookInput {
  /** the trigger */
  trigger: Trigger;
}

/** The answer of `DELETE /seller_api/webhooks/:trigger`. */
export interface DeleteWebhookAnswer {
  success: boolean;
}

/** The input of `POST /seller_api/webhooks/:trigger/test`. */
export interface TestWebhookInput {
  /** the trigger */
  trigger: Trigger;
}

/** The answer of `POST /seller_api/webhooks/:trigger/test`. */
export interface TestWebhookAnswer {
  delivery: Delivery;
}

/** The input of `POST /seller_api/webhooks/:trigger/recover`. */
export interface RecoverWebhookInput {
  /** the trigger */
  trigger: Trigger;
  /** only events of this time and later; ISO 8601 */
  since: string;
  /** only events of this time and earlier; default: now */
  until?: string;
}

/** The answer of `POST /seller_api/webhooks/:trigger/recover`. */
export interface RecoverWebhookAnswer {
  recovery: {
    /** deliveries that are sent again */
    queued: number;
    /** how many of them wait until the disabled webhook is registered again */
    held?: number;
  };
}

/** The input of `POST /seller_api/webhooks/:trigger/rotate_secret`. */
export interface RotateWebhookSecretInput {
  /** the trigger */
  trigger: Trigger;
}

/** The answer of `POST /seller_api/webhooks/:trigger/rotate_secret`. */
export interface RotateWebhookSecretAnswer {
  /** shown only once */
  webhook_secret: string;
}

/** The input of `GET /seller_api/webhooks/:trigger/deliveries`. */
export interface ListDeliveriesQuery {
  /** the trigger */
  trigger: Trigger;
  /** only deliveries in this state */
  state?: DeliveryState;
  /** only the event with exactly this reference */
  reference?: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /seller_api/webhooks/:trigger/deliveries`. */
export interface ListDeliveriesAnswer {
  deliveries: LoggedDelivery[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `POST /seller_api/webhooks/:trigger/deliveries/:id/replay`. */
export interface ReplayDeliveryInput {
  /** the trigger */
  trigger: Trigger;
  /** a delivery's id */
  id: string;
}

/** The answer of `POST /seller_api/webhooks/:trigger/deliveries/:id/replay`. */
export interface ReplayDeliveryAnswer {
  delivery: Delivery;
}

/** The input of `GET /seller_api/events`. */
export interface ListEventsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
  /** only events of this trigger */
  trigger?: Trigger;
  /** only the event with exactly this reference */
  reference?: string;
  /** only the event with this id, such as the <event_id> of a delivery */
  id?: string;
  /** seconds to wait, up to 30, until there is an event */
  wait?: number;
}

/** The answer of `GET /seller_api/events`. */
export interface ListEventsAnswer {
  /** each in the form in which webhooks receive it */
  events: DeliveredEvent[];
  /** the value of ?after= for the events after these */
  next: string;
}

/** The answer of `GET /seller_api/triggers`. */
export interface ListTriggersAnswer {
  triggers: TriggerMeaning[];
}

/** The input of `GET /seller_api/contacts`. */
export interface ListContactsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /seller_api/contacts`. */
export interface ListContactsAnswer {
  contacts: Contact[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /seller_api/contacts/:name`. */
export interface GetContactQuery {
  /** the name of a mapping or contact */
  name: string;
}

/** The answer of `GET /seller_api/contacts/:name`. */
export interface GetContactAnswer {
  contact: Contact;
}

/** The input of `PUT /seller_api/contacts/:name`. */
export interface PutContactInput {
  /** the name of a mapping or contact */
  name: string;
  /** the document, as an object or encoded */
  contact: {
    /** the name in the path; may be left out */
    name?: string;
    /** only in answers; ignored in requests */
    updated_at?: string | null;
    /** the name or trade name */
    company: string;
    /** with the number */
    street: string;
    postal_code?: string | null;
    city: string;
    /** the code of ISO 3166-1, as in SE */
    country: string;
    /** needed without a URL */
    email?: string | null;
    /** needed without an email address */
    url?: string | null;
  } | Encoded;
}

/** The answer of `PUT /seller_api/contacts/:name`. */
export interface PutContactAnswer {
  success: boolean;
}

/** The input of `DELETE /seller_api/contacts/:name`. */
export interface DeleteContactInput {
  /** the name of a mapping or contact */
  name: string;
}

/** The answer of `DELETE /seller_api/contacts/:name`. */
export interface DeleteContactAnswer {
  success: boolean;
}

/** The answer of `GET /seller_api/mappings`. */
export interface ListMappingsAnswer {
  mappings: Mapping[];
}

/** The input of `GET /seller_api/mappings/:name`. */
export interface GetMappingQuery {
  /** the name of a mapping or contact */
  name: string;
}

/** The answer of `GET /seller_api/mappings/:name`. */
export interface GetMappingAnswer {
  mapping: Mapping;
}

/** The input of `PUT /seller_api/mappings/:name`. */
export interface PutMappingInput {
  /** the name of a mapping or contact */
  name: string;
  /** the document, as an object or encoded */
  mapping: {
    /** the name in the path; may be left out */
    name?: string;
    /** only in answers; ignored in requests */
    updated_at?: string | null;
    /** the columns, each with its name in the table */
    columns: MappedColumn[];
    /** the values that all rows have */
    values: MappedValue[];
  } | Encoded;
}

/** The answer of `PUT /seller_api/mappings/:name`. */
export interface PutMappingAnswer {
  success: boolean;
}

/** The input of `DELETE /seller_api/mappings/:name`. */
export interface DeleteMappingInput {
  /** the name of a mapping or contact */
  name: string;
}

/** The answer of `DELETE /seller_api/mappings/:name`. */
export interface DeleteMappingAnswer {
  success: boolean;
}

/** The input of `GET /seller_api/categories`. */
export interface ListCategoriesQuery {
  /** only categories whose name contains this, ignoring case */
  q?: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /seller_api/categories`. */
export interface ListCategoriesAnswer {
  categories: Categories;
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /seller_api/categories/:category`. */
export interface GetCategoryQuery {
  /** a category's name, "/" as %2F */
  category: string;
}

/** The answer of `GET /seller_api/categories/:category`. */
export interface GetCategoryAnswer {
  category: Category;
}

/** The answer of `GET /seller_api/keys`. */
export interface ListOwnKeysAnswer {
  keys: SellerKey[];
}

/** The input of `POST /seller_api/keys`. */
export interface AddOwnKeyInput {
  /** the document, as an object or encoded */
  key: {
    /** a name for the key; up to 64 characters */
    label?: string;
    /** if left out, all scopes that the key of the request may give */
    scopes?: ("read" | "products" | "webhooks" | "keys")[];
    /** if left out, all networks that the key of the request may give */
    networks?: string[];
    /** if left out, the latest expiry that the key of the request may give */
    expires_at?: string | null;
  } | Encoded;
}

/** The answer of `POST /seller_api/keys`. */
export interface AddOwnKeyAnswer {
  key: NewKey;
}

/** The input of `DELETE /seller_api/keys/:key_id`. */
export interface RevokeOwnKeyInput {
  /** a key's id */
  key_id: string;
}

/** The answer of `DELETE /seller_api/keys/:key_id`. */
export interface RevokeOwnKeyAnswer {
  success: boolean;
}

/** The input of `POST /seller_api/keys/:key_id/rotate`. */
export interface RotateOwnKeyInput {
  /** a key's id */
  key_id: string;
}

/** The answer of `POST /seller_api/keys/:key_id/rotate`. */
export interface RotateOwnKeyAnswer {
  key: NewKey;
}

/** The input of `GET /seller_api/refusals`. */
export interface ListRefusalsQuery {
  /** only entries of this time and later */
  since?: string;
  /** only entries of this time and earlier */
  until?: string;
  /** only refusals with this code, or with a detail with this code */
  code?: ErrorCode | DetailCode;
  /** only refusals with this <route>, such as POST /seller_api/bulk_products */
  route?: string;
  /** only refusals with a detail about this SKU, or of the request with this id */
  q?: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /seller_api/refusals`. */
export interface ListRefusalsAnswer {
  refusals: Refusal[];
  /** the value of ?after= for the next page */
  next?: string;
  /** database servers that cannot be reached; their sellers are left out */
  partial?: string[];
}

/** The answer of `GET /seller_api/account`. */
export interface GetAccountAnswer {
  account: Account;
}

/** The input of `POST /operator_api/events`. */
export interface IngestEventInput {
  /** the document, as an object or encoded */
  event: {
    /** the seller's name */
    seller: string;
    trigger: Trigger;
    /** your reference; each is recorded once */
    reference: string;
    /** any elements, stored unchanged */
    data?: unknown;
  } | Encoded;
}

/** The answer of `POST /operator_api/events`. */
export interface IngestEventAnswer {
  event_id: string;
  /** `none`: no webhook is registered */
  delivery?: Delivery;
}

/** The input of `GET /operator_api/products`. */
export interface FollowProductsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
  /** seconds to wait, up to 30, until a product changes */
  wait?: number;
}

/** The answer of `GET /operator_api/products`. */
export interface FollowProductsAnswer {
  products: FollowedProduct[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /operator_api/contacts`. */
export interface FollowContactsQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /operator_api/contacts`. */
export interface FollowContactsAnswer {
  contacts: ContactChange[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /operator_api/sellers`. */
export interface ListSellersQuery {
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
  /** only this seller, by name or id */
  seller?: string;
}

/** The answer of `GET /operator_api/sellers`. */
export interface ListSellersAnswer {
  sellers: Seller[];
  /** the value of ?after= for the next page */
  next?: string;
  /** database servers that cannot be reached; their sellers are left out */
  partial?: string[];
}

/** The input of `POST /operator_api/sellers`. */
export interface AddSellerInput {
  /** the document, as an object or encoded */
  seller: {
    /** 1 to 64 visible characters */
    name: string;
  } | Encoded;
}

/** The answer of `POST /operator_api/sellers`. */
export interface AddSellerAnswer {
  seller: NewSeller;
}

/** The input of `PUT /operator_api/sellers/:seller/attribute/:seller_attribute/:value`. */
export interface PutSellerAttributeInput {
  /** a seller's name or id */
  seller: string;
  /** the attribute */
  seller_attribute: SellerAttribute;
  /** the new value; an empty value clears the attribute */
  value: string;
}

/** The input of `DELETE /operator_api/sellers/:seller`. */
export interface RemoveSellerInput {
  /** a seller's name or id */
  seller: string;
}

/** The answer of `DELETE /operator_api/sellers/:seller`. */
export interface RemoveSellerAnswer {
  success: boolean;
}

/** The input of `GET /operator_api/sellers/:seller/keys`. */
export interface ListSellerKeysQuery {
  /** a seller's name or id */
  seller: string;
}

/** The answer of `GET /operator_api/sellers/:seller/keys`. */
export interface ListSellerKeysAnswer {
  keys: SellerKey[];
}

/** The input of `POST /operator_api/sellers/:seller/keys`. */
export interface AddSellerKeyInput {
  /** a seller's name or id */
  seller: string;
  /** the document, as an object or encoded */
  key: {
    /** a name for the key; up to 64 characters */
    label?: string;
    /** if left out, all scopes that the key of the request may give */
    scopes?: ("read" | "products" | "webhooks" | "keys")[];
    /** if left out, all networks that the key of the request may give */
    networks?: string[];
    /** if left out, the latest expiry that the key of the request may give */
    expires_at?: string | null;
  } | Encoded;
}

/** The answer of `POST /operator_api/sellers/:seller/keys`. */
export interface AddSellerKeyAnswer {
  key: NewKey;
}

/** The input of `DELETE /operator_api/keys/:key_id`. */
export interface RevokeKeyInput {
  /** a key's id */
  key_id: string;
}

/** The answer of `DELETE /operator_api/keys/:key_id`. */
export interface RevokeKeyAnswer {
  success: boolean;
}

/** The input of `POST /operator_api/sellers/:seller/rotate_secret`. */
export interface RotateSellerSecretInput {
  /** a seller's name or id */
  seller: string;
}

/** The answer of `POST /operator_api/sellers/:seller/rotate_secret`. */
export interface RotateSellerSecretAnswer {
  /** shown only once */
  webhook_secret: string;
}

/** The input of `GET /operator_api/sellers/:seller/deliveries`. */
export interface ListSellerDeliveriesQuery {
  /** a seller's name or id */
  seller: string;
  /** only deliveries in this state */
  state?: DeliveryState;
  /** only events of this trigger */
  trigger?: Trigger;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /operator_api/sellers/:seller/deliveries`. */
export interface ListSellerDeliveriesAnswer {
  deliveries: LoggedDelivery[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `GET /operator_api/reviews`. */
export interface ListReviewsQuery {
  /** only products in this state; default: pending */
  state?: "pending" | "approved" | "rejected";
  /** only this seller, by name or id */
  seller?: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /operator_api/reviews`. */
export interface ListReviewsAnswer {
  reviews: ReviewedProduct[];
  /** the value of ?after= for the next page */
  next?: string;
  /** database servers that cannot be reached; their sellers are left out */
  partial?: string[];
}

/** The input of `POST /operator_api/reviews`. */
export interface DecideReviewsInput {
  /** the document, as an object or encoded */
  reviews: {
    product: string;
    decision: "approved" | "rejected";
    /** a code that the operator chose */
    code?: string;
    /** a field of the product */
    field?: string;
    /** what is wrong, and what would be right */
    message?: string;
    /** the product's changed_at as you read it; refused if the product was changed since */
    changed_at?: string;
  }[] | Encoded;
}

/** The answer of `POST /operator_api/reviews`. */
export interface DecideReviewsAnswer {
  success: boolean;
}

/** The answer of `GET /operator_api/review_reasons`. */
export interface ListReasonsAnswer {
  reasons: {
    /** a code that you choose */
    code: string;
    /** a field of the product */
    field?: string;
    /** what is wrong, and what would be right */
    message?: string;
  }[];
}

/** The input of `PUT /operator_api/review_reasons`. */
export interface PutReasonsInput {
  /** the document, as an object or encoded */
  reasons: {
    /** a code that you choose */
    code: string;
    /** a field of the product */
    field?: string;
    /** what is wrong, and what would be right */
    message?: string;
  }[] | Encoded;
}

/** The answer of `PUT /operator_api/review_reasons`. */
export interface PutReasonsAnswer {
  success: boolean;
}

/** The input of `GET /operator_api/categories`. */
export interface ListAllCategoriesQuery {
  /** only categories whose name contains this, ignoring case */
  q?: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /operator_api/categories`. */
export interface ListAllCategoriesAnswer {
  categories: Categories;
  /** the value of ?after= for the next page */
  next?: string;
}

/** The input of `PUT /operator_api/categories`. */
export interface PutCategoriesInput {
  /** the document, as an object or encoded */
  categories: {
    /** true: products may have only these categories */
    closed?: boolean;
    category?: Category[];
  } | Encoded;
  /** true: check everything, but store nothing */
  dry_run?: boolean;
}

/** The answer of `PUT /operator_api/categories`. */
export interface PutCategoriesAnswer {
  success: boolean;
}

/** The input of `PUT /operator_api/triggers/:trigger_name`. */
export interface PutTriggerInput {
  /** the trigger */
  trigger_name: Trigger;
  /** the document, as an object or encoded */
  trigger: {
    /** the name in the path; may be left out */
    name?: string;
    /** when the trigger is sent, and what its data mean */
    about?: string | null;
    /** an example of the event's data */
    example?: unknown;
  } | Encoded;
}

/** The answer of `PUT /operator_api/triggers/:trigger_name`. */
export interface PutTriggerAnswer {
  success: boolean;
}

/** The input of `GET /operator_api/refusals`. */
export interface ListAllRefusalsQuery {
  /** only this seller, by name or id */
  seller?: string;
  /** only entries of this time and later */
  since?: string;
  /** only entries of this time and earlier */
  until?: string;
  /** only refusals with this code, or with a detail with this code */
  code?: ErrorCode | DetailCode;
  /** only refusals with this <route>, such as POST /seller_api/bulk_products */
  route?: string;
  /** only refusals with a detail about this SKU, or of the request with this id */
  q?: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /operator_api/refusals`. */
export interface ListAllRefusalsAnswer {
  refusals: Refusal[];
  /** the value of ?after= for the next page */
  next?: string;
  /** database servers that cannot be reached; their sellers are left out */
  partial?: string[];
}

/** The input of `GET /operator_api/audit`. */
export interface ListAuditQuery {
  /** only changes by the operator key of this name, or by `environment` (SELLER_OPERATOR_KEY), `command line` or `seller` */
  who?: string;
  /** only changes that concern the seller with this name at that time */
  seller?: string;
  /** only entries of this time and later */
  since?: string;
  /** only entries of this time and earlier */
  until?: string;
  /** the <next> of an earlier page, to continue after it */
  after?: string;
  /** entries of a page, 1 to 250; default: 50 */
  limit?: number;
}

/** The answer of `GET /operator_api/audit`. */
export interface ListAuditAnswer {
  audit: AuditEntry[];
  /** the value of ?after= for the next page */
  next?: string;
}

/** The answer of `GET /operator_api/status`. */
export interface GetStatusAnswer {
  backlog: Backlog;
  queues: Queue[];
  failing_webhooks: FailingWebhook[];
  hours: Hour[];
  disks: Disk[];
  /** database servers that cannot be reached; their sellers are left out */
  partial?: string[];
}

/** The input of `GET /operator_api/database`. */
export interface GetDatabaseQuery {
  /** only the server of this seller, by name or id */
  seller?: string;
}

/** The answer of `GET /operator_api/database`. */
export interface GetDatabaseAnswer {
  database: {
    engine: "sqlite" | "postgres" | "citus";
    /** shards of each table, if there are several servers */
    shards?: number;
    servers: DatabaseServer[];
  };
}

/** The answer of `GET /healthz`. */
export interface GetHealthAnswer {
  status: "alive" | "ready" | "unavailable";
  /** only for the operator; `ok`, or `failed: ` with the reason; `partly` while one of several servers of the database is unreachable */
  checks?: {
    database?: string;
    queues?: string;
    images?: string;
    webhooks?: string;
    imports?: string;
    notices?: string;
    sales?: string;
  };
  backlog?: Backlog;
}

/** The answer of `GET /readyz`. */
export interface GetReadinessAnswer {
  status: "alive" | "ready" | "unavailable";
  /** only for the operator; `ok`, or `failed: ` with the reason; `partly` while one of several servers of the database is unreachable */
  checks?: {
    database?: string;
    queues?: string;
    images?: string;
    webhooks?: string;
    imports?: string;
    notices?: string;
    sales?: string;
  };
  backlog?: Backlog;
}

/** The input of `GET /images/:folder/:file`. */
export interface GetImageQuery {
  /** the first two digits of the SHA-256 of the image */
  folder: string;
  /** the SHA-256 of the image, a dot and the image type */
  file: string;
}

/** The input of `GET /docs/:chapter`. */
export interface GetChapterQuery {
  /** the chapter's name, as in /docs */
  chapter: string;
}

/** The operations of a client for sellers, by noun. */
export interface SellerOperations {
  uploads: {
    /**
     * Upload products. Creates or updates up to 250 products: all or none; with accept=valid, the valid ones. Each image URL must answer HEAD with 200. Images are downloaded after the answer.
     *
     * `POST /seller_api/bulk_products`
     */
    create(
      input: UploadProductsInput & { dry_run?: false },
      options?: CallOptions,
    ): Promise<UploadProductsAnswer>;
    create(
      input: UploadProductsInput & {
        /** check everything, but store nothing */
        dry_run: true;
      },
      options?: CallOptions,
    ): Promise<UploadProductsDryRunAnswer>;

    /**
     * Follow an upload. The result of each product, and the progress of the images. With Accept: text/event-stream, a stream of progress events that ends with the final state.
     *
     * `GET /seller_api/bulk_products/:transaction_id`
     */
    get(
      input: GetTransactionQuery,
      options?: CallOptions,
    ): Promise<GetTransactionAnswer>;

    /**
     * Download the refused products of an upload. The products that accept=valid did not store, as a document <products> to correct and upload. A comment before each product has its problems; the product is byte for byte as it was sent.
     *
     * `GET /seller_api/bulk_products/:transaction_id/refused`
     */
    refused(
      input: GetRefusedProductsQuery,
      options?: CallOptions,
    ): Promise<string>;

    /**
     * List uploads. Your uploads, newest first, with counts but without results.
     *
     * `GET /seller_api/bulk_products`
     */
    list(
      input?: ListTransactionsQuery,
      options?: CallOptions,
    ): List<ListTransactionsAnswer, Transaction>;

    /**
     * Retry failed images. The answer counts the image references that are retried.
     *
     * `POST /seller_api/bulk_products/:transaction_id/images/retry`
     */
    retryImages(
      input: RetryImagesInput,
      options?: CallOptions,
    ): Promise<RetryImagesAnswer>;

    /**
     * Undo an upload. Restores the former value of every field that the upload changed, and deletes the products that it created: all or nothing. The undo is itself a transaction that can be undone. A dry run returns the counts of an undo with changed=keep, and the fields that have changed since.
     *
     * `POST /seller_api/bulk_products/:transaction_id/undo`
     */
    undo(
      input: UndoUploadInput & { dry_run?: false },
      options?: CallOptions,
    ): Promise<UndoUploadAnswer>;
    undo(
      input: UndoUploadInput & {
        /** check everything, but store nothing */
        dry_run: true;
      },
      options?: CallOptions,
    ): Promise<UndoUploadDryRunAnswer>;

    /**
     * Update attributes of many products. Sets attributes, such as price and quantity, of up to 10,000 stored products: all or none; with accept=valid, the valid ones. Creates no products. The answer has the id of a transaction, with the same status, refused products and undo as an upload.
     *
     * `POST /seller_api/bulk_attributes`
     */
    setAttributes(
      input: UploadAttributesInput & { dry_run?: false },
      options?: CallOptions,
    ): Promise<UploadAttributesAnswer>;
    setAttributes(
      input: UploadAttributesInput & {
        /** check everything, but store nothing */
        dry_run: true;
      },
      options?: CallOptions,
    ): Promise<UploadAttributesDryRunAnswer>;
  };
  images: {
    /**
     * Upload an image. The request body is the file. The image is checked and stored like a downloaded image; your products can then have its URL. The same file always has the same URL.
     *
     * `POST /seller_api/images`
     */
    upload(
      input: UploadImageInput,
      options?: CallOptions,
    ): Promise<UploadImageAnswer>;

    /**
     * Read a stored image. The path is the href of a product's image. The file never changes. Byte ranges are supported.
     *
     * `GET /images/:folder/:file`
     */
    get(input: GetImageQuery, options?: CallOptions): Promise<Blob>;
  };
  imports: {
    /**
     * Import a catalogue. Accepts up to 50,000 products, and answers when the document is on disk. In the background all products are checked, then stored: all or none; with accept=valid, the valid ones.
     *
     * `POST /seller_api/imports`
     */
    create(
      input: BeginImportInput,
      options?: CallOptions,
    ): Promise<BeginImportAnswer>;

    /**
     * List imports. Your imports, newest first, with counts but without problems.
     *
     * `GET /seller_api/imports`
     */
    list(
      input?: ListImportsQuery,
      options?: CallOptions,
    ): List<ListImportsAnswer, Import>;

    /**
     * Follow an import. The progress of the import, and its problems. With Accept: text/event-stream, a stream of progress events that ends with the final state.
     *
     * `GET /seller_api/imports/:import_id`
     */
    get(input: GetImportQuery, options?: CallOptions): Promise<GetImportAnswer>;

    /**
     * List the results of an import. The result of each product, in the order of the document.
     *
     * `GET /seller_api/imports/:import_id/results`
     */
    results(
      input: GetImportResultsQuery,
      options?: CallOptions,
    ): List<GetImportResultsAnswer, ImportResult>;

    /**
     * Download the refused products of an import. A document <products> to correct and send again. A comment before each product has its problems; the product is byte for byte as it was sent.
     *
     * `GET /seller_api/imports/:import_id/refused`
     */
    refused(
      input: GetRefusedOfImportQuery,
      options?: CallOptions,
    ): Promise<string>;

    /**
     * Cancel an import. Products that are not stored yet will not be stored; the others can be undone. A finished dry run is deleted with its document.
     *
     * `DELETE /seller_api/imports/:import_id`
     */
    cancel(
      input: CancelImportInput,
      options?: CallOptions,
    ): Promise<CancelImportAnswer>;

    /**
     * Retry the failed images of an import. The answer counts the image references that are retried.
     *
     * `POST /seller_api/imports/:import_id/images/retry`
     */
    retryImages(
      input: RetryImportImagesInput,
      options?: CallOptions,
    ): Promise<RetryImportImagesAnswer>;

    /**
     * Undo an import. Begins an import that restores the former value of every field that the import changed, and deletes the products that it created, newest part first. The undo is refused if one of these fields has changed since, unless changed=keep.
     *
     * `POST /seller_api/imports/:import_id/undo`
     */
    undo(
      input: UndoImportInput,
      options?: CallOptions,
    ): Promise<UndoImportAnswer>;

    /**
     * Store the products of a dry run. Stores the document of a dry run that found no problem (with accept=valid: its valid products). You need not send it again: the same import continues with the status storing. If one of these products has changed since the check, the request is refused; check the document again.
     *
     * `POST /seller_api/imports/:import_id/store`
     */
    store(
      input: StoreImportInput,
      options?: CallOptions,
    ): Promise<StoreImportAnswer>;
  };
  products: {
    /**
     * Change one attribute. The rules of uploads apply. A body is ignored. With an Idempotency-Key, a repeated request is executed only once.
     *
     * `PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value`
     */
    setAttribute(
      input: PutAttributeInput,
      options?: CallOptions,
    ): Promise<void>;

    /**
     * List products. Your products, by default in the order of creation: paging then neither repeats nor misses a product while others are written. In another order, a product that changes meanwhile may be repeated or missed. Up to 20000 products can be sorted by title, price, quantity or updated_at. The content of <products> can be uploaded unchanged. With a filter, a page may be short or empty before the end: continue while there is a <next>.
     *
     * `GET /seller_api/products`
     */
    list(
      input?: ListProductsQuery,
      options?: CallOptions,
    ): List<ListProductsAnswer, Product>;

    /**
     * Download rejected products. A document <products> to correct and upload, with up to 250 products, the earliest rejection first. A comment before each product has the reason. A header Link leads to the next page. In JSON, the reason is only in the review of each product.
     *
     * `GET /seller_api/products/rejected`
     */
    rejected(
      input?: GetRejectedProductsQuery,
      options?: CallOptions,
    ): Promise<string>;

    /**
     * Read a product. The fields of the product, its times, and the state of its images.
     *
     * `GET /seller_api/products/:sku_or_id`
     */
    get(
      input: GetProductQuery,
      options?: CallOptions,
    ): Promise<GetProductAnswer>;

    /**
     * Read the price history. The changes of the current price, newest first. Changes are kept for SELLER_KEEP_PRICES_DAYS. If the price never changed, the list is empty. A product that is created again starts a new history.
     *
     * `GET /seller_api/products/:sku_or_id/history`
     */
    history(
      input: GetHistoryQuery,
      options?: CallOptions,
    ): List<GetHistoryAnswer, PriceChange>;

    /**
     * Delete a product. The SKU can be used again at once. Variants of the product stay, and so do images that other products have.
     *
     * `DELETE /seller_api/products/:sku_or_id`
     */
    delete(
      input: DeleteProductInput,
      options?: CallOptions,
    ): Promise<DeleteProductAnswer>;
  };
  webhooks: {
    /**
     * Register a webhook. You can have one webhook for each trigger. Registering it again replaces its URL.
     *
     * `POST /seller_api/webhooks`
     */
    create(
      input: CreateWebhookInput,
      options?: CallOptions,
    ): Promise<CreateWebhookAnswer>;

    /**
     * List webhooks. Your webhooks, oldest first. A failing webhook has the start and the reason of its failures.
     *
     * `GET /seller_api/webhooks`
     */
    list(options?: CallOptions): Promise<ListWebhooksAnswer>;

    /**
     * Remove a webhook. The pending deliveries of the webhook are cancelled.
     *
     * `DELETE /seller_api/webhooks/:trigger`
     */
    delete(
      input: DeleteWebhookInput,
      options?: CallOptions,
    ): Promise<DeleteWebhookAnswer>;

    /**
     * Test a webhook. Sends an <event test="true"> to the webhook.
     *
     * `POST /seller_api/webhooks/:trigger/test`
     */
    test(
      input: TestWebhookInput,
      options?: CallOptions,
    ): Promise<TestWebhookAnswer>;

    /**
     * Recover missed events. Sends events again if their delivery is exhausted, cancelled or retrying, or if there was no webhook. The answer counts the queued deliveries, without those already pending. If the webhook is disabled, the deliveries wait until it is registered again.
     *
     * `POST /seller_api/webhooks/:trigger/recover`
     */
    recover(
      input: RecoverWebhookInput,
      options?: CallOptions,
    ): Promise<RecoverWebhookAnswer>;

    /**
     * Rotate a webhook's secret. From now on the webhook has its own secret. For 24 h, deliveries are also signed with the former secret.
     *
     * `POST /seller_api/webhooks/:trigger/rotate_secret`
     */
    rotateSecret(
      input: RotateWebhookSecretInput,
      options?: CallOptions,
    ): Promise<RotateWebhookSecretAnswer>;
  };
  deliveries: {
    /**
     * List deliveries. The deliveries of a webhook, newest first, each with its last ten attempts. With a state, a page may be short or empty and still have a <next>.
     *
     * `GET /seller_api/webhooks/:trigger/deliveries`
     */
    list(
      input: ListDeliveriesQuery,
      options?: CallOptions,
    ): List<ListDeliveriesAnswer, LoggedDelivery>;

    /**
     * Replay a delivery. The answer has the delivery's new state. A pending delivery is not changed.
     *
     * `POST /seller_api/webhooks/:trigger/deliveries/:id/replay`
     */
    replay(
      input: ReplayDeliveryInput,
      options?: CallOptions,
    ): Promise<ReplayDeliveryAnswer>;
  };
  events: {
    /**
     * Pull events. Your events in order, with or without a webhook. Every answer has a <next>: store it, and send it as after in the next request.
     *
     * `GET /seller_api/events`
     */
    list(
      input?: ListEventsQuery,
      options?: CallOptions,
    ): List<ListEventsAnswer, DeliveredEvent>;
  };
  triggers: {
    /**
     * List triggers. Each trigger with its meaning on this marketplace and an example of its data.
     *
     * `GET /seller_api/triggers`
     */
    list(options?: CallOptions): Promise<ListTriggersAnswer>;
  };
  contacts: {
    /**
     * List contacts. Your contacts, in the order of their names.
     *
     * `GET /seller_api/contacts`
     */
    list(
      input?: ListContactsQuery,
      options?: CallOptions,
    ): List<ListContactsAnswer, Contact>;

    /**
     * Read a contact. The contact as it was stored.
     *
     * `GET /seller_api/contacts/:name`
     */
    get(
      input: GetContactQuery,
      options?: CallOptions,
    ): Promise<GetContactAnswer>;

    /**
     * Store a contact. Stores who answers for products, under a name of 1 to 64 characters. Products have this name as `<manufacturer>` or `<responsible_person>`. A stored contact with the same name is replaced, also for the products that name it. You can store 1000 contacts.
     *
     * `PUT /seller_api/contacts/:name`
     */
    put(
      input: PutContactInput,
      options?: CallOptions,
    ): Promise<PutContactAnswer>;

    /**
     * Delete a contact. Products can no longer name the contact; products that name it already keep it. You can use the name for another contact at once.
     *
     * `DELETE /seller_api/contacts/:name`
     */
    delete(
      input: DeleteContactInput,
      options?: CallOptions,
    ): Promise<DeleteContactAnswer>;
  };
  mappings: {
    /**
     * List mappings. Your mappings, in the order of their names.
     *
     * `GET /seller_api/mappings`
     */
    list(options?: CallOptions): Promise<ListMappingsAnswer>;

    /**
     * Read a mapping. The mapping as it was sent.
     *
     * `GET /seller_api/mappings/:name`
     */
    get(
      input: GetMappingQuery,
      options?: CallOptions,
    ): Promise<GetMappingAnswer>;

    /**
     * Store a mapping. Stores the fields of a table's columns under a name that you choose. Replaces a mapping with the same name. You can store 50 mappings of up to 32 KiB each.
     *
     * `PUT /seller_api/mappings/:name`
     */
    put(
      input: PutMappingInput,
      options?: CallOptions,
    ): Promise<PutMappingAnswer>;

    /**
     * Delete a mapping. Deletes the mapping. The page then proposes fields for the columns itself.
     *
     * `DELETE /seller_api/mappings/:name`
     */
    delete(
      input: DeleteMappingInput,
      options?: CallOptions,
    ): Promise<DeleteMappingAnswer>;
  };
  categories: {
    /**
     * List the marketplace's categories. The categories with their rules, in the marketplace's order. If `closed` is true, products may use only these categories. Without a list, products may use any category. The ETag changes with the list.
     *
     * `GET /seller_api/categories`
     */
    list(
      input?: ListCategoriesQuery,
      options?: CallOptions,
    ): List<ListCategoriesAnswer, Category>;

    /**
     * Read a category and its rules. The category with its rules. The ETag changes with the list of categories.
     *
     * `GET /seller_api/categories/:category`
     */
    get(
      input: GetCategoryQuery,
      options?: CallOptions,
    ): Promise<GetCategoryAnswer>;
  };
  keys: {
    /**
     * List your keys. Your keys, oldest first, including expired and revoked keys. `<current>` marks the key of this request.
     *
     * `GET /seller_api/keys`
     */
    list(options?: CallOptions): Promise<ListOwnKeysAnswer>;

    /**
     * Create a key. The key is shown once. Rights that the document leaves out are copied from the key of this request. The new key cannot have more rights than that key.
     *
     * `POST /seller_api/keys`
     */
    create(
      input: AddOwnKeyInput,
      options?: CallOptions,
    ): Promise<AddOwnKeyAnswer>;

    /**
     * Revoke one of your keys. Every process refuses the key within a second. Your last key with the scope `keys` cannot be revoked.
     *
     * `DELETE /seller_api/keys/:key_id`
     */
    revoke(
      input: RevokeOwnKeyInput,
      options?: CallOptions,
    ): Promise<RevokeOwnKeyAnswer>;

    /**
     * Rotate a key. Creates a key with the same rights. The new key is shown once; the former key expires after 24 h. Every key may rotate itself; rotating another key requires the scope `keys`. A body is ignored.
     *
     * `POST /seller_api/keys/:key_id/rotate`
     */
    rotate(
      input: RotateOwnKeyInput,
      options?: CallOptions,
    ): Promise<RotateOwnKeyAnswer>;
  };
  refusals: {
    /**
     * List refused requests. Requests that were refused with a 4xx, with the reasons. The last 1000 refusals of each seller are kept for 30 days. They are listed newest first. Equal refusals within a minute are one entry; at most half of the entries have the same code.
     *
     * `GET /seller_api/refusals`
     */
    list(
      input?: ListRefusalsQuery,
      options?: CallOptions,
    ): List<ListRefusalsAnswer, Refusal>;
  };
  account: {
    /**
     * Read your account. Your name, your limits and usage, the id of the key of this request, and the networks of the service's outgoing requests. Every key may read it.
     *
     * `GET /seller_api/account`
     */
    get(options?: CallOptions): Promise<GetAccountAnswer>;
  };
  service: {
    /**
     * Check liveness. 200 while the process runs.
     *
     * `GET /healthz`
     */
    health(options?: CallOptions): Promise<GetHealthAnswer>;

    /**
     * Check readiness. 200 if the service can work, else 503. With an operator key, the answer has the result of each check.
     *
     * `GET /readyz`
     */
    readiness(options?: CallOptions): Promise<GetReadinessAnswer>;

    /**
     * Read the schema of uploads. The schema in XML Schema 1.0.
     *
     * `GET /seller_api/schemas/products-1.1.xsd`
     */
    productsSchema(options?: CallOptions): Promise<string>;

    /**
     * Read the schema of attribute updates. The schema in XML Schema 1.0.
     *
     * `GET /seller_api/schemas/attributes-1.1.xsd`
     */
    attributesSchema(options?: CallOptions): Promise<string>;

    /**
     * Read the schema of answers. The schema in XML Schema 1.0.
     *
     * `GET /seller_api/schemas/responses-1.1.xsd`
     */
    responsesSchema(options?: CallOptions): Promise<string>;

    /**
     * Read the OpenAPI description. The description of all endpoints in OpenAPI 3.1.
     *
     * `GET /openapi.json`
     */
    openApi(options?: CallOptions): Promise<string>;

    /**
     * List the chapters of the handbook. The table of contents, as HTML.
     *
     * `GET /docs`
     */
    handbook(options?: CallOptions): Promise<string>;

    /**
     * Read a chapter of the handbook. One of the chapters is this API reference, which is generated from the table of endpoints.
     *
     * `GET /docs/:chapter`
     */
    chapter(input: GetChapterQuery, options?: CallOptions): Promise<string>;
  };
}

/** The same operations; each returns its answer as XML text. */
export interface SellerXmlOperations {
  uploads: {
    create(
      input: UploadProductsInput & { dry_run?: boolean },
      options?: CallOptions,
    ): Promise<string>;
    get(input: GetTransactionQuery, options?: CallOptions): Promise<string>;
    refused(
      input: GetRefusedProductsQuery,
      options?: CallOptions,
    ): Promise<string>;
    list(input?: ListTransactionsQuery, options?: CallOptions): Promise<string>;
    retryImages(
      input: RetryImagesInput,
      options?: CallOptions,
    ): Promise<string>;
    undo(
      input: UndoUploadInput & { dry_run?: boolean },
      options?: CallOptions,
    ): Promise<string>;
    setAttributes(
      input: UploadAttributesInput & { dry_run?: boolean },
      options?: CallOptions,
    ): Promise<string>;
  };
  images: {
    upload(input: UploadImageInput, options?: CallOptions): Promise<string>;
    get(input: GetImageQuery, options?: CallOptions): Promise<string>;
  };
  imports: {
    create(input: BeginImportInput, options?: CallOptions): Promise<string>;
    list(input?: ListImportsQuery, options?: CallOptions): Promise<string>;
    get(input: GetImportQuery, options?: CallOptions): Promise<string>;
    results(
      input: GetImportResultsQuery,
      options?: CallOptions,
    ): Promise<string>;
    refused(
      input: GetRefusedOfImportQuery,
      options?: CallOptions,
    ): Promise<string>;
    cancel(input: CancelImportInput, options?: CallOptions): Promise<string>;
    retryImages(
      input: RetryImportImagesInput,
      options?: CallOptions,
    ): Promise<string>;
    undo(input: UndoImportInput, options?: CallOptions): Promise<string>;
    store(input: StoreImportInput, options?: CallOptions): Promise<string>;
  };
  products: {
    setAttribute(
      input: PutAttributeInput,
      options?: CallOptions,
    ): Promise<string>;
    list(input?: ListProductsQuery, options?: CallOptions): Promise<string>;
    rejected(
      input?: GetRejectedProductsQuery,
      options?: CallOptions,
    ): Promise<string>;
    get(input: GetProductQuery, options?: CallOptions): Promise<string>;
    history(input: GetHistoryQuery, options?: CallOptions): Promise<string>;
    delete(input: DeleteProductInput, options?: CallOptions): Promise<string>;
  };
  webhooks: {
    create(input: CreateWebhookInput, options?: CallOptions): Promise<string>;
    list(options?: CallOptions): Promise<string>;
    delete(input: DeleteWebhookInput, options?: CallOptions): Promise<string>;
    test(input: TestWebhookInput, options?: CallOptions): Promise<string>;
    recover(input: RecoverWebhookInput, options?: CallOptions): Promise<string>;
    rotateSecret(
      input: RotateWebhookSecretInput,
      options?: CallOptions,
    ): Promise<string>;
  };
  deliveries: {
    list(input: ListDeliveriesQuery, options?: CallOptions): Promise<string>;
    replay(input: ReplayDeliveryInput, options?: CallOptions): Promise<string>;
  };
  events: {
    list(input?: ListEventsQuery, options?: CallOptions): Promise<string>;
  };
  triggers: { list(options?: CallOptions): Promise<string> };
  contacts: {
    list(input?: ListContactsQuery, options?: CallOptions): Promise<string>;
    get(input: GetContactQuery, options?: CallOptions): Promise<string>;
    put(input: PutContactInput, options?: CallOptions): Promise<string>;
    delete(input: DeleteContactInput, options?: CallOptions): Promise<string>;
  };
  mappings: {
    list(options?: CallOptions): Promise<string>;
    get(input: GetMappingQuery, options?: CallOptions): Promise<string>;
    put(input: PutMappingInput, options?: CallOptions): Promise<string>;
    delete(input: DeleteMappingInput, options?: CallOptions): Promise<string>;
  };
  categories: {
    list(input?: ListCategoriesQuery, options?: CallOptions): Promise<string>;
    get(input: GetCategoryQuery, options?: CallOptions): Promise<string>;
  };
  keys: {
    list(options?: CallOptions): Promise<string>;
    create(input: AddOwnKeyInput, options?: CallOptions): Promise<string>;
    revoke(input: RevokeOwnKeyInput, options?: CallOptions): Promise<string>;
    rotate(input: RotateOwnKeyInput, options?: CallOptions): Promise<string>;
  };
  refusals: {
    list(input?: ListRefusalsQuery, options?: CallOptions): Promise<string>;
  };
  account: { get(options?: CallOptions): Promise<string> };
  service: {
    health(options?: CallOptions): Promise<string>;
    readiness(options?: CallOptions): Promise<string>;
    productsSchema(options?: CallOptions): Promise<string>;
    attributesSchema(options?: CallOptions): Promise<string>;
    responsesSchema(options?: CallOptions): Promise<string>;
    openApi(options?: CallOptions): Promise<string>;
    handbook(options?: CallOptions): Promise<string>;
    chapter(input: GetChapterQuery, options?: CallOptions): Promise<string>;
  };
}

export const SELLER_OPERATIONS: OperationTable<SellerOperations> = {
  uploads: {
    create: {
      method: "POST",
      path: "/seller_api/bulk_products",
      sends: "products",
      takesIdempotencyKey: true,
    },
    get: { path: "/seller_api/bulk_products/:transaction_id" },
    refused: {
      path: "/seller_api/bulk_products/:transaction_id/refused",
      answer: "text",
    },
    list: { path: "/seller_api/bulk_products", pages: "transactions" },
    retryImages: {
      method: "POST",
      path: "/seller_api/bulk_products/:transaction_id/images/retry",
    },
    undo: {
      method: "POST",
      path: "/seller_api/bulk_products/:transaction_id/undo",
      takesIdempotencyKey: true,
    },
    setAttributes: {
      method: "POST",
      path: "/seller_api/bulk_attributes",
      sends: "products",
      takesIdempotencyKey: true,
    },
  },
  images: {
    upload: { method: "POST", path: "/seller_api/images", sendsFile: "image" },
    get: { path: "/images/:folder/:file", answer: "blob" },
  },
  imports: {
    create: {
      method: "POST",
      path: "/seller_api/imports",
      sends: "products",
      takesIdempotencyKey: true,
    },
    list: { path: "/seller_api/imports", pages: "imports" },
    get: { path: "/seller_api/imports/:import_id" },
    results: {
      path: "/seller_api/imports/:import_id/results",
      pages: "results",
    },
    refused: { path: "/seller_api/imports/:import_id/refused", answer: "text" },
    cancel: { method: "DELETE", path: "/seller_api/imports/:import_id" },
    retryImages: {
      method: "POST",
      path: "/seller_api/imports/:import_id/images/retry",
    },
    undo: {
      method: "POST",
      path: "/seller_api/imports/:import_id/undo",
      takesIdempotencyKey: true,
    },
    store: {
      method: "POST",
      path: "/seller_api/imports/:import_id/store",
      takesIdempotencyKey: true,
    },
  },
  products: {
    setAttribute: {
      method: "PUT",
      path: "/seller_api/products/:sku_or_id/attribute/:attribute/:value",
      takesIdempotencyKey: true,
      answer: null,
    },
    list: { path: "/seller_api/products", pages: "products" },
    rejected: { path: "/seller_api/products/rejected", answer: "text" },
    get: { path: "/seller_api/products/:sku_or_id" },
    history: {
      path: "/seller_api/products/:sku_or_id/history",
      pages: "changes",
    },
    delete: { method: "DELETE", path: "/seller_api/products/:sku_or_id" },
  },
  webhooks: {
    create: { method: "POST", path: "/seller_api/webhooks", sends: "webhook" },
    list: { inputless: true, path: "/seller_api/webhooks" },
    delete: { method: "DELETE", path: "/seller_api/webhooks/:trigger" },
    test: { method: "POST", path: "/seller_api/webhooks/:trigger/test" },
    recover: { method: "POST", path: "/seller_api/webhooks/:trigger/recover" },
    rotateSecret: {
      method: "POST",
      path: "/seller_api/webhooks/:trigger/rotate_secret",
    },
  },
  deliveries: {
    list: {
      path: "/seller_api/webhooks/:trigger/deliveries",
      pages: "deliveries",
    },
    replay: {
      method: "POST",
      path: "/seller_api/webhooks/:trigger/deliveries/:id/replay",
    },
  },
  events: { list: { path: "/seller_api/events", pages: "events" } },
  triggers: { list: { inputless: true, path: "/seller_api/triggers" } },
  contacts: {
    list: { path: "/seller_api/contacts", pages: "contacts" },
    get: { path: "/seller_api/contacts/:name" },
    put: {
      method: "PUT",
      path: "/seller_api/contacts/:name",
      sends: "contact",
    },
    delete: { method: "DELETE", path: "/seller_api/contacts/:name" },
  },
  mappings: {
    list: { inputless: true, path: "/seller_api/mappings" },
    get: { path: "/seller_api/mappings/:name" },
    put: {
      method: "PUT",
      path: "/seller_api/mappings/:name",
      sends: "mapping",
    },
    delete: { method: "DELETE", path: "/seller_api/mappings/:name" },
  },
  categories: {
    list: {
      path: "/seller_api/categories",
      pages: "categories",
      item: "category",
    },
    get: { path: "/seller_api/categories/:category" },
  },
  keys: {
    list: { inputless: true, path: "/seller_api/keys" },
    create: { method: "POST", path: "/seller_api/keys", sends: "key" },
    revoke: { method: "DELETE", path: "/seller_api/keys/:key_id" },
    rotate: { method: "POST", path: "/seller_api/keys/:key_id/rotate" },
  },
  refusals: { list: { path: "/seller_api/refusals", pages: "refusals" } },
  account: { get: { inputless: true, path: "/seller_api/account" } },
  service: {
    health: { inputless: true, path: "/healthz" },
    readiness: { inputless: true, path: "/readyz" },
    productsSchema: {
      inputless: true,
      path: "/seller_api/schemas/products-1.1.xsd",
      answer: "text",
    },
    attributesSchema: {
      inputless: true,
      path: "/seller_api/schemas/attributes-1.1.xsd",
      answer: "text",
    },
    responsesSchema: {
      inputless: true,
      path: "/seller_api/schemas/responses-1.1.xsd",
      answer: "text",
    },
    openApi: { inputless: true, path: "/openapi.json", answer: "text" },
    handbook: { inputless: true, path: "/docs", answer: "text" },
    chapter: { path: "/docs/:chapter", answer: "text" },
  },
};

/** The operations of a client for operators, by noun. */
export interface OperatorOperations {
  events: {
    /**
     * Send an event. The event is on disk when the answer arrives. A repeated request with the same seller, trigger and reference returns the first id and delivers nothing twice; if its data differ, it is refused.
     *
     * `POST /operator_api/events`
     */
    create(
      input: IngestEventInput,
      options?: CallOptions,
    ): Promise<IngestEventAnswer>;
  };
  feed: {
    /**
     * Follow the catalogue. The latest state of each changed product of all sellers, in the order of change. A product also changes when one of its images is stored or fails. A deleted product has deleted_at, and only its id and SKU. Products contain whole contacts. seller_id never changes, even if the seller is renamed. Every page that is not empty has a <next>, which never expires: store it, and send it as after in the next request. With wait, an empty page has a <next>, too: the cursor of the request.
     *
     * `GET /operator_api/products`
     */
    list(
      input?: FollowProductsQuery,
      options?: CallOptions,
    ): List<FollowProductsAnswer, FollowedProduct>;

    /**
     * Follow the contacts. The latest state of each contact of all sellers, in the order of change. A deleted contact has deleted_at, and only its id, seller and name. A change of a contact does not change the products that name it. Every page that is not empty has a <next>, which never expires: store it, and send it as after in the next request.
     *
     * `GET /operator_api/contacts`
     */
    contacts(
      input?: FollowContactsQuery,
      options?: CallOptions,
    ): List<FollowContactsAnswer, ContactChange>;
  };
  sellers: {
    /**
     * List sellers. All sellers in the order of creation, with their limits and usage.
     *
     * `GET /operator_api/sellers`
     */
    list(
      input?: ListSellersQuery,
      options?: CallOptions,
    ): List<ListSellersAnswer, Seller>;

    /**
     * Create a seller. The answer has the first key and a webhook secret, which are shown once.
     *
     * `POST /operator_api/sellers`
     */
    create(
      input: AddSellerInput,
      options?: CallOptions,
    ): Promise<AddSellerAnswer>;

    /**
     * Change a seller. A limit is a whole number; an empty value means the default of the settings. `email` is the address for notices to the seller; with an empty value, nobody gets them. A body is ignored.
     *
     * `PUT /operator_api/sellers/:seller/attribute/:seller_attribute/:value`
     */
    setAttribute(
      input: PutSellerAttributeInput,
      options?: CallOptions,
    ): Promise<void>;

    /**
     * Remove a seller. Removes the seller with its products, uploads, webhooks, events and keys. Its name can be used again at once; its data are deleted within seconds. This cannot be undone.
     *
     * `DELETE /operator_api/sellers/:seller`
     */
    delete(
      input: RemoveSellerInput,
      options?: CallOptions,
    ): Promise<RemoveSellerAnswer>;

    /**
     * Rotate a seller's webhook secret. For 24 h, deliveries are also signed with the former secret. A webhook with its own secret keeps that secret.
     *
     * `POST /operator_api/sellers/:seller/rotate_secret`
     */
    rotateSecret(
      input: RotateSellerSecretInput,
      options?: CallOptions,
    ): Promise<RotateSellerSecretAnswer>;
  };
  keys: {
    /**
     * List a seller's keys. The seller's keys, oldest first, including expired and revoked keys.
     *
     * `GET /operator_api/sellers/:seller/keys`
     */
    list(
      input: ListSellerKeysQuery,
      options?: CallOptions,
    ): Promise<ListSellerKeysAnswer>;

    /**
     * Create a key for a seller. The key is shown once. Unless the document says otherwise, the key has all scopes, does not expire, and may be used from any address.
     *
     * `POST /operator_api/sellers/:seller/keys`
     */
    create(
      input: AddSellerKeyInput,
      options?: CallOptions,
    ): Promise<AddSellerKeyAnswer>;

    /**
     * Revoke a key. Every process refuses the key within a second.
     *
     * `DELETE /operator_api/keys/:key_id`
     */
    revoke(
      input: RevokeKeyInput,
      options?: CallOptions,
    ): Promise<RevokeKeyAnswer>;
  };
  deliveries: {
    /**
     * List a seller's deliveries. The seller's deliveries, newest first, each with its last ten attempts, including deliveries of deleted webhooks. With a state, a page may be short or empty and still have a <next>.
     *
     * `GET /operator_api/sellers/:seller/deliveries`
     */
    list(
      input: ListSellerDeliveriesQuery,
      options?: CallOptions,
    ): List<ListSellerDeliveriesAnswer, LoggedDelivery>;
  };
  reviews: {
    /**
     * List products to review. The product that has been in the state for longest comes first. Each product is shown as it is now, with the changes since the last approval.
     *
     * `GET /operator_api/reviews`
     */
    list(
      input?: ListReviewsQuery,
      options?: CallOptions,
    ): List<ListReviewsAnswer, ReviewedProduct>;

    /**
     * Decide about products. Stores up to 250 decisions, all or none. The audit log records each decision, and the seller gets it as an event product_approved or product_rejected. A repeated decision changes nothing. A rejection needs a code or a message.
     *
     * `POST /operator_api/reviews`
     */
    decide(
      input: DecideReviewsInput,
      options?: CallOptions,
    ): Promise<DecideReviewsAnswer>;
  };
  reasons: {
    /**
     * List the reasons for rejections. Your list of reasons, in its order. The page offers the reasons to reviewers.
     *
     * `GET /operator_api/review_reasons`
     */
    list(options?: CallOptions): Promise<ListReasonsAnswer>;

    /**
     * Replace the reasons for rejections. Replaces the whole list, of up to 100 reasons. Decisions may also have codes that are not in the list.
     *
     * `PUT /operator_api/review_reasons`
     */
    put(
      input: PutReasonsInput,
      options?: CallOptions,
    ): Promise<PutReasonsAnswer>;
  };
  categories: {
    /**
     * List categories. The list of categories as you sent it, in pages.
     *
     * `GET /operator_api/categories`
     */
    list(
      input?: ListAllCategoriesQuery,
      options?: CallOptions,
    ): List<ListAllCategoriesAnswer, Category>;

    /**
     * Replace the list of categories. Replaces the whole list, of up to 10,000 categories and 8 MiB. With dry_run=true, the list is only checked. An empty list removes all rules. Stored products are not changed.
     *
     * `PUT /operator_api/categories`
     */
    put(
      input: PutCategoriesInput,
      options?: CallOptions,
    ): Promise<PutCategoriesAnswer>;
  };
  triggers: {
    /**
     * Describe a trigger. Describes when you send the trigger, with an example of its data. An empty text restores the service's own description. The list of triggers and the OpenAPI description show both, and test events have the example as data.
     *
     * `PUT /operator_api/triggers/:trigger_name`
     */
    put(
      input: PutTriggerInput,
      options?: CallOptions,
    ): Promise<PutTriggerAnswer>;
  };
  refusals: {
    /**
     * List refused requests of sellers. Requests of sellers that were refused with a 4xx. The last 1000 refusals of each seller are kept for 30 days. They are listed newest first.
     *
     * `GET /operator_api/refusals`
     */
    list(
      input?: ListAllRefusalsQuery,
      options?: CallOptions,
    ): List<ListAllRefusalsAnswer, Refusal>;
  };
  audit: {
    /**
     * Read the audit log. The changes by operators, and those of sellers to their keys, newest first, and who made them.
     *
     * `GET /operator_api/audit`
     */
    list(
      input?: ListAuditQuery,
      options?: CallOptions,
    ): List<ListAuditAnswer, AuditEntry>;
  };
  status: {
    /**
     * Read the status of the service. The queues; the failing webhooks (the 100 that have failed longest); uploads, images and deliveries of the last 24 hours; and the free space on the disks of the process that answers.
     *
     * `GET /operator_api/status`
     */
    get(options?: CallOptions): Promise<GetStatusAnswer>;
  };
  database: {
    /**
     * List the database servers. For each server of the database: whether it answered the last check, at most 5 seconds ago, and how many sellers and bytes it has. There is one server, unless Citus spreads the sellers over several.
     *
     * `GET /operator_api/database`
     */
    get(
      input?: GetDatabaseQuery,
      options?: CallOptions,
    ): Promise<GetDatabaseAnswer>;
  };
  metrics: {
    /**
     * Read the metrics. The metrics in the text format of Prometheus. The answer is 404 if neither SELLER_METRICS_KEY nor an operator key is set.
     *
     * `GET /metrics`
     */
    get(options?: CallOptions): Promise<string>;
  };
  service: {
    /**
     * Check liveness. 200 while the process runs.
     *
     * `GET /healthz`
     */
    health(options?: CallOptions): Promise<GetHealthAnswer>;

    /**
     * Check readiness. 200 if the service can work, else 503. With an operator key, the answer has the result of each check.
     *
     * `GET /readyz`
     */
    readiness(options?: CallOptions): Promise<GetReadinessAnswer>;

    /**
     * Read the schema of uploads. The schema in XML Schema 1.0.
     *
     * `GET /seller_api/schemas/products-1.1.xsd`
     */
    productsSchema(options?: CallOptions): Promise<string>;

    /**
     * Read the schema of attribute updates. The schema in XML Schema 1.0.
     *
     * `GET /seller_api/schemas/attributes-1.1.xsd`
     */
    attributesSchema(options?: CallOptions): Promise<string>;

    /**
     * Read the schema of answers. The schema in XML Schema 1.0.
     *
     * `GET /seller_api/schemas/responses-1.1.xsd`
     */
    responsesSchema(options?: CallOptions): Promise<string>;

    /**
     * Read the OpenAPI description. The description of all endpoints in OpenAPI 3.1.
     *
     * `GET /openapi.json`
     */
    openApi(options?: CallOptions): Promise<string>;

    /**
     * List the chapters of the handbook. The table of contents, as HTML.
     *
     * `GET /docs`
     */
    handbook(options?: CallOptions): Promise<string>;

    /**
     * Read a chapter of the handbook. One of the chapters is this API reference, which is generated from the table of endpoints.
     *
     * `GET /docs/:chapter`
     */
    chapter(input: GetChapterQuery, options?: CallOptions): Promise<string>;
  };
  images: {
    /**
     * Read a stored image. The path is the href of a product's image. The file never changes. Byte ranges are supported.
     *
     * `GET /images/:folder/:file`
     */
    get(input: GetImageQuery, options?: CallOptions): Promise<Blob>;
  };
}

/** The same operations; each returns its answer as XML text. */
export interface OperatorXmlOperations {
  events: {
    create(input: IngestEventInput, options?: CallOptions): Promise<string>;
  };
  feed: {
    list(input?: FollowProductsQuery, options?: CallOptions): Promise<string>;
    contacts(
      input?: FollowContactsQuery,
      options?: CallOptions,
    ): Promise<string>;
  };
  sellers: {
    list(input?: ListSellersQuery, options?: CallOptions): Promise<string>;
    create(input: AddSellerInput, options?: CallOptions): Promise<string>;
    setAttribute(
      input: PutSellerAttributeInput,
      options?: CallOptions,
    ): Promise<string>;
    delete(input: RemoveSellerInput, options?: CallOptions): Promise<string>;
    rotateSecret(
      input: RotateSellerSecretInput,
      options?: CallOptions,
    ): Promise<string>;
  };
  keys: {
    list(input: ListSellerKeysQuery, options?: CallOptions): Promise<string>;
    create(input: AddSellerKeyInput, options?: CallOptions): Promise<string>;
    revoke(input: RevokeKeyInput, options?: CallOptions): Promise<string>;
  };
  deliveries: {
    list(
      input: ListSellerDeliveriesQuery,
      options?: CallOptions,
    ): Promise<string>;
  };
  reviews: {
    list(input?: ListReviewsQuery, options?: CallOptions): Promise<string>;
    decide(input: DecideReviewsInput, options?: CallOptions): Promise<string>;
  };
  reasons: {
    list(options?: CallOptions): Promise<string>;
    put(input: PutReasonsInput, options?: CallOptions): Promise<string>;
  };
  categories: {
    list(
      input?: ListAllCategoriesQuery,
      options?: CallOptions,
    ): Promise<string>;
    put(input: PutCategoriesInput, options?: CallOptions): Promise<string>;
  };
  triggers: {
    put(input: PutTriggerInput, options?: CallOptions): Promise<string>;
  };
  refusals: {
    list(input?: ListAllRefusalsQuery, options?: CallOptions): Promise<string>;
  };
  audit: {
    list(input?: ListAuditQuery, options?: CallOptions): Promise<string>;
  };
  status: { get(options?: CallOptions): Promise<string> };
  database: {
    get(input?: GetDatabaseQuery, options?: CallOptions): Promise<string>;
  };
  metrics: { get(options?: CallOptions): Promise<string> };
  service: {
    health(options?: CallOptions): Promise<string>;
    readiness(options?: CallOptions): Promise<string>;
    productsSchema(options?: CallOptions): Promise<string>;
    attributesSchema(options?: CallOptions): Promise<string>;
    responsesSchema(options?: CallOptions): Promise<string>;
    openApi(options?: CallOptions): Promise<string>;
    handbook(options?: CallOptions): Promise<string>;
    chapter(input: GetChapterQuery, options?: CallOptions): Promise<string>;
  };
  images: { get(input: GetImageQuery, options?: CallOptions): Promise<string> };
}

export const OPERATOR_OPERATIONS: OperationTable<OperatorOperations> = {
  events: {
    create: {
      method: "POST",
      path: "/operator_api/events",
      sends: "event",
      hasReference: true,
    },
  },
  feed: {
    list: { path: "/operator_api/products", pages: "products" },
    contacts: { path: "/operator_api/contacts", pages: "contacts" },
  },
  sellers: {
    list: { path: "/operator_api/sellers", pages: "sellers" },
    create: { method: "POST", path: "/operator_api/sellers", sends: "seller" },
    setAttribute: {
      method: "PUT",
      path: "/operator_api/sellers/:seller/attribute/:seller_attribute/:value",
      answer: null,
    },
    delete: { method: "DELETE", path: "/operator_api/sellers/:seller" },
    rotateSecret: {
      method: "POST",
      path: "/operator_api/sellers/:seller/rotate_secret",
    },
  },
  keys: {
    list: { path: "/operator_api/sellers/:seller/keys" },
    create: {
      method: "POST",
      path: "/operator_api/sellers/:seller/keys",
      sends: "key",
    },
    revoke: { method: "DELETE", path: "/operator_api/keys/:key_id" },
  },
  deliveries: {
    list: {
      path: "/operator_api/sellers/:seller/deliveries",
      pages: "deliveries",
    },
  },
  reviews: {
    list: { path: "/operator_api/reviews", pages: "reviews" },
    decide: { method: "POST", path: "/operator_api/reviews", sends: "reviews" },
  },
  reasons: {
    list: { inputless: true, path: "/operator_api/review_reasons" },
    put: {
      method: "PUT",
      path: "/operator_api/review_reasons",
      sends: "reasons",
    },
  },
  categories: {
    list: {
      path: "/operator_api/categories",
      pages: "categories",
      item: "category",
    },
    put: {
      method: "PUT",
      path: "/operator_api/categories",
      sends: "categories",
    },
  },
  triggers: {
    put: {
      method: "PUT",
      path: "/operator_api/triggers/:trigger_name",
      sends: "trigger",
    },
  },
  refusals: { list: { path: "/operator_api/refusals", pages: "refusals" } },
  audit: { list: { path: "/operator_api/audit", pages: "audit" } },
  status: { get: { inputless: true, path: "/operator_api/status" } },
  database: { get: { path: "/operator_api/database" } },
  metrics: {
    get: { inputless: true, path: "/metrics", bearer: true, answer: "text" },
  },
  service: {
    health: { inputless: true, path: "/healthz" },
    readiness: { inputless: true, path: "/readyz" },
    productsSchema: {
      inputless: true,
      path: "/seller_api/schemas/products-1.1.xsd",
      answer: "text",
    },
    attributesSchema: {
      inputless: true,
      path: "/seller_api/schemas/attributes-1.1.xsd",
      answer: "text",
    },
    responsesSchema: {
      inputless: true,
      path: "/seller_api/schemas/responses-1.1.xsd",
      answer: "text",
    },
    openApi: { inputless: true, path: "/openapi.json", answer: "text" },
    handbook: { inputless: true, path: "/docs", answer: "text" },
    chapter: { path: "/docs/:chapter", answer: "text" },
  },
  images: { get: { path: "/images/:folder/:file", answer: "blob" } },
};
