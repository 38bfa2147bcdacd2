/**
 * The present tables, each after the tables that it refers to. A change also
 * needs a migration (`migrations.ts`) for existing databases. Times are Unix
 * milliseconds. Long columns come last, so that the others can be read without
 * them.
 *
 * `seller_no` is the internal key of a seller. It is small and never reused. A
 * table has no foreign keys where their checks would cost as much as its rows.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Retention } from "./retention.ts";
import type { Table } from "./table.ts";

/** Columns of a queue (`jobs/lease_queue.ts`), and the index of its leases. */
const QUEUE: Table["columns"] = {
  // set while the row waits
  due_at: "integer?",
  // set while a process holds the row
  lease_id: "text?",
  lease_until: "integer?",
};
const LEASES = "(lease_until, lease_id) WHERE lease_id IS NOT NULL";

// Bounds in the handbook that several tables share.
const ONE_ROW = { bound: "one row, or one for each job" };
const ONE_TO_THREE = "one to three rows for each seller";
const REFUSED =
  "as `transactions`, at most 4 times `SELLER_BODY_LIMIT` bytes for each " +
  "seller";
const DELIVERED =
  "`SELLER_KEEP_EVENTS_DAYS` after delivery, three times as long if not " +
  "delivered; 100 attempts each";
const KEYS =
  "for each seller, 100 keys that are valid or less than a day old, and " +
  "100 older ones";

/**
 * Each table declares how long it keeps its rows, and what happens to the rows
 * of a removed seller.
 */
