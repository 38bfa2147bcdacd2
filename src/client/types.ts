/**
 * What documents hold, and the shapes by which they are read. Written from the
 * tables of the service by `deno task client`.
 */
import {
  BOOLEAN,
  MARKUP,
  NUMBER,
  NUMBER_OR_NULL,
  type Shape,
  TEXT,
  TEXT_OR_NULL,
} from "./shape.ts";
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
  | "changed_since"
  | "too_many_products"
  | "body_too_large"
  | "unsupported_media_type"
  | "record_invalid"
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
  | "product_rejected";

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

export const PRODUCT_ATTRIBUTE: Shape = {
  text: "string",
  name: "value",
  attributes: { name: TEXT },
};

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

export const PRODUCT_IMAGE: Shape = {
  text: "string",
  name: "url",
  attributes: {
    alt: TEXT,
    status: TEXT,
    href: TEXT,
    type: TEXT,
    width: TEXT,
    height: TEXT,
    code: TEXT,
    message: TEXT,
  },
};

export interface LowestPrice {
  amount: string;
  days: number;
  currency: string;
}

export const LOWEST_PRICE: Shape = {
  text: "string",
  name: "amount",
  attributes: { days: NUMBER, currency: TEXT },
};

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

export const PRODUCT_REVIEW: Shape = {
  elements: { state: TEXT, at: TEXT, code: TEXT, field: TEXT, message: TEXT },
};

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
} & ({ id: string } | { sku: string });

export const SENT_PRODUCT: Shape = {
  elements: {
    id: TEXT,
    sku: TEXT,
    title: TEXT,
    description: TEXT_OR_NULL,
    price: {
      text: "string",
      name: "amount",
      attributes: { currency: TEXT, expected: TEXT },
    },
    compare_at_price: TEXT_OR_NULL,
    vat_rate: TEXT_OR_NULL,
    quantity: {
      text: "number",
      orNull: true,
      name: "value",
      attributes: { expected: NUMBER },
      plain: true,
    },
    availability: TEXT,
    available_at: TEXT_OR_NULL,
    gtin: TEXT_OR_NULL,
    brand: TEXT_OR_NULL,
    mpn: TEXT_OR_NULL,
    weight: {
      text: "number",
      orNull: true,
      name: "value",
      attributes: { unit: TEXT },
    },
    condition: TEXT_OR_NULL,
    status: TEXT_OR_NULL,
    parent_sku: TEXT_OR_NULL,
    categories: { list: "category", of: TEXT },
    attributes: { list: "attribute", of: PRODUCT_ATTRIBUTE },
    images: { list: "image", of: PRODUCT_IMAGE },
    lowest_price: LOWEST_PRICE,
    review: PRODUCT_REVIEW,
  },
  attributes: { created_at: TEXT, updated_at: TEXT },
};

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

export const PRODUCT_COUNTS: Shape = {
  elements: {
    total: NUMBER,
    created: NUMBER,
    updated: NUMBER,
    unchanged: NUMBER,
    deleted: NUMBER,
    refused: NUMBER,
  },
};

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

export const DETAIL: Shape = {
  elements: {
    product: NUMBER,
    sku: TEXT,
    line: NUMBER,
    column: NUMBER,
    field: TEXT,
    pointer: TEXT,
    code: TEXT,
    message: TEXT,
  },
};

export interface Details {
  detail: Detail[];
  /** how many details there are besides */
  more?: number;
}

export const DETAILS: Shape = {
  elements: { detail: { repeated: DETAIL }, more: NUMBER },
};

export interface DryRun {
  products: ProductCounts;
  /** what was changed since, where an undo is tried */
  details?: Details;
  /** what complete=quantity would set to 0; left out where that is nothing */
  missing?: {
    total: number;
    /** the first 1,000 */
    sku: string[];
    /** how many there are besides */
    more?: number;
  };
}

export const DRY_RUN: Shape = {
  elements: {
    products: PRODUCT_COUNTS,
    details: DETAILS,
    missing: {
      elements: { total: NUMBER, sku: { repeated: TEXT }, more: NUMBER },
    },
  },
};

export interface ImageCounts {
  /** references; a URL used twice counts twice */
  total: number;
  pending: number;
  stored: number;
  /** on disk already */
  reused: number;
  failed: number;
}

