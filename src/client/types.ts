/**
 * The types of documents and answers. `deno task client`
 * writes this file from the tables of the service.
 */
export type ErrorCode =
  | "malformed_xml"
  | "malformed_json"
  | "malformed_request"
  | "unsupported_version"
  | "unauthorized"
  | "forbidden"
  | "suspended"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "conflict"
  | "reference_reused"
  | "idempotency_key_in_progress"
  | "changed_since"
  | "too_many_products"
  | "body_too_large"
  | "unsupported_media_type"
  | "record_invalid"
  | "idempotency_key_reused"
  | "rate_limited"
  | "internal"
  | "unavailable";

export type DetailCode =
  | "required"
  | "too_long"
  | "too_many"
  | "not_a_number"
  | "out_of_range"
  | "not_in_list"
  | "attribute_required"
  | "unknown_category"
  | "unknown_contact"
  | "not_a_date"
  | "not_one_line"
  | "not_allowed"
  | "unknown_element"
  | "unknown_attribute"
  | "unexpected_text"
  | "repeated_element"
  | "repeated_value"
  | "duplicate_sku"
  | "duplicate_product"
  | "sku_taken"
  | "name_taken"
  | "too_many_missing"
  | "quota_exceeded"
  | "changed_since"
  | "too_old"
  | "not_found"
  | "unknown_id"
  | "price_jump"
  | "bad_check_digit"
  | "bad_url"
  | "image_unavailable"
  | "image_blocked"
  | "unknown_image"
  | "image_incomplete"
  | "image_too_large"
  | "image_not_an_image"
  | "image_unsupported_type"
  | "image_corrupt"
  | "image_too_many_pixels"
  | "image_too_many_frames"
  | "image_quota_exceeded"
  | "image_unprocessable"
  | "url_blocked"
  | "unresolved"
  | "wrong_type"
  | "syntax"
  | "internal"
  | "limit";

export type ImageCode =
  | "image_not_found"
  | "image_forbidden"
  | "image_redirected"
  | "image_rate_limited"
  | "image_host_error"
  | "image_unavailable"
  | "image_timeout"
  | "image_host_unreachable"
  | "image_tls_failed"
  | "image_bad_response"
  | "image_blocked"
  | "image_removed"
  | "image_incomplete"
  | "image_too_large"
  | "image_not_an_image"
  | "image_unsupported_type"
  | "image_corrupt"
  | "image_too_many_pixels"
  | "image_too_many_frames"
  | "image_quota_exceeded"
  | "image_unprocessable";

export type Trigger =
  | "order_created"
  | "order_paid"
  | "order_updated"
  | "order_cancelled"
  | "order_delivered"
  | "return_created"
  | "return_updated"
  | "refund_created"
  | "message_created"
  | "review_created"
  | "payout_paid"
  | "product_approved"
  | "product_rejected"
  | "import_finished";

export type DeliveryState =
  | "pending"
  | "sending"
  | "retrying"
  | "delivered"
  | "exhausted"
  | "held"
  | "cancelled";

export type AttributeName =
  | "sku"
  | "title"
  | "price"
  | "compare_at_price"
  | "vat_rate"
  | "quantity"
  | "availability"
  | "available_at"
  | "gtin"
  | "brand"
  | "mpn"
  | "weight"
  | "handling_days"
  | "condition"
  | "status"
  | "manufacturer"
  | "responsible_person";

export type SellerAttribute =
  | "name"
  | "status"
  | "rate_limit"
  | "product_limit"
  | "image_quota"
  | "price_jump"
  | "email"
  | "review";

export interface SentSale {
  /** only in answers; ignored in requests */
  state?: string;
  /** lower than the product's price, in the same currency */
  price: string;
  /** a date (the sale begins at 00:00 UTC) or a time with its zone; if left out, the sale begins at once */
  from?: string | null;
  /** a date (the sale ends at the end of that day in UTC) or a time with its zone; at most 180 days after the beginning */
  until: string;
}

export interface ProductAttribute {
  value: string;
  name: string;
}

