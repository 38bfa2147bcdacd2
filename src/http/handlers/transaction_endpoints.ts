/**
 * Endpoints for transactions: the status of an upload, at once, after a wait or
 * as a stream; the list of uploads; the retry of images; the refused products.
 */
import type {
  ResultNode,
  UnsettledImageNode,
} from "../../contracts/answers.ts";
import { errorForm } from "../../contracts/answer_form.ts";
import { ServiceError } from "../../lib/errors.ts";
import { documentFormOf } from "../../catalogue/refused_products.ts";
import { inOneBlock } from "../../xml/encode.ts";
import type { Warnings } from "../../catalogue/warnings.ts";
import type { PackedResults } from "../../catalogue/packed_results.ts";
import type { Transaction } from "../../catalogue/transaction.ts";
import type { Sql } from "../../database/db.ts";
import { type UnsettledImage, unsettledImages } from "../../images/requests.ts";
import {
  findResults,
  findUndoneBy,
  listTransactions as transactionsOf,
  readTransaction,
} from "../../catalogue/transaction_rows.ts";
import { retryUpload } from "../../catalogue/retry.ts";
import type { Exchange } from "../server/exchange.ts";
import { endpoint, type Reply } from "../server/route.ts";
import { detailNode, warningList } from "../server/error_answers.ts";
import {
  type KeptDetails,
  refusedProductDetails,
  refusedProductsBytes,
  refusedProductsPiece,
} from "../../catalogue/refused_product_rows.ts";
import {
  ANSWER_LIMIT,
  boundedList,
  readRows,
  STEP_BYTES,
} from "../server/list.ts";
import { fieldCursor, numberField } from "../server/cursor.ts";
import { QueryReader, readOption } from "../server/query.ts";
import { bytesOf, isSmallText } from "../server/sending.ts";
import { progressRecord } from "./transaction_xml.ts";
import {
  streamProgress,
  waitUntilFinal,
  wantsEvents,
  type WatchedRecord,
} from "./progress.ts";
import { AFTER, PAGE_SIZE, waitUntil } from "../server/parameters.ts";

const WAIT = waitUntil("the status is final");
/** How many results' images are read together; each has up to ten images. */
const RESULTS_STEP = 50;

/** The memory of a document of refused products: one piece and the next. */
const REFUSED_MEMORY_BYTES = 128 * 1_024;

/**
 * A record with more pending or failed images, or with refused products, counts
 * as a long answer.
 */
const SHORT_IMAGES = 64;

export const getTransaction = endpoint({
  operation: "getTransaction",
  title: "Follow an upload",
  about: "The result of each product, and the progress of the images. With " +
    "Accept: text/event-stream, a stream of progress events that ends with " +
    "the final state.",
  streams: "events `progress`, each with <transaction> without its results, " +
    "and at the end an event `final`",
  parameters: [WAIT, AFTER],
  answers: ["transaction"],
  waits: true,
}, async (exchange) => {
  const waitMs = readOption(exchange.query, WAIT) ?? 0;
  const reader = new QueryReader(exchange.query);
  const after = reader.cursor(RESULTS_CURSOR) ?? 0;
  reader.finish();
  const watched = watchedTransaction(exchange);
  if (wantsEvents(exchange)) return await streamProgress(exchange, watched);
  if (waitMs > 0) await waitUntilFinal(exchange, watched, waitMs);
  return await fullRecord(exchange, after);
});

function watchedTransaction(
  { services, seller, params, form }: Exchange,
): WatchedRecord<Transaction> {
  const id = params.transaction_id;
  return {
    key: id,
    find: () =>
      services.db.of(seller.no).read((sql) =>
        readTransaction(sql, seller.no, id)
      ),
    isFinal: ({ finished_at }) => finished_at !== null,
    hasProgressed: (shown, { images }) =>
      images.pending !== shown.images.pending,
    write: (now) => form.element("transaction", progressRecord(now)),
  };
}

/** A cursor is the number of results to leave out. */
const RESULTS_CURSOR = fieldCursor(numberField(/[1-9]\d{0,3}/y));

/**
 * The record with the results after `after`. In a final record only `undone_by`
 * can change, so its encoded answer is cached.
 */
