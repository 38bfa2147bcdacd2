/** Uploads and their undo. */
import {
  type CheckedProduct,
  uploadProducts as upload,
} from "../../catalogue/upload.ts";
import type { Complete } from "../../catalogue/complete.ts";
import type { WrittenTransaction } from "../../catalogue/transaction_write.ts";
import { ServiceError } from "../../lib/errors.ts";
import { formerNode } from "../../catalogue/product_xml.ts";
import { readTransaction } from "../../catalogue/transaction_rows.ts";
import { dryRunUndo, undoTransaction } from "../../catalogue/undo.ts";
import type { KeyedRequest } from "../../catalogue/idempotency.ts";
import type { Exchange } from "../server/exchange.ts";
import { detailList, warningList } from "../server/error_answers.ts";
import { boundedList } from "../server/list.ts";
import {
  ACCEPT_VALID,
  API_VERSION,
  COMPLETE_QUANTITY,
  DRY_RUN,
  IDEMPOTENCY_KEY,
  IDEMPOTENCY_KEY_LENGTH,
  KEEP_CHANGED,
  MISSING_AT_MOST,
  MISSING_AT_MOST_DEFAULT,
  SHOW_FORMER,
  UPLOAD_NAME,
  VERSION_PARAMETER,
} from "../server/parameters.ts";
import { readOption } from "../server/query.ts";
import type { AnswerForm } from "../../contracts/answer_form.ts";
import type { CheckedProductNode } from "../../contracts/answers.ts";
import {
  ATTRIBUTES_EXAMPLE,
  PRODUCTS_EXAMPLE,
} from "../../contracts/examples.ts";
import { endpoint, type Reply } from "../server/route.ts";
import { shownCounts } from "../../catalogue/transaction.ts";

/** The parameters of requests that send products. */
export const PRODUCTS_PARAMETERS = [
  VERSION_PARAMETER,
  DRY_RUN,
  SHOW_FORMER,
  ACCEPT_VALID,
  UPLOAD_NAME,
  IDEMPOTENCY_KEY,
] as const;

export const uploadProducts = endpoint({
  operation: "uploadProducts",
  title: "Upload products",
  about:
    "Creates or updates up to 250 products: all or none; with accept=valid, " +
    "the valid ones. Each image URL must answer HEAD with 200. Images are " +
    "downloaded after the answer.",
  sends: { root: "products", example: PRODUCTS_EXAMPLE },
  parameters: PRODUCTS_PARAMETERS,
  answers: ["upload", "dry_run"],
  errors: ["unsupported_version", "too_many_products"],
  upload: true,
}, (exchange) => uploadDocument(exchange, { attributesOnly: false }));

export const uploadAttributes = endpoint({
  operation: "uploadAttributes",
  title: "Update attributes of many products",
  about:
    "Sets attributes, such as price and quantity, of up to 10,000 stored " +
    "products: all or none; with accept=valid, the valid ones. Creates no " +
    "products. The answer has the id of a transaction, with the same " +
    "status, refused products and undo as an upload.",
  sends: {
    root: "products",
    document: "attributes",
    example: ATTRIBUTES_EXAMPLE,
  },
  parameters: [
    VERSION_PARAMETER,
    DRY_RUN,
    SHOW_FORMER,
    ACCEPT_VALID,
    COMPLETE_QUANTITY,
    MISSING_AT_MOST,
    UPLOAD_NAME,
    IDEMPOTENCY_KEY,
  ],
  answers: ["upload", "dry_run"],
  errors: ["unsupported_version", "too_many_products"],
  upload: true,
}, (exchange) => uploadDocument(exchange, { attributesOnly: true }));

async function uploadDocument(
  exchange: Exchange,
  { attributesOnly }: { attributesOnly: boolean },
): Promise<Reply<"upload" | "dry_run">> {
  const { request, query, seller, services } = exchange;
  const body = await exchange.blocks();
  checkVersion(query);
  const complete = readComplete(query);
  // Both amounts are reserved at once, because `takeRoom` limits each call.
  const room = (attributesOnly ? decodedBytes(exchange) : 0) +
    (complete === null ? 0 : MAX_DECODED_BYTES);
  if (room > 0) exchange.takeRoom(room);
  const dryRun = readOption(query, DRY_RUN) ?? false;
  const showsFormer = readShow(query, dryRun);
  const acceptValid = readOption(query, ACCEPT_VALID) !== null;
  const outcome = await upload(services, {
    seller,
    body,
    form: exchange.sentForm,
    dryRun,
    showsFormer,
    acceptValid,
    attributesOnly,
    complete,
    name: readOption(query, UPLOAD_NAME),
    idempotency: readIdempotencyKey(request),
  });
  if ("counts" in outcome) logDone(exchange, "upload_accepted", outcome);
  if ("dryRun" in outcome) {
    return {
      xml: {
        dry_run: {
          products: shownCounts(outcome.dryRun),
          results: checkedList(outcome.checked, exchange.form),
          missing: missingNode(outcome.emptied),
          warnings: warningList(outcome.warnings, exchange.form),
        },
      },
    };
  }
  const { refused } = "counts" in outcome ? outcome.counts : outcome;
  return {
    xml: {
      transaction_id: outcome.transactionId,
      refused: refused || undefined,
    },
    headers: replayHeaders("repeated" in outcome),
  };
}

/** Throws 400 for `show=former` unless the request is a dry run. */
export function readShow(query: URLSearchParams, dryRun: boolean): boolean {
  const showsFormer = readOption(query, SHOW_FORMER) !== null;
  if (dryRun || !showsFormer) return showsFormer;
  throw new ServiceError(
    "malformed_request",
    "show=former needs dry_run=true; send both, or leave show out.",
  );
}

