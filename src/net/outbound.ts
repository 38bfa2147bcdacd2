/**
 * The outbound client: every request to an address that a seller chose (images
 * and webhooks) goes through it. It resolves the name itself, refuses if any
 * address is not public, dials only an address that it has checked, follows no
 * redirect, decodes no content coding, and bounds time, bytes and concurrency.
 *
 * It works the same on the main thread and in a Web Worker. Errors are thrown
 * only from the method that was called, whatever a host does.
 */

import type { Clock } from "../deps.ts";
import type { InUse } from "../lib/holders.ts";
import { Ranges } from "../lib/cidr.ts";
import { type Limit, timeSharePolicy } from "../lib/limits.ts";
import { parseSellerUrl } from "../lib/url.ts";
import { type Ask, WaitList } from "../lib/wait_list.ts";
import { OutboundRequest } from "./request.ts";
import {
  connectError,
  type Dial,
  dialFirst,
  dialTcp,
  type Secure,
  secureTls,
} from "./dial.ts";
import { OutboundError } from "./errors.ts";
import {
  HostNames,
  lookupSlots,
  type Resolver,
  systemResolver,
} from "./names.ts";
import { LATE_CONNECT_MS, Paces, ReservedSlot } from "./pace.ts";
import { Pool } from "./pool.ts";
import { limitTime } from "./time_limit.ts";
import {
  encodeRequest,
  headerLines,
  headerTokens,
  HttpConnection,
  type ResponseHead,
} from "./http_connection.ts";

export { OutboundError, type OutboundErrorKind } from "./errors.ts";
export type { Dial, Resolver, Secure };

/** Looks up names and makes connections; tests replace it. */
export interface Network {
  resolve: Resolver;
  dial: Dial;
  secure: Secure;
  /** The slots for look-ups, which clients of one thread share. */
  lookups?: WaitList;
}

/** Everything but the network and the clock is plain data. */
export interface OutboundOptions extends Partial<Network> {
  /** CIDRs of private addresses that may be dialled. */
  allowPrivate: readonly string[];
  /**
   * The most requests in flight to one origin (scheme, host, port); `pace.ts`
   * reduces the number to what the host accepts. No limit by default, for
   * callers with their own limits.
   */
  perOrigin?: number;
  /** The most requests in flight, shared by `timeSharePolicy`. */
  total?: number;
  /**
   * How many requests an owner may have in flight in addition to its share,
   * while none of its requests waits; none by default.
   */
  burst?: number;
  userAgent?: string;
  /** PEM certificates to trust in addition to the usual roots. */
  ca?: string[];
  clock: Clock;
}

export interface RequestOptions {
  /**
   * Milliseconds from the start of the request (not from the call, which may
   * wait for a slot) to the end of the answer, its body included.
   */
  timeoutMs: number;
  /** Aborts at any time, even while the request waits for a slot. */
  signal?: AbortSignal;
  /**
   * Contains the request until it ends, so that the caller can end its wait for
   * a slot.
   */
  group?: Set<OutboundRequest>;
  /** Called when the request gets its slot, before anything is sent. */
  onTurn?: () => void;
  /** Called when the time is up, before another request gets the slot. */
  onTimeout?: () => void;
  /**
   * The owner of the request: slots and look-ups are shared among owners, so
   * that one owner's silent hosts do not delay the others. Requests without an
   * owner are not limited by shares.
   */
  owner?: string;
  /**
   * Whether the request gets a slot before other requests of its owner to the
   * same origin.
   */
  first?: boolean;
  /**
   * Whether other requests and look-ups of its owner come before this one; see
   * `Ask`.
   */
  background?: boolean;
  /**
   * The slot that is reserved for repeating the request if it gets no answer.
   */
  retrySlot?: ReservedSlot;
}

export interface HeadOptions extends RequestOptions {
  /**
   * Whether a HEAD whose connection broke is sent once more, within the rest of
   * its time, before other requests of its owner to its origin. `head` then
   * throws the error of the second one.
   */
  mayRepeat?: (error: OutboundError) => boolean;
}

