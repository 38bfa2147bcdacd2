/**
 * The operations of the interface: signatures and paths. Written from the
 * tables of the service by `deno task client`.
 */
import type { CallOptions, Encoded } from "./connection.ts";
import type { Operation } from "./operation.ts";
import type {
  Account,
  AttributeName,
  AuditEntry,
  Backlog,
  Categories,
  Category,
  DatabaseServer,
  DeliveredEvent,
  Delivery,
  DeliveryState,
  DetailCode,
  Disk,
  DryRun,
  ErrorCode,
  FailingWebhook,
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
  Webhook,
} from "./types.ts";
/** Every operation, by name. */
export interface Operations {
  /**
   * Upload products. Creates or updates up to 250 products, all or none (with accept=valid: those without a problem). Each image URL must answer HEAD with 200; the images are fetched after the answer.
   *
   * `POST /seller_api/bulk_products`
   */
  uploadProducts(
    input: {
      /** or a document that is encoded already */
      products: SentProduct[] | Encoded;
      /** version of the interface; 1.1 when left out */
      v?: "1.1";
      /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
      show?: "former";
      /** valid: store the products without a problem even if others have one; all or none when left out */
      accept?: "valid";
      /** a name to find it by, such as that of the file */
      name?: string;
      dry_run?: false;
    },
    options?: CallOptions,
  ): Promise<
    {
      transaction_id: string;
      /** only with accept=valid; left out if 0 */
      refused?: number;
    }
  >;
  uploadProducts(input: {
    /** or a document that is encoded already */
    products: SentProduct[] | Encoded;
    /** version of the interface; 1.1 when left out */
    v?: "1.1";
    /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
    show?: "former";
    /** valid: store the products without a problem even if others have one; all or none when left out */
    accept?: "valid";
    /** a name to find it by, such as that of the file */
    name?: string;
    /** does everything but the write */
    dry_run: true;
  }, options?: CallOptions): Promise<{ dry_run: DryRun }>;

  /**
   * Watch an upload. What became of each product, and how far the images are. With Accept: text/event-stream, a stream of progress events and a final one.
   *
   * `GET /seller_api/bulk_products/:transaction_id`
   */
  getTransaction(input: {
    /** the answer of the upload */
    transaction_id: string;
    /** seconds to wait, up to 30, until the status is final */
    wait?: number;
    /** continues after an earlier page: its <next> */
    after?: string;
  }, options?: CallOptions): Promise<{ transaction: Transaction }>;

  /**
   * Refused products of an upload. What accept=valid did not store, as a document <products> to correct and upload: each product byte for byte as it was sent, behind a comment with its problems.
   *
   * `GET /seller_api/bulk_products/:transaction_id/refused`
   */
  getRefusedProducts(input: {
    /** the answer of the upload */
    transaction_id: string;
  }, options?: CallOptions): Promise<string>;

