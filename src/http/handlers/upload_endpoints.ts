/** Uploads and their undo. */
import type { ProductCountsNode } from "../../contracts/answers.ts";
import { uploadProducts } from "../../catalogue/upload.ts";
import type { WrittenTransaction } from "../../catalogue/transaction_write.ts";
import { notFound, ServiceError } from "../../lib/errors.ts";
import { findTransaction } from "../../catalogue/transaction_rows.ts";
import { undoTransaction } from "../../catalogue/undo.ts";
import type { KeyedRequest } from "../../catalogue/idempotency.ts";
import { type ProductCounts, totalOf } from "../../catalogue/transaction.ts";
import type { Reply, RequestContext } from "../server/context.ts";
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

/** `POST /seller_api/bulk_products` */
export async function bulkUpload(
  context: RequestContext,
): Promise<Reply<"upload" | "dry_run">> {
  const { request, query, seller, services } = context;
  const body = await context.blocks();
  checkVersion(query);
  const dryRun = readOption(query, DRY_RUN) ?? false;
  const acceptValid = readOption(query, ACCEPT) !== null;
  const outcome = await uploadProducts(services, {
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
}

function logDone(
  { services, requestId, seller }: RequestContext,
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

/** Product counts as the status shows them. */
export function productCountsNode(counts: ProductCounts): ProductCountsNode {
  const { created, updated, unchanged, deleted, refused } = counts;
  return {
    total: totalOf(counts),
    created,
    updated,
    unchanged,
    deleted: deleted || undefined,
    refused: refused || undefined,
  };
}

function checkVersion(query: URLSearchParams): void {
  const version = query.get(VERSION.name) ?? API_VERSION;
  if (version === API_VERSION) return;
  throw new ServiceError(
    "unsupported_version",
    `The version v=${
      version.slice(0, 40)
    } is not supported; ${API_VERSION} is.`,
  );
}

function readIdempotencyKey(request: Request): KeyedRequest | null {
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

/** `POST …/bulk_products/:transaction_id/undo` */
export async function undoUpload(
  context: RequestContext,
): Promise<Reply<"upload" | "undo_dry_run">> {
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
}

async function countProducts(
  { services, seller, params, countMore }: RequestContext,
): Promise<void> {
  const transaction = await services.db.read((sql) =>
    findTransaction(sql, seller.no, params.transaction_id)
  );
  if (transaction === null) throw notFound("transaction");
  const { created, updated, deleted } = transaction.products;
  countMore(Math.ceil((created + updated + deleted) / UNDONE_A_REQUEST));
}
