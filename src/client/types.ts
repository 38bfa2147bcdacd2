/**
 * What documents hold. Written from the
 * tables of the service by `deno task client`.
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
  | "bad_check_digit"
  | "bad_url"
  | "image_unavailable"
  | "image_blocked"
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
  | "image_incomplete"
  | "image_host_unreachable"
  | "image_tls_failed"
  | "image_bad_response"
  | "image_blocked"
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
  | "status";

export type SellerAttribute =
  | "name"
  | "status"
  | "rate_limit"
  | "product_limit"
  | "image_quota"
  | "email"
  | "review";

export interface ProductAttribute {
  value: string;
  name: string;
}

export interface ProductImage {
  url: string;
  alt?: string;
  /** only in what is read out; ignored in what is sent */
  status?: string;
  /** only in what is read out; ignored in what is sent */
  href?: string;
  /** only in what is read out; ignored in what is sent */
  type?: string;
  /** only in what is read out; ignored in what is sent */
  width?: string;
  /** only in what is read out; ignored in what is sent */
  height?: string;
  /** only in what is read out; ignored in what is sent */
  code?: string;
  /** only in what is read out; ignored in what is sent */
  message?: string;
}

export type SentProduct = {
  /** only in what is read out; ignored in what is sent */
  created_at?: string;
  /** only in what is read out; ignored in what is sent */
  updated_at?: string;
  /** addresses a stored product */
  id?: string;
  sku?: string;
  title?: string;
  description?: string | null;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
    /** the value that it must have now, or nothing is changed */
    expected?: string;
  };
  compare_at_price?: string | null;
  vat_rate?: string | null;
  quantity?: number | {
    value: number | null;
    /** the value that it must have now, or nothing is changed */
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
  categories?: string[] | null;
  attributes?: ProductAttribute[] | null;
  images?: ProductImage[] | null;
  /** of the days before the present price began; ignored in what is sent */
  lowest_price?: unknown;
  /** of a reviewed product; ignored in what is sent */
  review?: unknown;
} & ({ id: string } | { sku: string });