export const TABLES = {
  sellers: {
    columns: {
      seller_no: "integer",
      // the public id
      id: "text",
      // A removed seller gets a text that is no valid name, so the name is free
      // again.
      name: "text",
      former_name: "text?",
      // active, suspended, or removed while the seller's rows are being deleted
      status: "text DEFAULT 'active'",
      // null: the default setting
      rate_limit: "integer?",
      product_limit: "integer?",
      image_quota: "integer?",
      // percent; null: a price may change by any amount
      price_jump: "integer?",
      // none, new, changes, or ending while reviews of its products are removed
      review: "text DEFAULT 'none'",
      created_at: "integer",
      webhook_secret: "text",
      // JSON: [[secret, the time until which it still signs], …]
      former_webhook_secrets: "text DEFAULT '[]'",
      // where notices are sent
      email: "text?",
      // The time from which notices are sent there; earlier events cause none.
      email_since: "integer?",
      // signs links in mails
      email_key: "text?",
      // the time from which the seller wants no mail there
      email_off_at: "integer?",
    },
    key: "seller_no",
    unique: ["id", "name"],
    indexes: {
      sellers_removed: "(id) WHERE status = 'removed'",
      sellers_review_ending: "(id) WHERE review = 'ending'",
    },
    kept: {
      bound:
        "the operator creates them; a removed seller's rows are all deleted",
    },
    onSellerRemoval: "last",
  },

  /**
   * One row for each seller, on the server of its other rows, for values that
   * change often, and for locks of the seller. `sellers` and the keys are
   * copied to all servers and change rarely.
   */
  seller_counters: {
    columns: {
      seller_no: "integer",
      // the highest number that an event has
      last_event_no: "integer DEFAULT 0",
      // 1: `sellers` has the status removed; a lock of this row orders changes
      // of both rows
      removed: "integer DEFAULT 0",
      // the time of the last mail
      mailed_at: "integer DEFAULT 0",
    },
    key: "seller_no",
    refersTo: { sellers: "seller_no" },
    kept: { bound: ONE_TO_THREE },
    onSellerRemoval: "rows",
  },

  seller_numbers: {
    columns: { id: "integer", last: "integer" },
    key: "id",
    first: "INSERT INTO seller_numbers (id, last) VALUES (1, 0)",
    kept: ONE_ROW,
    onSellerRemoval: "never",
  },

  /**
   * Usage that counts against quotas; a write changes one of several counters.
   */
  seller_usage: {
    columns: {
      seller_no: "integer",
      resource: "text",
      slot: "integer",
      used: "integer",
    },
    key: "seller_no, resource, slot",
    inKeyOrder: true,
    kept: { bound: ONE_TO_THREE },
    onSellerRemoval: "rows",
  },

  /** The last refused requests of each seller. */
  refusals: {
    columns: {
      seller_no: "integer",
      // the id of the request
      id: "text",
      at: "integer",
      // equal refusals within a minute
      times: "integer DEFAULT 1",
      key_id: "text",
      client: "text",
      route: "text?",
      status: "integer",
      code: "text",
      message: "text",
      size: "integer?",
      more: "integer",
      dry_run: "integer DEFAULT 0",
      // of the upload or import
      name: "text?",
      // a JSON list
      details: "text",
    },
    key: "seller_no, id",
    // for the list of all sellers' refusals
    indexes: { refusals_newest: "(id)" },
    kept: {
      job: "refusals",
      role: "api",
      everyMs: HOUR_MS,
      by: "id",
      unit: "ids",
      age: { days: 30 },
      about: "1,000 a seller and {age}, at most 4 MiB",
    },
    onSellerRemoval: "rows",
    portion: 500,
  },

  /** Mappings of spreadsheet columns. */
  mappings: {
    columns: {
      seller_no: "integer",
      name: "text",
      updated_at: "integer",
      // JSON
      content: "text",
    },
    key: "seller_no, name",
    kept: { bound: "50 for each seller, each at most 32 KiB" },
    onSellerRemoval: "rows",
  },

  /** The base of the numbers of changes; see change_numbers.ts. */
  change_counter: {
    columns: { id: "integer", n: "integer", changed_at: "integer DEFAULT 0" },
    key: "id",
    first: "INSERT INTO change_counter (id, n) VALUES (1, 0)",
    kept: ONE_ROW,
    onSellerRemoval: "never",
  },

  products: {
    columns: {
      seller_no: "integer",
      id: "id",
      sku: "text",
      change_no: "integer",
      status: "text",
      created_at: "integer",
      updated_at: "integer",
      quantity: "integer?",
      availability: "text",
      available_at: "text?",
      price: "text",
      currency: "text",
      compare_at_price: "text?",
      vat_rate: "text?",
      condition: "text",
      weight: "integer?",
      // whole days until the seller hands the parcel over
      handling_days: "integer?",
      gtin: "text?",
      mpn: "text?",
      brand: "text?",
      parent_sku: "text?",
      // the id and the name of a contact; see catalogue/contact.ts
      manufacturer: "text?",
      responsible_person: "text?",
      // null: not reviewed
      review_state: "text?",
      // the time at which the state began
      review_at: "integer?",
      // its newest row in `price_changes`; null if there is none
      price_row: "integer?",
      // the time of the next step of its sale that is not recorded yet
      sale_at: "integer?",
      title: "text",
      // JSON; see catalogue/review.ts
      review: "text?",
      // one change a line; see catalogue/price_changes.ts
      recent_prices: "text?",
      former_prices: "text?",
      // see catalogue/sale.ts
      sale: "text?",
      // JSON lists, in the seller's order
      categories: "text",
      images: "text",
      attributes: "text",
      description: "text?",
      safety_text: "text?",
    },
    key: "seller_no, id",
    refersTo: { sellers: "seller_no" },
    indexes: {
      products_sku: "UNIQUE (seller_no, sku)",
      // for the deletion of contacts that no product names
      products_manufacturer:
        "(seller_no, manufacturer) WHERE manufacturer IS NOT NULL",
      products_responsible_person:
        "(seller_no, responsible_person) WHERE responsible_person IS NOT NULL",
      // Not unique: several changes of one write may have the same number.
      products_changes: {
        sqlite: "(change_no)",
        postgres: "(change_no, id)",
      },
      products_review_queue:
        "(review_state, review_at, id) WHERE review_state IS NOT NULL",
      products_reviewed: `(seller_no, review_state, review_at, id)
          WHERE review_state IS NOT NULL`,
      products_review_ids: "(id) WHERE review_state IS NOT NULL",
      products_sales: "(seller_no, sale_at, id) WHERE sale_at IS NOT NULL",
    },
    kept: { bound: "`SELLER_PRODUCT_LIMIT` for each seller" },
    onSellerRemoval: "first",
  },

  /**
   * Tombstones, with the seller's name, because the seller may have been
   * removed. They must never be deleted; see change_numbers.ts.
   */
  deleted_products: {
    columns: {
      seller_no: "integer",
      id: "id",
      seller_id: "text",
      seller_name: "text",
      sku: "text",
      deleted_at: "integer",
      change_no: "integer",
    },
    key: "seller_no, id",
    indexes: {
      deleted_products_changes: "(change_no, id)",
      // for the seller's own list
      deleted_products_of_seller: "(seller_no, deleted_at, id)",
    },
    kept: {
      bound:
        "one row for each product that was deleted, for the operator's feed",
    },
    onSellerRemoval: "never",
  },

  /**
   * Contacts of sellers, which products name. A deleted contact is kept as long
   * as a product names it, or an undo may need it.
   */
  contacts: {
    columns: {
      seller_no: "integer",
      id: "id",
      name: "text",
      change_no: "integer",
      updated_at: "integer",
      deleted_at: "integer?",
      // the time from which no product has named the deleted contact
      unneeded_since: "integer?",
      // JSON
      content: "text",
    },
    key: "seller_no, id",
    refersTo: { sellers: "seller_no" },
    indexes: {
      contacts_name: "UNIQUE (seller_no, name) WHERE deleted_at IS NULL",
      contacts_changes: "(change_no, id) WHERE deleted_at IS NULL",
      contacts_deleted: "(seller_no, id) WHERE deleted_at IS NOT NULL",
    },
    // The row of a deleted contact is removed when no product has named it for
    // long enough: catalogue/contact_retention.ts.
    kept: {
      bound: "1,000 for each seller, each at most 16 KiB; deleted ones while " +
        "a product names them, and then for `SELLER_UNDO_DAYS` and a day",
    },
    onSellerRemoval: "first",
  },

  /**
   * Tombstones of contacts, with the seller's name, as in `deleted_products`.
   */
  deleted_contacts: {
    columns: {
      seller_no: "integer",
      id: "id",
      seller_id: "text",
      seller_name: "text",
      name: "text",
      deleted_at: "integer",
      change_no: "integer",
    },
    key: "seller_no, id",
    indexes: { deleted_contacts_changes: "(change_no, id)" },
    kept: {
      bound:
        "one row for each contact that was deleted, for the operator's list",
    },
    onSellerRemoval: "never",
  },

  /**
   * Price changes that the product's own row no longer has, ordered by time, so
   * that a write changes one page and old rows are found quickly. Each row
   * refers to the product's previous row. The rows of a deleted product are
   * kept until they are old.
   */
  price_changes: {
    columns: {
      seller_no: "integer",
      // the time of the next change after these; unique for a product
      changed_at: "integer",
      product_id: "id",
      // the product's previous row; null: none
      former_at: "integer?",
      // one change a line; see catalogue/price_changes.ts
      changes: "text",
    },
    key: "seller_no, changed_at, product_id",
    inKeyOrder: true,
    kept: {
      job: "price_changes",
      role: "api",
      everyMs: HOUR_MS,
      by: "changed_at",
      sellerBySeller: true,
      age: { setting: "keepPricesDays", zero: "keeps all" },
      about: "{age}, at least 30 days; also those of deleted products",
    },
    onSellerRemoval: "rows",
    portion: 500,
  },

  /**
   * A row for each URL of a seller: the stored copy, and the job to fetch it.
   * Each image that the seller has uploaded also has a row; see
   * images/uploaded_images.ts.
   */
  images: {
    columns: {
      seller_no: "integer",
      id: "id",
      // the URL; of a long URL, its beginning and hash
      url_key: "text",
      state: "text",
      ...QUEUE,
      // all finished attempts; only attempts after number `after_attempt` count
      // for the retry schedule
      attempts: "integer",
      after_attempt: "integer DEFAULT 0",
      crashes: "integer",
      created_at: "integer",
      // the time of the first sweep that found it unneeded
      unneeded_since: "integer?",
      sha256: "text?",
      type: "text?",
      bytes: "integer?",
      width: "integer?",
      height: "integer?",
      stored_at: "integer?",
      validator: "text?",
      code: "text?",
      message: "text?",
      origin: "text",
      url: "text",
    },
    key: "seller_no, id",
    unique: ["seller_no, url_key"],
    indexes: {
      images_queue: "(seller_no, origin, due_at, id) WHERE due_at IS NOT NULL",
      images_leases: LEASES,
      images_sha256: "(sha256) WHERE sha256 IS NOT NULL",
      images_unnamed: "(stored_at) WHERE stored_at IS NOT NULL " +
        "AND state IN ('arriving', 'uploaded')",
    },
    // Deleted together with files, which rows of several sellers share:
    // images/retention.ts.
    kept: {
      bound: "the images that products show or uploads name; others until " +
        "`SELLER_KEEP_IMAGES_DAYS` or `images prune --delete`; uploaded " +
        "ones that no product has named, 7 days",
    },
    onSellerRemoval: "rows",
  },

  /**
   * Documents that are checked and stored in parts; see imports/import.ts.
   */
  imports: {
    columns: {
      seller_no: "integer",
      id: "id",
      state: "text",
      accept_valid: "integer",
      dry_run: "integer",
      keep_changed: "integer",
      created_at: "integer",
      // the time after which nothing more is checked or stored
      over_at: "integer?",
      ...QUEUE,
      // failures since the last part that succeeded
      failures: "integer DEFAULT 0",
      // of the document; the amount that counts against the quota
      bytes: "integer DEFAULT 0",
      kept_bytes: "integer DEFAULT 0",
      // the root's start tag, as offsets in the document
      root_start: "integer DEFAULT 0",
      root_end: "integer DEFAULT 0",
      parts: "integer DEFAULT 0",
      parts_checked: "integer DEFAULT 0",
      parts_stored: "integer DEFAULT 0",
      products_total: "integer DEFAULT 0",
      // products that the check found to be new
      products_new: "integer DEFAULT 0",
      products_created: "integer DEFAULT 0",
      products_updated: "integer DEFAULT 0",
      products_unchanged: "integer DEFAULT 0",
      products_deleted: "integer DEFAULT 0",
      products_refused: "integer DEFAULT 0",
      problems: "integer DEFAULT 0",
      // warnings of rules that are not yet enforced
      warnings: "integer DEFAULT 0",
      // 1: some of its keys are still stored
      has_keys: "integer DEFAULT 0",
      // the import that this one undoes
      undoes: "id?",
      // the key that sent the import
      key_id: "text?",
      name: "text?",
      // Refused products up to this position are copied from the document.
      copied_to: "integer DEFAULT 0",
      // the root's start tag, kept when the document is deleted
      root: "bytes?",
      // JSON: problems outside of any product
      outside: "text DEFAULT '[]'",
      // which part of the document is kept; see imports/import.ts
      document: "text DEFAULT 'whole'",
      // 1: results of the dry run include former values
      shows_former: "integer DEFAULT 0",
    },
    key: "seller_no, id",
    refersTo: { sellers: "seller_no" },
    indexes: {
      imports_queue: "(seller_no, due_at, id) WHERE due_at IS NOT NULL",
      imports_leases: LEASES,
      imports_open: "(seller_no, id) WHERE over_at IS NULL",
      imports_over: "(over_at) WHERE over_at IS NOT NULL",
      imports_arriving: "(created_at) WHERE state = 'arriving'",
      imports_keys: "(over_at) WHERE has_keys = 1",
      imports_undoes: "(seller_no, undoes) WHERE undoes IS NOT NULL",
      imports_documents: "(over_at) WHERE document <> 'refused'",
    },
    // Deleted with documents, which count against a quota:
    // imports/retention.ts.
    kept: {
      bound:
        "`SELLER_KEEP_UPLOADS_DAYS` after their end; documents of at most " +
        "`SELLER_IMPORT_LIMIT` bytes until the end, of a dry run a day " +
        "longer, within the image quota; then only the refused products",
    },
    onSellerRemoval: "first",
  },

  /** The documents of imports, as they were sent. */
  import_pieces: {
    columns: {
      seller_no: "integer",
      import_id: "id",
      piece: "integer",
      bytes: "bytes",
    },
    key: "seller_no, import_id, piece",
    refersTo: { imports: "seller_no, import_id" },
    kept: { as: "imports" },
    onSellerRemoval: "rows",
    deletedWith: { imports: "import_id" },
    // of 256 KiB
    portion: 16,
  },

  import_parts: {
    columns: {
      seller_no: "integer",
      import_id: "id",
      // from 0
      part: "integer",
      // position of the first product; positions begin at 1
      first_product: "integer",
      products: "integer",
      line: "integer",
      // offsets in the document
      start_at: "integer",
      end_at: "integer",
      // the transaction that stored the part, or the one that it undoes
      transaction_id: "id?",
      undoes: "id?",
      // JSON: versions of its images at the check, by URL
      versions: "text?",
      // results of the products that pass the check; see packed_results.ts
      results: "text?",
      // former values for a dry run; see catalogue/former.ts
      former: "text?",
      // see catalogue/warnings.ts
      warnings: "text?",
    },
    key: "seller_no, import_id, part",
    refersTo: { imports: "seller_no, import_id" },
    kept: { as: "imports" },
    onSellerRemoval: "rows",
    deletedWith: { imports: "import_id" },
  },

  /**
   * Counts of an import's images by state. They are not in `imports` because of
   * the order of locks: a part of an import locks the row of its import before
   * its images, while a write that changes these counts has already locked
   * images.
   */
  import_images: {
    columns: {
      seller_no: "integer",
      import_id: "id",
      pending: "integer DEFAULT 0",
      stored: "integer DEFAULT 0",
      reused: "integer DEFAULT 0",
      failed: "integer DEFAULT 0",
      // the time at which the last pending image was settled
      settled_at: "integer?",
      // 1: nothing more is stored, so the import ends with its last image
      ends_with_images: "integer DEFAULT 0",
    },
    key: "seller_no, import_id",
    inKeyOrder: true,
    refersTo: { imports: "seller_no, import_id" },
    indexes: {
      import_images_failed: "(settled_at) WHERE failed > 0 AND pending = 0",
    },
    kept: { as: "imports" },
    onSellerRemoval: "rows",
    deletedWith: { imports: "import_id" },
  },

  /** SKUs and ids in earlier parts of an import. */
  import_keys: {
    columns: {
      seller_no: "integer",
      import_id: "id",
      // "s" and a SKU, or "i" and an id
      key: "text",
      product: "integer",
      line: "integer",
    },
    key: "seller_no, import_id, key",
    inKeyOrder: true,
    kept: { bound: "while their import is being checked and stored" },
    onSellerRemoval: "rows",
    deletedWith: { imports: "import_id" },
    portion: 500,
  },

  /** Products of an import that have problems. */
  import_problems: {
    columns: {
      seller_no: "integer",
      import_id: "id",
      product: "integer",
      // 0: the product is stored nevertheless
      refused: "integer",
      // offset of the product in the document
      start_at: "integer",
      end_at: "integer",
      sku: "text?",
      more: "integer",
      // a JSON list
      details: "text",
      // the refused product as sent, kept when the document is deleted
      sent: "bytes?",
    },
    key: "seller_no, import_id, product",
    refersTo: { imports: "seller_no, import_id" },
    kept: { as: "imports" },
    onSellerRemoval: "rows",
    deletedWith: { imports: "import_id" },
  },

  /** Uploads, parts of imports, and undos. */
  transactions: {
    columns: {
      seller_no: "integer",
      id: "id",
      created_at: "integer",
      finished_at: "integer?",
      products_created: "integer",
      products_updated: "integer",
      products_unchanged: "integer",
      products_deleted: "integer",
      products_refused: "integer",
      images_pending: "integer",
      images_stored: "integer",
      images_reused: "integer",
      images_failed: "integer",
      // the upload that this one undoes
      undoes: "id?",
      // the import to which this part belongs
      import_id: "id?",
      // the key that sent the request
      key_id: "text?",
      // the name of the upload
      name: "text?",
      // see catalogue/packed_results.ts
      results: "text",
      // see catalogue/warnings.ts
      warnings: "text?",
    },
    key: "seller_no, id",
    refersTo: { sellers: "seller_no" },
    indexes: {
      transactions_final:
        "(finished_at) WHERE finished_at IS NOT NULL AND import_id IS NULL",
      transactions_images_failed:
        "(finished_at) WHERE images_failed > 0 AND finished_at IS NOT NULL",
      transactions_listed: "(seller_no, id) WHERE import_id IS NULL",
      transactions_undoes:
        "UNIQUE (seller_no, undoes) WHERE undoes IS NOT NULL",
    },
    kept: {
      job: "uploads",
      role: "api",
      everyMs: HOUR_MS,
      by: "finished_at",
      where: "import_id IS NULL",
      age: { setting: "keepUploadsDays", zero: "keeps all" },
      about: "{age} after they became final",
    },
    onSellerRemoval: "rows",
    portion: 32,
  },

  /** Data for an undo; see catalogue/undo_record.ts. */
  undo_records: {
    columns: {
      seller_no: "integer",
      transaction_id: "id",
      created_at: "integer",
      record: "text",
    },
    key: "seller_no, transaction_id",
    belongsTo: { transactions: "seller_no, transaction_id" },
    indexes: { undo_records_age: "(created_at)" },
    kept: {
      job: "undo",
      role: "api",
      everyMs: HOUR_MS,
      by: "created_at",
      // An undo of an import that has begun needs the records of its parts.
      where: `NOT EXISTS (SELECT 1 FROM imports i
        WHERE i.seller_no = undo_records.seller_no AND i.over_at IS NULL
          AND i.undoes IS NOT NULL)`,
      age: { setting: "undoDays", zero: "keeps none" },
      about: "{age} and the undo of an import that has begun by then, or " +
        "until it is undone",
    },
    onSellerRemoval: "rows",
    portion: 100,
  },

  /** Documents of uploads that refused some products. */
  refused_documents: {
    columns: {
      seller_no: "integer",
      transaction_id: "id",
      // length of the document; the amount that counts against the limit
      bytes: "integer",
      kept_bytes: "integer",
    },
    key: "seller_no, transaction_id",
    belongsTo: { transactions: "seller_no, transaction_id" },
    kept: { bound: REFUSED },
    onSellerRemoval: "rows",
  },

  refused_pieces: {
    columns: {
      seller_no: "integer",
      transaction_id: "id",
      piece: "integer",
      bytes: "bytes",
    },
    key: "seller_no, transaction_id, piece",
    belongsTo: { refused_documents: "seller_no, transaction_id" },
    kept: { bound: REFUSED },
    onSellerRemoval: "rows",
    deletedWith: { transactions: "transaction_id" },
    // of 64 KiB
    portion: 64,
  },

  refused_products: {
    columns: {
      seller_no: "integer",
      transaction_id: "id",
      // position in the document
      product: "integer",
      // a JSON list, and the number of further details
      details: "text",
      more: "integer",
    },
    key: "seller_no, transaction_id, product",
    belongsTo: { refused_documents: "seller_no, transaction_id" },
    kept: { bound: REFUSED },
    onSellerRemoval: "rows",
  },

  /**
   * Used Idempotency-Keys; a repeated request gets the answer of the first one.
   */
  idempotency_keys: {
    columns: {
      seller_no: "integer",
      key: "text",
      request_hash: "text",
      // the transaction or the import
      transaction_id: "id?",
      import_id: "id?",
      expires_at: "integer",
    },
    key: "seller_no, key",
    refersTo: {
      transactions: "seller_no, transaction_id",
      imports: "seller_no, import_id",
    },
    indexes: {
      idempotency_keys_expiry: "(expires_at)",
      idempotency_keys_transaction:
        "(seller_no, transaction_id) WHERE transaction_id IS NOT NULL",
      idempotency_keys_import:
        "(seller_no, import_id) WHERE import_id IS NOT NULL",
    },
    kept: {
      job: "idempotency_keys",
      role: "api",
      everyMs: 10 * MINUTE_MS,
      by: "expires_at",
      age: { days: 0 },
      about: "24 hours",
    },
    onSellerRemoval: "rows",
    deletedWith: { transactions: "transaction_id", imports: "import_id" },
    portion: 500,
  },

  /** A row for each URL of an upload that was not already stored. */
  transaction_images: {
    columns: {
      seller_no: "integer",
      transaction_id: "id",
      ordinal: "integer",
      image_id: "id",
      // how often the upload contains the URL
      refs: "integer",
      status: "text",
      attempts: "integer",
      // attempts of the image up to this number do not count for the upload
      after_attempt: "integer",
      created_at: "integer",
      // the validator at the time of the upload
      validator: "text?",
      code: "text?",
      message: "text?",
    },
    key: "seller_no, transaction_id, ordinal",
    refersTo: {
      transactions: "seller_no, transaction_id",
      images: "seller_no, image_id",
    },
    indexes: {
      transaction_images_waiting:
        `(seller_no, image_id, transaction_id, ordinal)
        WHERE status = 'pending'`,
      transaction_images_image: "(seller_no, image_id)",
    },
    kept: { as: "transactions" },
    onSellerRemoval: "rows",
    deletedWith: { transactions: "transaction_id" },
    portion: 500,
  },

  /** The products that show each image; they change when the image changes. */
  product_images: {
    columns: { seller_no: "integer", image_id: "id", product_id: "id" },
    key: "seller_no, image_id, product_id",
    inKeyOrder: true,
    kept: { bound: "the images that products show" },
    onSellerRemoval: "rows",
  },

  /**
   * Changed images that many products show. Products up to product_id already
   * have the number of the change.
   */
  changed_images: {
    columns: { seller_no: "integer", image_id: "id", product_id: "id" },
    key: "seller_no, image_id",
    kept: {
      bound: "changed images whose products have not all got their change " +
        "numbers",
    },
    onSellerRemoval: "rows",
  },

  webhooks: {
    columns: {
      seller_no: "integer",
      id: "id",
      trigger_name: "text",
      url: "text",
      // xml or json
      format: "text DEFAULT 'xml'",
      // failures since the last success
      failures: "integer",
      failing_since: "integer?",
      // a status, or why there was no answer
      last_error: "text?",
      disabled_at: "integer?",
      created_at: "integer",
      updated_at: "integer",
      // null: signed with the secrets of the seller
      secret: "text?",
      former_secrets: "text DEFAULT '[]'",
    },
    key: "seller_no, id",
    unique: ["seller_no, trigger_name"],
    refersTo: { sellers: "seller_no" },
    indexes: {
      webhooks_failing: "(failing_since) WHERE failing_since IS NOT NULL",
    },
    kept: { bound: "one for each trigger and seller" },
    onSellerRemoval: "rows",
  },

  events: {
    columns: {
      seller_no: "integer",
      id: "id",
      trigger_name: "text",
      // null: a test event
      reference: "text?",
      // null: a test event; negative: has no number yet
      event_no: "integer?",
      // null: no webhook was registered
      delivery_id: "id?",
      created_at: "integer",
      // in the format of its data; null: only the reference is kept
      body: "bytes?",
    },
    key: "seller_no, id",
    unique: ["seller_no, trigger_name, reference"],
    refersTo: { sellers: "seller_no" },
    indexes: {
      events_feed:
        "(seller_no, event_no) WHERE event_no IS NOT NULL AND body IS NOT NULL",
      events_feed_trigger: `(seller_no, trigger_name, event_no)
        WHERE event_no IS NOT NULL AND body IS NOT NULL`,
      events_times: `(seller_no, trigger_name, created_at, id)
        WHERE event_no IS NOT NULL AND body IS NOT NULL`,
      events_undelivered:
        "(created_at) WHERE delivery_id IS NULL AND body IS NOT NULL",
      events_references: "(created_at) WHERE body IS NULL",
    },
    // Bodies are deleted with their deliveries; references are kept longer:
    // webhooks/delivery_log.ts.
    kept: {
      job: "references",
      role: "webhooks",
      everyMs: HOUR_MS,
      by: "created_at",
      where: "body IS NULL",
      age: { setting: "keepReferencesDays", zero: "keeps all" },
      about: "bodies: `SELLER_KEEP_EVENTS_DAYS`; rows: {age}",
    },
    onSellerRemoval: "rows",
    portion: 500,
  },

  /**
   * At most one delivery for each event, which `event_id` names. The webhook of
   * a delivery may have been deleted.
   */
  deliveries: {
    columns: {
      seller_no: "integer",
      id: "id",
      event_id: "id",
      trigger_name: "text",
      webhook_id: "id",
      state: "text",
      ...QUEUE,
      attempts: "integer",
      // failures so far, which select the delay in the retry schedule
      failures: "integer",
      created_at: "integer",
      // the time after which no more attempts are made
      settled_at: "integer?",
      last_answer: "text?",
    },
    key: "seller_no, id",
    refersTo: { sellers: "seller_no" },
    indexes: {
      deliveries_queue:
        "(seller_no, webhook_id, due_at, id) WHERE due_at IS NOT NULL",
      deliveries_leases: LEASES,
      deliveries_held: "(seller_no, webhook_id) WHERE state = 'held'",
      deliveries_settled: "(state, settled_at) WHERE settled_at IS NOT NULL",
      deliveries_seller: "(seller_no, trigger_name, id)",
      // for the command line, which lists those of all sellers
      deliveries_newest: "(id)",
    },
    kept: { bound: DELIVERED },
    onSellerRemoval: "rows",
  },

  /**
   * Inserted when a delivery is claimed; an attempt without a duration is in
   * progress, or was interrupted.
   */
  delivery_attempts: {
    columns: {
      seller_no: "integer",
      delivery_id: "id",
      number: "integer",
      url: "text",
      started_at: "integer",
      duration_ms: "integer?",
      status: "integer?",
      error: "text?",
      address: "text?",
      answer: "text?",
    },
    key: "seller_no, delivery_id, number",
    refersTo: { deliveries: "seller_no, delivery_id" },
    kept: { bound: DELIVERED },
    onSellerRemoval: "rows",
    deletedWith: { deliveries: "delivery_id" },
    portion: 1_000,
  },

  /**
   * How often something happened in each hour. An hour is Unix time in hours;
   * `seller_no` is `Tx.localSellerNo`.
   */
  hourly_counts: {
    columns: {
      seller_no: "integer",
      hour: "integer",
      name: "text",
      slot: "integer",
      n: "integer",
    },
    key: "seller_no, hour, name, slot",
    kept: {
      job: "hourly_counts",
      role: "api",
      everyMs: DAY_MS,
      by: "hour",
      unit: "hours",
      age: { days: 90 },
      about: "{age}, five rows an hour",
    },
    onSellerRemoval: "never",
    portion: 500,
  },

  /** The row that a health check writes; `seller_no` is `Tx.localSellerNo`. */
  health: {
    columns: { seller_no: "integer", looked_at: "integer" },
    key: "seller_no",
    kept: ONE_ROW,
    onSellerRemoval: "never",
  },

  /** What maintenance jobs keep between runs, such as where each continues. */
  maintenance_positions: {
    columns: { job: "text", position: "text" },
    key: "job",
    kept: ONE_ROW,
    onSellerRemoval: "never",
  },

  /**
   * Notices to sellers and the operator: the rows of a leased queue; see
   * notices/notice.ts.
   */
  notices: {
    columns: {
      // the seller that it concerns; `Tx.localSellerNo` if it concerns none
      seller_no: "integer",
      // its kind and its subject
      id: "text",
      kind: "text",
      // seller or operator
      recipient: "text",
      created_at: "integer",
      // when a process last saw its cause
      seen_at: "integer",
      ...QUEUE,
      failures: "integer DEFAULT 0",
      told_at: "integer?",
      // the mail that may contain the notice
      message_id: "text?",
      // JSON
      detail: "text",
    },
    key: "seller_no, id",
    indexes: {
      notices_queue: "(recipient, due_at) WHERE due_at IS NOT NULL",
      notices_leases: LEASES,
      notices_kinds: "(kind, created_at)",
    },
    // Only notices that have ended are deleted; each kind declares when:
    // notices/retention.ts.
    kept: {
      bound:
        "200 waiting ones of each kind for each seller; after their end 2 " +
        "days",
    },
    onSellerRemoval: "rows",
  },

  /** The operator's list of reasons for rejections. */
  review_reasons: {
    columns: {
      code: "text",
      // position in the list
      place: "integer",
      field: "text?",
      message: "text?",
    },
    key: "code",
    kept: { bound: "100" },
    onSellerRemoval: "never",
  },

  /**
   * The marketplace's list of categories; no row if there is none. A new list
   * is written as rows of another version, and then this row gets that version.
   */
  category_list: {
    columns: {
      id: "integer",
      version: "text",
      closed: "integer",
      // all names, one a line, for suggestions
      names: "text",
      // the first days on which rules begin, one a line
      begins: "text DEFAULT ''",
      // the last of these days that was announced to sellers
      announced: "text?",
    },
    key: "id",
    kept: { bound: "one row" },
    onSellerRemoval: "never",
  },

  /** The categories of a list; those of former lists are deleted. */
  categories: {
    columns: {
      version: "text",
      // position in the list, from 0
      place: "integer",
      name: "text",
      written_at: "integer",
      // JSON: see catalogue/category_rows.ts
      rules: "text",
    },
    key: "version, place",
    unique: ["version, name"],
    indexes: { categories_age: "(written_at)" },
    kept: {
      job: "categories",
      role: "api",
      everyMs: HOUR_MS,
      by: "written_at",
      // Younger rows may belong to a list that is being written.
      age: { days: 1 },
      where: "version NOT IN (SELECT version FROM category_list)",
      about: "10,000 categories of 8 MiB; those of a former list {age}",
    },
    onSellerRemoval: "never",
    portion: 32,
  },

  /** The operator's descriptions of triggers; null: the default description. */
  trigger_meanings: {
    columns: {
      trigger_name: "text",
      about: "text?",
      // format of the example: xml or json
      form: "text?",
      // as it was sent
      example: "text?",
    },
    key: "trigger_name",
    kept: { bound: "one row for each trigger" },
    onSellerRemoval: "never",
  },

  /**
   * Changes that operators made, and changes of keys that sellers made. The log
   * has names, because the records that ids refer to may be deleted.
   */
  audit_log: {
    columns: {
      id: "text",
      at: "integer",
      who: "text",
      action: "text",
      seller: "text?",
      detail: "text",
    },
    key: "id",
    kept: {
      bound: "a row for each change by an operator, and for each change of a " +
        "key by a seller, at most 200 a day",
    },
    onSellerRemoval: "never",
  },

  operator_keys: {
    columns: {
      id: "text",
      name: "text",
      hash: "text",
      read_only: "integer",
      created_at: "integer",
      revoked_at: "integer?",
      // null: none
      expires_at: "integer?",
      // CIDRs separated by spaces; "" is everywhere
      networks: "text DEFAULT ''",
    },
    key: "id",
    unique: ["hash"],
    indexes: { operator_keys_name: "UNIQUE (name) WHERE revoked_at IS NULL" },
    kept: { bound: "the operator creates them; revoked ones stay" },
    onSellerRemoval: "never",
  },

  /** When keys of sellers were last used, to the minute. */
  key_uses: {
    columns: { seller_no: "integer", key_id: "text", last_used_at: "integer" },
    key: "seller_no, key_id",
    kept: { bound: KEYS },
    onSellerRemoval: "rows",
  },

  /** Keys of sellers. Only the hash of a key is stored. */
  api_keys: {
    columns: {
      id: "text",
      seller_no: "integer",
      hash: "text",
      label: "text?",
      // how the key begins
      prefix: "text?",
      created_at: "integer",
      revoked_at: "integer?",
      // words separated by spaces
      scopes: "text DEFAULT 'read products webhooks keys'",
      // null: none
      expires_at: "integer?",
      // CIDRs separated by spaces; "" is everywhere
      networks: "text DEFAULT ''",
    },
    key: "id",
    unique: ["hash"],
    refersTo: { sellers: "seller_no" },
    indexes: { api_keys_seller: "(seller_no, id)" },
    kept: { bound: KEYS },
    onSellerRemoval: "last",
  },
} satisfies Readonly<Record<string, DeclaredTable>>;

/** A table's columns and its retention. */
export type DeclaredTable = Omit<Table, "name"> & Retention;

export type TableName = keyof typeof TABLES;

/** The tables whose rows are deleted in this way when a seller is removed. */
export type DeletedBy<W extends Retention["onSellerRemoval"]> = {
  [N in TableName]: typeof TABLES[N]["onSellerRemoval"] extends W ? N : never;
}[TableName];

/** A table of the schema. */
export type SchemaTable = Table & Retention & { name: TableName };

export const SCHEMA = Object.entries(TABLES)
  .map(([name, table]) => ({ name, ...table })) as readonly SchemaTable[];
