/**
 * The outbound client: every request to an address that a seller chose (images
 * and webhooks) goes through it. It resolves the name itself, refuses if any
 * address is not public, dials exactly an address it checked, follows no
 * redirect, decodes no content coding, and bounds time, bytes and concurrency.
 *
 * It works the same on the main thread and in a Web Worker. Whatever a host
 * does, errors are thrown only from the method called.
 */

import type { Clock } from "../deps.ts";
import type { Held } from "../lib/holders.ts";
import { sharedByTime } from "../lib/limits.ts";
import { parseSellerUrl } from "../lib/url.ts";
import { WaitList } from "../lib/wait_list.ts";
import { allowList } from "./addresses.ts";
import { OutboundRequest } from "./request.ts";
import { RequestsBySignal } from "./requests_by_signal.ts";
import {
  connectError,
  type Dial,
  dialFirst,
  dialTcp,
  type Secure,
  secureTls,
} from "./dial.ts";
import { OutboundError } from "./errors.ts";
import { Names, type Resolver, systemResolver } from "./names.ts";
import { Pool } from "./pool.ts";
import {
  encodeRequest,
  headerLines,
  HttpConnection,
  type ResponseHead,
  tokens,
} from "./http_connection.ts";

export { OutboundError, type OutboundErrorKind } from "./errors.ts";
export type { Dial, Resolver, Secure };

/** How names are looked up and connections made; tests replace it. */
export interface Network {
  resolve: Resolver;
  dial: Dial;
  secure: Secure;
  /** The slots for look-ups, which clients of one thread share. */
  lookups?: WaitList;
}

/** Plain data but for the network and the clock. */
export interface OutboundOptions extends Partial<Network> {
  /** CIDRs of private addresses that may be reached. */
  allowPrivate: readonly string[];
  /**
   * Most requests in flight to one origin (scheme, host, port), and in total,
   * shared as `sharedByTime` does; no limit by default, for callers that have
   * limits of their own.
   */
  perOrigin?: number;
  total?: number;
  /**
   * How many a prompt owner may have in flight beyond its share, while none of
   * its requests waits; none by default.
   */
  burst?: number;
  /** For the look-up, and again for TCP and TLS together; 5,000 by default. */
  connectTimeoutMs?: number;
  userAgent?: string;
  /** PEM certificates trusted besides the usual roots. */
  ca?: string[];
  clock: Clock;
}

export interface RequestOptions {
  /**
   * Milliseconds from the start of the request (not from the call, which may
   * wait for a slot) to the end of the answer, its body included.
   */
  timeoutMs: number;
  /** Aborts at any time, also while waiting for a slot. */
  signal?: AbortSignal;
  /** Aborts the request, as `queued`, only while it waits for a slot. */
  waitSignal?: AbortSignal;
  /** Called when the request has its slots, before anything is sent. */
  onTurn?: () => void;
  /**
   * For whom the request is: slots and look-ups are shared among owners, so
   * that one owner's silent hosts do not delay the others. Requests without an
   * owner are not limited by shares.
   */
  owner?: string;
}

export interface GetOptions extends RequestOptions {
  /** The largest body that is returned. */
  maxBytes: number;
  /** Milliseconds until the answer's header has come; `timeoutMs` by default. */
  answerMs?: number;
  headers?: Record<string, string>;
}

export interface PostOptions extends RequestOptions {
  headers: Record<string, string>;
  body: Uint8Array;
  /** How much of the answer's body is read; the rest is cut off. */
  maxAnswerBytes: number;
}

/** An answer, whatever its status. */
export interface Answer {
  status: number;
  /** Returns a header of the answer; repeated ones are joined with ", ". */
  headers: (name: string) => string | null;
  /** The address that answered. */
  address: string;
  /**
   * Milliseconds from the start of the request to the end of the answer's
   * header.
   */
  elapsedMs: number;
}