export interface ProductImage {
  url: string;
  alt?: string;
  /** only in answers; ignored in requests */
  status?: string;
  /** only in answers; ignored in requests */
  href?: string;
  /** only in answers; ignored in requests */
  type?: string;
  /** only in answers; ignored in requests */
  width?: string;
  /** only in answers; ignored in requests */
  height?: string;
  /** only in answers; ignored in requests */
  code?: string;
  /** only in answers; ignored in requests */
  message?: string;
}

export type SentProduct = {
  /** only in answers; ignored in requests */
  created_at?: string;
  /** only in answers; ignored in requests */
  updated_at?: string;
  /** identifies a stored product */
  id?: string;
  sku?: string;
  title?: string;
  description?: string | null;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
    /** the value that the field must have now; otherwise nothing is changed */
    expected?: string;
  };
  compare_at_price?: string | null;
  vat_rate?: string | null;
  quantity?: number | {
    value: number | null;
    /** the value that the field must have now; otherwise nothing is changed */
    expected?: number | "";
  } | null;
  availability?: "in_stock" | "out_of_stock" | "preorder" | "backorder";
  available_at?: string | null;
  gtin?: string | null;
  brand?: string | null;
  mpn?: string | null;
  weight?: {
    value: number;
    /** the unit, grams, as in g */
    unit: "g";
  } | null;
  handling_days?: number | null;
  condition?: "new" | "refurbished" | "used" | null;
  status?: "active" | "paused" | null;
  parent_sku?: string | null;
  manufacturer?: string | null;
  responsible_person?: string | null;
  safety_text?: string | null;
  /** a lower price between two times */
  sale?: SentSale | null;
  categories?: string[] | null;
  attributes?: ProductAttribute[] | null;
  images?: ProductImage[] | null;
  /** the sale price; left out unless a sale is on; ignored in requests */
  current_price?: unknown;
  /** the lowest price in the 30 days before the current price began; ignored in requests */
  lowest_price?: unknown;
  /** the operator's review; left out if there is none; ignored in requests */
  review?: unknown;
} & ({ id: string } | { sku: string });

export interface ProductCounts {
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  /** deleted by an undo; left out if 0 */
  deleted?: number;
  /** only with accept=valid; left out if 0 */
  refused?: number;
}

export interface ImageCounts {
  /** image references: a URL used twice counts twice */
  total: number;
  pending: number;
  stored: number;
  /** already stored */
  reused: number;
  failed: number;
}

export interface MadeBy {
  key_id: string;
  /** empty: the key has no label, or was deleted */
  label: string;
}

export interface Warning {
  /** position in the document, from 1 */
  product?: number;
  sku?: string;
  line?: number;
  field?: string;
  code: DetailCode;
  /** the date from which the rule is enforced, beginning at 00:00 UTC */
  from: string;
  message: string;
}

export interface Warnings {
  /** the first 1,000 */
  warning: Warning[];
  /** how many more warnings there are */
  more?: number;
}

export interface UnsettledImage {
  url: string;
  status: "pending" | "failed";
  /** finished attempts */
  attempts: number;
  code?: ImageCode;
  message?: string;
}

export interface Detail {
  /** position in the document, from 1 */
  product?: number;
  sku?: string;
  line?: number;
  column?: number;
  field?: string;
  /** JSON pointer of the field (RFC 6901), for a document in JSON */
  pointer?: string;
  code: DetailCode;
  message: string;
}

export interface Result {
  /** left out for a refused product */
  id?: string;
  /** left out for a refused product without a SKU */
  sku?: string;
  result: "created" | "updated" | "unchanged" | "deleted" | "refused";
  /** only images that are pending or have failed */
  image: UnsettledImage[];
  /** for a refused product, the first 50 */
  details?: Detail[];
  /** how many more details there are */
  more?: number;
}

