/** Describes the content of `<service>` in every answer. */
import type { ElementList, XmlNode, XmlValue } from "../xml/encode.ts";
import { DISKS } from "../monitoring/disk_watch.ts";
import { QUEUE_NAMES, QUEUES } from "../jobs/queues.ts";
import { type CodeEntry, DETAIL_CODES, ERRORS } from "../lib/errors.ts";
import {
  NO_PRODUCT_COUNTS,
  type ProductResult,
  TRANSACTION_STATUSES,
} from "../catalogue/transaction.ts";
import { IMPORT_STATUSES } from "../imports/import.ts";
import { IMPORT_RESULTS } from "../imports/results.ts";
import { IMAGE_CODES } from "../images/image.ts";
import {
  DELIVERY_STATES,
  type DeliveryState,
  WEBHOOK_FORMATS,
} from "../webhooks/webhook.ts";
import { REVIEW_POLICIES } from "../sellers/review_policy.ts";
import { LISTED_REASONS } from "../reviews/reasons.ts";
import { CONTACT_ELEMENTS } from "../catalogue/contact.ts";
import { CATEGORIES, CATEGORY } from "../categories/document.ts";
import { MAPPING_ELEMENTS } from "../sellers/mappings.ts";
import { TRIGGERS } from "../webhooks/trigger.ts";
import {
  HOURLY_COUNTS,
  type HourlyCount,
} from "../monitoring/hourly_counts.ts";
import { ENGINES } from "../monitoring/database_info.ts";
import {
  LIMIT_NAMES,
  type LimitName,
  SELLER_LIMITS,
} from "../sellers/limits.ts";
import { SELLER_STATUSES } from "../sellers/seller.ts";
import {
  DOCUMENTS,
  FOLLOWED_PRODUCT,
  FORMER,
  NETWORK_LIST,
  READ_PRODUCT,
  REVIEWED_PRODUCT,
  SCOPE_LIST,
} from "./documents.ts";
import {
  ANY,
  BOOLEAN,
  type Child,
  COUNT,
  CURSOR_TEXT,
  type Elements,
  elements,
  many,
  maybe,
  named,
  one,
  type Shape,
  STRING,
  type TextForm,
  TIME,
  TIME_OR_EMPTY,
  UUID,
  word,
  type Written,
} from "../xml/shapes.ts";

/** Writes a Markdown list of codes with their meanings and remedies. */
function codeList(codes: Readonly<Record<string, CodeEntry>>): string {
  return Object.entries(codes)
    .map(([code, { meaning, remedy }]) => `- \`${code}\`: ${meaning} ${remedy}`)
    .join("\n");
}

const PRODUCT_COUNTS = named(
  "product_counts",
  one("total", COUNT),
  one("created", COUNT),
  one("updated", COUNT),
  one("unchanged", COUNT),
  maybe("deleted", COUNT, "deleted by an undo; left out if 0"),
  maybe("refused", COUNT, "only with accept=valid; left out if 0"),
);

const IMAGE_COUNTS = named(
  "image_counts",
  one("total", COUNT, "image references: a URL used twice counts twice"),
  one("pending", COUNT),
  one("stored", COUNT),
  one("reused", COUNT, "already stored"),
  one("failed", COUNT),
);

/** Optional: the oldest transactions and imports do not have the API key. */
const SENDING_KEY = maybe(
  "key",
  named(
    "made_by",
    one("key_id", UUID),
    one("label", STRING, "empty: the key has no label, or was deleted"),
  ),
  "the key that sent the request",
);

const TRANSACTION_PROGRESS = [
  one("transaction_id", UUID),
  one(
    "status",
    word(TRANSACTION_STATUSES),
    "final once no image is pending",
  ),
  one("created_at", TIME),
  one("finished_at", TIME_OR_EMPTY),
  one(
    "progress",
    COUNT,
    "how many percent of all images are stored, reused or failed",
  ),
  one("products", PRODUCT_COUNTS),
  one("images", IMAGE_COUNTS),
  maybe("undoes", UUID, "the transaction that this one undid"),
  maybe("undone_by", UUID, "the transaction that undid this one"),
  maybe("import_id", UUID, "the import to which this transaction belongs"),
  maybe(
    "name",
    STRING,
    "the name of the upload; for an undo, the name of the undone upload",
  ),
  SENDING_KEY,
];