export interface ProductCounts {
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  /** by an undo; left out where there are none */
  deleted?: number;
  /** only with accept=valid; 0 is left out */
  refused?: number;
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

export interface CheckedProduct {
  /** of a product that is stored */
  id?: string;
  /** left out where a refused product has none */
  sku?: string;
  result: "created" | "updated" | "unchanged" | "deleted" | "refused";
  /** of a dry run with show=former: the stored product as it was when checked */
  former?: FormerProduct;
}

export interface Detail {
  /** position in the document, from 1 */
  product?: number;
  sku?: string;
  line?: number;
  column?: number;
  field?: string;
  /** of a JSON document: where it is (RFC 6901) */
  pointer?: string;
  code: DetailCode;
  message: string;
}

export interface Warning {
  /** position in the document, from 1 */
  product?: number;
  sku?: string;
  line?: number;
  field?: string;
  code: DetailCode;
  /** the date, 00:00 UTC, from which it is refused */
  from: string;
  message: string;
}

export interface Warnings {
  /** the first 1,000 */
  warning: Warning[];
  /** how many warnings there are besides */
  more?: number;
}

export interface DryRun {
  products: ProductCounts;
  /** of each product of the document; only with show=former */
  results?: CheckedProduct[];
  /** how many there are besides, beyond 4 MiB */
  not_listed?: number;
  /** what was changed since, where an undo is tried */
  details?: Detail[];
  /** how many details there are besides */
  more?: number;
  /** what complete=quantity would set to 0; left out where that is nothing */
  missing?: {
    total: number;
    /** the first 1,000 */
    sku: string[];
    /** how many there are besides */
    more?: number;
  };
  /** of rules that are not in force yet: the products are stored */
  warnings?: Warnings;
}

export interface ImageCounts {
  /** references; a URL used twice counts twice */
  total: number;
  pending: number;
  stored: number;
  /** on disk already */
  reused: number;
  failed: number;
}

export interface MadeBy {
  key_id: string;
  /** empty: it has none, or was deleted */
  label: string;
}

export interface UnsettledImage {
  url: string;
  status: "pending" | "failed";
  /** finished ones */
  attempts: number;
  code?: ImageCode;
  message?: string;
}

export interface Result {
  /** not of a refused product */
  id?: string;
  /** left out where a refused product has none */
  sku?: string;
  result: "created" | "updated" | "unchanged" | "deleted" | "refused";
  /** only images that are pending or have failed */
  image: UnsettledImage[];
  /** of a refused product, the first 50 */
  details?: Detail[];
  /** how many details there are besides */
  more?: number;
}

export interface Transaction {
  transaction_id: string;
  /** final once every image has settled */
  status: "processing" | "completed" | "completed_with_errors";
  created_at: string;
  finished_at: string | null;
  /** percent of the images settled */
  progress: number;
  products: ProductCounts;
  images: ImageCounts;
  /** the transaction that this one undid */
  undoes?: string;
  /** the transaction that undid this one */
  undone_by?: string;
  /** the import of which this is a part */
  import_id?: string;
  /** as it was given; of an undo that of what it took back */
  name?: string;
  /** the key that asked for it */
  key?: MadeBy;
  /** of rules that are not in force yet: the products are stored; not in lists */
  warnings?: Warnings;
  /** not in lists */
  results?: Result[];
  /** there are more: what ?after= takes to go on */
  next?: string;
}

export type ProductAttributes = {
  /** only in what is read out; ignored in what is sent */
  created_at?: string;
  /** only in what is read out; ignored in what is sent */
  updated_at?: string;
  /** addresses a stored product */
  id?: string;
  sku?: string;
  title?: string;
  price?: {
    amount: string;
    /** the price's currency code of ISO 4217, as in SEK */
    currency: string;
    /** the value that it must have now, or nothing is changed */
    expected?: string;
  };
  compare_at_price?: string | null;
  vat_rate?: string | null;
  quantity?: number | {
    value: number | null;
    /** the value that it must have now, or nothing is changed */
    expected?: number | "";
  } | {
    /** a difference, in place of a value: it is added to the present one */
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
} & ({ id: string } | { sku: string });

export interface Import {
  import_id: string;
  /** as it was given */
  name?: string;
  /** `images`: all is stored */
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
  /** percent of the check, the storing and the images */
  progress: number;
  /** `total` is that of the document */
  products: ProductCounts;
  /** of what is stored */
  images: ImageCounts;
  /** true: nothing is stored, the counts are planned */
  dry_run?: boolean;
  /** the import that this one takes back */
  undoes?: string;
  /** the import that takes this one back */
  undone_by?: string;
  /** the key that asked for it */
  key?: MadeBy;
  /** the first 1,000; not in lists */
  problems?: Detail[];
  /** how many details there are besides */
  more?: number;
  /** of rules that are not in force yet: the products are stored; not in lists */
  warnings?: Warnings;
}

export interface SimilarProduct {
  sku: string;
  title: string;
}

export interface ImportResult {
  /** not of a product that is not stored */
  id?: string;
  /** left out where a refused product has none, and of a part not yet read */
  sku?: string;
  /** `not_stored`: not yet, or never */
  result:
    | "created"
    | "updated"
    | "unchanged"
    | "deleted"
    | "refused"
    | "not_stored";
  /** only images that are pending or have failed */
  image: UnsettledImage[];
  /** of a dry run with show=former: the stored product as it was when checked */
  former?: FormerProduct;
  /** of a dry run with show=former: a stored product whose SKU differs only in capital letters, zeros before it or invisible characters, where this one would be new */
  similar?: SimilarProduct;
  /** of a refused product, the first 50 */
  details?: Detail[];
  /** how many details there are besides */
  more?: number;
}

export interface LowestPrice {
  amount: string;
  days: number;
  currency: string;
}

export interface ProductReview {
  state: "pending" | "approved" | "rejected";
  /** since when; a product that was corrected and waits still has the former reason */
  at: string;
  /** a word of the operator's */
  code?: string;
  /** a field of the product */
  field?: string;
  /** what is wrong, and what would be right */
  message?: string;
}

export interface Product {
  /** only in what is read out; ignored in what is sent */
  created_at?: string;
  /** only in what is read out; ignored in what is sent */
  updated_at?: string;
  /** only in what is read out; ignored in what is sent */
  seller?: string;
  /** only in what is read out; ignored in what is sent */
  seller_id?: string;
  /** only in what is read out; ignored in what is sent */
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
  categories?: string[];
  attributes?: ProductAttribute[];
  images?: ProductImage[];
  /** of the days before the present price began; ignored in what is sent */
  lowest_price?: LowestPrice;
  /** of a reviewed product; ignored in what is sent */
  review?: ProductReview;
}

export interface PriceChange {
  at: string;
  /** the former price */
  from: string;
  /** only where the currency changed */
  from_currency?: string;
  /** the price since then */
  to: string;
  /** of the price since then */
  currency: string;
  /** attribute, or upload, import or undo and its id */
  by: string;
  /** the key that changed it */
  key_id?: string;
}

export interface Webhook {
  trigger: Trigger;
  url: string;
  /** only json */
  format?: "xml" | "json";
  /** only where it is disabled */
  disabled_at?: string;
  /** the first failed try since the last success */
  failing_since?: string;
  /** why the last try failed */
  last_error?: string;
}

export type Delivery = {
  id: string;
  event_id: string;
  state: DeliveryState;
} | "none";

export interface Attempt {
  number: number;
  url: string;
  started_at: string;
  duration_ms: number | null;
  /** of the answer */
  status: number | null;
  /** why there was no answer */
  error: string;
}

export interface LoggedDelivery {
  id: string;
  event_id: string;
  state: DeliveryState;
  created_at: string;
  next_attempt_at: string | null;
  /** the last ten */
  attempts: Attempt[];
  /** only for operators */
  trigger?: Trigger;
  /** only for operators; a test event has none */
  reference?: string;
  /** only for operators, in a state in which it stays */
  settled_at?: string;
}

export interface DeliveredEvent {
  /** true: the seller tries it */
  test?: boolean;
  id: string;
  trigger: Trigger;
  created_at: string;
  /** any elements, as the operator sent them */
  data: unknown;
}

export interface TriggerMeaning {
  name: Trigger;
  /** when the marketplace sends it */
  about: string;
  /** what stands in the data of such an event */
  example: unknown;
}

export interface MappedColumn {
  name: string;
  /** as in an upload; empty: left out */
  field: string;
  /** of numbers that say none */
  unit?: string;
}

export interface MappedValue {
  value: string;
  /** as in an upload */
  field: string;
}

export interface Mapping {
  name: string;
  updated_at: string;
  /** each by its name in the table */
  columns: MappedColumn[];
  /** what all rows have */
  values: MappedValue[];
}

export interface CategoryRule {
  /** the field that the rule is about; or else attribute */
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
    | "images";
  /** the name of the attribute that the rule is about */
  attribute?: string;
  /** true: a product must have it */
  required?: boolean;
  /** the rule warns before this day and refuses from 00:00 UTC on */
  from?: string;
  /** the values that are allowed; none: any */
  value?: string[];
}

export interface Category {
  /** as products name it */
  name: string;
  rule?: CategoryRule[];
}

export interface Categories {
  /** true: products may name these categories alone */
  closed?: boolean;
  category?: Category[];
}

export interface SellerKey {
  key_id: string;
  label: string;
  /** how the key begins; empty for an old one */
  prefix: string;
  created_at: string;
  /** to the minute */
  last_used_at: string | null;
  /** empty: it was not revoked */
  revoked_at: string | null;
  scopes: ("read" | "products" | "webhooks" | "keys")[];
  /** CIDRs; none: it may come from everywhere */
  networks: string[];
  /** empty: it does not end by itself */
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
  /** CIDRs; none: it may come from everywhere */
  networks: string[];
  /** empty: it does not end by itself */
  expires_at: string | null;
}

export interface Refusal {
  at: string;
  /** of several equal ones that of the first */
  request_id: string;
  /** how many equal requests were refused within a minute */
  times: number;
  /** its name */
  seller: string;
  key_id: string;
  /** where the request came from */
  client_address: string;
  /** method and path; empty where there is no such path */
  route: string;
  /** true: nothing would have been stored */
  dry_run?: boolean;
  /** of what was sent, as it was given */
  name?: string;
  status: number;
  code: ErrorCode;
  message: string;
  /** bytes of the body; empty where none was read */
  size: number | null;
  /** the first 50 */
  details?: Detail[];
  /** how many details there are besides */
  more?: number;
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
  /** where notices go; empty: nowhere */
  email: string;
  /** since when the seller wants none there */
  unsubscribed_at: string | null;
  /** which products an operator reviews */
  review: "none" | "new" | "changes";
  /** stored */
  products: number;
  /** of stored images that count against the quota */
  image_bytes: number;
  /** of documents of imports, which count as well */
  import_bytes: number;
  /** in force */
  keys: number;
  webhooks: number;
  failing_webhooks: number;
  last_upload_at: string | null;
  /** when a key was used, to the minute */
  last_used_at: string | null;
  /** of the key that asks */
  key_id?: string;
  /** CIDRs from which our HEADs, downloads and deliveries come; none: ask the operator */
  source_addresses: string[];
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
  /** where notices go; empty: nowhere */
  email: string;
  /** since when the seller wants none there */
  unsubscribed_at: string | null;
  /** which products an operator reviews */
  review: "none" | "new" | "changes";
  /** stored */
  products: number;
  /** of stored images that count against the quota */
  image_bytes: number;
  /** of documents of imports, which count as well */
  import_bytes: number;
  /** in force */
  keys: number;
  webhooks: number;
  failing_webhooks: number;
  last_upload_at: string | null;
  /** when a key was used, to the minute */
  last_used_at: string | null;
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

export interface ReviewedProduct {
  /** only in what is read out; ignored in what is sent */
  created_at?: string;
  /** only in what is read out; ignored in what is sent */
  updated_at?: string;
  /** only in what is read out; ignored in what is sent */
  seller?: string;
  /** only in what is read out; ignored in what is sent */
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
  categories?: string[];
  attributes?: ProductAttribute[];
  images?: ProductImage[];
  /** of the days before the present price began; ignored in what is sent */
  lowest_price?: LowestPrice;
  /** of a reviewed product; ignored in what is sent */
  review?: ProductReview;
  /** the version to review */
  changed_at: string;
  /** since the last approval; none of a product that was never approved */
  changed:
    ("title" | "description" | "gtin" | "brand" | "categories" | "images")[];
  /** the former values of what changed; one that was empty is left out */
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
  /** an operator key's name, environment or command line */
  who: string;
  /** in the words of the command */
  action: string;
  /** its name then; empty where it is about none */
  seller: string;
  detail: string;
}

export interface Backlog {
  /** to be fetched; counts stop at 100,000 */
  images: number;
  /** to be sent, those in progress included */
  deliveries: number;
  /** being checked or stored, or waiting for that */
  imports: number;
  /** to be sent to sellers or the operator */
  notices: number;
  /** their webhooks are disabled */
  held_deliveries?: number;
  /** their schedule has run out */
  exhausted_deliveries?: number;
  /** products that wait for a review */
  pending_reviews?: number;
  oldest_due_seconds?: number;
}

export interface Queue {
  name: "images" | "deliveries" | "imports" | "notices";
  /** jobs that are not done; counts stop at 100,000 */
  waiting: number;
  in_progress: number;
  /** how long a job is due; not where jobs wait for others */
  oldest_due_seconds?: number;
}

export interface FailingWebhook {
  seller: string;
  trigger: Trigger;
  url: string;
  /** tries since the last success */
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
  /** true: less than 10 % is free, until 12 % are again */
  low?: boolean;
}

export interface DatabaseServer {
  /** host and port, or the file */
  name: string;
  state: "up" | "away";
  sellers: number;
  /** not while it is away */
  bytes?: number;
}

export interface ServiceError {
  code: ErrorCode;
  message: string;
  request_id: string;
  details?: Detail[];
  /** how many details there are besides */
  more?: number;
}
