/** `GET …/bulk_products/:transaction_id`: once, waiting, or as a stream. */
import { accepts } from "@std/http/negotiation";
import { notFound, ServiceError } from "../lib/errors.ts";
import {
  progressOf,
  totalOf,
  type Transaction,
  type TransactionResult,
  transactionStatus,
} from "../catalogue/transaction.ts";
import { unsettledImages } from "../images/rows/requests.ts";
import { findResults, findTransaction } from "../catalogue/transaction_rows.ts";
import {
  element,
  isoTime,
  serviceDocument,
  type XmlNode,
} from "../xml/encode.ts";
import type { Reply, RequestContext } from "./context.ts";
import { productCountsNode } from "./products.ts";

const WAIT_LIMIT_S = 30;
/** Whoever waits looks again after this long: another process may do the work. */
const LOOK_AGAIN_MS = 1_000;
/** At most ten events a second. */
const EVENT_INTERVAL_MS = 100;

type UnsettledImage = Awaited<ReturnType<typeof unsettledImages>>[number];

/** Interface 4.2. */
export async function getTransaction(context: RequestContext): Promise<Reply> {
  const waitS = readWait(context.query);
  const { request } = context;
  const wantsEvents = (request.headers.get("accept") ?? "")
    .includes("text/event-stream") &&
    accepts(request, "text/xml", "text/event-stream") === "text/event-stream";
  if (wantsEvents && request.method === "GET") {
    return await streamProgress(context);
  }
  if (waitS > 0) await waitUntilFinal(context, waitS * 1_000);
  return { body: await fullRecord(context) };
}

function readWait(query: URLSearchParams): number {
  const text = query.get("wait");
  if (text === null) return 0;
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), WAIT_LIMIT_S);
  throw new ServiceError(
    "malformed_request",
    `wait is "${text.slice(0, 40)}"; it must be a whole number of seconds.`,
  );
}

/** The record with its results; counters and rows are of one snapshot. */
function fullRecord(context: RequestContext): Promise<Uint8Array<ArrayBuffer>> {
  const { services, seller, params } = context;
  const { finalRecords } = services;
  return services.db.read(async (sql) => {
    const id = params.transaction_id;
    const transaction = await findTransaction(sql, seller.id, id);
    if (transaction === null) throw notFound("transaction");
    const kept = finalRecords.find(transaction);
    if (kept !== undefined) return kept;
    const results = await findResults(sql, id);
    const unsettled = transaction.images.pending + transaction.images.failed > 0
      ? await unsettledImages(sql, id)
      : [];
    const body = new TextEncoder().encode(serviceDocument({
      transaction: {
        ...progressRecord(transaction),
        results: resultsNode(results, unsettled),
      },
    }));
    finalRecords.keep(transaction, body);
    return body;
  });
}

/** The record without its results. */
export function progressRecord(transaction: Transaction): XmlNode {
  const { id, created_at, finished_at, products, images } = transaction;
  const { pending, stored, reused, failed } = images;
  return {
    transaction_id: id,
    status: transactionStatus(transaction),
    created_at: isoTime(created_at),
    finished_at: finished_at === null ? null : isoTime(finished_at),
    progress: progressOf(images),
    products: productCountsNode(products),
    images: { total: totalOf(images), pending, stored, reused, failed },
  };
}

function resultsNode(
  results: readonly TransactionResult[],
  unsettled: readonly UnsettledImage[],
): XmlNode {
  const byOrdinal = new Map(unsettled.map((image) => [image.ordinal, image]));
  return {
    product: results.map(({ id, sku, result, images }) => ({
      id,
      sku,
      result,
      image: images.flatMap((ordinal) => {
        const image = byOrdinal.get(ordinal);
        return image === undefined ? [] : [imageNode(image)];
      }),
    })),
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

async function findProgress(context: RequestContext): Promise<Transaction> {
  const { services, seller, params } = context;
  const transaction = await services.db.read((sql) =>
    findTransaction(sql, seller.id, params.transaction_id)
  );
  if (transaction === null) throw notFound("transaction");
  return transaction;
}

/**
 * Looks at the transaction, then sleeps until it moved on, again and again
 * until `done` says so or nobody listens any more.
 */
async function follow(
  context: RequestContext,
  abort: AbortSignal,
  done: (transaction: Transaction) => boolean,
): Promise<void> {
  const { signals, deps } = context.services;
  const key = context.params.transaction_id;
  while (!abort.aborted) {
    // Listening begins before the look, so that no move falls between.
    const looked = new AbortController();
    const moved = signals.progress.wait(deps.clock, LOOK_AGAIN_MS, {
      key,
      abort: AbortSignal.any([abort, looked.signal]),
    });
    try {
      if (done(await findProgress(context))) return;
      await moved;
    } finally {
      looked.abort();
    }
  }
}

async function waitUntilFinal(
  context: RequestContext,
  ms: number,
): Promise<void> {
  const leave = context.startWaiting();
  const over = new AbortController();
  const cancel = context.services.deps.clock.after(ms, () => over.abort());
  const abort = AbortSignal.any([context.abort, over.signal]);
  try {
    await follow(context, abort, ({ finished_at }) => finished_at !== null);
  } finally {
    cancel();
    leave();
  }
}

/** Server-sent events: `progress` while it goes on, `final` at the end. */
async function streamProgress(context: RequestContext): Promise<Reply> {
  const first = await findProgress(context);
  const leave = context.startWaiting();
  const gone = new AbortController();
  const abort = AbortSignal.any([context.abort, gone.signal]);
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      try {
        await sendEvents(context, abort, first, controller);
        controller.close();
      } catch (error) {
        if (!gone.signal.aborted) controller.error(error);
      } finally {
        leave();
      }
    },
    cancel: () => gone.abort(),
  });
  return {
    body,
    headers: {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
    },
  };
}

async function sendEvents(
  context: RequestContext,
  abort: AbortSignal,
  first: Transaction,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<void> {
  const { clock } = context.services.deps;
  let sent = "";
  const send = (transaction: Transaction): boolean => {
    const final = transaction.finished_at !== null;
    const event = progressEvent(final ? "final" : "progress", transaction);
    if (event !== sent && !abort.aborted) {
      controller.enqueue(new TextEncoder().encode(event));
      sent = event;
    }
    return final;
  };
  if (send(first)) return;
  let last = first;
  while (!abort.aborted && last.finished_at === null) {
    await follow(context, abort, (transaction) => {
      const moved = last.images.pending !== transaction.images.pending ||
        transaction.finished_at !== null;
      last = transaction;
      return moved;
    });
    if (send(last)) return;
    await new Promise<void>((resolve) =>
      clock.after(EVENT_INTERVAL_MS, resolve)
    );
  }
}

function progressEvent(name: string, transaction: Transaction): string {
  const data = element("transaction", progressRecord(transaction));
  return `event: ${name}\ndata: ${data}\n\n`;
}