/** Where in the document a detail or warning belongs. */
const DOCUMENT_POSITION = [
  maybe("product", COUNT, "position in the document, from 1"),
  maybe("sku", STRING),
  maybe("line", COUNT),
] as const;
const FIELD = maybe("field", STRING);
const CODE = one(
  "code",
  word(Object.keys(DETAIL_CODES)),
  codeList(DETAIL_CODES),
);
const MESSAGE = one("message", STRING);

const DETAIL = named(
  "detail",
  ...DOCUMENT_POSITION,
  maybe("column", COUNT),
  FIELD,
  maybe(
    "pointer",
    STRING,
    "JSON pointer of the field (RFC 6901), for a document in JSON",
  ),
  CODE,
  MESSAGE,
);

const DETAILS = named(
  "details",
  many("detail", DETAIL),
  maybe("more", COUNT, "how many more details there are"),
);

const WARNING = named(
  "warning",
  ...DOCUMENT_POSITION,
  FIELD,
  CODE,
  one(
    "from",
    STRING,
    "the date from which the rule is enforced, beginning at 00:00 UTC",
  ),
  MESSAGE,
);

const WARNINGS = {
  ...named(
    "warnings",
    many("warning", WARNING, { about: "the first 1,000" }),
    maybe("more", COUNT, "how many more warnings there are"),
  ),
  isObject: true as const,
};
const ABOUT_WARNINGS =
  "violations of rules that are not enforced yet; the products are accepted";

/** An image that is not stored: it is pending, or its download has failed. */
const UNSETTLED_IMAGE = named(
  "unsettled_image",
  one("url", STRING),
  one("status", word(["pending", "failed"])),
  one("attempts", COUNT, "finished attempts"),
  maybe("code", word(Object.keys(IMAGE_CODES)), codeList(IMAGE_CODES)),
  maybe("message", STRING),
);

const RESULT = named(
  "result",
  maybe("id", UUID, "left out for a refused product"),
  maybe("sku", STRING, "left out for a refused product without a SKU"),
  one("result", word(Object.keys(NO_PRODUCT_COUNTS) as ProductResult[])),
  many(
    "image",
    UNSETTLED_IMAGE,
    { about: "only images that are pending or have failed" },
  ),
  maybe("details", DETAILS, "for a refused product, the first 50"),
);

const TRANSACTION = named(
  "transaction",
  ...TRANSACTION_PROGRESS,
  maybe("warnings", WARNINGS, `${ABOUT_WARNINGS}; left out of lists`),
  maybe(
    "results",
    elements(
      many("product", RESULT),
      maybe(
        "next",
        CURSOR_TEXT,
        "the value of ?after= for the next page; left out on the last page",
      ),
    ),
    "left out of lists",
  ),
);

const IMPORT = named(
  "import",
  one("import_id", UUID),
  maybe("name", STRING, "the name of the import"),
  one(
    "status",
    word(IMPORT_STATUSES),
    "`images`: all products are stored, and images are being downloaded",
  ),
  one("created_at", TIME),
  one("finished_at", TIME_OR_EMPTY),
  one(
    "progress",
    COUNT,
    "how much of checking, storing and downloading images is done, in percent",
  ),
  one(
    "products",
    PRODUCT_COUNTS,
    "`total` counts all products of the document",
  ),
  one("images", IMAGE_COUNTS, "images of stored products"),
  maybe(
    "dry_run",
    BOOLEAN,
    "true: nothing is stored; the counts show what storing would do",
  ),
  maybe("undoes", UUID, "the import that this one undoes"),
  maybe("undone_by", UUID, "the import that undid this one"),
  SENDING_KEY,
  maybe("problems", DETAILS, "the first 1,000; left out of lists"),
  maybe("warnings", WARNINGS, `${ABOUT_WARNINGS}; left out of lists`),
);

