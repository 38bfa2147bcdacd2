/** What a handler is given and what it gives back. */
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { Answer, AnswerName } from "../contracts/answers.ts";
import type { TakeStep } from "./concurrency.ts";

export interface RequestContext {
  services: Services;
  request: Request;
  /** UUID of this request; `X-Request-Id` of the answer. */
  requestId: string;
  /** Named path segments, percent-decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Whose key it was; throws on a route that is not a seller's. */
  seller: Seller;
  /**
   * Reads the body: media type (415), declared and real size (413), deadline
   * (408), room for it (503), gzip. `limit` in bytes, the setting's by default.
   */
  body(limit?: number): Promise<Uint8Array>;
  /** As `body`, for a long one: in the blocks in which it arrived. */
  blocks(): Promise<Uint8Array[]>;
  /** The operator, as in the audit log; throws on a route that is not theirs. */
  who: string;
  /**
   * Whether an operator's key came, on a route that needs none; throws 401 for
   * another one.
   */
  isOperator(): Promise<boolean>;
  /**
   * Takes a place among the requests that wait or stream, until it is disposed
   * of; throws 429 or 503 when there is none.
   */
  startWaiting(): Waiting;
  /**
   * Reads many rows, in steps, when it is the turn of whose key it was; throws
   * 429 or 503 when too many reads wait.
   */
  heavyRead<T>(read: (takeStep: TakeStep) => Promise<T>): Promise<T>;
  /** Fires when the client went away or the service is stopping. */
  abort: AbortSignal;
}

/** A request that waits or streams. */
export interface Waiting extends Disposable {
  /**
   * Fires as `abort` does, and within a second of the end of the key, then with
   * the `ServiceError` that refuses it.
   */
  readonly signal: AbortSignal;
}

/** `A`: the kinds of answer in XML; none unless given. */
export interface Reply<A extends AnswerName = never> {
  /** 200 unless said otherwise. */
  status?: number;
  /** What stands inside `<service>`. */
  xml?: Answer<A>;
  /** A body that is already encoded, instead of `xml`; null for none. */
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  headers?: Record<string, string>;
}

export type Handler<A extends AnswerName = never> = (
  context: RequestContext,
) => Promise<Reply<A>>;