/** The results of a dry run, as many as fit into an answer. */
function checkedList(
  checked: readonly CheckedProduct[] | null,
  form: AnswerForm,
) {
  if (checked === null) return undefined;
  const list = boundedList<CheckedProductNode>(form, "product");
  for (const { id, sku, result, former } of checked) {
    const isAdded = list.add({
      id: id ?? undefined,
      sku: sku ?? undefined,
      result,
      former: former === null ? undefined : formerNode(former),
    });
    if (!isAdded) break;
  }
  return {
    product: list,
    not_listed: checked.length - list.count || undefined,
  };
}

function readComplete(query: URLSearchParams): Complete | null {
  const isComplete = readOption(query, COMPLETE_QUANTITY) !== null;
  const atMost = readOption(query, MISSING_AT_MOST);
  if (isComplete) return { atMost: atMost ?? MISSING_AT_MOST_DEFAULT };
  if (atMost === null) return null;
  throw new ServiceError(
    "malformed_request",
    "at_most needs complete=quantity; send both, or leave at_most out.",
  );
}

/** How many SKUs a dry run lists as missing. */
const LISTED_SKUS = 1_000;

/** The products that `complete` would set to 0. */
function missingNode(skus: readonly string[]) {
  if (skus.length === 0) return undefined;
  const more = Math.max(0, skus.length - LISTED_SKUS);
  return {
    total: skus.length,
    sku: skus.slice(0, LISTED_SKUS),
    more: more || undefined,
  };
}

/**
 * The memory that short products take once they are decoded, as a multiple of
 * their bytes in the body.
 */
const DECODED_COST = 10;
/** The memory of 10,000 decoded products, counted in bytes of a body. */
const MAX_DECODED_BYTES = 4 * 1_024 * 1_024;

function decodedBytes({ bytesReceived = 0 }: Exchange): number {
  return Math.min(DECODED_COST * bytesReceived, MAX_DECODED_BYTES);
}

function logDone(
  { services, requestId, seller }: Exchange,
  event: string,
  { transactionId, counts, images }: WrittenTransaction,
): void {
  services.deps.log.info(event, {
    request_id: requestId,
    seller: seller.name,
    key: seller.keyId,
    transaction: transactionId,
    products: counts,
    images,
  });
}

export function checkVersion(query: URLSearchParams): void {
  const version = query.get(VERSION_PARAMETER.name) ?? API_VERSION;
  if (version === API_VERSION) return;
  throw new ServiceError(
    "unsupported_version",
    `The version v=${
      version.slice(0, 40)
    } is not supported; ${API_VERSION} is.`,
  );
}

export function readIdempotencyKey(request: Request): KeyedRequest | null {
  const key = request.headers.get(IDEMPOTENCY_KEY.name);
  if (key === null) return null;
  if (key !== "" && key.length <= IDEMPOTENCY_KEY_LENGTH) {
    return { key, target: `${request.method} ${targetOf(request.url)}` };
  }
  throw new ServiceError(
    "malformed_request",
    `The Idempotency-Key has ${key.length} characters; it must have from 1 ` +
      `to ${IDEMPOTENCY_KEY_LENGTH}.`,
  );
}

/**
 * The header that marks an answer as the answer to an earlier request with the
 * same key.
 */
export function replayHeaders(repeated: boolean): Record<string, string> {
  return repeated ? { "Idempotent-Replayed": "true" } : {};
}

/** Path and query; scheme and host do not distinguish requests. */
function targetOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3));
}

/**
 * An undo counts as one further request for this many products: the request is
 * short, but stores as much as an upload.
 */
const UNDONE_PER_REQUEST = 25;
/**
 * An undo counts as at most this many further requests, so that the undo of
 * many prices does not use up the seller's rate limit.
 */
const UNDO_REQUESTS = 40;

export const undoUpload = endpoint({
  operation: "undoUpload",
  title: "Undo an upload",
  about:
    "Restores the former value of every field that the upload changed, and " +
    "deletes the products that it created: all or nothing. The undo is " +
    "itself a transaction that can be undone. A dry run returns the counts " +
    "of an undo with changed=keep, and the fields that have changed since.",
  parameters: [KEEP_CHANGED, DRY_RUN, IDEMPOTENCY_KEY],
  answers: ["upload", "undo_dry_run"],
  errors: ["conflict", "record_invalid"],
}, async (exchange) => {
  const { request, query, params, seller, services, heavyRead } = exchange;
  const undo = {
    seller,
    transactionId: params.transaction_id,
    keepChanged: readOption(query, KEEP_CHANGED) !== null,
    idempotency: readIdempotencyKey(request),
  };
  await countProducts(exchange);
  if (readOption(query, DRY_RUN) ?? false) {
    const found = await heavyRead((takeStep) =>
      dryRunUndo(services, undo, (step) => takeStep(step, true))
    );
    const products = shownCounts(found.counts);
    const details = detailList(found, exchange.form);
    return { xml: { dry_run: { products, details } } };
  }
  const outcome = await undoTransaction(services, undo);
  if ("counts" in outcome) logDone(exchange, "upload_undone", outcome);
  return {
    xml: { transaction_id: outcome.transactionId },
    headers: replayHeaders("repeated" in outcome),
  };
});

async function countProducts(
  { services, seller, params, countMore }: Exchange,
): Promise<void> {
  const { products } = await services.db.of(seller.no).read(
    (sql) => readTransaction(sql, seller.no, params.transaction_id),
  );
  const { created, updated, deleted } = products;
  const undone = Math.ceil((created + updated + deleted) / UNDONE_PER_REQUEST);
  countMore(Math.min(undone, UNDO_REQUESTS));
}
