/**
 * A minimal HTTP/1.1 client on one connection (RFC 9112): ambiguous answers are
 * errors, and every length is bounded.
 *
 * Why not a library: `fetch` cannot dial a given address, and `node:http` takes
 * 2.1 times as long for each HEAD.
 */

import type { Clock } from "../deps.ts";
import { OutboundError } from "./errors.ts";
import { joinBlocks } from "../lib/blocks.ts";
import { pause } from "../lib/waits.ts";

/** How to find the end of a body. */
export type Framing =
  | { kind: "length"; bytes: number }
  | { kind: "chunked" }
  | { kind: "close" };

/** Status line and headers of an answer. */
export interface ResponseHead {
  status: number;
  /** Headers by lower-case name; repeated ones are joined with ", ". */
  fields: ReadonlyMap<string, string>;
  framing: Framing;
  /** Whether the host lets the connection be reused. */
  keepAlive: boolean;
}

const HEAD_LIMIT = 32 * 1024;
const LINE_LIMIT = 1024;
const INTERIM_LIMIT = 8;
const HEAD_READ = 8 * 1024;
const BODY_READ = 64 * 1024;
/**
 * A read costs as much as copying some hundred bytes. If a host sends small
 * pieces, its connection is read at intervals after this many reads, so that
 * each read returns more.
 */
const FREE_READS = 64;
const SMALL_READ = 512;
const SMALL_READ_PAUSE_MS = 5;
/** The limit for the chunks of a body; see `FREE_READS`. */
const FREE_CHUNKS = 1_024;
const SMALL_CHUNK = 64;
const NOTHING = new Uint8Array(0);
const LF = 10;
const CR = 13;

// Each byte becomes one character, so that different header values stay
// different.
const latin1 = new TextDecoder("latin1");
const encoder = new TextEncoder();

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// Control characters that no header may contain, except line ends.
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/;

/**
 * Encodes header lines for `encodeRequest`.
 *
 * @throws {TypeError} if a header could not be sent unchanged.
 */
