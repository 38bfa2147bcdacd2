/**
 * The client: every operation as a method, and methods that need several
 * requests.
 */
import {
  type CallOptions,
  type ClientOptions,
  Connection,
  isRetryable,
  RETRY_FOR_MS,
  waitAfter,
} from "./connection.ts";
import { ApiError, ConnectionError } from "./errors.ts";
import { LimitError, PageCount } from "./limits.ts";
import { type Entries, OPERATIONS, type Operations } from "./operations.ts";
import { serverEvents } from "./server_events.ts";
import type { Operation } from "./operation.ts";
import type { Import, Result, Transaction } from "./types.ts";

type ListName = keyof Entries;

/** Lists page by page; `next` of a page is the cursor of the following one. */
export type Pages = {
  [L in ListName]: (
    ...given: Parameters<Operations[L]>
  ) => AsyncGenerator<Awaited<ReturnType<Operations[L]>>>;
};

/** Lists entry by entry, to the end. */
export type All = {
  [L in ListName]: (
    ...given: Parameters<Operations[L]>
  ) => AsyncGenerator<Entries[L]>;
};

/** Any answer as the text of its XML. */
export type Xml = {
  [O in keyof Operations]: (
    ...given: Parameters<Operations[O]>
  ) => Promise<string>;
};

/** Identifies an upload. */
interface UploadId {
  transaction_id: string;
}

/** Identifies an import. */
interface ImportId {
  import_id: string;
}

export interface Client extends Operations {
  readonly pages: Pages;
  readonly all: All;
  readonly xml: Xml;
  /**
   * The transaction with its results once it is final, or the import with its
   * problems. Throws like every operation.
   */
  waitFor(upload: UploadId, options?: CallOptions): Promise<Transaction>;
  waitFor(from: ImportId, options?: CallOptions): Promise<Import>;
  /**
   * The transaction, without its results, whenever it has changed, and at last
   * when it is final; or the import, without its problems. Reopens a stream
   * that breaks; `retryFor` counts from the last change.
   */
  follow(
    upload: UploadId,
    options?: CallOptions,
  ): AsyncGenerator<Transaction>;
  follow(from: ImportId, options?: CallOptions): AsyncGenerator<Import>;
  /** The result of each product, read from as many answers as needed. */
  results(upload: UploadId, options?: CallOptions): AsyncGenerator<Result>;
}

/** A client of the service at `url` with one key. */
export function createClient(options: ClientOptions): Client {
  const connection = new Connection(options);
  const rows = Object.entries(OPERATIONS);
  const operations = methodsOf(
    rows,
    (row, input, call) => connection.call(row, input, call),
  ) as unknown as Operations;
  const lists = rows.filter(([, { pages }]) => pages !== undefined);
  const pages = methodsOf(
    lists,
    (row, input, call) => pagesOf(connection, row, input, call),
  ) as unknown as Pages;
  const all = methodsOf(
    lists,
    (row, input, call) => entriesOf(connection, row, input, call),
  ) as unknown as All;
  const xml = methodsOf(
    rows,
    (row, input, call) => connection.call({ ...row, ...AS_XML }, input, call),
  ) as unknown as Xml;
  return {
    ...operations,
    pages,
    all,
    xml,
    waitFor: ((of: UploadId | ImportId, call) =>
      waitFor(
        connection,
        async (wait) =>
          "import_id" in of
            ? (await operations.getImport({ ...of, wait }, call)).import
            : (await operations.getTransaction({ ...of, wait }, call))
              .transaction,
        call,
      )) as Client["waitFor"],
    follow: ((of: UploadId | ImportId, call) =>
      follow(connection, of, {
        retryFor: options.retryFor ?? RETRY_FOR_MS,
        ...call,
      })) as Client["follow"],
    results: (upload, call) =>
      resultsOf(operations, upload, new PageCount(connection.limits), call),
  };
}

const AS_XML = { accept: "text/xml", answer: "text" } as const;
const STREAM = { accept: "text/event-stream, application/json;q=0.9" };

type Input = Readonly<Record<string, unknown>> | undefined;

