/** The input and the output of a handler. */
import type { Caller } from "../../sellers/seller.ts";
import type { Services } from "../../services.ts";
import type { Answer, AnswerName } from "../../contracts/answers.ts";
import type { RecentValues } from "../../lib/recent_values.ts";
import type { TakeStep } from "../admission/read_quota.ts";

export interface RequestContext {
  services: Services;
  request: Request;
  /** UUID of this request; `X-Request-Id` of the answer. */
  requestId: string;
  /** Named path segments, percent-decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The authenticated seller; throws on a route that is not for sellers. */
  seller: Caller;
  /**
   * Reads the body: media type (415), declared and real size (413), deadline
   * (408), memory (503), gzip. `limit` in bytes, by default from the settings.
   */
  body(limit?: number): Promise<Uint8Array>;
  /** As `body`, for a large one: in the blocks in which it arrived. */
  blocks(): Promise<Uint8Array[]>;
  /**
   * As `body`, for one that is not kept in memory, of a seller: each chunk is
   * valid until the next one is requested.
   */
  chunks(limit: number): AsyncIterable<Uint8Array>;
  /** The operator, as in the audit log; throws on a route for others. */
  who: string;
  /**
   * Whether an operator's key was sent, on a route that needs none; throws 401
   * for an invalid one.
   */
  isOperator(): Promise<boolean>;
  /**
   * Charges the seller's rate for so many more requests, once the cost of this
   * one is known; later requests wait for it.
   */
  countMore(requests: number): void;
  /**
   * Acquires a slot for a request that waits or streams, until it is disposed
   * of; throws 429 or 503 if there is none.
   */
  startWaiting(): Waiting;
  /**
   * Reads many rows in steps, each when the key's owner may run; throws 429 or
   * 503 if too many reads wait.
   */
  heavyRead<T>(read: (takeStep: TakeStep) => Promise<T>): Promise<T>;
  /** By seller, transaction and cursor. */
  finalRecords: RecentValues<FinalRecord>;
  /** Fires when the client disconnects or the service stops. */
  abort: AbortSignal;
}

/** A record of an upload whose results cannot change, as it was answered. */
export interface FinalRecord {
  document: Uint8Array<ArrayBuffer>;
  undoneBy: string | null;
}

/** A request that waits or streams. */
export interface Waiting extends Disposable {
  /**
   * Fires as `abort` does, and within a second of the key's revocation, then
   * with the `ServiceError` that refuses it.
   */
  readonly signal: AbortSignal;
}

/** `A`: the kinds of answer in XML; none by default. */
export interface Reply<A extends AnswerName = never> {
  /** 200 by default. */
  status?: number;
  /** The content of `<service>`. */
  xml?: Answer<A>;
  /** A body that is already encoded, instead of `xml`; null for none. */
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  headers?: Record<string, string>;
}

export type Handler<A extends AnswerName = never> = (
  context: RequestContext,
) => Promise<Reply<A>>;