const ABOUT_FORMER =
  "only in a dry run with show=former: the stored product at the time of the " +
  "check";

const SIMILAR = named(
  "similar_product",
  one("sku", STRING),
  one("title", STRING),
);

const IMPORT_RESULT = named(
  "import_result",
  maybe("id", UUID, "left out if the product is not stored"),
  maybe(
    "sku",
    STRING,
    "left out for a refused product without a SKU, and for a product that the " +
      "service has not read yet",
  ),
  one(
    "result",
    word(IMPORT_RESULTS),
    "`not_stored`: not stored yet; final if the import has ended",
  ),
  many(
    "image",
    UNSETTLED_IMAGE,
    { about: "only images that are pending or have failed" },
  ),
  maybe("former", FORMER, ABOUT_FORMER),
  maybe(
    "similar",
    SIMILAR,
    "only in a dry run with show=former, for a new product: a stored product " +
      "whose SKU differs only in capital letters, leading zeros or invisible " +
      "characters",
  ),
  maybe("details", DETAILS, "for a refused product, the first 50"),
);

const CHECKED_PRODUCT = named(
  "checked_product",
  maybe("id", UUID, "left out for a new product"),
  maybe("sku", STRING, "left out for a refused product without a SKU"),
  one("result", word(Object.keys(NO_PRODUCT_COUNTS) as ProductResult[])),
  maybe("former", FORMER, ABOUT_FORMER),
);

const DRY_RUN = named(
  "dry_run",
  one("products", PRODUCT_COUNTS),
  maybe(
    "results",
    elements(
      many("product", CHECKED_PRODUCT),
      maybe(
        "not_listed",
        COUNT,
        "how many results are left out because the list is limited to 4 MiB",
      ),
    ),
    "the result of each product of the document; only with show=former",
  ),
  maybe(
    "details",
    DETAILS,
    "only for an undo: fields that were changed after the transaction",
  ),
  maybe(
    "missing",
    elements(
      one("total", COUNT),
      many("sku", STRING, { about: "the first 1,000" }),
      maybe("more", COUNT, "how many more SKUs there are"),
    ),
    "the products that get quantity 0 because of complete=quantity; left " +
      "out if there are none",
  ),
  maybe("warnings", WARNINGS, ABOUT_WARNINGS),
);

/** One trigger in the list of triggers. */
export const TRIGGER_ENTRY: Shape<XmlNode> = named(
  "trigger_meaning",
  one("name", word(TRIGGERS)),
  one("about", STRING, "when the marketplace sends the trigger"),
  one("example", ANY, "an example of the event's data"),
) as Shape<XmlNode>;

const LISTED_CATEGORIES: Shape<
  {
    "@closed": boolean;
    category?: ElementList<CategoryNode & XmlValue>;
  }
> = {
  type: "categories",
  attributes: CATEGORIES.shape.attributes,
  content: CATEGORIES.shape.content,
};

const PRICE_CHANGE = named(
  "price_change",
  one("at", TIME),
  one("from", STRING, "the former price"),
  maybe("from_currency", STRING, "only if the currency changed"),
  one("to", STRING, "the price since then"),
  one("currency", STRING, "the currency of `to`"),
  one(
    "by",
    STRING,
    "what changed the price: `attribute` or `sale`; or `upload`, `import` or " +
      "`undo` with an id",
  ),
  maybe("key_id", UUID, "the key that changed the price"),
);

const REFUSAL = named(
  "refusal",
  one("at", TIME),
  one(
    "request_id",
    UUID,
    "the id of the request, or of the first of several equal requests",
  ),
  one("times", COUNT, "how many equal requests were refused within a minute"),
  one("seller", STRING, "the seller's name"),
  one("key_id", UUID),
  one("client_address", STRING, "the IP address of the client"),
  one("route", STRING, "method and path; empty if there is no such route"),
  maybe("dry_run", BOOLEAN, "true: the request was a dry run"),
  maybe("name", STRING, "the name of the upload or import"),
  one("status", COUNT),
  one("code", word(Object.keys(ERRORS))),
  one("message", STRING),
  one(
    "size",
    orEmpty(COUNT),
    "bytes of the body; empty if the service did not read the body",
  ),
  maybe("details", DETAILS, "the first 50"),
);