export interface Transaction {
  transaction_id: string;
  /** final once no image is pending */
  status: "processing" | "completed" | "completed_with_errors";
  created_at: string;
  finished_at: string | null;
  /** how many percent of all images are stored, reused or failed */
  progress: number;
  products: ProductCounts;
  images: ImageCounts;
  /** the transaction that this one undid */
  undoes?: string;
  /** the transaction that undid this one */
  undone_by?: string;
  /** the import to which this transaction belongs */
  import_id?: string;
  /** the name of the upload; for an undo, the name of the undone upload */
  name?: string;
  /** the key that sent the request */
  key?: MadeBy;
  /** violations of rules that are not enforced yet; the products are accepted; left out of lists */
  warnings?: Warnings;
  /** left out of lists */
  results?: Result[];
  /** the value of ?after= for the next page; left out on the last page */
  next?: string;
}

export type ProductAttributes = {
  /** only in answers; ignored in requests */
  created_at?: string;
  /** only in answers; ignored in requests */
  updated_at?: string;
  /** identifies a stored product */
  id?: string;
  sku?: string;
  title?: string;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
    /** the value that the field must have now; otherwise nothing is changed */
    expected?: string;
  };
  compare_at_price?: string | null;
  vat_rate?: string | null;
  quantity?: number | {
    value: number | null;
    /** the value that the field must have now; otherwise nothing is changed */
    expected?: number | "";
  } | {
    /** a difference to add to the current value, instead of a value */
    change: number;
  } | null;
  availability?: "in_stock" | "out_of_stock" | "preorder" | "backorder";
  available_at?: string | null;
  gtin?: string | null;
  brand?: string | null;
  mpn?: string | null;
  weight?: {
    value: number;
    /** the unit, grams, as in g */
    unit: "g";
  } | null;
  handling_days?: number | null;
  condition?: "new" | "refurbished" | "used" | null;
  status?: "active" | "paused" | null;
  manufacturer?: string | null;
  responsible_person?: string | null;
  /** a lower price between two times */
  sale?: SentSale | null;
} & ({ id: string } | { sku: string });

export interface Import {
  import_id: string;
  /** the name of the import */
  name?: string;
  /** `images`: all products are stored, and images are being downloaded */
  status:
    | "checking"
    | "refused"
    | "storing"
    | "images"
    | "completed"
    | "completed_with_errors"
    | "cancelled"
    | "failed";
  created_at: string;
  finished_at: string | null;
  /** how much of checking, storing and downloading images is done, in percent */
  progress: number;
  /** `total` counts all products of the document */
  products: ProductCounts;
  /** images of stored products */
  images: ImageCounts;
  /** true: nothing is stored; the counts show what storing would do */
  dry_run?: boolean;
  /** the import that this one undoes */
  undoes?: string;
  /** the import that undid this one */
  undone_by?: string;
  /** the key that sent the request */
  key?: MadeBy;
  /** the first 1,000; left out of lists */
  problems?: Detail[];
  /** how many more details there are */
  more?: number;
  /** violations of rules that are not enforced yet; the products are accepted; left out of lists */
  warnings?: Warnings;
}

export interface FormerProduct {
  title?: string;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
  };
  quantity?: number | null;
  gtin?: string | null;
  weight?: {
    value: number;
    /** the unit, grams, as in g */
    unit: "g";
  } | null;
}

export interface SimilarProduct {
  sku: string;
  title: string;
}

export interface ImportResult {
  /** left out if the product is not stored */
  id?: string;
  /** left out for a refused product without a SKU, and for a product that the service has not read yet */
  sku?: string;
  /** `not_stored`: not stored yet; final if the import has ended */
  result:
    | "created"
    | "updated"
    | "unchanged"
    | "deleted"
    | "refused"
    | "not_stored";
  /** only images that are pending or have failed */
  image: UnsettledImage[];
  /** only in a dry run with show=former: the stored product at the time of the check */
  former?: FormerProduct;
  /** only in a dry run with show=former, for a new product: a stored product whose SKU differs only in capital letters, leading zeros or invisible characters */
  similar?: SimilarProduct;
  /** for a refused product, the first 50 */
  details?: Detail[];
  /** how many more details there are */
  more?: number;
}

export interface Sale {
  state: "planned" | "on" | "over";
  /** lower than the product's price, in the same currency */
  price: string;
  from: string;
  until: string;
}

export interface CurrentPrice {
  amount: string;
  currency: string;
}

export interface LowestPrice {
  amount: string;
  days: number;
  currency: string;
}

