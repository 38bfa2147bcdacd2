/** Waits for the end of uploads and imports, and follows their progress. */
import {
  type CallOptions,
  type Connection,
  isRetryable,
  waitAfter,
} from "./connection.ts";
import { ApiError, ConnectionError } from "./errors.ts";
import { LimitError, PageCount } from "./limits.ts";
import { serverEvents } from "./server_events.ts";
import type { Operation } from "./operation.ts";
import type { Result, Transaction } from "./types.ts";

/** How long the service may wait before it answers, in seconds. */
const WAIT_S = 30;
/** The pause between two requests, in case the service does not wait. */
const PAUSE_MS = 500;
const STREAM = { accept: "text/event-stream, application/json;q=0.9" };

/** Sends several requests for one upload or import. */
export class Follower {
  readonly #connection: Connection;
  readonly #noun: "upload" | "import";

  constructor(connection: Connection, noun: "upload" | "import") {
    this.#connection = connection;
    this.#noun = noun;
  }

  /** Repeats `read` until the record in its answer is final; returns the record. */
  async waitFor<A, T extends { finished_at: string | null }>(
    read: (wait: number) => PromiseLike<A>,
    recordIn: (answer: A) => T,
    { signal }: CallOptions = {},
  ): Promise<T> {
    const checkTime = this.#timeLimit();
    for (;;) {
      const record = recordIn(await read(WAIT_S));
      if (record.finished_at !== null) return record;
      checkTime();
      await this.#connection.platform.sleep(PAUSE_MS, signal);
      signal?.throwIfAborted();
    }
  }

  /** Yields the data of each event of a stream, up to the event `final`. */
  async *follow<T>(
    operation: Operation,
    id: object,
    recordIn: (event: Record<string, unknown>) => T,
    options: CallOptions = {},
  ): AsyncGenerator<T> {
    const connection = this.#connection;
    const { signal, onRetry, retryFor = connection.retryFor } = options;
    const { now, sleep } = connection.platform;
    const checkTime = this.#timeLimit();
    // Validate first: inside the loop bad input would be retried for ever.
    connection.check(operation, { ...id });
    let deadline = now() + retryFor;
    for (let failures = 0;; failures++) {
      try {
        const { body } = await connection.open(
          { ...operation, ...STREAM },
          { ...id },
          { signal, retryFor: 0 },
        );
        const events = serverEvents(body!, connection.limits);
        for await (const { name, data } of events) {
          checkTime();
          if (name === "") continue;
          failures = 0;
          deadline = now() + retryFor;
          yield recordIn(JSON.parse(data));
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
        if (!isRetryable(error) || now() > deadline) throw error;
        onRetry?.(error);
        await sleep(waitAfter(error, failures), signal);
        signal?.throwIfAborted();
      }
    }
  }

  /** Yields the results of all pages of a transaction. */
  async *results(
    read: (after?: string) => PromiseLike<{ transaction: Transaction }>,
  ): AsyncGenerator<Result> {
    const count = new PageCount(this.#connection.limits);
    let after: string | undefined;
    for (;;) {
      const { transaction } = await read(after);
      yield* transaction.results ?? [];
      after = transaction.next;
      if (after === undefined) return;
      count.add(after);
    }
  }

  /** A function that throws `LimitError` after `Limits.followFor`. */
  #timeLimit(): () => void {
    const { platform, limits } = this.#connection;
    const deadline = platform.now() + limits.followFor;
    return () => {
      if (platform.now() < deadline) return;
      const seconds = limits.followFor / 1_000;
      throw new LimitError(
        `The ${this.#noun} did not end in ${seconds} seconds.`,
      );
    };
  }
}