export const IMAGE_COUNTS: Shape = {
  elements: {
    total: NUMBER,
    pending: NUMBER,
    stored: NUMBER,
    reused: NUMBER,
    failed: NUMBER,
  },
};

export interface UnsettledImage {
  url: string;
  status: "pending" | "failed";
  /** finished ones */
  attempts: number;
  code?: ImageCode;
  message?: string;
}

export const UNSETTLED_IMAGE: Shape = {
  elements: {
    url: TEXT,
    status: TEXT,
    attempts: NUMBER,
    code: TEXT,
    message: TEXT,
  },
};

export interface Result {
  /** not of a refused product */
  id?: string;
  /** left out where a refused product has none */
  sku?: string;
  result: "created" | "updated" | "unchanged" | "deleted" | "refused";
  /** only images that are pending or have failed */
  image: UnsettledImage[];
  /** of a refused product, the first 50 */
  details?: Details;
}

export const RESULT: Shape = {
  elements: {
    id: TEXT,
    sku: TEXT,
    result: TEXT,
    image: { repeated: UNSETTLED_IMAGE },
    details: DETAILS,
  },
};

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
  /** not in lists */
  results?: {
    product: Result[];
    /** there are more: what ?after= takes to go on */
    next?: string;
  };
}

export const TRANSACTION: Shape = {
  elements: {
    transaction_id: TEXT,
    status: TEXT,
    created_at: TEXT,
    finished_at: TEXT_OR_NULL,
    progress: NUMBER,
    products: PRODUCT_COUNTS,
    images: IMAGE_COUNTS,
    undoes: TEXT,
    undone_by: TEXT,
    import_id: TEXT,
    results: { elements: { product: { repeated: RESULT }, next: TEXT } },
  },
};

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
  condition?: "new" | "refurbished" | "used" | null;
  status?: "active" | "paused" | null;
} & ({ id: string } | { sku: string });

export const PRODUCT_ATTRIBUTES: Shape = {
  elements: {
    id: TEXT,
    sku: TEXT,
    title: TEXT,
    price: {
      text: "string",
      name: "amount",
      attributes: { currency: TEXT, expected: TEXT },
    },
    compare_at_price: TEXT_OR_NULL,
    vat_rate: TEXT_OR_NULL,
    quantity: {
      text: "number",
      orNull: true,
      name: "value",
      attributes: { expected: NUMBER },
      plain: true,
    },
    availability: TEXT,
    available_at: TEXT_OR_NULL,
    gtin: TEXT_OR_NULL,
    brand: TEXT_OR_NULL,
    mpn: TEXT_OR_NULL,
    weight: {
      text: "number",
      orNull: true,
      name: "value",
      attributes: { unit: TEXT },
    },
    condition: TEXT_OR_NULL,
    status: TEXT_OR_NULL,
  },
  attributes: { created_at: TEXT, updated_at: TEXT },
};

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
  /** the first 1,000; not in lists */
  problems?: Details;
}

export const IMPORT: Shape = {
  elements: {
    import_id: TEXT,
    name: TEXT,
    status: TEXT,
    created_at: TEXT,
    finished_at: TEXT_OR_NULL,
    progress: NUMBER,
    products: PRODUCT_COUNTS,
    images: IMAGE_COUNTS,
    dry_run: BOOLEAN,
    undoes: TEXT,
    undone_by: TEXT,
    problems: DETAILS,
  },
};

export interface ImportResult {
  /** not of a product that is not stored */
  id?: string;
  /** left out where a refused product has none */
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
  /** of a refused product, the first 50 */
  details?: Details;
}

export const IMPORT_RESULT: Shape = {
  elements: {
    id: TEXT,
    sku: TEXT,
    result: TEXT,
    image: { repeated: UNSETTLED_IMAGE },
    details: DETAILS,
  },
};

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