  /**
   * Recent uploads. The newest first, with counters and without results.
   *
   * `GET /seller_api/bulk_products`
   */
  listTransactions(
    input?: {
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      transactions: Transaction[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Try failed images again. Answers how many image references are tried again.
   *
   * `POST /seller_api/bulk_products/:transaction_id/images/retry`
   */
  retryImages(input: {
    /** the answer of the upload */
    transaction_id: string;
  }, options?: CallOptions): Promise<{
    transaction_id: string;
    images: {
      retried: number;
    };
  }>;

  /**
   * Take an upload back. Restores the former value of every field that the upload changed, and deletes the products that it created, all or nothing. The undo is a transaction, which can be undone as well. A dry run answers the counts, as with changed=keep, and what was changed since.
   *
   * `POST /seller_api/bulk_products/:transaction_id/undo`
   */
  undoUpload(
    input: {
      /** the answer of the upload */
      transaction_id: string;
      /** keep: keep fields that were changed since, and undo the others; when left out, the undo is refused if any were */
      changed?: "keep";
      dry_run?: false;
    },
    options?: CallOptions,
  ): Promise<
    {
      transaction_id: string;
      /** only with accept=valid; left out if 0 */
      refused?: number;
    }
  >;
  undoUpload(input: {
    /** the answer of the upload */
    transaction_id: string;
    /** keep: keep fields that were changed since, and undo the others; when left out, the undo is refused if any were */
    changed?: "keep";
    /** does everything but the write */
    dry_run: true;
  }, options?: CallOptions): Promise<{ dry_run: DryRun }>;

  /**
   * Update attributes of many products. Sets any attributes, such as price and quantity, of up to 10,000 stored products, all or none (with accept=valid: those without a problem). It creates no product. The answer names a transaction, with the status, the refused products and the undo of an upload.
   *
   * `POST /seller_api/bulk_attributes`
   */
  uploadAttributes(
    input: {
      /** or a document that is encoded already */
      products: ProductAttributes[] | Encoded;
      /** version of the interface; 1.1 when left out */
      v?: "1.1";
      /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
      show?: "former";
      /** valid: store the products without a problem even if others have one; all or none when left out */
      accept?: "valid";
      /** quantity: set your products that are missing in the document to quantity 0 */
      complete?: "quantity";
      /** with complete=quantity: refuse the request if more than this percentage of the products on sale would be set to 0; 10 when left out */
      at_most?: number;
      /** a name to find it by, such as that of the file */
      name?: string;
      dry_run?: false;
    },
    options?: CallOptions,
  ): Promise<
    {
      transaction_id: string;
      /** only with accept=valid; left out if 0 */
      refused?: number;
    }
  >;
  uploadAttributes(input: {
    /** or a document that is encoded already */
    products: ProductAttributes[] | Encoded;
    /** version of the interface; 1.1 when left out */
    v?: "1.1";
    /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
    show?: "former";
    /** valid: store the products without a problem even if others have one; all or none when left out */
    accept?: "valid";
    /** quantity: set your products that are missing in the document to quantity 0 */
    complete?: "quantity";
    /** with complete=quantity: refuse the request if more than this percentage of the products on sale would be set to 0; 10 when left out */
    at_most?: number;
    /** a name to find it by, such as that of the file */
    name?: string;
    /** does everything but the write */
    dry_run: true;
  }, options?: CallOptions): Promise<{ dry_run: DryRun }>;

  /**
   * Import a document of any length. Takes up to 50,000 products, and answers once the document is on disk. All are checked in the background, then stored, none if anything is wrong (with accept=valid: those without a problem).
   *
   * `POST /seller_api/imports`
   */
  beginImport(input: {
    /** or a document that is encoded already */
    products: SentProduct[] | Encoded;
    /** version of the interface; 1.1 when left out */
    v?: "1.1";
    /** true: check everything, but store nothing */
    dry_run?: boolean;
    /** former: the results of a dry run include the stored title, price, quantity, GTIN and weight of each product */
    show?: "former";
    /** valid: store the products without a problem even if others have one; all or none when left out */
    accept?: "valid";
    /** a name to find it by, such as that of the file */
    name?: string;
  }, options?: CallOptions): Promise<{ import_id: string }>;

  /**
   * Recent imports. The newest first, with counters and without problems.
   *
   * `GET /seller_api/imports`
   */
  listImports(
    input?: {
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<{
    imports: Import[];
    /** the value of ?after= for the next page */
    next?: string;
  }>;

  /**
   * Watch an import. How far it is, and what is wrong. With Accept: text/event-stream, a stream of progress events and a final one.
   *
   * `GET /seller_api/imports/:import_id`
   */
  getImport(input: {
    /** the answer of the import */
    import_id: string;
    /** seconds to wait, up to 30, until the status is final */
    wait?: number;
  }, options?: CallOptions): Promise<{ import: Import }>;

  /**
   * Results of an import. What became of each product, in the order of the document.
   *
   * `GET /seller_api/imports/:import_id/results`
   */
  getImportResults(
    input: {
      /** the answer of the import */
      import_id: string;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
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
    },
    options?: CallOptions,
  ): Promise<
    {
      results: ImportResult[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Refused products of an import. As a document <products> to correct and send again: each product byte for byte as it was sent, behind a comment with its problems.
   *
   * `GET /seller_api/imports/:import_id/refused`
   */
  getRefusedOfImport(input: {
    /** the answer of the import */
    import_id: string;
  }, options?: CallOptions): Promise<string>;

  /**
   * Cancel an import. What is not stored yet is not stored any more. What was stored can be undone. A dry run that is over is deleted, with its document.
   *
   * `DELETE /seller_api/imports/:import_id`
   */
  cancelImport(input: {
    /** the answer of the import */
    import_id: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Try the failed images of an import again. Answers how many image references are tried again.
   *
   * `POST /seller_api/imports/:import_id/images/retry`
   */
  retryImportImages(
    input: {
      /** the answer of the import */
      import_id: string;
    },
    options?: CallOptions,
  ): Promise<{
    import_id: string;
    /** image references that are tried again */
    retried: number;
  }>;

  /**
   * Take an import back. Begins an import that restores the former value of every field that the import changed and deletes the products that it created, the newest part first. It is refused if anything was changed since, unless changed=keep.
   *
   * `POST /seller_api/imports/:import_id/undo`
   */
  undoImport(input: {
    /** the answer of the import */
    import_id: string;
    /** keep: keep fields that were changed since, and undo the others; when left out, the undo is refused if any were */
    changed?: "keep";
    /** true: check everything, but store nothing */
    dry_run?: boolean;
  }, options?: CallOptions): Promise<{ import_id: string }>;

  /**
   * Store what a dry run has checked. The document of a dry run without a problem (with accept=valid: its valid products) is stored without being sent again: the same import goes on as storing. If a product that it would change was changed since the check, nothing is done; check the document again.
   *
   * `POST /seller_api/imports/:import_id/store`
   */
  storeImport(input: {
    /** the answer of the import */
    import_id: string;
  }, options?: CallOptions): Promise<{ import_id: string }>;

  /**
   * Change one attribute. By the rules of the upload. A body is ignored. With an Idempotency-Key it is carried out once, however often it is sent.
   *
   * `PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value`
   */
  putAttribute(input: {
    /** a SKU or an id */
    sku_or_id: string;
    /** which attribute */
    attribute: AttributeName;
    /** its new value; empty clears it */
    value: string;
    /** the value that the attribute must have now; if it has another, the answer is 412 changed_since with the current value */
    expected?: string;
    /** true: the value is a difference to add to the current value, as in quantity/-2; a result out of range is refused */
    change?: boolean;
  }, options?: CallOptions): Promise<void>;

  /**
   * Read products out. In the order of their creation, so that a page shows no product twice and misses none while others are written; in another order, one that changes meanwhile may. By title, price, quantity and updated_at at most 20000 products are ordered. What stands in <products> can be uploaded as it is. With a filter a page may be short, or empty, before the end: go on while there is a <next>.
   *
   * `GET /seller_api/products`
   */
  listProducts(
    input?: {
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
      /** only products that changed at this time or later; ISO 8601 */
      updated_since?: string;
      /** only products with this status; deleted: the ids and SKUs of deleted products, the oldest deletion first */
      status?: "active" | "paused" | "deleted";
      /** only products whose review has this state */
      review?: "pending" | "approved" | "rejected";
      /** only products with an image in this state */
      images?: "pending" | "stored" | "failed";
      /** only products with exactly this GTIN */
      gtin?: string;
      /** only products whose SKU or title contains this, in any case */
      q?: string;
      /** the order; created_at when left out */
      sort?:
        | "created_at"
        | "sku"
        | "title"
        | "price"
        | "quantity"
        | "updated_at";
      /** up or down; asc when left out */
      order?: "asc" | "desc";
    },
    options?: CallOptions,
  ): Promise<
    {
      products: Product[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Rejected products. As a document <products> to correct and upload: each product behind a comment with the reason, up to 250, the first that were rejected first. A header Link leads to further ones. In JSON the reason is the review of the product alone.
   *
   * `GET /seller_api/products/rejected`
   */
  getRejectedProducts(input?: {
    /** continues after an earlier page: its <next> */
    after?: string;
  }, options?: CallOptions): Promise<string>;

  /**
   * Read a product out. Its fields, its times, and the state of its images.
   *
   * `GET /seller_api/products/:sku_or_id`
   */
  getProduct(input: {
    /** a SKU or an id */
    sku_or_id: string;
  }, options?: CallOptions): Promise<{ product: Product }>;

  /**
   * Read former prices. The changes of the price of a product, the newest first, as long as SELLER_KEEP_PRICES_DAYS says. A product that was never changed has none; one that is created again begins anew.
   *
   * `GET /seller_api/products/:sku_or_id/history`
   */
  getHistory(
    input: {
      /** a SKU or an id */
      sku_or_id: string;
      /** the attribute whose changes are listed */
      attribute: "price";
      /** continues after an earlier page: its <next> */
      after?: string;
    },
    options?: CallOptions,
  ): Promise<
    {
      changes: PriceChange[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Delete a product. Its SKU is free at once; its variants stay, and its images stay while another product shows them.
   *
   * `DELETE /seller_api/products/:sku_or_id`
   */
  deleteProduct(input: {
    /** a SKU or an id */
    sku_or_id: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Register a webhook. One for each trigger; another URL takes the place of the first.
   *
   * `POST /seller_api/webhooks`
   */
  createWebhook(input: {
    /** or a document that is encoded already */
    webhook: {
      trigger: Trigger;
      url: string;
      /** format of deliveries; xml by default */
      format?: "xml" | "json";
    } | Encoded;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * List webhooks. The oldest first; one that fails says since when and why.
   *
   * `GET /seller_api/webhooks`
   */
  listWebhooks(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ webhook: Webhook[] }>;

  /**
   * Remove a webhook. What waits for it is cancelled.
   *
   * `DELETE /seller_api/webhooks/:trigger`
   */
  deleteWebhook(input: {
    /** which trigger */
    trigger: Trigger;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Try a webhook. Sends it <event test="true">.
   *
   * `POST /seller_api/webhooks/:trigger/test`
   */
  testWebhook(input: {
    /** which trigger */
    trigger: Trigger;
  }, options?: CallOptions): Promise<{ delivery: Delivery }>;

  /**
   * Deliver again what was missed. Events whose delivery is exhausted or cancelled, or waits to be tried again, or for which there was no webhook. Answers how many deliveries are queued; what is pending already is not counted. A disabled webhook holds them until it is registered again.
   *
   * `POST /seller_api/webhooks/:trigger/recover`
   */
  recoverWebhook(input: {
    /** which trigger */
    trigger: Trigger;
    /** events of this time and later; ISO 8601 */
    since: string;
    /** events of this time and earlier; now when left out */
    until?: string;
  }, options?: CallOptions): Promise<{
    recovery: {
      /** deliveries that are sent again */
      queued: number;
      /** how many of them wait until the disabled webhook is registered again */
      held?: number;
    };
  }>;

  /**
   * Give a webhook a new secret. The webhook has a secret of its own from then on. For 24 h deliveries are signed with the former secret as well.
   *
   * `POST /seller_api/webhooks/:trigger/rotate_secret`
   */
  rotateWebhookSecret(input: {
    /** which trigger */
    trigger: Trigger;
  }, options?: CallOptions): Promise<{
    /** shown only once */
    webhook_secret: string;
  }>;

  /**
   * Recent deliveries. The newest first, each with its last ten tries. With a state, a page may hold few or none and still have a <next>.
   *
   * `GET /seller_api/webhooks/:trigger/deliveries`
   */
  listDeliveries(
    input: {
      /** which trigger */
      trigger: Trigger;
      /** only those in this state */
      state?: DeliveryState;
      /** only those of the event with exactly this reference */
      reference?: string;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      deliveries: LoggedDelivery[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Send a delivery anew. Answers the delivery's new state. A delivery that is under way stays as it is.
   *
   * `POST /seller_api/webhooks/:trigger/deliveries/:id/replay`
   */
  replayDelivery(input: {
    /** which trigger */
    trigger: Trigger;
    /** a delivery's id */
    id: string;
  }, options?: CallOptions): Promise<{ delivery: Delivery }>;

  /**
   * Pull events. Every event of yours in order, whether or not a webhook was registered. Every answer has a <next>: keep the last one and ask again.
   *
   * `GET /seller_api/events`
   */
  listEvents(input?: {
    /** continues after an earlier page: its <next> */
    after?: string;
    /** entries of a page, 1 to 250; 50 when left out */
    limit?: number;
    /** only those of this trigger */
    trigger?: Trigger;
    /** only those of the event with exactly this reference */
    reference?: string;
    /** only the event with this id, such as the <event_id> of a delivery */
    id?: string;
    /** seconds to wait, up to 30, until there is an event */
    wait?: number;
  }, options?: CallOptions): Promise<{
    /** as they are or would be delivered */
    events: DeliveredEvent[];
    /** the value of ?after= for the events after these */
    next: string;
  }>;

  /**
   * What triggers mean. Each trigger with when the marketplace sends it, and an example of its data.
   *
   * `GET /seller_api/triggers`
   */
  listTriggers(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ triggers: TriggerMeaning[] }>;

  /**
   * List mappings. All of them, in the order of their names.
   *
   * `GET /seller_api/mappings`
   */
  listMappings(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ mappings: Mapping[] }>;

  /**
   * Read a mapping. As it was sent.
   *
   * `GET /seller_api/mappings/:name`
   */
  getMapping(input: {
    /** a mapping's name */
    name: string;
  }, options?: CallOptions): Promise<{ mapping: Mapping }>;

  /**
   * Keep a mapping. What the columns of a table are, by a name of yours. It takes the place of one of that name; 50 are kept, each up to 32 KiB.
   *
   * `PUT /seller_api/mappings/:name`
   */
  putMapping(input: {
    /** a mapping's name */
    name: string;
    /** or a document that is encoded already */
    mapping: {
      /** the columns, each by its name in the table */
      columns: MappedColumn[];
      /** values for all rows */
      values: MappedValue[];
    } | Encoded;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Delete a mapping. Tables are mapped as if it had never been.
   *
   * `DELETE /seller_api/mappings/:name`
   */
  deleteMapping(input: {
    /** a mapping's name */
    name: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Categories of the marketplace. With their rules, in the order of the marketplace. `closed`: products may name these alone. Without any, categories are free. The ETag changes with the list.
   *
   * `GET /seller_api/categories`
   */
  listCategories(
    input?: {
      /** only categories whose name contains this, in any case */
      q?: string;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      categories: Categories;
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * A category and its rules. The ETag changes with the list.
   *
   * `GET /seller_api/categories/:category`
   */
  getCategory(input: {
    /** a category's name, "/" as %2F */
    category: string;
  }, options?: CallOptions): Promise<{ category: Category }>;

  /**
   * List your keys. The oldest first, also those that were revoked or have ended; `<current>` marks the one of this request.
   *
   * `GET /seller_api/keys`
   */
  listOwnKeys(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ keys: SellerKey[] }>;

  /**
   * Make a key. The key is shown once. What the document leaves out is as that of the key that asks; more than that is refused.
   *
   * `POST /seller_api/keys`
   */
  addOwnKey(input: {
    /** or a document that is encoded already */
    key: {
      /** a name for the key; up to 64 characters */
      label?: string;
      /** if left out, all that this key may give */
      scopes?: ("read" | "products" | "webhooks" | "keys")[];
      /** if left out, all that this key may give */
      networks?: string[];
      /** if left out, the latest end that this key may give */
      expires_at?: string | null;
    } | Encoded;
  }, options?: CallOptions): Promise<{ key: NewKey }>;

  /**
   * Revoke a key of yours. Every process refuses the key within a second. Your last key with the scope `keys` stays.
   *
   * `DELETE /seller_api/keys/:key_id`
   */
  revokeOwnKey(input: {
    /** a key's id */
    key_id: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Rotate a key. Makes a key of the same kind, which is shown once; the former one ends after 24 h. Every key may rotate itself; another one needs the scope `keys`. A body is ignored.
   *
   * `POST /seller_api/keys/:key_id/rotate`
   */
  rotateOwnKey(input: {
    /** a key's id */
    key_id: string;
  }, options?: CallOptions): Promise<{ key: NewKey }>;

  /**
   * Refused requests. The last 1000 of a seller and 30 days, the newest first: what was refused with a 4xx, and why. Equal refusals within a minute are one entry; no code takes more than half of what is kept.
   *
   * `GET /seller_api/refusals`
   */
  listRefusals(
    input?: {
      /** only those of this time and later */
      since?: string;
      /** only those of this time and earlier */
      until?: string;
      /** only those with this code, or with a detail that has it */
      code?: ErrorCode | DetailCode;
      /** only those of this <route>, such as POST /seller_api/bulk_products */
      route?: string;
      /** only those with a detail about this SKU, or the request with this id */
      q?: string;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      refusals: Refusal[];
      /** the value of ?after= for the next page */
      next?: string;
      /** database servers that cannot be reached; their sellers are left out */
      partial?: string[];
    }
  >;

  /**
   * Your account. Your name, your limits and what counts against them, the id of the key that asks, and from where our requests to you come. Every key may read it.
   *
   * `GET /seller_api/account`
   */
  getAccount(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ account: Account }>;

  /**
   * Hand an event in. The event is on disk when the answer arrives. The same seller, trigger and reference again return the first id and deliver nothing twice; with other data they are refused.
   *
   * `POST /operator_api/events`
   */
  ingestEvent(
    input: {
      /** or a document that is encoded already */
      event: {
        /** the seller's name */
        seller: string;
        trigger: Trigger;
        /** your reference; each is recorded once */
        reference: string;
        /** any elements, stored unchanged */
        data?: unknown;
      } | Encoded;
    },
    options?: CallOptions,
  ): Promise<{
    event_id: string;
    /** none: no webhook is registered */
    delivery?: Delivery;
  }>;

  /**
   * Follow the catalogue. The latest state of each changed product of all sellers, in the order of change; what becomes of its images is a change too. A deleted product has deleted_at, and only its id and SKU. seller_id never changes; a rename moves no product. Every page but an empty one has a <next>, which stays good for ever: keep the last one and ask again. With wait an empty page has one, too: that of the request.
   *
   * `GET /operator_api/products`
   */
  followProducts(
    input?: {
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
      /** seconds to wait, up to 30, until a product changes */
      wait?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      products: Product[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * List sellers. In the order of their creation, with their limits and what counts against them.
   *
   * `GET /operator_api/sellers`
   */
  listSellers(
    input?: {
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
      /** only those of this seller, by name or id */
      seller?: string;
    },
    options?: CallOptions,
  ): Promise<{
    sellers: Seller[];
    /** the value of ?after= for the next page */
    next?: string;
    /** database servers that cannot be reached; their sellers are left out */
    partial?: string[];
  }>;

  /**
   * Create a seller. With a first key and a webhook secret, which are shown once.
   *
   * `POST /operator_api/sellers`
   */
  addSeller(input: {
    /** or a document that is encoded already */
    seller: {
      /** 1 to 64 visible characters */
      name: string;
    } | Encoded;
  }, options?: CallOptions): Promise<{ seller: NewSeller }>;

  /**
   * Change a seller. A limit is a whole number; an empty one is the default of the settings. `email` is where the seller is told of trouble; empty: nowhere. A body is ignored.
   *
   * `PUT /operator_api/sellers/:seller/attribute/:seller_attribute/:value`
   */
  putSellerAttribute(input: {
    /** a seller's name or id */
    seller: string;
    /** which attribute */
    seller_attribute: SellerAttribute;
    /** its new value; empty clears it */
    value: string;
  }, options?: CallOptions): Promise<void>;

  /**
   * Remove a seller. With its products, uploads, webhooks, events and keys. The seller is unknown and its name free at once; its data goes within seconds. This cannot be undone.
   *
   * `DELETE /operator_api/sellers/:seller`
   */
  removeSeller(input: {
    /** a seller's name or id */
    seller: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * List a seller's keys. The oldest first, also those that were revoked.
   *
   * `GET /operator_api/sellers/:seller/keys`
   */
  listSellerKeys(input: {
    /** a seller's name or id */
    seller: string;
  }, options?: CallOptions): Promise<{ keys: SellerKey[] }>;

  /**
   * Give a seller one more key. The key is shown once. It has all scopes, no end and may come from everywhere unless the document says otherwise.
   *
   * `POST /operator_api/sellers/:seller/keys`
   */
  addSellerKey(input: {
    /** a seller's name or id */
    seller: string;
    /** or a document that is encoded already */
    key: {
      /** a name for the key; up to 64 characters */
      label?: string;
      /** if left out, all that this key may give */
      scopes?: ("read" | "products" | "webhooks" | "keys")[];
      /** if left out, all that this key may give */
      networks?: string[];
      /** if left out, the latest end that this key may give */
      expires_at?: string | null;
    } | Encoded;
  }, options?: CallOptions): Promise<{ key: NewKey }>;

  /**
   * Revoke a key. Every process refuses the key within a second.
   *
   * `DELETE /operator_api/keys/:key_id`
   */
  revokeKey(input: {
    /** a key's id */
    key_id: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Give a seller a new webhook secret. For 24 h deliveries are signed with the former secret as well. Webhooks with a secret of their own keep it.
   *
   * `POST /operator_api/sellers/:seller/rotate_secret`
   */
  rotateSellerSecret(input: {
    /** a seller's name or id */
    seller: string;
  }, options?: CallOptions): Promise<{
    /** shown only once */
    webhook_secret: string;
  }>;

  /**
   * A seller's deliveries. The newest first, each with its last ten tries, also those of webhooks that were deleted. With a state, a page may hold few or none and still have a <next>.
   *
   * `GET /operator_api/sellers/:seller/deliveries`
   */
  listSellerDeliveries(
    input: {
      /** a seller's name or id */
      seller: string;
      /** only those in this state */
      state?: DeliveryState;
      /** only those of this trigger */
      trigger?: Trigger;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      deliveries: LoggedDelivery[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * List products to review. Those that came to the state first, with what changed since the last approval. While products change, a page shows each as it is now.
   *
   * `GET /operator_api/reviews`
   */
  listReviews(
    input?: {
      /** only those in this state; pending when left out */
      state?: "pending" | "approved" | "rejected";
      /** only those of this seller, by name or id */
      seller?: string;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      reviews: ReviewedProduct[];
      /** the value of ?after= for the next page */
      next?: string;
      /** database servers that cannot be reached; their sellers are left out */
      partial?: string[];
    }
  >;

  /**
   * Decide about products. Up to 250, all or none. Each decision is in the audit log and an event of the seller, product_approved or product_rejected; one that is so already changes nothing. A rejection has a code or a message.
   *
   * `POST /operator_api/reviews`
   */
  decideReviews(input: {
    /** or a document that is encoded already */
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
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Reasons for rejections. Your own list, in its order; the page offers it to reviewers.
   *
   * `GET /operator_api/review_reasons`
   */
  listReasons(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    reasons: {
      /** a code that you choose */
      code: string;
      /** a field of the product */
      field?: string;
      /** what is wrong, and what would be right */
      message?: string;
    }[];
  }>;

  /**
   * Change the reasons for rejections. The whole list, up to 100; it takes the place of the former one. Decisions may have other codes, too.
   *
   * `PUT /operator_api/review_reasons`
   */
  putReasons(input: {
    /** or a document that is encoded already */
    reasons: {
      /** a code that you choose */
      code: string;
      /** a field of the product */
      field?: string;
      /** what is wrong, and what would be right */
      message?: string;
    }[] | Encoded;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * The list of categories. What was put, in its order, in pages.
   *
   * `GET /operator_api/categories`
   */
  listAllCategories(
    input?: {
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      categories: Categories;
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Replace the list of categories. The whole list, up to 10,000 categories and 8 MiB; it takes the place of the former one at once. With dry_run=true it is only checked. An empty list says nothing of any category. Stored products stay as they are.
   *
   * `PUT /operator_api/categories`
   */
  putCategories(input: {
    /** or a document that is encoded already */
    categories: {
      /** true: products may have only these categories */
      closed?: boolean;
      category?: Category[];
    } | Encoded;
    /** true: check everything, but store nothing */
    dry_run?: boolean;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Say what a trigger means. When you send it, and an example of its data; an empty one is the service's own. The handbook, the OpenAPI description and test events have it.
   *
   * `PUT /operator_api/triggers/:trigger_name`
   */
  putTrigger(input: {
    /** which trigger */
    trigger_name: Trigger;
    /** or a document that is encoded already */
    trigger: {
      /** when the trigger is sent, and what its data mean */
      about?: string | null;
      /** an example of the event's data */
      example?: unknown;
    } | Encoded;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Refused requests of sellers. The last 1000 of a seller and 30 days, the newest first.
   *
   * `GET /operator_api/refusals`
   */
  listAllRefusals(
    input?: {
      /** only those of this seller, by name or id */
      seller?: string;
      /** only those of this time and later */
      since?: string;
      /** only those of this time and earlier */
      until?: string;
      /** only those with this code, or with a detail that has it */
      code?: ErrorCode | DetailCode;
      /** only those of this <route>, such as POST /seller_api/bulk_products */
      route?: string;
      /** only those with a detail about this SKU, or the request with this id */
      q?: string;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      refusals: Refusal[];
      /** the value of ?after= for the next page */
      next?: string;
      /** database servers that cannot be reached; their sellers are left out */
      partial?: string[];
    }
  >;

  /**
   * The audit log. What operators changed and who did, the newest first.
   *
   * `GET /operator_api/audit`
   */
  listAudit(
    input?: {
      /** only those of this operator key, or of environment, command line or seller */
      who?: string;
      /** only those about the seller that had this name at that time */
      seller?: string;
      /** only those of this time and later */
      since?: string;
      /** only those of this time and earlier */
      until?: string;
      /** continues after an earlier page: its <next> */
      after?: string;
      /** entries of a page, 1 to 250; 50 when left out */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      audit: AuditEntry[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * How things stand. What waits, which webhooks fail (the 100 that failed first), and the last 24 hours: uploads, images fetched and failed, deliveries tried; and how much room is on the disks of the process that answers.
   *
   * `GET /operator_api/status`
   */
  getStatus(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<
    {
      backlog: Backlog;
      queues: Queue[];
      failing_webhooks: FailingWebhook[];
      hours: Hour[];
      disks: Disk[];
      /** database servers that cannot be reached; their sellers are left out */
      partial?: string[];
    }
  >;

  /**
   * The database. Its servers: whether they answer, as of the last 5 seconds, how many sellers and bytes each has. One server, unless Citus spreads the sellers over several.
   *
   * `GET /operator_api/database`
   */
  getDatabase(input?: {
    /** only the server of this seller, by name or id */
    seller?: string;
  }, options?: CallOptions): Promise<{
    database: {
      engine: "sqlite" | "postgres" | "citus";
      /** shards of each table, if there are several servers */
      shards?: number;
      servers: DatabaseServer[];
    };
  }>;

  /**
   * Metrics. In the text format of Prometheus. 404 while there is neither SELLER_METRICS_KEY nor an operator key.
   *
   * `GET /metrics`
   */
  getMetrics(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Alive. The process runs and answers.
   *
   * `GET /healthz`
   */
  getHealth(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<
    {
      status: "alive" | "ready" | "unavailable";
      /** to the operator alone; `ok`, or `failed: ` and why; `partly` while one of several servers of the database is away */
      checks?: {
        database?: string;
        queues?: string;
        images?: string;
        webhooks?: string;
        imports?: string;
        notices?: string;
      };
      backlog?: Backlog;
    }
  >;

  /**
   * Ready. 200 when the service can do its work, else 503. With the operator's key it says what it looked at.
   *
   * `GET /readyz`
   */
  getReadiness(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<
    {
      status: "alive" | "ready" | "unavailable";
      /** to the operator alone; `ok`, or `failed: ` and why; `partly` while one of several servers of the database is away */
      checks?: {
        database?: string;
        queues?: string;
        images?: string;
        webhooks?: string;
        imports?: string;
        notices?: string;
      };
      backlog?: Backlog;
    }
  >;

  /**
   * A stored image. At the path in a product's href. The file never changes. Ranges of bytes can be requested.
   *
   * `GET /images/:folder/:file`
   */
  getImage(input: {
    /** the first two digits of the SHA-256 */
    folder: string;
    /** the SHA-256, a dot and the type */
    file: string;
  }, options?: CallOptions): Promise<Blob>;

  /**
   * Schema of uploads. XML Schema 1.0.
   *
   * `GET /seller_api/schemas/products-1.1.xsd`
   */
  getProductsSchema(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Schema of attributes of many products. XML Schema 1.0.
   *
   * `GET /seller_api/schemas/attributes-1.1.xsd`
   */
  getAttributesSchema(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Schema of answers. XML Schema 1.0.
   *
   * `GET /seller_api/schemas/responses-1.1.xsd`
   */
  getResponsesSchema(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * OpenAPI description. OpenAPI 3.1.
   *
   * `GET /openapi.json`
   */
  getOpenApi(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * The handbook. Lists its chapters.
   *
   * `GET /docs`
   */
  getDocs(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * A chapter of the handbook. Among them this reference, which the service generates from the tables that it works by.
   *
   * `GET /docs/:chapter`
   */
  getChapter(input: {
    /** its name, as in /docs */
    chapter: string;
  }, options?: CallOptions): Promise<string>;
}

/** What the lists hold that come in pages. */
export interface Entries {
  listTransactions: Transaction;
  listImports: Import;
  getImportResults: ImportResult;
  listProducts: Product;
  getHistory: PriceChange;
  listDeliveries: LoggedDelivery;
  listEvents: DeliveredEvent;
  listCategories: Category;
  listRefusals: Refusal;
  followProducts: Product;
  listSellers: Seller;
  listSellerDeliveries: LoggedDelivery;
  listReviews: ReviewedProduct;
  listAllCategories: Category;
  listAllRefusals: Refusal;
  listAudit: AuditEntry;
}

export const OPERATIONS: Readonly<Record<keyof Operations, Operation>> = {
  uploadProducts: {
    method: "POST",
    path: "/seller_api/bulk_products",
    sends: "products",
    keyed: true,
  },
  getTransaction: { path: "/seller_api/bulk_products/:transaction_id" },
  getRefusedProducts: {
    path: "/seller_api/bulk_products/:transaction_id/refused",
    answer: "text",
  },
  listTransactions: {
    path: "/seller_api/bulk_products",
    pages: "transactions",
  },
  retryImages: {
    method: "POST",
    path: "/seller_api/bulk_products/:transaction_id/images/retry",
  },
  undoUpload: {
    method: "POST",
    path: "/seller_api/bulk_products/:transaction_id/undo",
    keyed: true,
  },
  uploadAttributes: {
    method: "POST",
    path: "/seller_api/bulk_attributes",
    sends: "products",
    keyed: true,
  },
  beginImport: {
    method: "POST",
    path: "/seller_api/imports",
    sends: "products",
    keyed: true,
  },
  listImports: { path: "/seller_api/imports", pages: "imports" },
  getImport: { path: "/seller_api/imports/:import_id" },
  getImportResults: {
    path: "/seller_api/imports/:import_id/results",
    pages: "results",
  },
  getRefusedOfImport: {
    path: "/seller_api/imports/:import_id/refused",
    answer: "text",
  },
  cancelImport: { method: "DELETE", path: "/seller_api/imports/:import_id" },
  retryImportImages: {
    method: "POST",
    path: "/seller_api/imports/:import_id/images/retry",
  },
  undoImport: {
    method: "POST",
    path: "/seller_api/imports/:import_id/undo",
    keyed: true,
  },
  storeImport: {
    method: "POST",
    path: "/seller_api/imports/:import_id/store",
    keyed: true,
  },
  putAttribute: {
    method: "PUT",
    path: "/seller_api/products/:sku_or_id/attribute/:attribute/:value",
    keyed: true,
    answer: null,
  },
  listProducts: { path: "/seller_api/products", pages: "products" },
  getRejectedProducts: {
    path: "/seller_api/products/rejected",
    answer: "text",
  },
  getProduct: { path: "/seller_api/products/:sku_or_id" },
  getHistory: {
    path: "/seller_api/products/:sku_or_id/history",
    pages: "changes",
  },
  deleteProduct: { method: "DELETE", path: "/seller_api/products/:sku_or_id" },
  createWebhook: {
    method: "POST",
    path: "/seller_api/webhooks",
    sends: "webhook",
  },
  listWebhooks: { path: "/seller_api/webhooks" },
  deleteWebhook: { method: "DELETE", path: "/seller_api/webhooks/:trigger" },
  testWebhook: { method: "POST", path: "/seller_api/webhooks/:trigger/test" },
  recoverWebhook: {
    method: "POST",
    path: "/seller_api/webhooks/:trigger/recover",
  },
  rotateWebhookSecret: {
    method: "POST",
    path: "/seller_api/webhooks/:trigger/rotate_secret",
  },
  listDeliveries: {
    path: "/seller_api/webhooks/:trigger/deliveries",
    pages: "deliveries",
  },
  replayDelivery: {
    method: "POST",
    path: "/seller_api/webhooks/:trigger/deliveries/:id/replay",
  },
  listEvents: { path: "/seller_api/events", pages: "events" },
  listTriggers: { path: "/seller_api/triggers" },
  listMappings: { path: "/seller_api/mappings" },
  getMapping: { path: "/seller_api/mappings/:name" },
  putMapping: {
    method: "PUT",
    path: "/seller_api/mappings/:name",
    sends: "mapping",
  },
  deleteMapping: { method: "DELETE", path: "/seller_api/mappings/:name" },
  listCategories: {
    path: "/seller_api/categories",
    pages: "categories",
    item: "category",
  },
  getCategory: { path: "/seller_api/categories/:category" },
  listOwnKeys: { path: "/seller_api/keys" },
  addOwnKey: { method: "POST", path: "/seller_api/keys", sends: "key" },
  revokeOwnKey: { method: "DELETE", path: "/seller_api/keys/:key_id" },
  rotateOwnKey: { method: "POST", path: "/seller_api/keys/:key_id/rotate" },
  listRefusals: { path: "/seller_api/refusals", pages: "refusals" },
  getAccount: { path: "/seller_api/account" },
  ingestEvent: { method: "POST", path: "/operator_api/events", sends: "event" },
  followProducts: { path: "/operator_api/products", pages: "products" },
  listSellers: { path: "/operator_api/sellers", pages: "sellers" },
  addSeller: { method: "POST", path: "/operator_api/sellers", sends: "seller" },
  putSellerAttribute: {
    method: "PUT",
    path: "/operator_api/sellers/:seller/attribute/:seller_attribute/:value",
    answer: null,
  },
  removeSeller: { method: "DELETE", path: "/operator_api/sellers/:seller" },
  listSellerKeys: { path: "/operator_api/sellers/:seller/keys" },
  addSellerKey: {
    method: "POST",
    path: "/operator_api/sellers/:seller/keys",
    sends: "key",
  },
  revokeKey: { method: "DELETE", path: "/operator_api/keys/:key_id" },
  rotateSellerSecret: {
    method: "POST",
    path: "/operator_api/sellers/:seller/rotate_secret",
  },
  listSellerDeliveries: {
    path: "/operator_api/sellers/:seller/deliveries",
    pages: "deliveries",
  },
  listReviews: { path: "/operator_api/reviews", pages: "reviews" },
  decideReviews: {
    method: "POST",
    path: "/operator_api/reviews",
    sends: "reviews",
  },
  listReasons: { path: "/operator_api/review_reasons" },
  putReasons: {
    method: "PUT",
    path: "/operator_api/review_reasons",
    sends: "reasons",
  },
  listAllCategories: {
    path: "/operator_api/categories",
    pages: "categories",
    item: "category",
  },
  putCategories: {
    method: "PUT",
    path: "/operator_api/categories",
    sends: "categories",
  },
  putTrigger: {
    method: "PUT",
    path: "/operator_api/triggers/:trigger_name",
    sends: "trigger",
  },
  listAllRefusals: { path: "/operator_api/refusals", pages: "refusals" },
  listAudit: { path: "/operator_api/audit", pages: "audit" },
  getStatus: { path: "/operator_api/status" },
  getDatabase: { path: "/operator_api/database" },
  getMetrics: { path: "/metrics", bearer: true, answer: "text" },
  getHealth: { path: "/healthz" },
  getReadiness: { path: "/readyz" },
  getImage: { path: "/images/:folder/:file", answer: "blob" },
  getProductsSchema: {
    path: "/seller_api/schemas/products-1.1.xsd",
    answer: "text",
  },
  getAttributesSchema: {
    path: "/seller_api/schemas/attributes-1.1.xsd",
    answer: "text",
  },
  getResponsesSchema: {
    path: "/seller_api/schemas/responses-1.1.xsd",
    answer: "text",
  },
  getOpenApi: { path: "/openapi.json", answer: "text" },
  getDocs: { path: "/docs", answer: "text" },
  getChapter: { path: "/docs/:chapter", answer: "text" },
};