export function headerLines(headers: Record<string, string>): string {
  let lines = "";
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name) || value.includes("\n") || CONTROL.test(value)) {
      throw new TypeError(`The header ${JSON.stringify(name)} cannot be sent.`);
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** The bytes of a request; `Host` is added to the header lines. */
export function encodeRequest(
  method: string,
  url: URL,
  lines: string,
  body: Uint8Array = NOTHING,
): Uint8Array {
  const bytes = encoder.encode(
    `${method} ${url.pathname}${url.search} HTTP/1.1\r\n` +
      `Host: ${url.host}\r\n${lines}\r\n`,
  );
  return body.length === 0 ? bytes : joinBlocks([bytes, body]);
}

/** One connection; requests are sent one after the other. */
export class HttpConnection {
  readonly #conn: Deno.Conn;
  readonly #clock: Clock;
  /**
   * Buffer for the header of an answer, and for the bytes that arrived with it.
   */
  readonly #headSpace = new Uint8Array(HEAD_READ);
  /** Reused for every piece of a body: allocating costs as much as reading. */
  #bodySpace: Uint8Array<ArrayBuffer> | undefined;
  #unread: Uint8Array = NOTHING;
  #ahead: Promise<Uint8Array | null> | undefined;
  /** Reads and bytes since the request was sent. */
  #reads = 0;
  #bytesRead = 0;
  #idle = false;
  #closed = false;

  constructor(
    conn: Deno.Conn,
    readonly address: string,
    /** The host's name in messages. */
    readonly host: string,
    clock: Clock,
  ) {
    this.#conn = conn;
    this.#clock = clock;
  }

  /**
   * Whether everything received has been read; otherwise the connection cannot
   * be reused.
   */
  get clean(): boolean {
    return this.#unread.length === 0 && !this.#closed;
  }

  /**
   * Sends a request and reads the header of its answer; skips interim answers
   * (1xx).
   *
   * @throws {OutboundError} `reset` if the connection breaks without an answer,
   * `protocol` if the answer is malformed, or neither HTTP/1.1 nor HTTP/1.0.
   */
  async exchange(method: string, request: Uint8Array): Promise<ResponseHead> {
    this.#idle = false;
    this.#reads = 0;
    this.#bytesRead = 0;
    // A host may answer and close before it has read everything, so a failed
    // write matters only if no answer comes.
    this.#send(request).catch(() => {});
    for (let interim = 0; interim <= INTERIM_LIMIT; interim++) {
      const head = this.#parse(await this.#headText(), method);
      if (head.status >= 200) return head;
      if (head.status === 101) break;
    }
    throw this.#protocol("switched protocols or sent no final answer");
  }

  /**
   * The body, in pieces; each is valid until the next one is requested. It ends
   * where the framing says; a connection that breaks earlier is an error.
   * @throws {OutboundError} `reset`, `protocol`
   */
  async *body(framing: Framing): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    switch (framing.kind) {
      case "length":
        return yield* this.#exactly(framing.bytes);
      case "chunked":
        return yield* this.#chunks();
      case "close":
        for (;;) {
          const piece = await this.#take(BODY_READ);
          if (piece === null) return;
          yield piece;
        }
    }
  }

  /**
   * Watches an idle connection: if the host sends anything or closes it, the
   * connection cannot be reused, and `broken` is called.
   */
  watch(broken: () => void): void {
    this.#idle = true;
    this.#ahead = this.#read(this.#headSpace);
    const wake = () => {
      if (this.#idle) broken();
    };
    this.#ahead.then(wake, wake);
  }

  /** Closes at once; pending reads and writes fail. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      this.#conn.close();
    } catch {
      // The connection is already closed.
    }
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#conn.write(bytes.subarray(sent));
    }
  }

  async #read(
    into: Uint8Array<ArrayBuffer>,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#reads > FREE_READS + this.#bytesRead / SMALL_READ) {
      await pause(this.#clock, SMALL_READ_PAUSE_MS);
    }
    try {
      const count = await this.#conn.read(into);
      if (count === null) return null;
      this.#reads++;
      this.#bytesRead += count;
      return into.subarray(0, count);
    } catch (cause) {
      throw this.broken(cause);
    }
  }

  /**
   * Reads the header of an answer; scans each byte once, however small the
   * pieces are.
   */
  async #headText(): Promise<string> {
    let length = this.#unread.length;
    let space = length > HEAD_READ
      ? new Uint8Array(2 * HEAD_LIMIT)
      : this.#headSpace;
    space.set(this.#unread);
    this.#unread = NOTHING;
    let searched = 0;
    for (;;) {
      const seen = space.subarray(0, length);
      const end = headEnd(seen, searched);
      if (end > HEAD_LIMIT || (end < 0 && length > HEAD_LIMIT)) {
        throw this.#protocol(`sent a header of more than ${HEAD_LIMIT} bytes`);
      }
      if (end >= 0) {
        this.#unread = seen.subarray(end);
        return latin1.decode(seen.subarray(0, end));
      }
      if (!startsLikeHttp(seen)) throw this.#notHttp();
      // The empty line may have begun within the last three bytes.
      searched = Math.max(0, length - 3);
      if (length === space.length) {
        space = new Uint8Array(2 * HEAD_LIMIT);
        space.set(seen);
      }
      const ahead = this.#ahead ?? this.#read(space.subarray(length));
      this.#ahead = undefined;
      const more = await ahead;
      if (more === null) throw this.broken();
      length += more.length;
    }
  }

  #parse(text: string, method: string): ResponseHead {
    const [statusLine, ...lines] = text.trimEnd().split("\n");
    const match = /^HTTP\/1\.([01]) ([1-9]\d\d)(?:\s|$)/.exec(statusLine);
    if (match === null) throw this.#notHttp();
    if (CONTROL.test(text)) throw this.#protocol("sent a malformed header");
    const fields = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
      if (!TOKEN.test(name)) throw this.#protocol("sent a malformed header");
      const value = line.slice(colon + 1).trim();
      const before = fields.get(name);
      fields.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    const status = Number(match[2]);
    const framing = this.#framing(method, status, fields);
    const keepAlive = match[1] === "1" && framing.kind !== "close" &&
      !headerTokens(fields.get("connection")).includes("close");
    return { status, fields, framing, keepAlive };
  }

  // RFC 9112, 6.3. An answer with both `Transfer-Encoding` and `Content-Length`
  // is refused: it may be an attempt at request smuggling.
  #framing(
    method: string,
    status: number,
    fields: ReadonlyMap<string, string>,
  ): Framing {
    const encoding = fields.get("transfer-encoding");
    const length = fields.get("content-length");
    if (
      method === "HEAD" || status < 200 || status === 204 || status === 304
    ) return { kind: "length", bytes: 0 };
    if (encoding !== undefined) {
      if (length === undefined && encoding.toLowerCase() === "chunked") {
        return { kind: "chunked" };
      }
      throw this.#protocol("sent a body in a transfer coding not understood");
    }
    if (length === undefined) return { kind: "close" };
    const lengths = new Set(headerTokens(length));
    const [only] = lengths;
    if (lengths.size !== 1 || !/^\d{1,15}$/.test(only)) {
      throw this.#protocol("sent a Content-Length that is not one number");
    }
    return { kind: "length", bytes: Number(only) };
  }

  async *#exactly(bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let left = bytes; left > 0;) {
      const piece = await this.#take(left);
      if (piece === null) throw this.#cut();
      left -= piece.length;
      yield piece;
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    let total = 0;
    for (let count = 1;; count++) {
      const size = /^([0-9a-f]{1,12})[ \t]*(?:;|$)/i.exec(await this.#line());
      if (size === null) throw this.#protocol("sent a malformed chunk");
      const bytes = parseInt(size[1], 16);
      if (bytes === 0) break;
      total += bytes;
      if (count > FREE_CHUNKS + total / SMALL_CHUNK) {
        throw this.#protocol("sent the body in chunks of a few bytes");
      }
      yield* this.#exactly(bytes);
      if (await this.#line() !== "") {
        throw this.#protocol("sent a malformed chunk");
      }
    }
    for (let trailer = 0; await this.#line() !== ""; trailer++) {
      if (trailer === 64) throw this.#protocol("sent too many trailers");
    }
  }

  async #take(most: number): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#unread.length === 0) {
      this.#bodySpace ??= new Uint8Array(BODY_READ);
      return await this.#read(this.#bodySpace.subarray(0, most));
    }
    const piece = this.#unread.slice(0, most);
    this.#unread = this.#unread.subarray(piece.length);
    return piece;
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf(LF);
      if (end >= 0) {
        const line = latin1.decode(this.#unread.subarray(0, end));
        this.#unread = this.#unread.subarray(end + 1);
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      if (this.#unread.length > LINE_LIMIT) {
        throw this.#protocol("sent a malformed chunk");
      }
      const more = await this.#read(new Uint8Array(BODY_READ));
      if (more === null) throw this.#cut();
      this.#unread = joinBlocks([this.#unread, more]);
    }
  }

  #protocol(what: string): OutboundError {
    return new OutboundError("protocol", `${this.host} ${what}.`);
  }

  #notHttp(): OutboundError {
    return this.#protocol("did not answer with HTTP/1.1");
  }

  /** The error for a connection that the host closed or broke. */
  broken(cause?: unknown): OutboundError {
    const message = `${this.host} broke off the connection.`;
    return new OutboundError("reset", message, { cause });
  }

  #cut(): OutboundError {
    const message = `${this.host} broke off in the middle of the body.`;
    return new OutboundError("reset", message);
  }
}

/** The comma-separated values of a header, in lower case. */
export function headerTokens(value: string | undefined): string[] {
  return (value ?? "").split(",").map((token) => token.trim().toLowerCase());
}

// Whether an answer may be HTTP. Checked before the whole header has arrived,
// so that another protocol is reported at once and not after a time-out.
function startsLikeHttp(bytes: Uint8Array): boolean {
  return "HTTP/".startsWith(latin1.decode(bytes.subarray(0, 5)));
}

// The position after the empty line that begins at `from` or later, or -1. A
// bare line feed also ends a line.
function headEnd(bytes: Uint8Array, from: number): number {
  for (
    let at = bytes.indexOf(LF, from);
    at >= 0;
    at = bytes.indexOf(LF, at + 1)
  ) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}