export interface ProductReview {
  state: "pending" | "approved" | "rejected";
  /** when the state began */
  at: string;
  /** a code that the operator chose */
  code?: string;
  /** a field of the product */
  field?: string;
  /** what is wrong, and what would be right */
  message?: string;
}

export interface Product {
  /** only in answers; ignored in requests */
  created_at?: string;
  /** only in answers; ignored in requests */
  updated_at?: string;
  /** only in answers; ignored in requests */
  seller?: string;
  /** only in answers; ignored in requests */
  seller_id?: string;
  /** only in answers; ignored in requests */
  deleted_at?: string;
  id: string;
  sku?: string;
  title?: string;
  description?: string | null;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
  };
  compare_at_price?: string | null;
  vat_rate?: string | null;
  quantity?: number | null;
  availability?: "in_stock" | "out_of_stock" | "preorder" | "backorder";
  available_at?: string | null;
  gtin?: string | null;
  brand?: string | null;
  mpn?: string | null;
  weight?: {
    value: number;
    /** the unit, grams, as in g */
    unit: "g";
  } | null;
  handling_days?: number | null;
  condition?: "new" | "refurbished" | "used" | null;
  status?: "active" | "paused" | null;
  parent_sku?: string | null;
  manufacturer?: string | null;
  responsible_person?: string | null;
  safety_text?: string | null;
  /** a lower price between two times */
  sale?: Sale;
  categories?: string[];
  attributes?: ProductAttribute[];
  images?: ProductImage[];
  /** the sale price; left out unless a sale is on; ignored in requests */
  current_price?: CurrentPrice;
  /** the lowest price in the 30 days before the current price began; ignored in requests */
  lowest_price?: LowestPrice;
  /** the operator's review; left out if there is none; ignored in requests */
  review?: ProductReview;
}

export interface PriceChange {
  at: string;
  /** the former price */
  from: string;
  /** only if the currency changed */
  from_currency?: string;
  /** the price since then */
  to: string;
  /** the currency of `to` */
  currency: string;
  /** what changed the price: `attribute` or `sale`; or `upload`, `import` or `undo` with an id */
  by: string;
  /** the key that changed the price */
  key_id?: string;
}

export interface Attempt {
  number: number;
  url: string;
  started_at: string;
  duration_ms: number | null;
  /** the HTTP status; empty without an answer */
  status: number | null;
  /** why there was no answer; empty if there was one */
  error: string;
}

export interface LoggedDelivery {
  id: string;
  event_id: string;
  state: DeliveryState;
  created_at: string;
  next_attempt_at: string | null;
  /** the last ten attempts */
  attempts: Attempt[];
  /** only for operators */
  trigger?: Trigger;
  /** only for operators; a test event has none */
  reference?: string;
  /** when the state became final; only for operators */
  settled_at?: string;
}

export interface DeliveredEvent {
  /** true: a test event, which the seller requested */
  test?: boolean;
  id: string;
  trigger: Trigger;
  created_at: string;
  /** any elements, as the operator sent them */
  data: unknown;
}

export interface Contact {
  name: string;
  updated_at: string;
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
}

export interface MappedColumn {
  name: string;
  /** the field, as in an upload; empty: the column is ignored */
  field: string;
  /** the unit of numbers that have no unit in the table */
  unit?: string;
}

export interface MappedValue {
  value: string;
  /** the field, as in an upload */
  field: string;
}

export interface CategoryRule {
  /** the field that the rule concerns; a rule has either field or attribute */
  field?:
    | "description"
    | "compare_at_price"
    | "vat_rate"
    | "quantity"
    | "available_at"
    | "gtin"
    | "brand"
    | "mpn"
    | "weight"
    | "handling_days"
    | "parent_sku"
    | "manufacturer"
    | "responsible_person"
    | "safety_text"
    | "images";
  /** the name of the attribute that the rule concerns */
  attribute?: string;
  /** true: a product must have the field or attribute */
  required?: boolean;
  /** the rule warns until 00:00 UTC of this day, then refuses */
  from?: string;
  /** the allowed values; without them any value is allowed */
  value?: string[];
}

