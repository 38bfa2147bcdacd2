/** Who waits for an upload to end, or follows it as server-sent events. */
import type { Transaction } from "../catalogue/transaction.ts";
import { findTransaction } from "../catalogue/transaction_rows.ts";
import type { Clock } from "../deps.ts";
import { DbError } from "../database/db.ts";
import { notFound, ServiceError } from "../lib/errors.ts";
import { element } from "../xml/encode.ts";
import type { Reply, RequestContext } from "./context.ts";
import { progressRecord } from "./transaction_xml.ts";

/** Whoever waits looks again after this long: another process may do the work. */
const LOOK_AGAIN_MS = 1_000;
/** At most ten events a second. */
const EVENT_INTERVAL_MS = 100;
/** A stream says something after so long, well within what proxies allow. */
const QUIET_MS = 10_000;
const COMMENT = ": still here\n\n";

/**
 * Resolves when the transaction is final or the time is up. Throws 401 when the
 * key is revoked meanwhile.
 */
export async function waitUntilFinal(
  context: RequestContext,
  ms: number,
): Promise<void> {
  using waiting = context.startWaiting();
  using timeout = new Timeout(context.services.deps.clock, ms);
  const abort = AbortSignal.any([waiting.signal, timeout.signal]);
  await follow(context, abort, ({ finished_at }) => finished_at !== null);
  const { reason } = waiting.signal;
  if (reason instanceof ServiceError) throw reason;
}

/**
 * A stream of `progress` events while it goes on, with `final` at its end. It
 * ends without `final` when the key is revoked or the service stops.
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
    await new Promise<void>((resolve) =>
      clock.after(EVENT_INTERVAL_MS, resolve)
    );
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

/**
 * Looks at the transaction, then sleeps until it moved on, again and again.
 * Answers it as soon as `done` says so; null when `abort` fires first.
 */
async function follow(
  context: RequestContext,
  abort: AbortSignal,
  done: (transaction: Transaction) => boolean,
): Promise<Transaction | null> {
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
      const transaction = await lookAt(context);
      if (transaction !== null && done(transaction)) return transaction;
      await moved;
    } finally {
      looked.abort();
    }
  }
  return null;
}

/** Null while the database cannot be read: the next look may succeed. */
async function lookAt(context: RequestContext): Promise<Transaction | null> {
  try {
    return await findProgress(context);
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

async function findProgress(context: RequestContext): Promise<Transaction> {
  const { services, seller, params } = context;
  const transaction = await services.db.read((sql) =>
    findTransaction(sql, seller.id, params.transaction_id)
  );
  if (transaction === null) throw notFound("transaction");
  return transaction;
}

/** Fires after a time on the clock handed in, unless disposed of before. */
class Timeout implements Disposable {
  readonly #controller = new AbortController();
  readonly #cancel: () => void;

  constructor(clock: Clock, ms: number) {
    this.#cancel = clock.after(ms, () => this.#controller.abort());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }
}