export interface StreamedAnswer extends Answer {
  /**
   * Read it once and to its end, or cancel it (leaving a `for await` does so);
   * it holds a slot until then, at most until the time-out. Each piece is valid
   * until the next is requested. Throws {@linkcode OutboundError}.
   */
  body: AsyncIterable<Uint8Array<ArrayBuffer>>;
  /**
   * Whether the host marks the end of the body, by a length or chunks: a
   * truncated body is then an error. Otherwise the body ends with the
   * connection.
   */
  isEndMarked: boolean;
  /** Stops reading the body. */
  cancel: () => void;
}

export interface PostedAnswer extends Answer {
  body: Uint8Array<ArrayBuffer>;
  /** Whether the body was too long, broke off or took too long. */
  truncated: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Most connections kept for later requests. */
const IDLE = 256;

/** The outbound client; see the top of this file. Close it when done. */
export class Outbound {
  readonly #options: OutboundOptions;
  readonly #clock: Clock;
  readonly #names: Names;
  readonly #slots: WaitList;
  readonly #pool: Pool;
  /** Headers of every request. */
  readonly #headers: string;
  readonly #calls = new RequestsBySignal((call) => call.cancel());
  readonly #waiting = new RequestsBySignal((call) => call.stopWaiting());
  readonly #closing = new AbortController();