export interface Category {
  /** the name that products use */
  name: string;
  rule?: CategoryRule[];
}

export interface Refusal {
  at: string;
  /** the id of the request, or of the first of several equal requests */
  request_id: string;
  /** how many equal requests were refused within a minute */
  times: number;
  /** the seller's name */
  seller: string;
  key_id: string;
  /** the IP address of the client */
  client_address: string;
  /** method and path; empty if there is no such route */
  route: string;
  /** true: the request was a dry run */
  dry_run?: boolean;
  /** the name of the upload or import */
  name?: string;
  status: number;
  code: ErrorCode;
  message: string;
  /** bytes of the body; empty if the service did not read the body */
  size: number | null;
  /** the first 50 */
  details?: Detail[];
  /** how many more details there are */
  more?: number;
}

export type NamedContact = {
  name?: string;
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
  /** as in the list of contacts */
  id?: string;
} | "none";

export interface FollowedProduct {
  /** only in answers; ignored in requests */
  created_at?: string;
  /** only in answers; ignored in requests */
  updated_at?: string;
  /** only in answers; ignored in requests */
  seller?: string;
  /** only in answers; ignored in requests */
  seller_id?: string;
  /** only in answers; ignored in requests */
  deleted_at?: string;
  id: string;
  sku?: string;
  title?: string;
  description?: string | null;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
  };
  compare_at_price?: string | null;
  vat_rate?: string | null;
  quantity?: number | null;
  availability?: "in_stock" | "out_of_stock" | "preorder" | "backorder";
  available_at?: string | null;
  gtin?: string | null;
  brand?: string | null;
  mpn?: string | null;
  weight?: {
    value: number;
    /** the unit, grams, as in g */
    unit: "g";
  } | null;
  handling_days?: number | null;
  condition?: "new" | "refurbished" | "used" | null;
  status?: "active" | "paused" | null;
  parent_sku?: string | null;
  manufacturer?: NamedContact;
  responsible_person?: NamedContact;
  safety_text?: string | null;
  /** a lower price between two times */
  sale?: SentSale | null;
  categories?: string[];
  attributes?: ProductAttribute[];
  images?: ProductImage[];
  /** the sale price; left out unless a sale is on; ignored in requests */
  current_price?: CurrentPrice;
  /** the lowest price in the 30 days before the current price began; ignored in requests */
  lowest_price?: LowestPrice;
  /** the operator's review; left out if there is none; ignored in requests */
  review?: ProductReview;
}

export interface ContactChange {
  /** only for a deleted contact */
  deleted_at?: string;
  /** if a name is used again after a deletion, the new contact has a new id */
  id?: string;
  seller?: string;
  seller_id?: string;
  name: string;
  updated_at?: string;
  /** the name or trade name */
  company?: string;
  /** with the number */
  street?: string;
  postal_code?: string | null;
  city?: string;
  /** the code of ISO 3166-1, as in SE */
  country?: string;
  /** needed without a URL */
  email?: string | null;
  /** needed without an email address */
  url?: string | null;
}

export interface Seller {
  id: string;
  name: string;
  status: "active" | "suspended";
  created_at: string;
  /** requests a minute; empty: the default */
  rate_limit: number | null;
  /** empty: the default */
  product_limit: number | null;
  /** bytes; empty: the default */
  image_quota: number | null;
  /** percent by which a price may change in one step; empty: no limit */
  price_jump: number | null;
  /** where notices are sent; empty: nowhere */
  email: string;
  /** when the seller unsubscribed from notices */
  unsubscribed_at: string | null;
  /** which products an operator reviews */
  review: "none" | "new" | "changes";
  /** stored products */
  products: number;
  /** bytes of stored images, which count against the quota */
  image_bytes: number;
  /** bytes of import documents, which count against the quota as well */
  import_bytes: number;
  /** valid keys */
  keys: number;
  webhooks: number;
  failing_webhooks: number;
  last_upload_at: string | null;
  /** when a key was last used, to the minute */
  last_used_at: string | null;
}

