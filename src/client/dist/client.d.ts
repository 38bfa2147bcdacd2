// Built by `deno task client` from sources with the hash 2ebccca9bb9918487bb5813873bfa34d.
/**
 * A typed client of the service, for sellers and operators, in TypeScript: it
 * runs in browsers, Deno and Node. The chapter "Client" of the handbook shows
 * how it is used.
 *
 * @module
 */
/** The client: every operation as a method, and what takes several requests. */
type ListName = keyof Entries;
/** Lists page after page; each page has its `next`, the cursor behind it. */
export type Pages = { [L in ListName]: (...given: Parameters<Operations[L]>) => AsyncGenerator<Awaited<ReturnType<Operations[L]>>>;
};
/** Lists entry after entry, to their end. */
export type All = { [L in ListName]: (...given: Parameters<Operations[L]>) => AsyncGenerator<Entries[L]>;
};
/** Any answer as the text of its XML. */
export type Xml = { [O in keyof Operations]: (...given: Parameters<Operations[O]>) => Promise<string>;
};
/** Which upload. */
interface UploadId {
    transaction_id: string;
}
/** Which import. */
interface ImportId {
    import_id: string;
}
export interface Client extends Operations { readonly pages: Pages;
    readonly all: All;
    readonly xml: Xml;
    /**
     * The transaction when it is final, with its results, or the import with its
     * problems. Throws as every operation.
     */
    waitFor(upload: UploadId, options?: CallOptions): Promise<Transaction>;
    waitFor(from: ImportId, options?: CallOptions): Promise<Import>;
    /**
     * The transaction, without its results, each time that it has changed, and
     * at last when it is final; or the import, without its problems. Opens a
     * stream that breaks anew; `retryFor` counts from the last change.
     */
    follow(upload: UploadId, options?: CallOptions): AsyncGenerator<Transaction>;
    follow(from: ImportId, options?: CallOptions): AsyncGenerator<Import>;
    /** What became of each product, also of more than one answer holds. */
    results(upload: UploadId, options?: CallOptions): AsyncGenerator<Result>;
}
/** A client of the service at `url` with one key. */
export declare function createClient(options: ClientOptions): Client;
/**
 * A document that is encoded already: XML, or what the type of the Blob says.
 */
export type Encoded = string | Blob;
export interface ClientOptions extends Partial<Platform> { /** As in `https://market.example`; left out: that of the page. */
    url?: string;
    /** The key of a seller or an operator. */
    key: string;
    /** As in `CallOptions`, for every call; 60,000 unless given. */
    retryFor?: number;
    /** What is accepted of the service at most; those left out have a default. */
    limits?: Partial<Limits>;
}
export interface CallOptions { /** Ends the call with an AbortError. */ signal?: AbortSignal;
    /**
     * How long, in milliseconds, a call that failed for a reason that may pass is
     * repeated; 0: it is not. Only calls that may be repeated are: those that
     * read, and those with an Idempotency-Key. What exceeds the rate limit waits
     * as long as the service says, up to ten times, whatever stands here.
     */
    retryFor?: number;
    /** Called with the reason before each wait. */
    onRetry?: (error: ApiError | Unreachable) => void;
    /** Instead of a new one for each call; for operations that take one. */
    idempotencyKey?: string;
}
type Input = Readonly<Record<string, unknown>>;
/** A refusal or failure that the service, or a proxy before it, answered. */
export declare class ApiError extends Error { readonly name = "ApiError";
    /** The message without that of the first problem. */
    readonly title: string;
    /** The HTTP status. */
    readonly status: number;
    /** `http_502`, for example, where the answer is not one of the service. */
    readonly code: ErrorCode | `http_${number}`;
    /** With it the operator finds the request in the log. */
    readonly requestId: string | null;
    /** Every problem of the request, up to 1,000. */
    readonly details: readonly Detail[];
    /** How many problems there are besides. */
    readonly more: number;
    /** Milliseconds to wait before the request is repeated; 0: none are named. */
    readonly retryAfter: number;
    constructor({ status, headers }: Response, body: string, now: number);
    /** Whether the same request may succeed later. */
    get passes(): boolean;
}
/** No answer came, or only a part of one. */
export declare class Unreachable extends Error { readonly name = "Unreachable";
    constructor(cause: unknown);
}
/**
 * What a client accepts at most of a service, so that one that is broken or
 * hostile cannot occupy a program for ever or fill its memory.
 */