const MAPPING = named(
  "mapping",
  one("name", STRING),
  one("updated_at", TIME),
  ...MAPPING_ELEMENTS,
);

const CONTACT = named(
  "contact",
  one("name", STRING),
  one("updated_at", TIME),
  ...CONTACT_ELEMENTS,
);

/**
 * A contact that was stored, changed or deleted. A deleted contact has only its
 * id, seller, name and time of deletion.
 */
const CONTACT_CHANGE: Shape<XmlNode> = {
  type: "contact_change",
  attributes: {
    deleted_at: { form: { kind: "time" }, about: "only for a deleted contact" },
  },
  content: [
    // Optional, because a seller's own list has contacts of the same schema
    // type, without these elements.
    maybe(
      "id",
      UUID,
      "if a name is used again after a deletion, the new contact has a new id",
    ),
    maybe("seller", STRING),
    maybe("seller_id", UUID),
    one("name", STRING),
    maybe("updated_at", TIME),
    ...CONTACT_ELEMENTS.map((child) => ({ ...child, min: 0 })),
  ],
};

const ERROR = named(
  "service_error",
  one("code", word(Object.keys(ERRORS)), codeList(ERRORS)),
  one("message", STRING),
  one("request_id", UUID),
  maybe("details", DETAILS),
);

const WEBHOOK = named(
  "webhook",
  one("trigger", word(TRIGGERS)),
  one("url", STRING),
  maybe("format", word(WEBHOOK_FORMATS), "`json`; left out for XML"),
  maybe("disabled_at", TIME, "only if the webhook is disabled"),
  maybe(
    "failing_since",
    TIME,
    "the first failed attempt since the last success",
  ),
  maybe("last_error", STRING, "why the last attempt failed"),
);

const ATTEMPT = named(
  "attempt",
  one("number", COUNT),
  one("url", STRING),
  one("started_at", TIME),
  one("duration_ms", orEmpty(COUNT)),
  one("status", orEmpty(COUNT), "the HTTP status; empty without an answer"),
  one("error", STRING, "why there was no answer; empty if there was one"),
);

const LOGGED_DELIVERY = named(
  "logged_delivery",
  one("id", UUID),
  one("event_id", UUID),
  one("state", word(DELIVERY_STATES)),
  one("created_at", TIME),
  one("next_attempt_at", TIME_OR_EMPTY),
  one("attempts", elements(many("attempt", ATTEMPT)), "the last ten attempts"),
  maybe("trigger", word(TRIGGERS), "only for operators"),
  maybe("reference", STRING, "only for operators; a test event has none"),
  maybe(
    "settled_at",
    TIME,
    "when the state became final; only for operators",
  ),
);

/** A delivery; `none` if no webhook is registered for the event. */
const DELIVERY: Shape<
  { id: string | null; event_id: string; state: DeliveryState } | "none"
> = {
  ...named(
    "delivery",
    one("id", UUID),
    one("event_id", UUID),
    one("state", word(DELIVERY_STATES)),
  ),
  orText: true,
};

const SELLER_ELEMENTS = [
  one("id", UUID),
  one("name", STRING),
  one("status", word(SELLER_STATUSES)),
  one("created_at", TIME),
  ...LIMIT_NAMES.map((name): Child<Record<LimitName, number | null>> => ({
    ...one(name, orEmpty(COUNT), SELLER_LIMITS[name].about),
  })),
  one("email", STRING, "where notices are sent; empty: nowhere"),
  one(
    "unsubscribed_at",
    TIME_OR_EMPTY,
    "when the seller unsubscribed from notices",
  ),
  one("review", word(REVIEW_POLICIES), "which products an operator reviews"),
  one("products", COUNT, "stored products"),
  one(
    "image_bytes",
    COUNT,
    "bytes of stored images, which count against the quota",
  ),
  one(
    "import_bytes",
    COUNT,
    "bytes of import documents, which count against the quota as well",
  ),
  one("keys", COUNT, "valid keys"),
  one("webhooks", COUNT),
  one("failing_webhooks", COUNT),
  one("last_upload_at", TIME_OR_EMPTY),
  one("last_used_at", TIME_OR_EMPTY, "when a key was last used, to the minute"),
] as const;