export interface ReviewedProduct {
  /** only in answers; ignored in requests */
  created_at?: string;
  /** only in answers; ignored in requests */
  updated_at?: string;
  /** only in answers; ignored in requests */
  seller?: string;
  /** only in answers; ignored in requests */
  seller_id?: string;
  id: string;
  sku?: string;
  title?: string;
  description?: string | null;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
  };
  compare_at_price?: string | null;
  vat_rate?: string | null;
  quantity?: number | null;
  availability?: "in_stock" | "out_of_stock" | "preorder" | "backorder";
  available_at?: string | null;
  gtin?: string | null;
  brand?: string | null;
  mpn?: string | null;
  weight?: {
    value: number;
    /** the unit, grams, as in g */
    unit: "g";
  } | null;
  handling_days?: number | null;
  condition?: "new" | "refurbished" | "used" | null;
  status?: "active" | "paused" | null;
  parent_sku?: string | null;
  manufacturer?: NamedContact;
  responsible_person?: NamedContact;
  safety_text?: string | null;
  /** a lower price between two times */
  sale?: SentSale | null;
  categories?: string[];
  attributes?: ProductAttribute[];
  images?: ProductImage[];
  /** the sale price; left out unless a sale is on; ignored in requests */
  current_price?: CurrentPrice;
  /** the lowest price in the 30 days before the current price began; ignored in requests */
  lowest_price?: LowestPrice;
  /** the operator's review; left out if there is none; ignored in requests */
  review?: ProductReview;
  /** identifies the version to review; send this time with the decision */
  changed_at: string;
  /** fields changed since the last approval; empty if the product was never approved */
  changed:
    ("title" | "description" | "gtin" | "brand" | "categories" | "images")[];
  /** former values of the changed fields; fields that were empty are left out */
  former?: {
    title?: string;
    description?: string;
    gtin?: string;
    brand?: string;
    categories?: string[];
    images?: ProductImage[];
  };
}

export interface AuditEntry {
  id: string;
  at: string;
  /** the name of an operator key; `environment` for SELLER_OPERATOR_KEY; `command line`; or `seller` */
  who: string;
  /** the name of the command that makes this change */
  action: string;
  /** the seller's name at that time; empty if no seller is concerned */
  seller: string;
  detail: string;
}

export interface CheckedProduct {
  /** left out for a new product */
  id?: string;
  /** left out for a refused product without a SKU */
  sku?: string;
  result: "created" | "updated" | "unchanged" | "deleted" | "refused";
  /** only in a dry run with show=former: the stored product at the time of the check */
  former?: FormerProduct;
}

export interface DryRun {
  products: ProductCounts;
  /** the result of each product of the document; only with show=former */
  results?: CheckedProduct[];
  /** how many results are left out because the list is limited to 4 MiB */
  not_listed?: number;
  /** only for an undo: fields that were changed after the transaction */
  details?: Detail[];
  /** how many more details there are */
  more?: number;
  /** the products that get quantity 0 because of complete=quantity; left out if there are none */
  missing?: {
    total: number;
    /** the first 1,000 */
    sku: string[];
    /** how many more SKUs there are */
    more?: number;
  };
  /** violations of rules that are not enforced yet; the products are accepted */
  warnings?: Warnings;
}

export interface UploadedImage {
  /** the URL to use in products; the host may be left out */
  url: string;
  /** the MIME type */
  type: string;
  /** pixels */
  width: number;
  /** pixels */
  height: number;
  bytes: number;
}

export interface Webhook {
  trigger: Trigger;
  url: string;
  /** `json`; left out for XML */
  format?: "xml" | "json";
  /** only if the webhook is disabled */
  disabled_at?: string;
  /** the first failed attempt since the last success */
  failing_since?: string;
  /** why the last attempt failed */
  last_error?: string;
}

export type Delivery = {
  id: string;
  event_id: string;
  state: DeliveryState;
} | "none";

export interface TriggerMeaning {
  name: Trigger;
  /** when the marketplace sends the trigger */
  about: string;
  /** an example of the event's data */
  example: unknown;
}

export interface Mapping {
  name: string;
  updated_at: string;
  /** the columns, each with its name in the table */
  columns: MappedColumn[];
  /** the values that all rows have */
  values: MappedValue[];
}