export const PRODUCT: Shape = {
  elements: {
    id: TEXT,
    sku: TEXT,
    title: TEXT,
    description: TEXT_OR_NULL,
    price: { text: "string", name: "amount", attributes: { currency: TEXT } },
    compare_at_price: TEXT_OR_NULL,
    vat_rate: TEXT_OR_NULL,
    quantity: NUMBER_OR_NULL,
    availability: TEXT,
    available_at: TEXT_OR_NULL,
    gtin: TEXT_OR_NULL,
    brand: TEXT_OR_NULL,
    mpn: TEXT_OR_NULL,
    weight: {
      text: "number",
      orNull: true,
      name: "value",
      attributes: { unit: TEXT },
    },
    condition: TEXT_OR_NULL,
    status: TEXT_OR_NULL,
    parent_sku: TEXT_OR_NULL,
    categories: { list: "category", of: TEXT },
    attributes: { list: "attribute", of: PRODUCT_ATTRIBUTE },
    images: { list: "image", of: PRODUCT_IMAGE },
    lowest_price: LOWEST_PRICE,
    review: PRODUCT_REVIEW,
  },
  attributes: {
    created_at: TEXT,
    updated_at: TEXT,
    seller: TEXT,
    seller_id: TEXT,
    deleted_at: TEXT,
  },
};

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
}

export const PRICE_CHANGE: Shape = {
  elements: {
    at: TEXT,
    from: TEXT,
    from_currency: TEXT,
    to: TEXT,
    currency: TEXT,
    by: TEXT,
  },
};

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

export const WEBHOOK: Shape = {
  elements: {
    trigger: TEXT,
    url: TEXT,
    format: TEXT,
    disabled_at: TEXT,
    failing_since: TEXT,
    last_error: TEXT,
  },
};

export type Delivery = {
  id: string;
  event_id: string;
  state: DeliveryState;
} | "none";

export const DELIVERY: Shape = {
  elements: { id: TEXT, event_id: TEXT, state: TEXT },
  orText: true,
};

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

export const ATTEMPT: Shape = {
  elements: {
    number: NUMBER,
    url: TEXT,
    started_at: TEXT,
    duration_ms: NUMBER_OR_NULL,
    status: NUMBER_OR_NULL,
    error: TEXT,
  },
};

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

export const LOGGED_DELIVERY: Shape = {
  elements: {
    id: TEXT,
    event_id: TEXT,
    state: TEXT,
    created_at: TEXT,
    next_attempt_at: TEXT_OR_NULL,
    attempts: { list: "attempt", of: ATTEMPT },
    trigger: TEXT,
    reference: TEXT,
    settled_at: TEXT,
  },
};

export interface DeliveredEvent {
  /** true: the seller tries it */
  test?: boolean;
  id: string;
  trigger: Trigger;
  created_at: string;
  /** any elements, as the operator sent them */
  data: string;
}

export const DELIVERED_EVENT: Shape = {
  elements: { id: TEXT, trigger: TEXT, created_at: TEXT, data: MARKUP },
  attributes: { test: BOOLEAN },
};

export interface MappedColumn {
  name: string;
  /** as in an upload; empty: left out */
  field: string;
  /** of numbers that say none */
  unit?: string;
}

export const MAPPED_COLUMN: Shape = {
  text: "string",
  name: "name",
  attributes: { field: TEXT, unit: TEXT },
};

export interface MappedValue {
  value: string;
  /** as in an upload */
  field: string;
}

export const MAPPED_VALUE: Shape = {
  text: "string",
  name: "value",
  attributes: { field: TEXT },
};

export interface Mapping {
  name: string;
  updated_at: string;
  /** each by its name in the table */
  columns: MappedColumn[];
  /** what all rows have */
  values: MappedValue[];
}

export const MAPPING: Shape = {
  elements: {
    name: TEXT,
    updated_at: TEXT,
    columns: { list: "column", of: MAPPED_COLUMN },
    values: { list: "value", of: MAPPED_VALUE },
  },
};

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

export const SELLER_KEY: Shape = {
  elements: {
    key_id: TEXT,
    label: TEXT,
    prefix: TEXT,
    created_at: TEXT,
    last_used_at: TEXT_OR_NULL,
    revoked_at: TEXT_OR_NULL,
    scopes: { list: "scope", of: TEXT },
    networks: { list: "network", of: TEXT },
    expires_at: TEXT_OR_NULL,
    current: BOOLEAN,
  },
};

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