const SELLER = named("seller", ...SELLER_ELEMENTS);

const ACCOUNT = named(
  "account",
  ...SELLER_ELEMENTS,
  maybe("key_id", UUID, "the key of this request"),
  one(
    "source_addresses",
    elements(many("source_address", STRING)),
    "networks from which the service sends its requests to your hosts; if " +
      "empty, ask the operator",
  ),
);

const NEW_SELLER = named(
  "new_seller",
  one("id", UUID),
  one("name", STRING),
  one("key_id", UUID),
  one("api_key", STRING, "shown once"),
  one("webhook_secret", STRING, "shown once"),
);

const KEY_RIGHTS = [
  one("scopes", SCOPE_LIST),
  one(
    "networks",
    NETWORK_LIST,
    "in CIDR notation; if empty, the key may be used from any address",
  ),
  one("expires_at", TIME_OR_EMPTY, "empty: the key does not expire"),
] as const;

const NEW_KEY = named(
  "new_key",
  one("key_id", UUID),
  one("label", STRING),
  one("api_key", STRING, "shown once"),
  ...KEY_RIGHTS,
);

const KEY = named(
  "key",
  one("key_id", UUID),
  one("label", STRING),
  one(
    "prefix",
    STRING,
    "the first characters of the key; empty if the service did not record them",
  ),
  one("created_at", TIME),
  one("last_used_at", TIME_OR_EMPTY, "to the minute"),
  one("revoked_at", TIME_OR_EMPTY, "empty: not revoked"),
  ...KEY_RIGHTS,
  maybe("current", BOOLEAN, "true: the key of this request; only for sellers"),
);

const AUDIT_ENTRY = named(
  "audit_entry",
  one("id", UUID),
  one("at", TIME),
  one(
    "who",
    STRING,
    "the name of an operator key; `environment` for SELLER_OPERATOR_KEY; " +
      "`command line`; or `seller`",
  ),
  one("action", STRING, "the name of the command that makes this change"),
  one(
    "seller",
    STRING,
    "the seller's name at that time; empty if no seller is concerned",
  ),
  one("detail", STRING),
);

const BACKLOG = named(
  "backlog",
  ...QUEUE_NAMES.map((queue) => one(queue, COUNT, QUEUES[queue].about)),
  maybe("held_deliveries", COUNT, "deliveries of disabled webhooks"),
  maybe(
    "exhausted_deliveries",
    COUNT,
    "deliveries whose retry schedule has ended",
  ),
  maybe("pending_reviews", COUNT, "products that wait for a review"),
  maybe("oldest_due_seconds", COUNT),
);

const QUEUE = named(
  "queue",
  one("name", word(QUEUE_NAMES)),
  one("waiting", COUNT, "jobs that are not finished, counted up to 100,000"),
  one("in_progress", COUNT),
  maybe(
    "oldest_due_seconds",
    COUNT,
    "seconds since the oldest job became due; left out for imports, because " +
      "an import may wait for other imports of its seller",
  ),
);

const FAILING_WEBHOOK = named(
  "failing_webhook",
  one("seller", STRING),
  one("trigger", word(TRIGGERS)),
  one("url", STRING),
  one("failures", COUNT, "failed attempts since the last success"),
  one("failing_since", TIME),
  maybe("disabled_at", TIME),
);

const DISK = named(
  "disk",
  one("holds", word(DISKS)),
  one("free_percent", COUNT),
  maybe(
    "low",
    BOOLEAN,
    "true: less than 10 % is free; stays true until 12 % is free",
  ),
);

const PARTIAL = maybe(
  "partial",
  named("partial", many("server", STRING)),
  "database servers that cannot be reached; their sellers are left out",
);

