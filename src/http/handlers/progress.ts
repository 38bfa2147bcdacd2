/**
 * Waits for an upload to end, or streams its progress as server-sent events.
 */
import type { Transaction } from "../../catalogue/transaction.ts";
import { findTransaction } from "../../catalogue/transaction_rows.ts";
import { notFound } from "../../lib/errors.ts";
import { element } from "../../xml/encode.ts";
import type { Reply, RequestContext } from "../server/context.ts";
import { progressRecord } from "./transaction_xml.ts";
import { transactionIdOf } from "../server/parameters.ts";
import { lookUntil, Timeout, waitAtMost } from "./waiting.ts";
import { pause } from "../../lib/waits.ts";

/** At most ten events a second. */
const EVENT_INTERVAL_MS = 100;
/** A stream sends at least this often, well within the limits of proxies. */
const QUIET_MS = 10_000;
const COMMENT = ": still here\n\n";

/**
 * Resolves when the transaction is final or the time is up. Throws 401 if the
 * key is revoked meanwhile.
 */
export async function waitUntilFinal(
  context: RequestContext,
  ms: number,
): Promise<void> {
  await waitAtMost(
    context,
    ms,
    (abort) =>
      follow(context, abort, ({ finished_at }) => finished_at !== null),
  );
}

/**
 * A stream of `progress` events, with `final` at the end. It ends without
 * `final` if the key is revoked or the service stops.
 */
export async function streamProgress(context: RequestContext): Promise<Reply> {
  const first = await findProgress(context);
  const waiting = context.startWaiting();
  const gone = new AbortController();
  const abort = AbortSignal.any([waiting.signal, gone.signal]);
  const events = progressEvents(context, abort, first);
  const leave = () => {
    gone.abort();
    waiting[Symbol.dispose]();
  };
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next().catch((error) => {
        leave();
        throw error;
      });
      if (!done) return controller.enqueue(encoder.encode(value));
      leave();
      controller.close();
    },
    cancel: leave,
  }, { highWaterMark: 0 });
  return {
    body,
    headers: {
      "Content-Type": "text/event-stream; charset=utf-8",
    },
  };
}

async function* progressEvents(
  context: RequestContext,
  abort: AbortSignal,
  transaction: Transaction,
): AsyncGenerator<string, void, void> {
  const { clock } = context.services.deps;
  let shown = transaction;
  yield progressEvent(shown);
  while (shown.finished_at === null) {
    await pause(clock, EVENT_INTERVAL_MS);
    using quiet = new Timeout(clock, QUIET_MS);
    const moved = await follow(
      context,
      AbortSignal.any([abort, quiet.signal]),
      ({ images, finished_at }) =>
        images.pending !== shown.images.pending || finished_at !== null,
    );
    if (abort.aborted) return;
    shown = moved ?? shown;
    yield moved === null ? COMMENT : progressEvent(moved);
  }
}

function progressEvent(transaction: Transaction): string {
  const name = transaction.finished_at === null ? "progress" : "final";
  const data = element("transaction", progressRecord(transaction));
  return `event: ${name}\ndata: ${data}\n\n`;
}

/** Waits until the transaction satisfies `done`; null if `abort` fires. */
function follow(
  context: RequestContext,
  abort: AbortSignal,
  done: (transaction: Transaction) => boolean,
): Promise<Transaction | null> {
  const { signals } = context.services;
  const key = transactionIdOf(context.params);
  return lookUntil(
    context,
    { signal: signals.progress, key },
    abort,
    async () => {
      const transaction = await findProgress(context);
      return done(transaction) ? transaction : null;
    },
  );
}

async function findProgress(context: RequestContext): Promise<Transaction> {
  const { services, seller, params } = context;
  const transaction = await services.db.read((sql) =>
    findTransaction(sql, seller.no, transactionIdOf(params))
  );
  if (transaction === null) throw notFound("transaction");
  return transaction;
}