export const NEW_KEY: Shape = {
  elements: {
    key_id: TEXT,
    label: TEXT,
    api_key: TEXT,
    scopes: { list: "scope", of: TEXT },
    networks: { list: "network", of: TEXT },
    expires_at: TEXT_OR_NULL,
  },
};

export interface Refusal {
  at: string;
  request_id: string;
  /** its name */
  seller: string;
  /** method and path; empty where there is no such path */
  route: string;
  status: number;
  code: ErrorCode;
  message: string;
  /** bytes of the body; empty where none was read */
  size: number | null;
  /** the first 50 */
  details?: Details;
}

export const REFUSAL: Shape = {
  elements: {
    at: TEXT,
    request_id: TEXT,
    seller: TEXT,
    route: TEXT,
    status: NUMBER,
    code: TEXT,
    message: TEXT,
    size: NUMBER_OR_NULL,
    details: DETAILS,
  },
};

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
  /** in force */
  keys: number;
  webhooks: number;
  failing_webhooks: number;
  last_upload_at: string | null;
  /** when a key was used, to the minute */
  last_used_at: string | null;
  /** CIDRs from which our HEADs, downloads and deliveries come; none: ask the operator */
  source_addresses: string[];
}

export const ACCOUNT: Shape = {
  elements: {
    id: TEXT,
    name: TEXT,
    status: TEXT,
    created_at: TEXT,
    rate_limit: NUMBER_OR_NULL,
    product_limit: NUMBER_OR_NULL,
    image_quota: NUMBER_OR_NULL,
    email: TEXT,
    unsubscribed_at: TEXT_OR_NULL,
    review: TEXT,
    products: NUMBER,
    image_bytes: NUMBER,
    keys: NUMBER,
    webhooks: NUMBER,
    failing_webhooks: NUMBER,
    last_upload_at: TEXT_OR_NULL,
    last_used_at: TEXT_OR_NULL,
    source_addresses: { list: "source_address", of: TEXT },
  },
};

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
  /** in force */
  keys: number;
  webhooks: number;
  failing_webhooks: number;
  last_upload_at: string | null;
  /** when a key was used, to the minute */
  last_used_at: string | null;
}

export const SELLER: Shape = {
  elements: {
    id: TEXT,
    name: TEXT,
    status: TEXT,
    created_at: TEXT,
    rate_limit: NUMBER_OR_NULL,
    product_limit: NUMBER_OR_NULL,
    image_quota: NUMBER_OR_NULL,
    email: TEXT,
    unsubscribed_at: TEXT_OR_NULL,
    review: TEXT,
    products: NUMBER,
    image_bytes: NUMBER,
    keys: NUMBER,
    webhooks: NUMBER,
    failing_webhooks: NUMBER,
    last_upload_at: TEXT_OR_NULL,
    last_used_at: TEXT_OR_NULL,
  },
};

export interface NewSeller {
  id: string;
  name: string;
  key_id: string;
  /** shown once */
  api_key: string;
  /** shown once */
  webhook_secret: string;
}

export const NEW_SELLER: Shape = {
  elements: {
    id: TEXT,
    name: TEXT,
    key_id: TEXT,
    api_key: TEXT,
    webhook_secret: TEXT,
  },
};

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
  /** the version to judge */
  changed_at: string;
  /** since the last approval; none of a product that was never approved */
  changed:
    ("title" | "description" | "categories" | "brand" | "gtin" | "images")[];
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

export const REVIEWED_PRODUCT: Shape = {
  elements: {
    id: TEXT,
    sku: TEXT,
    title: TEXT,
    description: TEXT_OR_NULL,
    price: { text: "string", name: "amount", attributes: { currency: TEXT } },
    compare_at_price: TEXT_OR_NULL,
    vat_rate: TEXT_OR_NULL,
    quantity: NUMBER_OR_NULL,
    availability: TEXT,
    available_at: TEXT_OR_NULL,
    gtin: TEXT_OR_NULL,
    brand: TEXT_OR_NULL,
    mpn: TEXT_OR_NULL,
    weight: {
      text: "number",
      orNull: true,
      name: "value",
      attributes: { unit: TEXT },
    },
    condition: TEXT_OR_NULL,
    status: TEXT_OR_NULL,
    parent_sku: TEXT_OR_NULL,
    categories: { list: "category", of: TEXT },
    attributes: { list: "attribute", of: PRODUCT_ATTRIBUTE },
    images: { list: "image", of: PRODUCT_IMAGE },
    lowest_price: LOWEST_PRICE,
    review: PRODUCT_REVIEW,
    changed_at: TEXT,
    changed: { list: "field", of: TEXT },
    former: {
      elements: {
        title: TEXT,
        description: TEXT,
        gtin: TEXT,
        brand: TEXT,
        categories: { list: "category", of: TEXT },
        images: { list: "image", of: PRODUCT_IMAGE },
      },
    },
  },
  attributes: {
    created_at: TEXT,
    updated_at: TEXT,
    seller: TEXT,
    seller_id: TEXT,
  },
};

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

