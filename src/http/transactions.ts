/** `GET …/bulk_products/:transaction_id`: once, waiting, or as a stream. */
import { accepts } from "@std/http/negotiation";
import { notFound } from "../lib/errors.ts";
import type {
  Transaction,
  TransactionResult,
} from "../catalogue/transaction.ts";
import type { Sql } from "../database/db.ts";
import { type UnsettledImage, unsettledImages } from "../images/requests.ts";
import { findResults, findTransaction } from "../catalogue/transaction_rows.ts";
import type { XmlNode } from "../xml/encode.ts";
import type { Reply, RequestContext } from "./context.ts";
import { ANSWER_LIMIT, boundedList, STEP_BYTES } from "./list.ts";
import { QueryReader } from "./paging.ts";
import { progressRecord } from "./transaction_xml.ts";
import { streamProgress, waitUntilFinal } from "./progress.ts";
import { readWait } from "./waiting.ts";

/** Results whose images are read at once; each has ten images at most. */
const RESULTS_STEP = 50;

/** Interface 4.2. */
export async function getTransaction(context: RequestContext): Promise<Reply> {
  const waitMs = readWait(context.query);
  const reader = new QueryReader(context.query);
  const after = reader.cursor(parsePosition) ?? 0;
  reader.finish();
  const { request } = context;
  const wantsEvents = (request.headers.get("accept") ?? "")
    .includes("text/event-stream") &&
    accepts(request, "text/xml", "text/event-stream") === "text/event-stream";
  if (wantsEvents && request.method === "GET") {
    return await streamProgress(context);
  }
  if (waitMs > 0) await waitUntilFinal(context, waitMs);
  return await fullRecord(context, after);
}

/** A cursor of results: how many of them stand before it. */
function parsePosition(text: string): number | null {
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null;
}

/** The record with the results behind `after`. */
async function fullRecord(
  { services, seller, params, heavyRead }: RequestContext,
  after: number,
): Promise<Reply> {
  const list = boundedList("product");
  let record: ResultsRecord | undefined;
  let next = 0;
  /** Reads everything at first, then encodes; whether there is more to do. */
  const step = async (): Promise<boolean> => {
    record ??= await services.db.read((sql) =>
      readRecord(sql, seller.id, params.transaction_id, after)
    );
    const end = list.bytes + STEP_BYTES;
    for (; next < record.results.length; next++) {
      if (list.bytes >= end) return true;
      const node = resultNode(record.results[next], record.unsettled);
      if (!list.add(node)) return false;
    }
    return false;
  };
  await heavyRead(async (takeStep) => {
    while (await takeStep(step)) continue;
  });
  const { transaction, left } = record!;
  return {
    xml: {
      transaction: {
        ...progressRecord(transaction),
        results: {
          product: list,
          next: left > list.count ? after + list.count : undefined,
        },
      },
    },
  };
}

interface ResultsRecord {
  transaction: Transaction;
  /** As many as an answer can show. */
  results: readonly TransactionResult[];
  /** How many there are from the first of `results` on. */
  left: number;
  /** Their images that are pending or have failed, by ordinal. */
  unsettled: ReadonlyMap<number, UnsettledImage>;
}

/** Counters and rows of one snapshot, so that they add up. */
async function readRecord(
  sql: Sql,
  sellerId: string,
  id: string,
  after: number,
): Promise<ResultsRecord> {
  const transaction = await findTransaction(sql, sellerId, id);
  if (transaction === null) throw notFound("transaction");
  const results = (await findResults(sql, id)).slice(after);
  const left = results.length;
  const unsettled = new Map<number, UnsettledImage>();
  const { pending, failed } = transaction.images;
  if (pending + failed === 0) return { transaction, results, left, unsettled };
  let size = 0;
  let read = 0;
  while (read < left && size < ANSWER_LIMIT) {
    const ordinals = results.slice(read, read += RESULTS_STEP)
      .flatMap(({ images }) => images)
      .filter((ordinal) => !unsettled.has(ordinal));
    for (const image of await unsettledImages(sql, id, ordinals)) {
      unsettled.set(image.ordinal, image);
      size += image.url.length + (image.message?.length ?? 0);
    }
  }
  return { transaction, results: results.slice(0, read), left, unsettled };
}

function resultNode(
  { id, sku, result, images }: TransactionResult,
  unsettled: ReadonlyMap<number, UnsettledImage>,
): XmlNode {
  return {
    id,
    sku,
    result,
    image: images.flatMap((ordinal) => {
      const image = unsettled.get(ordinal);
      return image === undefined ? [] : [imageNode(image)];
    }),
  };
}

function imageNode(image: UnsettledImage): XmlNode {
  const { url, status, attempts, code, message } = image;
  return {
    url,
    status,
    attempts,
    code: code ?? undefined,
    message: message ?? undefined,
  };
}