async function fullRecord(
  { services, seller, params, heavyRead, finalRecords, form }: Exchange,
  after: number,
): Promise<Reply<"transaction">> {
  const { db } = services;
  const query = { sellerNo: seller.no, id: params.transaction_id, after };
  const key = `${seller.no} ${query.id} ${after} ${form.name}`;
  const cached = finalRecords.get(key);
  if (cached !== undefined) {
    const find = (sql: Sql) => findUndoneBy(sql, query);
    const undoneBy = await db.of(seller.no).read(find, { single: true });
    if (undoneBy === cached.undoneBy) return { body: cached.document };
  }
  const list = boundedList<ResultNode>(form, "product");
  let record: ResultsRecord | null = null;
  let mayBeLong = false;
  let next = 0;
  /**
   * Reads the whole record in the first step, then encodes its results. A long
   * record is read in the second step, which waits for other long answers.
   * Returns whether there is more to do.
   */
  const step = async (): Promise<boolean> => {
    record ??= await db.of(seller.no).read((sql) =>
      readRecord(sql, query, mayBeLong)
    );
    mayBeLong = true;
    if (record === null) return true;
    const end = list.bytes + STEP_BYTES;
    for (; next < record.count; next++) {
      if (list.bytes >= end) return true;
      const node = resultNode(record, next);
      if (!list.add(node)) return false;
    }
    return false;
  };
  await heavyRead(async (takeStep) => {
    while (await takeStep(step, mayBeLong)) continue;
  });
  const { transaction, isFinal, remaining, warnings } = record!;
  const results = {
    product: list,
    next: remaining > list.count ? after + list.count : undefined,
  };
  const xml = {
    transaction: {
      ...progressRecord(transaction),
      warnings: warningList(warnings, form),
      results,
    },
  };
  if (!isFinal) return { xml };
  const encoded = form.document(xml);
  // `Deno.serve` sends a small text in half the time of the same bytes. A longer
  // text is sent in blocks.
  const document = isSmallText(encoded) ? encoded : inOneBlock(encoded);
  const undoneBy = transaction.undone_by;
  finalRecords.set(key, { document, undoneBy }, bytesOf(document));
  return { body: document };
}

interface ResultsRecord {
  transaction: Transaction;
  /**
   * Whether the results cannot change: no image is pending, no image can be
   * retried, and no product was refused.
   */
  isFinal: boolean;
  results: PackedResults;
  warnings: Warnings;
  /** The number of results to leave out. */
  after: number;
  /** How many results follow. */
  remaining: number;
  /** How many of the results that follow may fit into the answer. */
  count: number;
  /** The pending or failed images of these results, by ordinal. */
  unsettled: ReadonlyMap<number, UnsettledImage>;
  /** Why products were refused, by their position in the upload, from 1. */
  refused: ReadonlyMap<number, KeptDetails>;
}

interface RecordQuery {
  sellerNo: number;
  id: string;
  /** The number of results to leave out. */
  after: number;
}

/**
 * Reads counters and rows in one snapshot, so that they are consistent. Returns
 * null if the record is long and `mayBeLong` is false.
 */
async function readRecord(
  sql: Sql,
  { sellerNo, id, after }: RecordQuery,
  mayBeLong: boolean,
): Promise<ResultsRecord | null> {
  const transaction = await readTransaction(sql, sellerNo, id);
  const key = { sellerNo, transactionId: id };
  const { pending, failed } = transaction.images;
  const hasRefused = transaction.products.refused > 0;
  const isLong = hasRefused || pending + failed > SHORT_IMAGES;
  if (isLong && !mayBeLong) return null;
  const isFinal = pending + failed === 0 && !hasRefused;
  const { results, warnings } = await findResults(sql, sellerNo, id);
  const remaining = Math.max(0, results.length - after);
  const unsettled = new Map<number, UnsettledImage>();
  const refused = new Map<number, KeptDetails>();
  const found = { transaction, isFinal, results, warnings, remaining, after };
  const record = { ...found, unsettled, refused };
  if (isFinal) return { ...record, count: remaining };
  let size = 0;
  let read = 0;
  while (read < remaining && size < ANSWER_LIMIT) {
    const from = after + read;
    const step = results.slice(from, from + RESULTS_STEP);
    if (hasRefused) {
      const last = after + read + step.length;
      const first = after + read + 1;
      const kept = await refusedProductDetails(sql, key, first, last);
      for (const [product, details] of kept) {
        refused.set(product, details);
        size += details.size;
      }
    }
    const ordinals = step.flatMap(({ images }) => images)
      .filter((ordinal) => !unsettled.has(ordinal));
    for (
      const image of await unsettledImages(sql, key.sellerNo, id, ordinals)
    ) {
      unsettled.set(image.ordinal, image);
      size += image.url.length + (image.message?.length ?? 0);
    }
    read += step.length;
  }
  return { ...record, count: read };
}