const UPLOADED_IMAGE = named(
  "uploaded_image",
  one("url", STRING, "the URL to use in products; the host may be left out"),
  one("type", STRING, "the MIME type"),
  one("width", COUNT, "pixels"),
  one("height", COUNT, "pixels"),
  one("bytes", COUNT),
);

const SERVER = named(
  "database_server",
  one("name", STRING, "host and port, or the name of the database file"),
  one("state", word(["up", "away"])),
  one("sellers", COUNT),
  maybe("bytes", COUNT, "left out while the server cannot be reached"),
);

const HOUR: Shape<{ "@from": string } & Record<HourlyCount, number>> = {
  type: "hour",
  attributes: { from: { form: { kind: "time" }, required: true } },
  content: HOURLY_COUNTS.map((name) => one(name, COUNT)),
};

/**
 * The type has a name, because XML Schema requires one type for all elements of
 * the same name in a content model.
 */
const CURSOR: typeof CURSOR_TEXT = { type: "cursor", ...CURSOR_TEXT };

const NEXT = maybe("next", CURSOR, "the value of ?after= for the next page");

function orEmpty<V>({ content }: Shape<V>): Shape<V | null> {
  return { content: { ...content, empty: true } as TextForm };
}

/** The content of `<service>`, by the name of the answer. */
export const ANSWERS = {
  error: [one("error", ERROR)],
  upload: [
    one("transaction_id", UUID),
    maybe("refused", COUNT, "only with accept=valid; left out if 0"),
  ],
  dry_run: [one("dry_run", DRY_RUN)],
  undo_dry_run: [one("dry_run", DRY_RUN)],
  transaction: [one("transaction", TRANSACTION)],
  transactions: [
    one("transactions", elements(many("transaction", TRANSACTION))),
    NEXT,
  ],
  import_begun: [one("import_id", UUID)],
  import: [one("import", IMPORT)],
  imports: [one("imports", elements(many("import", IMPORT))), NEXT],
  import_results: [
    one("results", elements(many("product", IMPORT_RESULT))),
    NEXT,
  ],
  images_retry: [
    one("transaction_id", UUID),
    one("images", elements(one("retried", COUNT))),
  ],
  import_images_retry: [
    one("import_id", UUID),
    one("retried", COUNT, "image references that are tried again"),
  ],
  image: [one("image", UPLOADED_IMAGE)],
  product: [one("product", READ_PRODUCT)],
  // Must precede `products`: both answers begin with <products>, and the schema
  // takes the type of that element from the first. The products of this answer
  // may contain whole contacts.
  followed_products: [
    one("products", elements(many("product", FOLLOWED_PRODUCT))),
    NEXT,
  ],
  products: [one("products", elements(many("product", READ_PRODUCT))), NEXT],
  changes: [one("changes", elements(many("change", PRICE_CHANGE))), NEXT],
  success: [one("success", BOOLEAN)],
  webhooks: [many("webhook", WEBHOOK)],
  deliveries: [
    one("deliveries", elements(many("delivery", LOGGED_DELIVERY))),
    NEXT,
  ],
  delivery: [one("delivery", DELIVERY)],
  webhook_secret: [one("webhook_secret", STRING, "shown only once")],
  event: [
    one("event_id", UUID),
    maybe("delivery", DELIVERY, "`none`: no webhook is registered"),
  ],
  events: [
    one(
      "events",
      elements(many("event", DOCUMENTS.delivered_event)),
      "each in the form in which webhooks receive it",
    ),
    one("next", CURSOR, "the value of ?after= for the events after these"),
  ],
  recovery: [
    one(
      "recovery",
      elements(
        one("queued", COUNT, "deliveries that are sent again"),
        maybe(
          "held",
          COUNT,
          "how many of them wait until the disabled webhook is " +
            "registered again",
        ),
      ),
    ),
  ],
  reviews: [
    one("reviews", elements(many("product", REVIEWED_PRODUCT))),
    NEXT,
    PARTIAL,
  ],
  reasons: [one("reasons", elements(LISTED_REASONS))],
  triggers: [one("triggers", elements(many("trigger", TRIGGER_ENTRY)))],
  categories: [one("categories", LISTED_CATEGORIES), NEXT],
  category: [one("category", CATEGORY)],
  sellers: [one("sellers", elements(many("seller", SELLER))), NEXT, PARTIAL],
  account: [one("account", ACCOUNT)],
  new_seller: [one("seller", NEW_SELLER)],
  new_key: [one("key", NEW_KEY)],
  keys: [one("keys", elements(many("key", KEY)))],
  refusals: [
    one("refusals", elements(many("refusal", REFUSAL))),
    NEXT,
    PARTIAL,
  ],
  contact: [one("contact", CONTACT)],
  // Must precede `contacts`: both answers begin with <contacts>, and the schema
  // takes the type of that element from the first. In the contacts of this
  // answer more elements are optional.
  contact_changes: [
    one("contacts", elements(many("contact", CONTACT_CHANGE))),
    NEXT,
  ],
  contacts: [one("contacts", elements(many("contact", CONTACT))), NEXT],
  mapping: [one("mapping", MAPPING)],
  mappings: [one("mappings", elements(many("mapping", MAPPING)))],
  audit: [one("audit", elements(many("entry", AUDIT_ENTRY))), NEXT],
  status: [
    one("backlog", BACKLOG),
    one("queues", elements(many("queue", QUEUE))),
    one("failing_webhooks", elements(many("webhook", FAILING_WEBHOOK))),
    one("hours", elements(many("hour", HOUR))),
    one("disks", elements(many("disk", DISK))),
    PARTIAL,
  ],
  database: [
    one(
      "database",
      elements(
        one("engine", word(ENGINES)),
        maybe(
          "shards",
          COUNT,
          "shards of each table, if there are several servers",
        ),
        one("servers", elements(many("server", SERVER))),
      ),
    ),
  ],
  health: [
    one("status", word(["alive", "ready", "unavailable"])),
    maybe(
      "checks",
      elements(
        maybe("database", STRING),
        maybe("queues", STRING),
        ...QUEUE_NAMES.map((queue) => maybe(QUEUES[queue].role, STRING)),
      ),
      "only for the operator; `ok`, or `failed: ` with the reason; " +
        "`partly` while one of several servers of the database is " +
        "unreachable",
    ),
    maybe("backlog", BACKLOG),
  ],
} satisfies Record<string, readonly Child[]>;