  /** @throws {TypeError} if `allowPrivate` holds anything but CIDRs. */
  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#names = new Names({
      resolve: options.resolve ?? systemResolver,
      allow: allowList(options.allowPrivate),
      timeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      clock: this.#clock,
      slots: options.lookups,
    });
    const { perOrigin = Infinity, total = Infinity, burst } = options;
    this.#slots = new WaitList(
      this.#clock,
      sharedByTime({ perKey: perOrigin, total, burst }),
    );
    this.#pool = new Pool(Math.min(total, IDLE), this.#clock);
    const { userAgent } = options;
    this.#headers = headerLines({
      ...(userAgent === undefined ? {} : { "user-agent": userAgent }),
      "accept": "*/*",
      "accept-encoding": "identity",
    });
  }

  /**
   * Checks a URL and its host's addresses without connecting: a webhook's URL
   * must pass this when it is registered.
   *
   * @throws {OutboundError} `blocked`, `unresolved`, `timeout`, or `queued` if
   * the look-up waited too long for others
   */
  async check(url: string, owner?: string): Promise<void> {
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    const call = new OutboundRequest(allowedUrl(url), this.#clock);
    this.#calls.add(this.#closing.signal, call);
    // Limits only the wait: a look-up that began has its own time-out.
    const stopWaiting = () => call.stopWaiting();
    call.onEnd(this.#clock.after(2 * connectTimeoutMs, stopWaiting));
    try {
      await this.#lookUp(call, owner);
    } finally {
      call.end();
    }
  }

  /**
   * Sends a HEAD. If the connection breaks without an answer, it tries once
   * more, within the same time.
   *
   * @throws {OutboundError}
   */
  async head(url: string, options: RequestOptions): Promise<Answer> {
    const call = await this.#begin(url, options);
    try {
      const request = encodeRequest("HEAD", call.url, this.#headers);
      const { connection, head } = await this.#send(call, "HEAD", request);
      const answer = answerOf(call, head);
      call.end(head.keepAlive ? connection : undefined);
      return answer;
    } catch (error) {
      throw this.#failed(call, error);
    }
  }

  /**
   * Sends a GET and streams the body. If the connection breaks without an
   * answer, it tries once more, within the same time. The body of a 2xx answer
   * must be uncompressed and no larger than `maxBytes`; that of any other
   * answer is cut off there.
   *
   * @throws {OutboundError} `too_large` already here if the length is declared,
   * `protocol` if there is a content coding
   */
  async get(url: string, options: GetOptions): Promise<StreamedAnswer> {
    const call = await this.#begin(url, options);
    try {
      const lines = this.#headers + headerLines(options.headers ?? {});
      const request = encodeRequest("GET", call.url, lines);
      const { answerMs, timeoutMs } = options;
      const limit = call.limit(answerMs ?? timeoutMs);
      call.onEnd(limit.cancel);
      const { connection, head } = await this.#send(call, "GET", request);
      limit.cancel();
      if (head.status < 300) checkBody(call, head, options.maxBytes);
      return {
        ...answerOf(call, head),
        body: this.#stream(call, connection, head, options.maxBytes),
        isEndMarked: head.framing.kind !== "close",
        cancel: () => call.end(),
      };
    } catch (error) {
      throw this.#failed(call, error);
    }
  }

  /**
   * Sends a POST, once, on a connection of its own. The status alone makes an
   * answer: a body that is too long, breaks off or does not end in time is
   * truncated.
   *
   * @throws {OutboundError}
   */
  async post(url: string, options: PostOptions): Promise<PostedAnswer> {
    const call = await this.#begin(url, options);
    try {
      const lines = this.#headers + headerLines({
        ...options.headers,
        "connection": "close",
        "content-length": String(options.body.length),
      });
      const request = encodeRequest("POST", call.url, lines, options.body);
      const { connection, head } = await this.#send(call, "POST", request);
      const answer = answerOf(call, head);
      const body = await beginning(connection.body(head.framing), options);
      if (call.cancelled) throw call.signal.reason;
      call.end();
      return { ...answer, ...body };
    } catch (error) {
      throw this.#failed(call, error);
    }
  }

  /** What it holds; all zero some seconds after the last request. */
  held(): Held {
    const [slots, names] = [this.#slots.held(), this.#names.held()];
    return {
      requests: this.#calls.count(this.#closing.signal),
      slots: slots.used,
      lookups: names.used,
      waiting: slots.waiting + names.waiting,
      idle: this.#pool.size,
    };
  }

  /** As in `Holder`. */
  oldestWaitMs(): number {
    return Math.max(this.#slots.oldestWaitMs(), this.#names.oldestWaitMs());
  }

  /** Closes every connection; pending requests reject with `aborted`. */
  close(): void {
    this.#closing.abort();
    this.#pool.close();
  }

  async #begin(url: string, options: RequestOptions): Promise<OutboundRequest> {
    const { owner, signal, waitSignal, timeoutMs, onTurn } = options;
    const call = new OutboundRequest(allowedUrl(url), this.#clock);
    this.#calls.add(this.#closing.signal, call);
    if (signal !== undefined) this.#calls.add(signal, call);
    if (waitSignal !== undefined) this.#waiting.add(waitSignal, call);
    try {
      call.addresses = await this.#lookUp(call, owner);
      const ask = { owner, keys: [call.origin] };
      const slot = await this.#slots.add(ask, call.signal);
      call.onEnd(() => slot[Symbol.dispose]());
      call.start(timeoutMs);
      onTurn?.();
      return call;
    } catch (error) {
      throw this.#failed(call, error);
    }
  }

  async #lookUp(
    call: OutboundRequest,
    owner?: string,
  ): Promise<readonly string[]> {
    const { url: { hostname }, signal } = call;
    const found = this.#names.addresses(hostname, owner, signal);
    return await call.unlessAborted(found);
  }

  async #send(
    call: OutboundRequest,
    method: string,
    request: Uint8Array,
  ): Promise<Sent> {
    const repeatable = method !== "POST";
    const pooled = repeatable
      ? this.#pool.take(call.origin, call.addresses)
      : undefined;
    try {
      return await this.#sendOnce(call, method, request, pooled);
    } catch (error) {
      if (!repeatable || call.signal.aborted || !unanswered(error, pooled)) {
        throw error;
      }
      return await this.#sendOnce(call, method, request);
    }
  }

  async #sendOnce(
    call: OutboundRequest,
    method: string,
    request: Uint8Array,
    pooled?: HttpConnection,
  ): Promise<Sent> {
    const connection = pooled ?? await this.#connect(call);
    call.address = connection.address;
    call.phase = "answer";
    call.onEnd((keep) => {
      const isClosed = this.#closing.signal.aborted;
      if (keep === connection && !isClosed) {
        this.#pool.put(call.origin, connection);
      } else connection.close();
    });
    try {
      const head = await connection.exchange(method, request);
      // The host waited for a request, on a kept connection or while this
      // process stood still.
      const waited = pooled !== undefined || call.stoodStill;
      if (waited && head.status === 408) throw connection.stale();
      call.phase = "body";
      return { connection, head };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #connect(call: OutboundRequest): Promise<HttpConnection> {
    const { url, signal } = call;
    const { dial = dialTcp, secure = secureTls } = this.#options;
    const { ca, connectTimeoutMs } = this.#options;
    call.phase = "connect";
    const limit = call.limit(connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    try {
      const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
      const { conn, address } = await dialFirst(
        call.addresses,
        port,
        dial,
        signal,
        this.#clock,
      );
      call.address = address;
      const ready = url.protocol === "https:"
        ? await secure(conn, url.hostname, ca, signal)
        : conn;
      return new HttpConnection(ready, address, url.host, this.#clock);
    } catch (error) {
      throw connectError(error, url.host);
    } finally {
      limit.cancel();
    }
  }

  async *#stream(
    call: OutboundRequest,
    connection: HttpConnection,
    head: ResponseHead,
    maxBytes: number,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    let bytes = 0;
    let complete = false;
    try {
      call.signal.throwIfAborted();
      for await (const piece of connection.body(head.framing)) {
        bytes += piece.length;
        if (bytes > maxBytes) throw tooLarge(call, maxBytes);
        yield piece;
      }
      const mayBeCut = head.framing.kind === "close" && call.stoodStill;
      if (mayBeCut) throw connection.stale();
      complete = true;
    } catch (error) {
      throw call.failure(error);
    } finally {
      call.end(complete && head.keepAlive ? connection : undefined);
    }
  }

  #failed(call: OutboundRequest, error: unknown): unknown {
    const failure = call.failure(error);
    call.end();
    return failure;
  }
}