/** The result at an index after `after`. */
function resultNode(
  { results, after, unsettled, refused }: ResultsRecord,
  index: number,
): ResultNode {
  const { id, sku, result, images } = results.at(after + index);
  const kept = refused.get(after + index + 1);
  return {
    id: id ?? undefined,
    sku: sku ?? undefined,
    result,
    image: images.flatMap((ordinal) => {
      const image = unsettled.get(ordinal);
      return image === undefined ? [] : [unsettledImageNode(image)];
    }),
    details: kept && {
      detail: kept.details.map(detailNode),
      more: kept.more || undefined,
    },
  };
}

export function unsettledImageNode(image: UnsettledImage): UnsettledImageNode {
  const { url, status, attempts, code, message } = image;
  return {
    url,
    status,
    attempts,
    code: code ?? undefined,
    message: message ?? undefined,
  };
}

export const getRefusedProducts = endpoint({
  operation: "getRefusedProducts",
  title: "Download the refused products of an upload",
  about:
    "The products that accept=valid did not store, as a document <products> " +
    "to correct and upload. A comment before each product has its problems; " +
    "the product is byte for byte as it was sent.",
  answers: { type: "text/xml" },
}, async ({ services: { db }, seller, params, heavyRead }) => {
  const id = params.transaction_id;
  const key = { sellerNo: seller.no, transactionId: id };
  const pieceOf = (piece: number) =>
    db.of(seller.no).read((sql) => refusedProductsPiece(sql, key, piece));
  return await heavyRead(async (takeStep) => {
    const { bytes, first } = await takeStep(
      () =>
        db.of(seller.no).read(async (sql) => {
          const transaction = await readTransaction(sql, seller.no, id);
          const bytes = await refusedProductsBytes(sql, key);
          if (bytes === null) throw noRefusedProducts(transaction);
          return { bytes, first: await refusedProductsPiece(sql, key, 0) };
        }),
      false,
    );
    async function* pieces() {
      for (let n = 0;;) {
        const piece = await takeStep(() => pieceOf(n++), false);
        if (piece === null) return;
        yield piece;
      }
    }
    const headers = {
      "Content-Type": errorForm(documentFormOf(first![0])).type,
      "Content-Length": `${bytes}`,
    };
    const stream = ReadableStream.from(pieces());
    return { body: { stream, memoryBytes: REFUSED_MEMORY_BYTES }, headers };
  });
});

function noRefusedProducts({ products }: Transaction): ServiceError {
  return new ServiceError(
    "not_found",
    products.refused === 0
      ? "No product of this upload was refused."
      : "The refused products of this upload are no longer kept.",
  );
}

/** If an image is retried, the status of the transaction is `processing` again. */
export const retryImages = endpoint({
  operation: "retryImages",
  title: "Retry failed images",
  about: "The answer counts the image references that are retried.",
  answers: ["images_retry"],
}, async (exchange) => {
  const { services, seller, params } = exchange;
  const id = params.transaction_id;
  const retried = await retryUpload(services, seller, id);
  return { xml: { transaction_id: id, images: { retried } } };
});

export const listTransactions = endpoint({
  operation: "listTransactions",
  title: "List uploads",
  about: "Your uploads, newest first, with counts but without results.",
  parameters: [AFTER, PAGE_SIZE],
  answers: ["transactions"],
}, async (exchange) => {
  const { page, next } = await readRows(
    exchange,
    (sql, before, limit) =>
      transactionsOf(sql, exchange.seller.no, { before, limit }),
    exchange.seller.no,
  );
  return {
    xml: { transactions: { transaction: page.map(progressRecord) }, next },
  };
});