export type AnswerName = keyof typeof ANSWERS;

/** The content of `<service>` as handlers write it. */
export type Answer<A extends AnswerName> = A extends AnswerName
  ? Elements<typeof ANSWERS[A]>
  : never;

export type ProgressNode = Elements<typeof TRANSACTION_PROGRESS>;
export type ImportNode = Written<typeof IMPORT>;
export type ImportResultNode = Written<typeof IMPORT_RESULT>;
export type CheckedProductNode = Written<typeof CHECKED_PRODUCT>;
export type UnsettledImageNode = Written<typeof UNSETTLED_IMAGE>;
export type ResultNode = Written<typeof RESULT>;
export type DetailNode = Written<typeof DETAIL>;
export type CategoryNode = Written<typeof CATEGORY>;
export type DetailsNode = Written<typeof DETAILS>;
export type WarningNode = Written<typeof WARNING>;
export type WarningsNode = Written<typeof WARNINGS>;
export type RefusalNode = Written<typeof REFUSAL>;
export type ContactNode = Written<typeof CONTACT>;
export type MappingNode = Written<typeof MAPPING>;
export type WebhookNode = Written<typeof WEBHOOK>;
export type LoggedDeliveryNode = Written<typeof LOGGED_DELIVERY>;
export type AttemptNode = Written<typeof ATTEMPT>;
export type SellerNode = Written<typeof SELLER>;
export type KeyNode = Written<typeof KEY>;
export type QueueNode = Written<typeof QUEUE>;
export type BacklogNode = Written<typeof BACKLOG>;
