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
/** Every operation, by name. */
export interface Operations {
  /**
   * Upload products. Creates or updates up to 250 products: all or none; with accept=valid, the valid ones. Each image URL must answer HEAD with 200. Images are downloaded after the answer.
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
   * Follow an upload. The result of each product, and the progress of the images. With Accept: text/event-stream, a stream of progress events that ends with the final state.
   *
   * `GET /seller_api/bulk_products/:transaction_id`
   */
  getTransaction(input: {
    /** the id in the answer of the upload */
    transaction_id: string;
    /** seconds to wait, up to 30, until the status is final */
    wait?: number;
    /** the <next> of an earlier page, to continue after it */
    after?: string;
  }, options?: CallOptions): Promise<{ transaction: Transaction }>;

  /**
   * Download the refused products of an upload. The products that accept=valid did not store, as a document <products> to correct and upload. Each product is byte for byte as it was sent, after a comment with its problems.
   *
   * `GET /seller_api/bulk_products/:transaction_id/refused`
   */
  getRefusedProducts(input: {
    /** the id in the answer of the upload */
    transaction_id: string;
  }, options?: CallOptions): Promise<string>;

  /**
   * List uploads. Newest first, with counts but without results.
   *
   * `GET /seller_api/bulk_products`
   */
  listTransactions(
    input?: {
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Retry failed images. The answer counts the image references that are retried.
   *
   * `POST /seller_api/bulk_products/:transaction_id/images/retry`
   */
  retryImages(input: {
    /** the id in the answer of the upload */
    transaction_id: string;
  }, options?: CallOptions): Promise<{
    transaction_id: string;
    images: {
      retried: number;
    };
  }>;

  /**
   * Undo an upload. Restores the former value of every field that the upload changed, and deletes the products that it created: all or nothing. The undo is itself a transaction that can be undone. A dry run returns the counts, as with changed=keep, and what has changed since.
   *
   * `POST /seller_api/bulk_products/:transaction_id/undo`
   */
  undoUpload(
    input: {
      /** the id in the answer of the upload */
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
    /** the id in the answer of the upload */
    transaction_id: string;
    /** keep: keep fields that were changed since, and undo the others; when left out, the undo is refused if any were */
    changed?: "keep";
    /** does everything but the write */
    dry_run: true;
  }, options?: CallOptions): Promise<{ dry_run: DryRun }>;

  /**
   * Update attributes of many products. Sets attributes, such as price and quantity, of up to 10,000 stored products: all or none; with accept=valid, the valid ones. Creates no products. The answer has the id of a transaction, with the same status, refused products and undo as an upload.
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
   * Upload an image. The body is the file. The image is checked and stored as a downloaded one; products of the seller can then name its URL. The same bytes have the same URL.
   *
   * `POST /seller_api/images`
   */
  uploadImage(input: {
    /** the file */
    image: Blob;
  }, options?: CallOptions): Promise<{ image: UploadedImage }>;

  /**
   * Import a catalogue. Accepts up to 50,000 products, and answers when the document is on disk. In the background all products are checked, then stored: all or none; with accept=valid, the valid ones.
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
   * List imports. Newest first, with counts but without problems.
   *
   * `GET /seller_api/imports`
   */
  listImports(
    input?: {
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<{
    imports: Import[];
    /** the value of ?after= for the next page */
    next?: string;
  }>;

  /**
   * Follow an import. The progress and the problems. With Accept: text/event-stream, a stream of progress events that ends with the final state.
   *
   * `GET /seller_api/imports/:import_id`
   */
  getImport(input: {
    /** the id in the answer of the import */
    import_id: string;
    /** seconds to wait, up to 30, until the status is final */
    wait?: number;
  }, options?: CallOptions): Promise<{ import: Import }>;

  /**
   * List the results of an import. The result of each product, in the order of the document.
   *
   * `GET /seller_api/imports/:import_id/results`
   */
  getImportResults(
    input: {
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
   * Download the refused products of an import. A document <products> to correct and send again. Each product is byte for byte as it was sent, after a comment with its problems.
   *
   * `GET /seller_api/imports/:import_id/refused`
   */
  getRefusedOfImport(input: {
    /** the id in the answer of the import */
    import_id: string;
  }, options?: CallOptions): Promise<string>;

  /**
   * Cancel an import. Products not stored yet will not be stored. Stored ones can be undone. A finished dry run is deleted with its document.
   *
   * `DELETE /seller_api/imports/:import_id`
   */
  cancelImport(input: {
    /** the id in the answer of the import */
    import_id: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Retry the failed images of an import. The answer counts the image references that are retried.
   *
   * `POST /seller_api/imports/:import_id/images/retry`
   */
  retryImportImages(
    input: {
      /** the id in the answer of the import */
      import_id: string;
    },
    options?: CallOptions,
  ): Promise<{
    import_id: string;
    /** image references that are tried again */
    retried: number;
  }>;

  /**
   * Undo an import. Begins an import that restores the former value of every field that the import changed, and deletes the products that it created, newest part first. It is refused if anything has changed since, unless changed=keep.
   *
   * `POST /seller_api/imports/:import_id/undo`
   */
  undoImport(input: {
    /** the id in the answer of the import */
    import_id: string;
    /** keep: keep fields that were changed since, and undo the others; when left out, the undo is refused if any were */
    changed?: "keep";
    /** true: check everything, but store nothing */
    dry_run?: boolean;
  }, options?: CallOptions): Promise<{ import_id: string }>;

  /**
   * Store the products of a dry run. Stores the document of a dry run without problems (with accept=valid: its valid products), without sending it again: the same import continues as storing. If one of these products has changed since the check, the request is refused; check the document again.
   *
   * `POST /seller_api/imports/:import_id/store`
   */
  storeImport(input: {
    /** the id in the answer of the import */
    import_id: string;
  }, options?: CallOptions): Promise<{ import_id: string }>;

  /**
   * Change one attribute. The rules of uploads apply. A body is ignored. With an Idempotency-Key, a repeated request is executed only once.
   *
   * `PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value`
   */
  putAttribute(input: {
    /** a SKU, or else an id */
    sku_or_id: string;
    /** the attribute */
    attribute: AttributeName;
    /** the new value; an empty one clears the attribute */
    value: string;
    /** the value that the attribute must have now; if it has another, the answer is 412 changed_since with the current value */
    expected?: string;
    /** true: the value is a difference to add to the current value, as in quantity/-2; a result out of range is refused */
    change?: boolean;
  }, options?: CallOptions): Promise<void>;

  /**
   * List products. In the order of creation, so that paging repeats and misses no product while others are written; in another order, a product that changes meanwhile may be repeated or missed. By title, price, quantity and updated_at, up to 20000 products are sorted. The content of <products> can be uploaded unchanged. With a filter, a page may be short or empty before the end: continue while there is a <next>.
   *
   * `GET /seller_api/products`
   */
  listProducts(
    input?: {
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
      /** only products whose SKU or title contains this, in any case */
      q?: string;
      /** the field to sort by; default: created_at */
      sort?:
        | "created_at"
        | "sku"
        | "title"
        | "price"
        | "quantity"
        | "updated_at";
      /** the direction; default: asc */
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
   * Download rejected products. A document <products> to correct and upload, with up to 250 products, the earliest rejected first, each after a comment with the reason. A header Link leads to the next page. In JSON, the reason is only in the review of each product.
   *
   * `GET /seller_api/products/rejected`
   */
  getRejectedProducts(input?: {
    /** the <next> of an earlier page, to continue after it */
    after?: string;
  }, options?: CallOptions): Promise<string>;

  /**
   * Read a product. Its fields, its times, and the state of its images.
   *
   * `GET /seller_api/products/:sku_or_id`
   */
  getProduct(input: {
    /** a SKU, or else an id */
    sku_or_id: string;
  }, options?: CallOptions): Promise<{ product: Product }>;

  /**
   * Read the price history. The changes of the price that is asked, newest first; kept for SELLER_KEEP_PRICES_DAYS. A product whose price never changed has none. A product that is created again starts a new history.
   *
   * `GET /seller_api/products/:sku_or_id/history`
   */
  getHistory(
    input: {
      /** a SKU, or else an id */
      sku_or_id: string;
      /** the attribute whose changes are listed */
      attribute: "price";
      /** the <next> of an earlier page, to continue after it */
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
   * Delete a product. Its SKU can be used again at once. Its variants stay, and so do images that other products show.
   *
   * `DELETE /seller_api/products/:sku_or_id`
   */
  deleteProduct(input: {
    /** a SKU, or else an id */
    sku_or_id: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Register a webhook. One for each trigger; registering again replaces the URL.
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
   * List webhooks. Oldest first. A failing webhook has the start and the reason of its failures.
   *
   * `GET /seller_api/webhooks`
   */
  listWebhooks(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ webhook: Webhook[] }>;

  /**
   * Remove a webhook. Its pending deliveries are cancelled.
   *
   * `DELETE /seller_api/webhooks/:trigger`
   */
  deleteWebhook(input: {
    /** the trigger */
    trigger: Trigger;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Test a webhook. Sends it an <event test="true">.
   *
   * `POST /seller_api/webhooks/:trigger/test`
   */
  testWebhook(input: {
    /** the trigger */
    trigger: Trigger;
  }, options?: CallOptions): Promise<{ delivery: Delivery }>;

  /**
   * Recover missed events. Sends again the events whose delivery is exhausted, cancelled or retrying, or for which there was no webhook. The answer counts the queued deliveries, without those already pending. If the webhook is disabled, they are held until it is registered again.
   *
   * `POST /seller_api/webhooks/:trigger/recover`
   */
  recoverWebhook(input: {
    /** the trigger */
    trigger: Trigger;
    /** events of this time and later; ISO 8601 */
    since: string;
    /** events of this time and earlier; default: now */
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
   * Rotate a webhook's secret. From now on the webhook has its own secret. For 24 h, deliveries are also signed with the former secret.
   *
   * `POST /seller_api/webhooks/:trigger/rotate_secret`
   */
  rotateWebhookSecret(input: {
    /** the trigger */
    trigger: Trigger;
  }, options?: CallOptions): Promise<{
    /** shown only once */
    webhook_secret: string;
  }>;

  /**
   * List deliveries. Newest first, each with its last ten attempts. With a state, a page may be short or empty and still have a <next>.
   *
   * `GET /seller_api/webhooks/:trigger/deliveries`
   */
  listDeliveries(
    input: {
      /** the trigger */
      trigger: Trigger;
      /** only this state */
      state?: DeliveryState;
      /** only the event with exactly this reference */
      reference?: string;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Replay a delivery. The answer has the delivery's new state. A pending delivery is not changed.
   *
   * `POST /seller_api/webhooks/:trigger/deliveries/:id/replay`
   */
  replayDelivery(input: {
    /** the trigger */
    trigger: Trigger;
    /** a delivery's id */
    id: string;
  }, options?: CallOptions): Promise<{ delivery: Delivery }>;

  /**
   * Pull events. Your events in order, with or without a webhook. Every answer has a <next>: store it, and send it as after in the next request.
   *
   * `GET /seller_api/events`
   */
  listEvents(input?: {
    /** the <next> of an earlier page, to continue after it */
    after?: string;
    /** entries of a page, 1 to 250; default: 50 */
    limit?: number;
    /** only this trigger */
    trigger?: Trigger;
    /** only the event with exactly this reference */
    reference?: string;
    /** only the event with this id, such as the <event_id> of a delivery */
    id?: string;
    /** seconds to wait, up to 30, until there is an event */
    wait?: number;
  }, options?: CallOptions): Promise<{
    /** each in the form in which webhooks receive it */
    events: DeliveredEvent[];
    /** the value of ?after= for the events after these */
    next: string;
  }>;

  /**
   * List triggers. Each trigger with its meaning on this marketplace and an example of its data.
   *
   * `GET /seller_api/triggers`
   */
  listTriggers(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ triggers: TriggerMeaning[] }>;

  /**
   * List contacts. In the order of their names.
   *
   * `GET /seller_api/contacts`
   */
  listContacts(
    input?: {
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      contacts: Contact[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Read a contact. As it was stored.
   *
   * `GET /seller_api/contacts/:name`
   */
  getContact(input: {
    /** the name of a mapping or contact */
    name: string;
  }, options?: CallOptions): Promise<{ contact: Contact }>;

  /**
   * Store a contact. Stores who answers for products, under a name of 1 to 64 characters: products name it as `<manufacturer>` or `<responsible_person>`. A contact with the same name gets the new content, also for the products that name it. At most 1000 are stored.
   *
   * `PUT /seller_api/contacts/:name`
   */
  putContact(input: {
    /** the name of a mapping or contact */
    name: string;
    /** or a document that is encoded already */
    contact: {
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
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Delete a contact. It cannot be named any more; products that name it keep it. Its name is free at once, for another contact.
   *
   * `DELETE /seller_api/contacts/:name`
   */
  deleteContact(input: {
    /** the name of a mapping or contact */
    name: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * List mappings. In the order of their names.
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
    /** the name of a mapping or contact */
    name: string;
  }, options?: CallOptions): Promise<{ mapping: Mapping }>;

  /**
   * Store a mapping. Stores the fields of a table's columns under a name that you choose. Replaces a mapping with the same name. At most 50 are stored, each up to 32 KiB.
   *
   * `PUT /seller_api/mappings/:name`
   */
  putMapping(input: {
    /** the name of a mapping or contact */
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
   * Delete a mapping. The page then proposes the fields of the columns itself.
   *
   * `DELETE /seller_api/mappings/:name`
   */
  deleteMapping(input: {
    /** the name of a mapping or contact */
    name: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * List the marketplace's categories. With their rules, in the marketplace's order. `closed`: products may use only these categories. Without a list, products may use any. The ETag changes with the list.
   *
   * `GET /seller_api/categories`
   */
  listCategories(
    input?: {
      /** only categories whose name contains this, in any case */
      q?: string;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Read a category and its rules. The ETag changes with the list.
   *
   * `GET /seller_api/categories/:category`
   */
  getCategory(input: {
    /** a category's name, "/" as %2F */
    category: string;
  }, options?: CallOptions): Promise<{ category: Category }>;

  /**
   * List your keys. Oldest first, including expired and revoked keys; `<current>` marks the key of this request.
   *
   * `GET /seller_api/keys`
   */
  listOwnKeys(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ keys: SellerKey[] }>;

  /**
   * Create a key. The key is shown once. What the document leaves out is taken from the key of this request. A key cannot get more rights than the key of this request has.
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
   * Revoke one of your keys. Every process refuses the key within a second. Your last key with the scope `keys` cannot be revoked.
   *
   * `DELETE /seller_api/keys/:key_id`
   */
  revokeOwnKey(input: {
    /** a key's id */
    key_id: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * Rotate a key. Creates a key with the same rights, which is shown once. The former key expires after 24 h. Every key may rotate itself; to rotate another key, the scope `keys` is needed. A body is ignored.
   *
   * `POST /seller_api/keys/:key_id/rotate`
   */
  rotateOwnKey(input: {
    /** a key's id */
    key_id: string;
  }, options?: CallOptions): Promise<{ key: NewKey }>;

  /**
   * List refused requests. Requests refused with a 4xx, with the reasons. The last 1000 of each seller, for 30 days, newest first. Equal refusals within a minute are one entry; at most half of the entries have the same code.
   *
   * `GET /seller_api/refusals`
   */
  listRefusals(
    input?: {
      /** only entries of this time and later */
      since?: string;
      /** only entries of this time and earlier */
      until?: string;
      /** only refusals with this code, or with a detail with this code */
      code?: ErrorCode | DetailCode;
      /** only refusals with this <route>, such as POST /seller_api/bulk_products */
      route?: string;
      /** only refusals with a detail about this SKU, or the request with this id */
      q?: string;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Read your account. Your name, your limits and usage, the id of the key of this request, and the networks of the service's outgoing requests. Every key may read it.
   *
   * `GET /seller_api/account`
   */
  getAccount(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ account: Account }>;

  /**
   * Send an event. The event is on disk when the answer arrives. A repeated request with the same seller, trigger and reference returns the first id and delivers nothing twice; with other data it is refused.
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
   * Follow the catalogue. The latest state of each changed product of all sellers, in the order of change. The outcome of an image is a change, too. A deleted product has deleted_at, and only its id and SKU. Contacts are whole. seller_id never changes, even if the seller is renamed. Every page that is not empty has a <next>, which never expires: store it, and send it as after in the next request. With wait, an empty page has one, too: that of the request.
   *
   * `GET /operator_api/products`
   */
  followProducts(
    input?: {
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
      limit?: number;
      /** seconds to wait, up to 30, until a product changes */
      wait?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      products: FollowedProduct[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * Follow the contacts. The latest state of each contact of all sellers, in the order of change. A deleted contact has deleted_at, and only its id, seller and name. A change of a contact does not change the products that name it. Every page that is not empty has a <next>, which never expires: store it, and send it as after in the next request.
   *
   * `GET /operator_api/contacts`
   */
  followContacts(
    input?: {
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
      limit?: number;
    },
    options?: CallOptions,
  ): Promise<
    {
      contacts: ContactChange[];
      /** the value of ?after= for the next page */
      next?: string;
    }
  >;

  /**
   * List sellers. In the order of creation, with their limits and usage.
   *
   * `GET /operator_api/sellers`
   */
  listSellers(
    input?: {
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
      limit?: number;
      /** only this seller, by name or id */
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
   * Create a seller. The answer has the first key and a webhook secret, which are shown once.
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
   * Change a seller. A limit is a whole number; empty means the default of the settings. `email` receives notices to the seller; empty: nobody does. A body is ignored.
   *
   * `PUT /operator_api/sellers/:seller/attribute/:seller_attribute/:value`
   */
  putSellerAttribute(input: {
    /** a seller's name or id */
    seller: string;
    /** the attribute */
    seller_attribute: SellerAttribute;
    /** the new value; an empty one clears the attribute */
    value: string;
  }, options?: CallOptions): Promise<void>;

  /**
   * Remove a seller. Removes the seller with its products, uploads, webhooks, events and keys. Its name can be used again at once; its data are deleted within seconds. This cannot be undone.
   *
   * `DELETE /operator_api/sellers/:seller`
   */
  removeSeller(input: {
    /** a seller's name or id */
    seller: string;
  }, options?: CallOptions): Promise<{ success: boolean }>;

  /**
   * List a seller's keys. Oldest first, including revoked keys.
   *
   * `GET /operator_api/sellers/:seller/keys`
   */
  listSellerKeys(input: {
    /** a seller's name or id */
    seller: string;
  }, options?: CallOptions): Promise<{ keys: SellerKey[] }>;

  /**
   * Create a key for a seller. The key is shown once. Unless the document says otherwise, it has all scopes, does not expire, and works from every network.
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
   * Rotate a seller's webhook secret. For 24 h, deliveries are also signed with the former secret. Webhooks with their own secret keep it.
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
   * List a seller's deliveries. Newest first, each with its last ten attempts, including deliveries of deleted webhooks. With a state, a page may be short or empty and still have a <next>.
   *
   * `GET /operator_api/sellers/:seller/deliveries`
   */
  listSellerDeliveries(
    input: {
      /** a seller's name or id */
      seller: string;
      /** only this state */
      state?: DeliveryState;
      /** only this trigger */
      trigger?: Trigger;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * List products to review. Longest in the state first, with the changes since the last approval. Each product is shown as it is now.
   *
   * `GET /operator_api/reviews`
   */
  listReviews(
    input?: {
      /** only products in this state; default: pending */
      state?: "pending" | "approved" | "rejected";
      /** only this seller, by name or id */
      seller?: string;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Decide about products. Up to 250 decisions, all or none. Each decision is recorded in the audit log, and sent to the seller as an event product_approved or product_rejected. A repeated decision changes nothing. A rejection needs a code or a message.
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
   * List the reasons for rejections. Your list, in its order. The page offers it to reviewers.
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
   * Replace the reasons for rejections. Replaces the list, of up to 100 reasons. Decisions may also have other codes.
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
   * List categories. The list as you sent it, in pages.
   *
   * `GET /operator_api/categories`
   */
  listAllCategories(
    input?: {
      /** only categories whose name contains this, in any case */
      q?: string;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Replace the list of categories. Replaces the whole list, of up to 10,000 categories and 8 MiB. With dry_run=true, the list is only checked. An empty list removes all rules. Stored products are not changed.
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
   * Describe a trigger. When you send the trigger, and an example of its data; an empty text restores the service's own. The list of triggers, the OpenAPI description and test events show both.
   *
   * `PUT /operator_api/triggers/:trigger_name`
   */
  putTrigger(input: {
    /** the trigger */
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
   * List refused requests of sellers. Requests of sellers refused with a 4xx. The last 1000 of each seller, for 30 days, newest first.
   *
   * `GET /operator_api/refusals`
   */
  listAllRefusals(
    input?: {
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
      /** only refusals with a detail about this SKU, or the request with this id */
      q?: string;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Read the audit log. The changes by operators, newest first, and who made them.
   *
   * `GET /operator_api/audit`
   */
  listAudit(
    input?: {
      /** only changes by this operator key, or by environment, command line or seller */
      who?: string;
      /** only those about the seller that had this name at that time */
      seller?: string;
      /** only entries of this time and later */
      since?: string;
      /** only entries of this time and earlier */
      until?: string;
      /** the <next> of an earlier page, to continue after it */
      after?: string;
      /** entries of a page, 1 to 250; default: 50 */
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
   * Read the status of the service. The queues; the failing webhooks (the 100 that have failed longest); uploads, images and deliveries of the last 24 hours; and the free space on the disks of the process that answers.
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
   * List the database servers. Its servers: whether each answered the last check, at most 5 seconds ago, and how many sellers and bytes it has. There is one server, unless Citus spreads the sellers over several.
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
   * Read the metrics. In the text format of Prometheus. The answer is 404 without SELLER_METRICS_KEY and without an operator key.
   *
   * `GET /metrics`
   */
  getMetrics(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Check liveness. The process runs and answers.
   *
   * `GET /healthz`
   */
  getHealth(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<
    {
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
  >;

  /**
   * Check readiness. 200 if the service can work, else 503. With an operator key, the answer has the result of each check.
   *
   * `GET /readyz`
   */
  getReadiness(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<
    {
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
  >;

  /**
   * Read a stored image. The path is the href of a product's image. The file never changes. Byte ranges are supported.
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
   * Read the schema of uploads. XML Schema 1.0.
   *
   * `GET /seller_api/schemas/products-1.1.xsd`
   */
  getProductsSchema(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Read the schema of attribute updates. XML Schema 1.0.
   *
   * `GET /seller_api/schemas/attributes-1.1.xsd`
   */
  getAttributesSchema(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Read the schema of answers. XML Schema 1.0.
   *
   * `GET /seller_api/schemas/responses-1.1.xsd`
   */
  getResponsesSchema(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Read the OpenAPI description. OpenAPI 3.1.
   *
   * `GET /openapi.json`
   */
  getOpenApi(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * List the chapters of the handbook. The contents, as HTML.
   *
   * `GET /docs`
   */
  getDocs(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<string>;

  /**
   * Read a chapter of the handbook. One of the chapters is this API reference, which is generated from the table of endpoints.
   *
   * `GET /docs/:chapter`
   */
  getChapter(input: {
    /** the chapter's name, as in /docs */
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
  listContacts: Contact;
  listCategories: Category;
  listRefusals: Refusal;
  followProducts: FollowedProduct;
  followContacts: ContactChange;
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
  uploadImage: {
    method: "POST",
    path: "/seller_api/images",
    sendsFile: "image",
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
  listContacts: { path: "/seller_api/contacts", pages: "contacts" },
  getContact: { path: "/seller_api/contacts/:name" },
  putContact: {
    method: "PUT",
    path: "/seller_api/contacts/:name",
    sends: "contact",
  },
  deleteContact: { method: "DELETE", path: "/seller_api/contacts/:name" },
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
  followContacts: { path: "/operator_api/contacts", pages: "contacts" },
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