export interface Categories {
  /** true: products may have only these categories */
  closed?: boolean;
  category?: Category[];
}

export interface SellerKey {
  key_id: string;
  label: string;
  /** the first characters of the key; empty if the service did not record them */
  prefix: string;
  created_at: string;
  /** to the minute */
  last_used_at: string | null;
  /** empty: not revoked */
  revoked_at: string | null;
  scopes: ("read" | "products" | "webhooks" | "keys")[];
  /** in CIDR notation; if empty, the key may be used from any address */
  networks: string[];
  /** empty: the key does not expire */
  expires_at: string | null;
  /** true: the key of this request; only for sellers */
  current?: boolean;
}

export interface NewKey {
  key_id: string;
  label: string;
  /** shown once */
  api_key: string;
  scopes: ("read" | "products" | "webhooks" | "keys")[];
  /** in CIDR notation; if empty, the key may be used from any address */
  networks: string[];
  /** empty: the key does not expire */
  expires_at: string | null;
}

export interface Account {
  id: string;
  name: string;
  status: "active" | "suspended";
  created_at: string;
  /** requests a minute; empty: the default */
  rate_limit: number | null;
  /** empty: the default */
  product_limit: number | null;
  /** bytes; empty: the default */
  image_quota: number | null;
  /** percent by which a price may change in one step; empty: no limit */
  price_jump: number | null;
  /** where notices are sent; empty: nowhere */
  email: string;
  /** when the seller unsubscribed from notices */
  unsubscribed_at: string | null;
  /** which products an operator reviews */
  review: "none" | "new" | "changes";
  /** stored products */
  products: number;
  /** bytes of stored images, which count against the quota */
  image_bytes: number;
  /** bytes of import documents, which count against the quota as well */
  import_bytes: number;
  /** valid keys */
  keys: number;
  webhooks: number;
  failing_webhooks: number;
  last_upload_at: string | null;
  /** when a key was last used, to the minute */
  last_used_at: string | null;
  /** the key of this request */
  key_id?: string;
  /** networks from which the service sends its requests to your hosts; if empty, ask the operator */
  source_addresses: string[];
}

export interface NewSeller {
  id: string;
  name: string;
  key_id: string;
  /** shown once */
  api_key: string;
  /** shown once */
  webhook_secret: string;
}

export interface Backlog {
  /** to be downloaded; counts stop at 100,000 */
  images: number;
  /** to be sent, including those in progress */
  deliveries: number;
  /** being checked or stored, or waiting for it */
  imports: number;
  /** to be sent to sellers or the operator */
  notices: number;
  /** planned beginnings and ends of sales */
  sales: number;
  /** deliveries of disabled webhooks */
  held_deliveries?: number;
  /** deliveries whose retry schedule has ended */
  exhausted_deliveries?: number;
  /** products that wait for a review */
  pending_reviews?: number;
  oldest_due_seconds?: number;
}

export interface Queue {
  name: "images" | "deliveries" | "imports" | "notices" | "sales";
  /** jobs that are not finished, counted up to 100,000 */
  waiting: number;
  in_progress: number;
  /** seconds since the oldest job became due; left out for imports, because an import may wait for other imports of its seller */
  oldest_due_seconds?: number;
}

export interface FailingWebhook {
  seller: string;
  trigger: Trigger;
  url: string;
  /** failed attempts since the last success */
  failures: number;
  failing_since: string;
  disabled_at?: string;
}

export interface Hour {
  from: string;
  uploads: number;
  images_stored: number;
  images_failed: number;
  deliveries_delivered: number;
  deliveries_failed: number;
}

export interface Disk {
  holds: "data" | "images";
  free_percent: number;
  /** true: less than 10 % is free; stays true until 12 % is free */
  low?: boolean;
}

export interface DatabaseServer {
  /** host and port, or the name of the database file */
  name: string;
  state: "up" | "away";
  sellers: number;
  /** left out while the server cannot be reached */
  bytes?: number;
}

export interface ServiceError {
  code: ErrorCode;
  message: string;
  request_id: string;
  details?: Detail[];
  /** how many more details there are */
  more?: number;
}