/** A method for each of these operations, by its name. */
function methodsOf<R>(
  rows: readonly (readonly [string, Operation])[],
  method: (row: Operation, input: Input, call?: CallOptions) => R,
) {
  return Object.fromEntries(
    rows.map(([name, row]) => [
      name,
      (input: Input, call?: CallOptions) => method(row, input, call),
    ]),
  );
}

interface Page {
  next?: string;
  [entries: string]: unknown;
}

async function* pagesOf(
  connection: Connection,
  row: Operation,
  input: Input = {},
  call?: CallOptions,
): AsyncGenerator<Page> {
  const count = new PageCount(connection.limits);
  for (let { after } = input;;) {
    const page = await connection.call(row, { ...input, after }, call) as Page;
    yield page;
    // Feeds always return a cursor; at their end, the one that was requested.
    if (page.next === undefined || page.next === after) return;
    count.add(page.next);
    after = page.next;
  }
}

async function* entriesOf(
  connection: Connection,
  row: Operation,
  input: Input,
  call?: CallOptions,
): AsyncGenerator<unknown> {
  for await (const page of pagesOf(connection, row, input, call)) {
    const list = page[row.pages!] as Record<string, unknown>;
    yield* (row.item === undefined
      ? list
      : list[row.item]) as unknown as unknown[];
  }
}

/** The longest time that the service waits before it answers, in seconds. */
const WAIT_S = 30;
/** The pause before the next request, for a service that answers at once. */
const PAUSE_MS = 500;

async function waitFor<T extends Transaction | Import>(
  connection: Connection,
  read: (wait: number) => Promise<T>,
  call?: CallOptions,
): Promise<T> {
  const checkTime = timeLimit(connection);
  for (;;) {
    const found = await read(WAIT_S);
    if (found.finished_at !== null) return found;
    checkTime();
    await connection.platform.sleep(PAUSE_MS, call?.signal);
    call?.signal?.throwIfAborted();
  }
}

/** A function that throws once an upload has been awaited for too long. */
function timeLimit({ platform, limits }: Connection): () => void {
  const until = platform.now() + limits.followFor;
  return () => {
    if (platform.now() < until) return;
    const seconds = limits.followFor / 1_000;
    throw new LimitError(`The upload did not end in ${seconds} seconds.`);
  };
}

async function* follow(
  connection: Connection,
  of: UploadId | ImportId,
  call: CallOptions & { retryFor: number },
): AsyncGenerator<Transaction | Import> {
  const { signal, onRetry, retryFor } = call;
  const operation = "import_id" in of
    ? OPERATIONS.getImport
    : OPERATIONS.getTransaction;
  const { now, sleep } = connection.platform;
  const checkTime = timeLimit(connection);
  // Validate first: inside the loop bad input would be retried for ever.
  connection.check(operation, { ...of });
  let until = now() + retryFor;
  for (let failures = 0;; failures++) {
    try {
      const { body } = await connection.open(
        { ...operation, ...STREAM },
        { ...of },
        { signal, retryFor: 0 },
      );
      const events = serverEvents(body!, connection.limits);
      for await (const { name, data } of events) {
        checkTime();
        if (name === "") continue;
        failures = 0;
        until = now() + retryFor;
        const { transaction, import: one } = JSON.parse(data);
        yield transaction ?? one;
        if (name === "final") return;
      }
      throw new Error("the stream ended early");
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof LimitError) throw cause;
      checkTime();
      const error = cause instanceof ApiError
        ? cause
        : new ConnectionError(cause);
      const isLate = now() > until;
      if (!isRetryable(error) || isLate) throw error;
      onRetry?.(error);
      await sleep(waitAfter(error, failures), signal);
      signal?.throwIfAborted();
    }
  }
}

async function* resultsOf(
  operations: Operations,
  { transaction_id }: UploadId,
  count: PageCount,
  call?: CallOptions,
): AsyncGenerator<Result> {
  let after: string | undefined;
  for (;;) {
    const { transaction } = await operations
      .getTransaction({ transaction_id, after }, call);
    yield* transaction.results ?? [];
    after = transaction.next;
    if (after === undefined) return;
    count.add(after);
  }
}