export interface Limits { /** Bytes of an answer, decompressed; 67,108,864 unless given. */
    answerBytes: number;
    /** Characters of one event of a stream; 65,536 unless given. */
    eventLength: number;
    /** Pages of one list; 100,000 unless given. */
    pages: number;
    /**
     * Milliseconds for which `waitFor` and `follow` wait for the end of an
     * upload; 86,400,000 (a day) unless given.
     */
    followFor: number;
}
/** An answer, a list or an upload went beyond one of the limits. */
export declare class LimitError extends Error { readonly name = "LimitError";
}
/** Every operation, by name. */
export interface Operations { /** * Upload products. Creates or updates up to 250 products, all or none (with accept=valid: those without a problem). Each image URL must answer HEAD with 200; the images are fetched after the answer.
     *
     * `POST /seller_api/bulk_products`
     */
    uploadProducts(input: {
        /** or a document that is encoded already */
        products: SentProduct[] | Encoded;
        /** version; 1.1 when left out */
        v?: "1.1";
        /** valid stores the products without a problem, also when others have one; all or none when left out */
        accept?: "valid";
        dry_run?: false;
    }, options?: CallOptions): Promise<{
        transaction_id: string;
        /** only with accept=valid; 0 is left out */
        refused?: number;
    }>;
    uploadProducts(input: {
        /** or a document that is encoded already */
        products: SentProduct[] | Encoded;
        /** version; 1.1 when left out */
        v?: "1.1";
        /** valid stores the products without a problem, also when others have one; all or none when left out */
        accept?: "valid";
        /** does everything but the write */
        dry_run: true;
    }, options?: CallOptions): Promise<{
        dry_run: DryRun;
    }>;
    /**
     * Watch an upload. What became of each product, and how far the images are. With Accept: text/event-stream, a stream of progress events and a final one.
     *
     * `GET /seller_api/bulk_products/:transaction_id`
     */
    getTransaction(input: {
        /** the answer of the upload */
        transaction_id: string;
        /** seconds, up to 30: answers when the status is final, or then */
        wait?: number;
        /** continues after an earlier page: its <next> */
        after?: string;
    }, options?: CallOptions): Promise<{
        transaction: Transaction;
    }>;
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
    listTransactions(input?: {
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
    }, options?: CallOptions): Promise<{
        transactions: Transaction[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
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
    undoUpload(input: {
        /** the answer of the upload */
        transaction_id: string;
        /** keep: leaves fields that were changed since and undoes the rest; when left out, the undo is refused if there are any */
        changed?: "keep";
        dry_run?: false;
    }, options?: CallOptions): Promise<{
        transaction_id: string;
        /** only with accept=valid; 0 is left out */
        refused?: number;
    }>;
    undoUpload(input: {
        /** the answer of the upload */
        transaction_id: string;
        /** keep: leaves fields that were changed since and undoes the rest; when left out, the undo is refused if there are any */
        changed?: "keep";
        /** does everything but the write */
        dry_run: true;
    }, options?: CallOptions): Promise<{
        dry_run: DryRun;
    }>;
    /**
     * Update attributes of many products. Sets any attributes, such as price and quantity, of up to 10,000 stored products, all or none (with accept=valid: those without a problem). It creates no product. The answer names a transaction, with the status, the refused products and the undo of an upload.
     *
     * `POST /seller_api/bulk_attributes`
     */
    uploadAttributes(input: {
        /** or a document that is encoded already */
        products: ProductAttributes[] | Encoded;
        /** version; 1.1 when left out */
        v?: "1.1";
        /** valid stores the products without a problem, also when others have one; all or none when left out */
        accept?: "valid";
        /** quantity: your products that the document does not name go to quantity 0 */
        complete?: "quantity";
        /** with complete=quantity: the request is refused if more percent of the products on sale would go to 0; 10 when left out */
        at_most?: number;
        dry_run?: false;
    }, options?: CallOptions): Promise<{
        transaction_id: string;
        /** only with accept=valid; 0 is left out */
        refused?: number;
    }>;
    uploadAttributes(input: {
        /** or a document that is encoded already */
        products: ProductAttributes[] | Encoded;
        /** version; 1.1 when left out */
        v?: "1.1";
        /** valid stores the products without a problem, also when others have one; all or none when left out */
        accept?: "valid";
        /** quantity: your products that the document does not name go to quantity 0 */
        complete?: "quantity";
        /** with complete=quantity: the request is refused if more percent of the products on sale would go to 0; 10 when left out */
        at_most?: number;
        /** does everything but the write */
        dry_run: true;
    }, options?: CallOptions): Promise<{
        dry_run: DryRun;
    }>;
    /**
     * Import a document of any length. Takes up to 50,000 products, and answers once the document is on disk. All are checked in the background, then stored, none if anything is wrong (with accept=valid: those without a problem).
     *
     * `POST /seller_api/imports`
     */
    beginImport(input: {
        /** or a document that is encoded already */
        products: SentProduct[] | Encoded;
        /** version; 1.1 when left out */
        v?: "1.1";
        /** true does everything but the write */
        dry_run?: boolean;
        /** valid stores the products without a problem, also when others have one; all or none when left out */
        accept?: "valid";
        /** a name to find it again by, such as that of the file */
        name?: string;
    }, options?: CallOptions): Promise<{
        import_id: string;
    }>;
    /**
     * Recent imports. The newest first, with counters and without problems.
     *
     * `GET /seller_api/imports`
     */
    listImports(input?: {
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
    }, options?: CallOptions): Promise<{
        imports: Import[];
        /** what ?after= takes for the next page */
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
        /** seconds, up to 30: answers when the status is final, or then */
        wait?: number;
    }, options?: CallOptions): Promise<{
        import: Import;
    }>;
    /**
     * Results of an import. What became of each product, in the order of the document.
     *
     * `GET /seller_api/imports/:import_id/results`
     */
    getImportResults(input: {
        /** the answer of the import */
        import_id: string;
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
        /** only products with this result */
        result?: "created" | "updated" | "unchanged" | "deleted" | "refused" | "not_stored";
    }, options?: CallOptions): Promise<{
        results: ImportResult[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
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
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * Try the failed images of an import again. Answers how many image references are tried again.
     *
     * `POST /seller_api/imports/:import_id/images/retry`
     */
    retryImportImages(input: {
        /** the answer of the import */
        import_id: string;
    }, options?: CallOptions): Promise<{
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
        /** keep: leaves fields that were changed since and undoes the rest; when left out, the undo is refused if there are any */
        changed?: "keep";
        /** true does everything but the write */
        dry_run?: boolean;
    }, options?: CallOptions): Promise<{
        import_id: string;
    }>;
    /**
     * Change one attribute. By the rules of the upload. A body is ignored.
     *
     * `PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value`
     */
    putAttribute(input: {
        /** a SKU, else an id */
        sku_or_id: string;
        /** which attribute */
        attribute: AttributeName;
        /** its new value; empty clears it */
        value: string;
        /** the value that the attribute must have now, so that nothing is overwritten; 412 changed_since with the present one if it has another */
        expected?: string;
    }, options?: CallOptions): Promise<void>;
    /**
     * Read products out. In the order of their creation, so that a page shows no product twice and misses none while others are written. What stands in <products> can be uploaded as it is. With a filter a page may be short, or empty, before the end: go on while there is a <next>.
     *
     * `GET /seller_api/products`
     */
    listProducts(input?: {
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
        /** only what changed then or later; ISO 8601 */
        updated_since?: string;
        /** only products with this status */
        status?: "active" | "paused";
        /** only products whose review has this state */
        review?: "pending" | "approved" | "rejected";
        /** only products with an image in this state */
        images?: "pending" | "stored" | "failed";
        /** only products whose SKU or title holds this, in any case */
        q?: string;
    }, options?: CallOptions): Promise<{
        products: Product[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
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
        /** a SKU, else an id */
        sku_or_id: string;
    }, options?: CallOptions): Promise<{
        product: Product;
    }>;
    /**
     * Read former prices. The changes of the price of a product, the newest first, as long as SELLER_KEEP_PRICES_DAYS says. A product that was never changed has none; one that is created again begins anew.
     *
     * `GET /seller_api/products/:sku_or_id/history`
     */
    getHistory(input: {
        /** a SKU, else an id */
        sku_or_id: string;
        /** whose changes */
        attribute: "price";
        /** continues after an earlier page: its <next> */
        after?: string;
    }, options?: CallOptions): Promise<{
        changes: PriceChange[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
    /**
     * Delete a product. Its SKU is free at once; its variants stay, and its images stay while another product shows them.
     *
     * `DELETE /seller_api/products/:sku_or_id`
     */
    deleteProduct(input: {
        /** a SKU, else an id */
        sku_or_id: string;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
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
            /** of deliveries; xml without it */
            format?: "xml" | "json";
        } | Encoded;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * List webhooks. The oldest first; one that fails says since when and why.
     *
     * `GET /seller_api/webhooks`
     */
    listWebhooks(input?: Record<string, never>, options?: CallOptions): Promise<{
        webhook: Webhook[];
    }>;
    /**
     * Remove a webhook. What waits for it is cancelled.
     *
     * `DELETE /seller_api/webhooks/:trigger`
     */
    deleteWebhook(input: {
        /** which trigger */
        trigger: Trigger;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * Try a webhook. Sends it <event test="true">.
     *
     * `POST /seller_api/webhooks/:trigger/test`
     */
    testWebhook(input: {
        /** which trigger */
        trigger: Trigger;
    }, options?: CallOptions): Promise<{
        delivery: Delivery;
    }>;
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
            /** those of them that wait until the disabled webhook is registered again */
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
        /** it is not shown again */
        webhook_secret: string;
    }>;
    /**
     * Recent deliveries. The newest first, each with its last ten tries. With a state, a page may hold few or none and still have a <next>.
     *
     * `GET /seller_api/webhooks/:trigger/deliveries`
     */
    listDeliveries(input: {
        /** which trigger */
        trigger: Trigger;
        /** only those in this state */
        state?: DeliveryState;
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
    }, options?: CallOptions): Promise<{
        deliveries: LoggedDelivery[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
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
    }, options?: CallOptions): Promise<{
        delivery: Delivery;
    }>;
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
        /** seconds, up to 30: answers when there is an event, or then */
        wait?: number;
    }, options?: CallOptions): Promise<{
        /** as they are or would be delivered */
        events: DeliveredEvent[];
        /** what ?after= takes for the events behind these */
        next: string;
    }>;
    /**
     * List mappings. All of them, in the order of their names.
     *
     * `GET /seller_api/mappings`
     */
    listMappings(input?: Record<string, never>, options?: CallOptions): Promise<{
        mappings: Mapping[];
    }>;
    /**
     * Read a mapping. As it was sent.
     *
     * `GET /seller_api/mappings/:name`
     */
    getMapping(input: {
        /** a mapping's name */
        name: string;
    }, options?: CallOptions): Promise<{
        mapping: Mapping;
    }>;
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
            /** each by its name in the table */
            columns: MappedColumn[];
            /** what all rows have */
            values: MappedValue[];
        } | Encoded;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * Delete a mapping. Tables are mapped as if it had never been.
     *
     * `DELETE /seller_api/mappings/:name`
     */
    deleteMapping(input: {
        /** a mapping's name */
        name: string;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * List your keys. The oldest first, also those that were revoked or have ended; `<current>` marks the one of this request.
     *
     * `GET /seller_api/keys`
     */
    listOwnKeys(input?: Record<string, never>, options?: CallOptions): Promise<{
        keys: SellerKey[];
    }>;
    /**
     * Make a key. The key is shown once. What the document leaves out is as that of the key that asks; more than that is refused.
     *
     * `POST /seller_api/keys`
     */
    addOwnKey(input: {
        /** or a document that is encoded already */
        key: {
            /** what you call it; up to 64 characters */
            label?: string;
            /** left out: all that may be given */
            scopes?: ("read" | "products" | "webhooks" | "keys")[];
            /** left out: all that may be given */
            networks?: string[];
            /** left out: as late as may be */
            expires_at?: string | null;
        } | Encoded;
    }, options?: CallOptions): Promise<{
        key: NewKey;
    }>;
    /**
     * Revoke a key of yours. Every process refuses the key within a second. Your last key with the scope `keys` stays.
     *
     * `DELETE /seller_api/keys/:key_id`
     */
    revokeOwnKey(input: {
        /** a key's id */
        key_id: string;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * Rotate a key. Makes a key of the same kind, which is shown once; the former one ends after 24 h. A body is ignored.
     *
     * `POST /seller_api/keys/:key_id/rotate`
     */
    rotateOwnKey(input: {
        /** a key's id */
        key_id: string;
    }, options?: CallOptions): Promise<{
        key: NewKey;
    }>;
    /**
     * Refused requests. The last 1000 of a seller and 30 days, the newest first: what was refused with a 4xx, and why.
     *
     * `GET /seller_api/refusals`
     */
    listRefusals(input?: {
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
    }, options?: CallOptions): Promise<{
        refusals: Refusal[];
        /** what ?after= takes for the next page */
        next?: string;
        /** sellers on these servers of the database are left out: they are away */
        partial?: string[];
    }>;
    /**
     * Your account. Your name, your limits and what counts against them, and from where our requests to you come.
     *
     * `GET /seller_api/account`
     */
    getAccount(input?: Record<string, never>, options?: CallOptions): Promise<{
        account: Account;
    }>;
    /**
     * Hand an event in. The event is on disk when the answer arrives. The same seller, trigger and reference again return the first id and deliver nothing twice.
     *
     * `POST /operator_api/events`
     */
    ingestEvent(input: {
        /** or a document that is encoded already */
        event: {
            /** the seller's name */
            seller: string;
            trigger: Trigger;
            /** yours; an event is recorded once for each */
            reference: string;
            /** any elements, kept byte for byte */
            data?: unknown;
        } | Encoded;
    }, options?: CallOptions): Promise<{
        event_id: string;
        /** none: no webhook is registered */
        delivery?: Delivery;
    }>;
    /**
     * Follow the catalogue. The latest state of each changed product of all sellers, in the order of change; what becomes of its images is a change too. A deleted product has deleted_at, and only its id and SKU. seller_id never changes; a rename moves no product. Every page but an empty one has a <next>, which stays good for ever: keep the last one and ask again.
     *
     * `GET /operator_api/products`
     */
    followProducts(input?: {
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
    }, options?: CallOptions): Promise<{
        products: Product[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
    /**
     * List sellers. In the order of their creation, with their limits and what counts against them.
     *
     * `GET /operator_api/sellers`
     */
    listSellers(input?: {
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
    }, options?: CallOptions): Promise<{
        sellers: Seller[];
        /** what ?after= takes for the next page */
        next?: string;
        /** sellers on these servers of the database are left out: they are away */
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
    }, options?: CallOptions): Promise<{
        seller: NewSeller;
    }>;
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
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * List a seller's keys. The oldest first, also those that were revoked.
     *
     * `GET /operator_api/sellers/:seller/keys`
     */
    listSellerKeys(input: {
        /** a seller's name or id */
        seller: string;
    }, options?: CallOptions): Promise<{
        keys: SellerKey[];
    }>;
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
            /** what you call it; up to 64 characters */
            label?: string;
            /** left out: all that may be given */
            scopes?: ("read" | "products" | "webhooks" | "keys")[];
            /** left out: all that may be given */
            networks?: string[];
            /** left out: as late as may be */
            expires_at?: string | null;
        } | Encoded;
    }, options?: CallOptions): Promise<{
        key: NewKey;
    }>;
    /**
     * Revoke a key. Every process refuses the key within a second.
     *
     * `DELETE /operator_api/keys/:key_id`
     */
    revokeKey(input: {
        /** a key's id */
        key_id: string;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * Give a seller a new webhook secret. For 24 h deliveries are signed with the former secret as well. Webhooks with a secret of their own keep it.
     *
     * `POST /operator_api/sellers/:seller/rotate_secret`
     */
    rotateSellerSecret(input: {
        /** a seller's name or id */
        seller: string;
    }, options?: CallOptions): Promise<{
        /** it is not shown again */
        webhook_secret: string;
    }>;
    /**
     * A seller's deliveries. The newest first, each with its last ten tries, also those of webhooks that were deleted. With a state, a page may hold few or none and still have a <next>.
     *
     * `GET /operator_api/sellers/:seller/deliveries`
     */
    listSellerDeliveries(input: {
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
    }, options?: CallOptions): Promise<{
        deliveries: LoggedDelivery[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
    /**
     * List products to review. Those that came to the state first, with what changed since the last approval. While products change, a page shows each as it is now.
     *
     * `GET /operator_api/reviews`
     */
    listReviews(input?: {
        /** only those in this state; pending when left out */
        state?: "pending" | "approved" | "rejected";
        /** only those of this seller, by name or id */
        seller?: string;
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
    }, options?: CallOptions): Promise<{
        reviews: ReviewedProduct[];
        /** what ?after= takes for the next page */
        next?: string;
        /** sellers on these servers of the database are left out: they are away */
        partial?: string[];
    }>;
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
            /** a word of the operator's */
            code?: string;
            /** a field of the product */
            field?: string;
            /** what is wrong, and what would be right */
            message?: string;
            /** as it was read; refused if the product was changed since */
            changed_at?: string;
        }[] | Encoded;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * Reasons for rejections. Your own list, in its order; the page offers it to reviewers.
     *
     * `GET /operator_api/review_reasons`
     */
    listReasons(input?: Record<string, never>, options?: CallOptions): Promise<{
        reasons: {
            /** a word of yours */
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
            /** a word of yours */
            code: string;
            /** a field of the product */
            field?: string;
            /** what is wrong, and what would be right */
            message?: string;
        }[] | Encoded;
    }, options?: CallOptions): Promise<{
        success: boolean;
    }>;
    /**
     * Refused requests of sellers. The last 1000 of a seller and 30 days, the newest first.
     *
     * `GET /operator_api/refusals`
     */
    listAllRefusals(input?: {
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
    }, options?: CallOptions): Promise<{
        refusals: Refusal[];
        /** what ?after= takes for the next page */
        next?: string;
        /** sellers on these servers of the database are left out: they are away */
        partial?: string[];
    }>;
    /**
     * The audit log. What operators changed and who did, the newest first.
     *
     * `GET /operator_api/audit`
     */
    listAudit(input?: {
        /** only those of this operator key, or of environment, command line or seller */
        who?: string;
        /** only those about the seller that had this name then */
        seller?: string;
        /** only those of this time and later */
        since?: string;
        /** only those of this time and earlier */
        until?: string;
        /** continues after an earlier page: its <next> */
        after?: string;
        /** entries of a page, 1 to 250; 50 when left out */
        limit?: number;
    }, options?: CallOptions): Promise<{
        audit: AuditEntry[];
        /** what ?after= takes for the next page */
        next?: string;
    }>;
    /**
     * How things stand. What waits, which webhooks fail (the 100 that failed first), and the last 24 hours: uploads, images fetched and failed, deliveries tried.
     *
     * `GET /operator_api/status`
     */
    getStatus(input?: Record<string, never>, options?: CallOptions): Promise<{
        backlog: Backlog;
        failing_webhooks: FailingWebhook[];
        hours: Hour[];
        /** sellers on these servers of the database are left out: they are away */
        partial?: string[];
    }>;
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
            /** of each table, on several servers */
            shards?: number;
            servers: DatabaseServer[];
        };
    }>;
    /**
     * Metrics. In the text format of Prometheus. 404 while there is neither SELLER_METRICS_KEY nor an operator key.
     *
     * `GET /metrics`
     */
    getMetrics(input?: Record<string, never>, options?: CallOptions): Promise<string>;
    /**
     * Alive. The process runs and answers.
     *
     * `GET /healthz`
     */
    getHealth(input?: Record<string, never>, options?: CallOptions): Promise<{
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
    }>;
    /**
     * Ready. 200 when the service can do its work, else 503. With the operator's key it says what it looked at.
     *
     * `GET /readyz`
     */
    getReadiness(input?: Record<string, never>, options?: CallOptions): Promise<{
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
    }>;
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
    getProductsSchema(input?: Record<string, never>, options?: CallOptions): Promise<string>;
    /**
     * Schema of attributes of many products. XML Schema 1.0.
     *
     * `GET /seller_api/schemas/attributes-1.1.xsd`
     */
    getAttributesSchema(input?: Record<string, never>, options?: CallOptions): Promise<string>;
    /**
     * Schema of answers. XML Schema 1.0.
     *
     * `GET /seller_api/schemas/responses-1.1.xsd`
     */
    getResponsesSchema(input?: Record<string, never>, options?: CallOptions): Promise<string>;
    /**
     * OpenAPI description. OpenAPI 3.1.
     *
     * `GET /openapi.json`
     */
    getOpenApi(input?: Record<string, never>, options?: CallOptions): Promise<string>;
    /**
     * The handbook. Lists its chapters.
     *
     * `GET /docs`
     */
    getDocs(input?: Record<string, never>, options?: CallOptions): Promise<string>;
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
export interface Entries { listTransactions: Transaction;
    listImports: Import;
    getImportResults: ImportResult;
    listProducts: Product;
    getHistory: PriceChange;
    listDeliveries: LoggedDelivery;
    listEvents: DeliveredEvent;
    listRefusals: Refusal;
    followProducts: Product;
    listSellers: Seller;
    listSellerDeliveries: LoggedDelivery;
    listReviews: ReviewedProduct;
    listAllRefusals: Refusal;
    listAudit: AuditEntry;
}
/**
 * What documents hold. Written from the
 * tables of the service by `deno task client`.
 */
export type ErrorCode = "malformed_xml" | "malformed_json" | "malformed_request" | "unsupported_version" | "unauthorized" | "forbidden" | "suspended" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "idempotency_key_in_progress" | "changed_since" | "too_many_products" | "body_too_large" | "unsupported_media_type" | "record_invalid" | "idempotency_key_reused" | "rate_limited" | "internal" | "unavailable";
export type DetailCode = "required" | "too_long" | "too_many" | "not_a_number" | "out_of_range" | "not_in_list" | "not_a_date" | "not_one_line" | "not_allowed" | "unknown_element" | "unknown_attribute" | "unexpected_text" | "repeated_element" | "repeated_value" | "duplicate_sku" | "duplicate_product" | "sku_taken" | "name_taken" | "too_many_missing" | "quota_exceeded" | "changed_since" | "too_old" | "not_found" | "unknown_id" | "bad_check_digit" | "bad_url" | "image_unavailable" | "image_blocked" | "url_blocked" | "unresolved" | "wrong_type" | "syntax" | "internal" | "limit";
export type ImageCode = "image_not_found" | "image_forbidden" | "image_redirected" | "image_rate_limited" | "image_host_error" | "image_unavailable" | "image_timeout" | "image_incomplete" | "image_host_unreachable" | "image_tls_failed" | "image_bad_response" | "image_blocked" | "image_too_large" | "image_not_an_image" | "image_unsupported_type" | "image_corrupt" | "image_too_many_pixels" | "image_too_many_frames" | "image_quota_exceeded" | "image_unprocessable";
export type Trigger = "order_created" | "order_paid" | "order_updated" | "order_cancelled" | "order_delivered" | "return_created" | "return_updated" | "refund_created" | "message_created" | "review_created" | "payout_paid" | "product_approved" | "product_rejected";
export type DeliveryState = "pending" | "sending" | "retrying" | "delivered" | "exhausted" | "held" | "cancelled";
export type AttributeName = "sku" | "title" | "price" | "compare_at_price" | "vat_rate" | "quantity" | "availability" | "available_at" | "gtin" | "brand" | "mpn" | "weight" | "condition" | "status";
export type SellerAttribute = "name" | "status" | "rate_limit" | "product_limit" | "image_quota" | "email" | "review";
export interface ProductAttribute { value: string;
    name: string;
}
export interface ProductImage { url: string;
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
export type SentProduct = { /** only in what is read out; ignored in what is sent */
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
    categories?: string[] | null;
    attributes?: ProductAttribute[] | null;
    images?: ProductImage[] | null;
    /** of the days before the present price began; ignored in what is sent */
    lowest_price?: unknown;
    /** of a reviewed product; ignored in what is sent */
    review?: unknown;
} & ({
    id: string;
} | {
    sku: string;
});
export interface ProductCounts { total: number;
    created: number;
    updated: number;
    unchanged: number;
    /** by an undo; left out where there are none */
    deleted?: number;
    /** only with accept=valid; 0 is left out */
    refused?: number;
}
export interface Detail { /** position in the document, from 1 */ product?: number;
    sku?: string;
    line?: number;
    column?: number;
    field?: string;
    /** of a JSON document: where it is (RFC 6901) */
    pointer?: string;
    code: DetailCode;
    message: string;
}
export interface DryRun { products: ProductCounts;
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
}
export interface ImageCounts { /** references; a URL used twice counts twice */
    total: number;
    pending: number;
    stored: number;
    /** on disk already */
    reused: number;
    failed: number;
}
export interface UnsettledImage { url: string;
    status: "pending" | "failed";
    /** finished ones */
    attempts: number;
    code?: ImageCode;
    message?: string;
}
export interface Result { /** not of a refused product */ id?: string;
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
export interface Transaction { transaction_id: string;
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
    results?: Result[];
    /** there are more: what ?after= takes to go on */
    next?: string;
}
export type ProductAttributes = { /** only in what is read out; ignored in what is sent */
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
} & ({
    id: string;
} | {
    sku: string;
});
export interface Import { import_id: string;
    /** as it was given */
    name?: string;
    /** `images`: all is stored */
    status: "checking" | "refused" | "storing" | "images" | "completed" | "completed_with_errors" | "cancelled" | "failed";
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
    problems?: Detail[];
    /** how many details there are besides */
    more?: number;
}
export interface ImportResult { /** not of a product that is not stored */ id?: string;
    /** left out where a refused product has none, and of a part not yet read */
    sku?: string;
    /** `not_stored`: not yet, or never */
    result: "created" | "updated" | "unchanged" | "deleted" | "refused" | "not_stored";
    /** only images that are pending or have failed */
    image: UnsettledImage[];
    /** of a refused product, the first 50 */
    details?: Detail[];
    /** how many details there are besides */
    more?: number;
}
export interface LowestPrice { amount: string;
    days: number;
    currency: string;
}
export interface ProductReview { state: "pending" | "approved" | "rejected";
    /** since when; a product that was corrected and waits still has the former reason */
    at: string;
    /** a word of the operator's */
    code?: string;
    /** a field of the product */
    field?: string;
    /** what is wrong, and what would be right */
    message?: string;
}
export interface Product { /** only in what is read out; ignored in what is sent */
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
export interface PriceChange { at: string;
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
export interface Webhook { trigger: Trigger;
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
export type Delivery = { id: string;
    event_id: string;
    state: DeliveryState;
} | "none";
export interface Attempt { number: number;
    url: string;
    started_at: string;
    duration_ms: number | null;
    /** of the answer */
    status: number | null;
    /** why there was no answer */
    error: string;
}
export interface LoggedDelivery { id: string;
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
export interface DeliveredEvent { /** true: the seller tries it */ test?: boolean;
    id: string;
    trigger: Trigger;
    created_at: string;
    /** any elements, as the operator sent them */
    data: unknown;
}
export interface MappedColumn { name: string;
    /** as in an upload; empty: left out */
    field: string;
    /** of numbers that say none */
    unit?: string;
}
export interface MappedValue { value: string;
    /** as in an upload */
    field: string;
}
export interface Mapping { name: string;
    updated_at: string;
    /** each by its name in the table */
    columns: MappedColumn[];
    /** what all rows have */
    values: MappedValue[];
}
export interface SellerKey { key_id: string;
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
export interface NewKey { key_id: string;
    label: string;
    /** shown once */
    api_key: string;
    scopes: ("read" | "products" | "webhooks" | "keys")[];
    /** CIDRs; none: it may come from everywhere */
    networks: string[];
    /** empty: it does not end by itself */
    expires_at: string | null;
}
export interface Refusal { at: string;
    request_id: string;
    /** its name */
    seller: string;
    /** method and path; empty where there is no such path */
    route: string;
    /** true: nothing would have been stored */
    dry_run?: boolean;
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
export interface Account { id: string;
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
export interface Seller { id: string;
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
export interface NewSeller { id: string;
    name: string;
    key_id: string;
    /** shown once */
    api_key: string;
    /** shown once */
    webhook_secret: string;
}
export interface ReviewedProduct { /** only in what is read out; ignored in what is sent */
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
    /** the version to review */
    changed_at: string;
    /** since the last approval; none of a product that was never approved */
    changed: ("title" | "description" | "gtin" | "brand" | "categories" | "images")[];
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
export interface AuditEntry { id: string;
    at: string;
    /** an operator key's name, environment or command line */
    who: string;
    /** in the words of the command */
    action: string;
    /** its name then; empty where it is about none */
    seller: string;
    detail: string;
}
export interface Backlog { /** to be fetched; counts stop at 100,000 */
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
export interface FailingWebhook { seller: string;
    trigger: Trigger;
    url: string;
    /** tries since the last success */
    failures: number;
    failing_since: string;
    disabled_at?: string;
}
export interface Hour { from: string;
    uploads: number;
    images_stored: number;
    images_failed: number;
    deliveries_delivered: number;
    deliveries_failed: number;
}
export interface DatabaseServer { /** host and port, or the file */ name: string;
    state: "up" | "away";
    sellers: number;
    /** not while it is away */
    bytes?: number;
}
export interface ServiceError { code: ErrorCode;
    message: string;
    request_id: string;
    details?: Detail[];
    /** how many details there are besides */
    more?: number;
}
/** What the client needs of its surroundings; tests give it something else. */
export interface Platform { fetch: (url: string, init: RequestInit) => Promise<Response>;
    /** Unix time in milliseconds. */
    now: () => number;
    /** Resolves after `ms` (24.8 days at most), or at once when `signal` fires. */
    sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
    /** A new Idempotency-Key. */
    newKey: () => string;
}
/**
 * 128 random bits as text. Browsers have `crypto.randomUUID` only on
 * https and localhost.
 */
export declare function newIdempotencyKey(): string;
/** The signature of a delivery, as Standard Webhooks defines it. */
/** The delivery was not signed with this secret, or not lately. */
export declare class SignatureError extends Error { readonly name = "SignatureError";
}
export interface SignedDelivery { /** `whsec_…` */ secret: string;
    headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
    /** As it was received. */
    body: string | Uint8Array;
}
export interface Verification { /** Seconds that the time of the signature may be off; 300 unless given. */
    tolerance?: number;
    /** Unix time in milliseconds. */
    now?: () => number;
}
/** The headers of a delivery of `body`; `timestamp` in Unix seconds. */
export declare function signWebhook(secret: string, id: string, timestamp: number, body: string): Promise<Record<string, string>>;
/** `data`: markup, or what JSON held, in the format of the webhook. */
export type VerifiedEvent = DeliveredEvent;
/**
 * The event of a delivery that the service signed. Throws `SignatureError`
 * otherwise.
 */
export declare function verifyWebhook(delivery: SignedDelivery, verification?: Verification): Promise<VerifiedEvent>;
