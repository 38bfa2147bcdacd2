/** Uploads and their undo. */
import { uploadProducts as upload } from "../../catalogue/upload.ts";
import type { WrittenTransaction } from "../../catalogue/transaction_write.ts";
import { ServiceError } from "../../lib/errors.ts";
import { readTransaction } from "../../catalogue/transaction_rows.ts";
import { undoTransaction } from "../../catalogue/undo.ts";
import type { KeyedRequest } from "../../catalogue/idempotency.ts";
import type { Exchange } from "../server/exchange.ts";
import { detailList } from "../server/error_answers.ts";
import {
  ACCEPT,
  API_VERSION,
  CHANGED,
  DRY_RUN,
  IDEMPOTENCY_KEY,
  IDEMPOTENCY_KEY_LENGTH,
  VERSION,
} from "../server/parameters.ts";
import { readOption } from "../server/query.ts";
import { PRODUCTS_EXAMPLE } from "../../contracts/examples.ts";
import { endpoint } from "../server/route.ts";
import { productCountsNode } from "./transaction_xml.ts";

export const uploadProducts = endpoint({
  operation: "uploadProducts",
  title: "Upload products",
  about: "Creates or updates up to 250 products, all or none (with " +
    "accept=valid: those without a problem). Each image URL must answer HEAD " +
    "with 200; the images are fetched after the answer.",
  sends: { root: "products", example: PRODUCTS_EXAMPLE },
  parameters: [VERSION, DRY_RUN, ACCEPT, IDEMPOTENCY_KEY],
  answers: ["upload", "dry_run"],
  errors: ["unsupported_version", "conflict", "too_many_products"],
  upload: true,
}, async (context) => {
  const { request, query, seller, services } = context;
  const body = await context.blocks();
  checkVersion(query);
  const dryRun = readOption(query, DRY_RUN) ?? false;
  const acceptValid = readOption(query, ACCEPT) !== null;
  const outcome = await upload(services, {
    seller,
    body,
    dryRun,
    acceptValid,
    idempotency: readIdempotencyKey(request),
  });
  if ("counts" in outcome) logDone(context, "upload_accepted", outcome);
  if ("dryRun" in outcome) {
    return {
      xml: { dry_run: { products: productCountsNode(outcome.dryRun) } },
    };
  }
  const { refused } = "counts" in outcome ? outcome.counts : outcome;
  return {
    xml: {
      transaction_id: outcome.transactionId,
      refused: refused || undefined,
    },
  };
});

function logDone(
  { services, requestId, seller }: Exchange,
  event: string,
  { transactionId, counts, images }: WrittenTransaction,
): void {
  services.deps.log.info(event, {
    request_id: requestId,
    seller: seller.name,
    transaction: transactionId,
    products: counts,
    images,
  });
}

export function checkVersion(query: URLSearchParams): void {
  const version = query.get(VERSION.name) ?? API_VERSION;
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

/** Path and query; scheme and host do not distinguish requests. */
function targetOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3));
}

/**
 * An undo of so many products counts as one request more: it is short, and
 * stores as much as an upload.
 */
const UNDONE_A_REQUEST = 25;

export const undoUpload = endpoint({
  operation: "undoUpload",
  title: "Take an upload back",
  about: "Restores the former value of every field that the upload changed, " +
    "and deletes the products that it created, all or nothing. The undo is a " +
    "transaction, which can be undone as well. A dry run answers the counts, " +
    "as with changed=keep, and what was changed since.",
  parameters: [CHANGED, DRY_RUN, IDEMPOTENCY_KEY],
  answers: ["upload", "undo_dry_run"],
  errors: ["conflict", "record_invalid"],
}, async (context) => {
  const { request, query, params, seller, services } = context;
  const undo = {
    seller,
    transactionId: params.transaction_id,
    keepChanged: readOption(query, CHANGED) !== null,
    dryRun: readOption(query, DRY_RUN) ?? false,
    idempotency: readIdempotencyKey(request),
  };
  if (!undo.dryRun) await countProducts(context);
  const outcome = await undoTransaction(services, undo);
  if ("counts" in outcome) logDone(context, "upload_undone", outcome);
  if ("transactionId" in outcome) {
    return { xml: { transaction_id: outcome.transactionId } };
  }
  const products = productCountsNode(outcome.dryRun);
  return { xml: { dry_run: { products, details: detailList(outcome) } } };
});

async function countProducts(
  { services, seller, params, countMore }: Exchange,
): Promise<void> {
  const { products } = await services.db.read(
    (sql) => readTransaction(sql, seller.no, params.transaction_id),
    { seller: seller.no },
  );
  const { created, updated, deleted } = products;
  countMore(Math.ceil((created + updated + deleted) / UNDONE_A_REQUEST));
}