export interface GetOptions extends RequestOptions {
  /** The largest body that is returned. */
  maxBytes: number;
  /**
   * Milliseconds until the headers of the answer have arrived; `timeoutMs` by
   * default.
   */
  answerMs?: number;
  headers?: Record<string, string>;
}

export interface PostOptions extends RequestOptions {
  headers: Record<string, string>;
  body: Uint8Array;
  /** How much of the answer's body is read; the rest is dropped. */
  maxAnswerBytes: number;
}

/** An answer with any status. */
export interface Answer {
  status: number;
  /** Returns a header of the answer; repeated ones are joined with ", ". */
  headers: (name: string) => string | null;
  /** The address that answered. */
  address: string;
}

export interface StreamedAnswer extends Answer {
  /**
   * Read it once and to its end, or cancel it (leaving a `for await` does so).
   * Until then it holds a slot, at most until the time-out. Each piece is valid
   * until the next one is requested. Throws {@linkcode OutboundError}.
   */
  body: AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Stops reading the body. */
  cancel: () => void;
}

export interface PostedAnswer extends Answer {
  body: Uint8Array<ArrayBuffer>;
  /** Whether the body was too long, broke off or took too long. */
  truncated: boolean;
}

/** The limit for the look-up, and for TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000;
/** The most idle connections kept for later requests. */
const IDLE = 256;

/** The outbound client; see the top of this file. Close it when done. */
export class Outbound {
  readonly #options: OutboundOptions;
  readonly #clock: Clock;
  readonly #names: HostNames;
  readonly #lookups: WaitList;
  readonly #slots: WaitList;
  /** null if requests to one host are not limited. */
  readonly #paces: Paces | null;
  readonly #pool: Pool;
  /** Headers of every request. */
  readonly #headers: string;
  /** Requests that have not ended. */
  readonly #calls = new Set<OutboundRequest>();
  #isClosed = false;