interface Sent {
  connection: HttpConnection;
  head: ResponseHead;
}

// A last check: callers refuse such URLs earlier, with better messages.
function allowedUrl(text: string): URL {
  const parsed = parseSellerUrl(text);
  if ("url" in parsed) return parsed.url;
  throw new OutboundError("blocked", parsed.problem);
}

function answerOf(call: OutboundRequest, head: ResponseHead): Answer {
  return {
    status: head.status,
    headers: (name) => head.fields.get(name.toLowerCase()) ?? null,
    address: call.address ?? "",
    elapsedMs: call.elapsedMs,
  };
}

// Whether the host closed a reused connection, or sent more on it than the
// previous answer, before it answered this request.
function unanswered(
  error: unknown,
  pooled: HttpConnection | undefined,
): boolean {
  if (!(error instanceof OutboundError)) return false;
  return error.kind === "reset" ||
    (error.kind === "protocol" && pooled !== undefined);
}

function checkBody(
  call: OutboundRequest,
  head: ResponseHead,
  maxBytes: number,
): void {
  const codings = tokens(head.fields.get("content-encoding"))
    .filter((coding) => coding !== "" && coding !== "identity");
  if (codings.length > 0) {
    throw new OutboundError(
      "protocol",
      `${call.url.host} sent the body with the content coding ${
        codings[0]
      }, which the request does not accept.`,
    );
  }
  if (head.framing.kind === "length" && head.framing.bytes > maxBytes) {
    throw tooLarge(call, maxBytes, head.framing.bytes);
  }
}

function tooLarge(
  call: OutboundRequest,
  most: number,
  bytes?: number,
): OutboundError {
  const what = bytes === undefined ? `more than ${most}` : `${bytes}`;
  return new OutboundError(
    "too_large",
    `${call.url.host} sent a body of ${what} bytes; ${most} is the most.`,
  );
}

async function beginning(
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  { maxAnswerBytes }: PostOptions,
): Promise<{ body: Uint8Array<ArrayBuffer>; truncated: boolean }> {
  const kept = new Uint8Array(maxAnswerBytes);
  let bytes = 0;
  let truncated = false;
  try {
    for await (const piece of body) {
      const fits = piece.subarray(0, maxAnswerBytes - bytes);
      kept.set(fits, bytes);
      bytes += fits.length;
      truncated = fits.length < piece.length;
      if (truncated) break;
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    truncated = true;
  }
  return { body: kept.slice(0, bytes), truncated };
}