export const AUDIT_ENTRY: Shape = {
  elements: {
    id: TEXT,
    at: TEXT,
    who: TEXT,
    action: TEXT,
    seller: TEXT,
    detail: TEXT,
  },
};

export interface Backlog {
  /** to be fetched; counts stop at 100,000 */
  images: number;
  deliveries: number;
  /** being checked or stored, or waiting for that */
  imports: number;
  /** their webhooks are disabled */
  held_deliveries?: number;
  /** their schedule has run out */
  exhausted_deliveries?: number;
  oldest_due_seconds?: number;
}

export const BACKLOG: Shape = {
  elements: {
    images: NUMBER,
    deliveries: NUMBER,
    imports: NUMBER,
    held_deliveries: NUMBER,
    exhausted_deliveries: NUMBER,
    oldest_due_seconds: NUMBER,
  },
};

export interface FailingWebhook {
  seller: string;
  trigger: Trigger;
  url: string;
  /** tries since the last success */
  failures: number;
  failing_since: string;
  disabled_at?: string;
}

export const FAILING_WEBHOOK: Shape = {
  elements: {
    seller: TEXT,
    trigger: TEXT,
    url: TEXT,
    failures: NUMBER,
    failing_since: TEXT,
    disabled_at: TEXT,
  },
};

export interface Hour {
  from: string;
  uploads: number;
  images_stored: number;
  images_failed: number;
  deliveries_delivered: number;
  deliveries_failed: number;
}

export const HOUR: Shape = {
  elements: {
    uploads: NUMBER,
    images_stored: NUMBER,
    images_failed: NUMBER,
    deliveries_delivered: NUMBER,
    deliveries_failed: NUMBER,
  },
  attributes: { from: TEXT },
};

export interface DatabaseServer {
  /** host and port, or the file */
  name: string;
  state: "up" | "away";
  sellers: number;
  /** not while it is away */
  bytes?: number;
}

export const DATABASE_SERVER: Shape = {
  elements: { name: TEXT, state: TEXT, sellers: NUMBER, bytes: NUMBER },
};

export interface ServiceError {
  code: ErrorCode;
  message: string;
  request_id: string;
  details?: Details;
}

export const SERVICE_ERROR: Shape = {
  elements: { code: TEXT, message: TEXT, request_id: TEXT, details: DETAILS },
};

/** Documents that are sent, by root. */
export const DOCUMENTS: Readonly<Record<string, Shape>> = {
  products: { list: "product", of: SENT_PRODUCT },
  webhook: { elements: { trigger: TEXT, url: TEXT, format: TEXT } },
  seller: { elements: { name: TEXT } },
  key: {
    elements: {
      label: TEXT,
      scopes: { list: "scope", of: TEXT },
      networks: { list: "network", of: TEXT },
      expires_at: TEXT_OR_NULL,
    },
  },
  reviews: {
    list: "review",
    of: {
      elements: {
        product: TEXT,
        decision: TEXT,
        code: TEXT,
        field: TEXT,
        message: TEXT,
        changed_at: TEXT,
      },
    },
  },
  reasons: {
    list: "reason",
    of: { elements: { code: TEXT, field: TEXT, message: TEXT } },
  },
  mapping: {
    elements: {
      columns: { list: "column", of: MAPPED_COLUMN },
      values: { list: "value", of: MAPPED_VALUE },
    },
  },
  event: {
    elements: { seller: TEXT, trigger: TEXT, reference: TEXT, data: MARKUP },
  },
};