  /** @throws {TypeError} if `allowPrivate` has anything but CIDRs. */
  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#lookups = options.lookups ?? lookupSlots(this.#clock);
    this.#names = new HostNames({
      resolve: options.resolve ?? systemResolver,
      allow: new Ranges(options.allowPrivate),
      timeoutMs: CONNECT_TIMEOUT_MS,
      clock: this.#clock,
      slots: this.#lookups,
    });
    const { perOrigin, total = Infinity, burst } = options;
    const paces = perOrigin === undefined ? null : new Paces(perOrigin);
    this.#paces = paces;
    this.#slots = new WaitList(
      this.#clock,
      timeSharePolicy({
        perKey: perOrigin ?? Infinity,
        total,
        burst,
        pace: paces === null ? undefined : paceLimit(paces),
      }),
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
   * Checks a URL and its host's addresses without connecting; a webhook's URL
   * must pass this check when it is registered.
   * @throws {OutboundError} `blocked`, `unresolved`, `timeout`, or `queued` if
   * the look-up waited too long for others
   */
  async check(url: string, owner?: string): Promise<void> {
    const call = this.#open(url);
    // Limits only the wait: a look-up in progress has its own time-out.
    const stopWaiting = () => call.stopWaiting();
    call.onEnd(this.#clock.after(2 * CONNECT_TIMEOUT_MS, stopWaiting));
    try {
      await this.#lookUp(call, { owner });
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
  async head(url: string, options: HeadOptions): Promise<Answer> {
    const { mayRepeat, owner } = options;
    if (mayRepeat === undefined) return await this.#head(url, options);
    const retrySlot = new ReservedSlot(owner);
    const release = () => retrySlot.release() && this.#slots.recheck();
    try {
      return await this.#head(url, { ...options, retrySlot });
    } catch (error) {
      const isBroken = error instanceof OutboundError && error.kind === "reset";
      if (!isBroken || !mayRepeat(error)) throw error;
      const timeoutMs = Math.max(0, options.timeoutMs - error.elapsedMs);
      return await this.#head(url, {
        ...options,
        timeoutMs,
        first: true,
        onTurn: release,
      });
    } finally {
      release();
    }
  }

  #head(url: string, options: RequestOptions): Promise<Answer> {
    const message = { method: "HEAD", url, lines: this.#headers };
    return this.#request(message, options, (call, { connection, head }) => {
      const answer = answerOf(call, head);
      call.end(head.keepAlive ? connection : undefined);
      return answer;
    });
  }

  /**
   * Sends a GET and streams the body. If the connection breaks without an
   * answer, it tries once more, within the same time. Reading the body of any
   * answer throws `too_large` after `maxBytes`.
   * @throws {OutboundError} for a 2xx answer: `too_large` if the declared
   * length is more than `maxBytes`, `protocol` if the body has a content coding
   */
  async get(url: string, options: GetOptions): Promise<StreamedAnswer> {
    const { headers = {}, maxBytes, answerMs } = options;
    const lines = this.#headers + headerLines(headers);
    const message = { method: "GET", url, lines, answerMs };
    return await this.#request(message, options, (call, answered) => {
      const { head } = answered;
      if (head.status < 300) checkBody(call, head, maxBytes);
      return {
        ...answerOf(call, head),
        body: this.#stream(call, answered, maxBytes),
        cancel: () => call.end(),
      };
    });
  }

  /**
   * Sends a POST, once, on a new connection. An answer needs only a status: a
   * body that is too long, breaks off or does not end in time is truncated.
   * @throws {OutboundError}
   */
  async post(url: string, options: PostOptions): Promise<PostedAnswer> {
    const { body } = options;
    const lines = this.#headers + headerLines({
      ...options.headers,
      "connection": "close",
      "content-length": String(body.length),
    });
    const message = { method: "POST", url, lines, body };
    return await this.#request(
      message,
      options,
      async (call, { connection, head }) => {
        const answer = answerOf(call, head);
        const body = await firstBytesOf(connection.body(head.framing), options);
        if (call.cancelled) throw call.signal.reason;
        call.end();
        return { ...answer, ...body };
      },
    );
  }

  /**
   * All zero 30 s after the last request: idle connections are then closed,
   * too.
   */
  inUse(): InUse {
    const [slots, lookups] = [this.#slots.inUse(), this.#lookups.inUse()];
    return {
      requests: this.#calls.size,
      slots: slots.used,
      lookups: lookups.used,
      waiting: slots.waiting + lookups.waiting,
      idle: this.#pool.size,
    };
  }

  /** See `Holder`. */
  oldestWaitMs(): number {
    return Math.max(this.#slots.oldestWaitMs(), this.#lookups.oldestWaitMs());
  }

  /** Closes every connection; pending requests reject with `aborted`. */
  close(): void {
    this.#isClosed = true;
    for (const call of this.#calls) call.cancel();
    this.#pool.close();
  }

  #open(url: string, group?: Set<OutboundRequest>): OutboundRequest {
    const call = new OutboundRequest(allowedUrl(url), this.#clock);
    this.#calls.add(call);
    group?.add(call);
    call.onEnd(() => {
      this.#calls.delete(call);
      group?.delete(call);
    });
    if (this.#isClosed) call.cancel();
    return call;
  }

  /**
   * Sends a request; `use` ends it, or returns an object that ends it later.
   */
  async #request<T>(
    { method, url, lines, body, answerMs }: Message,
    options: RequestOptions,
    use: (call: OutboundRequest, answered: AnsweredRequest) => T | Promise<T>,
  ): Promise<T> {
    const { owner, first, background, signal, group, timeoutMs } = options;
    const { retrySlot = null, onTurn } = options;
    const call = this.#open(url, group);
    call.onTimeout = options.onTimeout ?? null;
    call.onAbort(signal, () => call.cancel());
    try {
      call.addresses = await this.#lookUp(call, { owner, background });
      const ask = { owner, keys: [call.origin], first, background };
      const slot = await this.#slots.acquire(ask, call.signal);
      const pace = this.#paces?.begin(call.origin) ?? null;
      call.pace = pace;
      call.retrySlot = retrySlot;
      call.onEnd(() => pace?.ended());
      call.onEnd(() => slot[Symbol.dispose]());
      call.start(timeoutMs);
      onTurn?.();
      const answerLimit = answerMs === undefined ? null : call.limit(answerMs);
      if (answerLimit !== null) call.onEnd(answerLimit.cancel);
      const request = encodeRequest(method, call.url, lines, body);
      const answered = await this.#send(call, method, request);
      answerLimit?.cancel();
      call.pace?.answered(this.#slots.usage.used(call.origin));
      return await use(call, answered);
    } catch (error) {
      const failure = call.failure(error);
      call.end();
      throw failure;
    }
  }

  async #lookUp(
    call: OutboundRequest,
    ask: Pick<Ask, "owner" | "background">,
  ): Promise<readonly string[]> {
    const { url: { hostname }, signal } = call;
    signal.throwIfAborted();
    const found = this.#names.addresses(hostname, ask, signal);
    return await call.unlessAborted(found);
  }

  async #send(
    call: OutboundRequest,
    method: string,
    request: Uint8Array,
  ): Promise<AnsweredRequest> {
    const repeatable = method !== "POST";
    const pooled = repeatable
      ? this.#pool.take(call.origin, call.addresses)
      : undefined;
    try {
      return await this.#sendOnce(call, method, request, pooled);
    } catch (error) {
      if (!repeatable || call.signal.aborted || !isUnanswered(error, pooled)) {
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
  ): Promise<AnsweredRequest> {
    const connection = pooled ?? await this.#connect(call);
    call.address = connection.address;
    call.pace?.accepted();
    call.phase = "answer";
    call.onEnd((keep) => {
      if (keep !== connection || this.#isClosed) connection.close();
      else this.#pool.put(call.origin, connection);
    });
    try {
      const head = await connection.exchange(method, request);
      // A host that waited for a request in vain, on an idle connection or
      // while this process stalled, may report a time-out (408) and close the
      // connection.
      const waited = pooled !== undefined || call.hasStalled;
      if (waited && head.status === 408) throw connection.broken();
      call.phase = "body";
      return { connection, head };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #connect(call: OutboundRequest): Promise<HttpConnection> {
    const { url, signal } = call;
    const { dial = dialTcp, secure = secureTls, ca } = this.#options;
    call.phase = "connect";
    const connectLimit = call.limit(CONNECT_TIMEOUT_MS);
    const late = limitTime(this.#clock, LATE_CONNECT_MS, (stalled) => {
      if (!stalled) call.pace?.late();
    });
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
      call.pace?.accepted();
      late.cancel();
      const ready = url.protocol === "https:"
        ? await secure(conn, url.hostname, ca, signal)
        : conn;
      return new HttpConnection(ready, address, url.host, this.#clock);
    } catch (error) {
      throw connectError(error, url.host);
    } finally {
      connectLimit.cancel();
      late.cancel();
    }
  }

  async *#stream(
    call: OutboundRequest,
    { connection, head }: AnsweredRequest,
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
      const mayBeCut = head.framing.kind === "close" && call.hasStalled;
      if (mayBeCut) throw connection.broken();
      complete = true;
    } catch (error) {
      throw call.failure(error);
    } finally {
      call.end(complete && head.keepAlive ? connection : undefined);
    }
  }
}

/**
 * The limit of a host's pace. Only a repeated request may use a slot that its
 * owner has reserved.
 */
function paceLimit(paces: Paces): Limit {
  return ({ owner, keys, first }, usage) => {
    const [origin] = keys!;
    const reserved = first ? 0 : paces.reserved(origin, owner);
    return paces.atOnce(origin) - usage.used(origin) - reserved;
  };
}

interface Message {
  method: string;
  url: string;
  /** Encoded headers. */
  lines: string;
  body?: Uint8Array;
  answerMs?: number;
}

interface AnsweredRequest {
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
  };
}

// Whether the error means that the host did not answer this request: it closed
// the connection, or a reused connection still had bytes of the previous
// answer.
function isUnanswered(
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
  const codings = headerTokens(head.fields.get("content-encoding"))
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

async function firstBytesOf(
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
