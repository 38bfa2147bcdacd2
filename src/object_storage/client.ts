/**
 * The client of S3-compatible object storage: signed requests to the one
 * endpoint that the operator configured, for the keys of one bucket below one
 * prefix. It follows no redirect. Requests to URLs of sellers go through
 * `net/outbound.ts`.
 */
import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import type { Clock } from "../deps.ts";
import type { Holder, InUse } from "../lib/holders.ts";
import { totalLimit } from "../lib/limits.ts";
import { WaitList } from "../lib/wait_list.ts";
import { StoreError, type StoreErrorKind } from "../lib/store_error.ts";

export interface S3Settings {
  /**
   * A URL such as `https://s3.eu-north-1.amazonaws.com`; its path continues
   * with the bucket.
   */
  endpoint: string;
  region: string;
  bucket: string;
  /** Without a slash at either end; "" for none. */
  prefix: string;
  accessKey: string;
  secretKey: string;
}

export interface S3Request {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The name below the prefix; null for the bucket. */
  file: string | null;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  /** Lower-case hexadecimal SHA-256 of the body. */
  sha256?: string;
  abort?: AbortSignal;
  /**
   * Milliseconds until the answer must begin; by default 10,000, for a PUT
   * 30,000.
   */
  limitMs?: number;
}

const ANSWER_MS = 10_000;
const PUT_MS = 30_000;
/** Time limit for reading the body of an answer. */
const BODY_MS = 120_000;
/**
 * The most requests that wait for an answer, and the most of them that have a
 * body.
 */
const REQUEST_LIMIT = 64;
const SENDING_LIMIT = 16;
/** Largest error answer that is read. */
const ERROR_BYTES = 64 * 1024;

/** The object that a probe writes. */
const PROBE = "store.probe";
const EMPTY_SHA256 =
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Lower-case hexadecimal SHA-256, the form of `x-amz-content-sha256`. */
export function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The requests of one process, with their limits. */
export class S3Client implements Required<Holder> {
  readonly #settings: S3Settings;
  readonly #clock: Clock;
  /** Signing keys by day, in the form the library caches them. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();
  readonly #slots: WaitList;
  readonly #sending: WaitList;
  /** Requests whose answers have not been read or dropped. */
  readonly #requests = new Set<S3Request>();

  constructor(settings: S3Settings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#slots = new WaitList(clock, { limit: totalLimit(REQUEST_LIMIT) });
    this.#sending = new WaitList(clock, { limit: totalLimit(SENDING_LIMIT) });
  }

  inUse(): InUse {
    const { used, waiting } = this.#sending.inUse();
    return { requests: this.#requests.size, sending: used, to_send: waiting };
  }

  oldestWaitMs(): number {
    return Math.max(this.#slots.oldestWaitMs(), this.#sending.oldestWaitMs());
  }

  /** The prefix of file names in the bucket. */
  get keyPrefix(): string {
    const { prefix } = this.#settings;
    return prefix === "" ? "" : `${prefix}/`;
  }

  /**
   * Sends a body once a slot is free. `body` is called only then, so that
   * waiting requests have no body in memory. Throws like `send`.
   */
  async put(
    file: string,
    sha256: string,
    body: () => Uint8Array<ArrayBuffer>,
    abort: AbortSignal,
  ): Promise<void> {
    using _slot = await this.#sending.acquire({}, abort);
    const content = { body: body(), sha256 };
    const answer = await this.send({
      method: "PUT",
      file,
      abort,
      ...content,
    });
    await answer?.drop();
  }

  /**
   * Stores an empty object with the prefix of the images. Throws like `send`.
   */
  async putProbe(): Promise<void> {
    const answer = await this.send({
      method: "PUT",
      file: PROBE,
      body: new Uint8Array(),
      sha256: EMPTY_SHA256,
    });
    await answer?.drop();
  }

  /**
   * Returns a successful answer, whose body must be read or dropped; null if
   * the file does not exist. Throws a `StoreError`, or the reason of `abort`.
   * If a connection breaks without an answer, the request is repeated once; a
   * POST is not, because repeating it may have another effect.
   */
  async send(request: S3Request): Promise<S3Answer | null> {
    try {
      return await this.#sendOnce(request);
    } catch (error) {
      const isRepeatable = request.method !== "POST";
      if (!(error instanceof NoAnswer && isRepeatable)) throw error;
      return await this.#sendOnce(request);
    }
  }

  async #sendOnce(request: S3Request): Promise<S3Answer | null> {
    const { abort, method } = request;
    const limit = request.limitMs ?? (method === "PUT" ? PUT_MS : ANSWER_MS);
    const late = new AbortController();
    const signals = abort === undefined ? [] : [abort];
    const signal = AbortSignal.any([late.signal, ...signals]);
    const cancel = this.#clock.after(limit, () => late.abort());
    let answer: S3Answer | null = null;
    this.#requests.add(request);
    try {
      const response = await this.#fetch(request, signal);
      if (!response.ok) return await this.#refused(request, response);
      const stop = this.#clock.after(BODY_MS, () => late.abort());
      answer = new S3Answer(response, () => {
        stop();
        this.#requests.delete(request);
      });
      return answer;
    } catch (error) {
      abort?.throwIfAborted();
      if (error instanceof StoreError) throw error;
      if (late.signal.aborted) {
        throw this.#error("away", request, `no answer in ${limit / 1_000} s`);
      }
      throw new NoAnswer("away", String(error), error);
    } finally {
      cancel();
      if (answer === null) this.#requests.delete(request);
    }
  }

  async #fetch(request: S3Request, signal: AbortSignal): Promise<Response> {
    const { method, body } = request;
    using _slot = await this.#slots.acquire({}, signal);
    const { url, headers } = await this.#signed(request);
    // Set after signing, because proxies change this header.
    headers.set("accept-encoding", "identity");
    const redirect = "manual";
    return await fetch(url, { method, headers, body, signal, redirect });
  }

  #signed({ method, file, query, headers, sha256 }: S3Request) {
    const { accessKey, secretKey, region } = this.#settings;
    return new AwsV4Signer({
      method,
      url: this.#url(file, query ?? {}),
      headers: { ...headers, "x-amz-content-sha256": sha256 ?? EMPTY_SHA256 },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: "s3",
      region,
      cache: this.#signingKeys,
      datetime: new Date(this.#clock.now()).toISOString()
        .replace(/[:-]|\.\d{3}/g, ""),
    }).sign();
  }

  #url(file: string | null, query: Record<string, string>): string {
    const { endpoint, bucket } = this.#settings;
    const key = file === null ? "" : `/${encodedKey(this.keyPrefix + file)}`;
    const search = new URLSearchParams(query).toString();
    return `${endpoint}/${bucket}${key}${search === "" ? "" : `?${search}`}`;
  }

  async #refused(request: S3Request, response: Response): Promise<null> {
    const { status, headers } = response;
    const answer = new S3Answer(response, () => {});
    const code = codeIn(await answer.bytes(ERROR_BYTES));
    const isMissing = request.method === "HEAD" || code === "NoSuchKey";
    if (status === 404 && isMissing) return null;
    const region = headers.get("x-amz-bucket-region");
    const details = [
      ...code === null ? [] : [code],
      ...region === null ? [] : [`region ${region}`],
    ].map((word) => word.slice(0, 100)).join(", ");
    throw this.#error(
      errorKindOf(status, code),
      request,
      details === "" ? `answered ${status}` : `answered ${status} (${details})`,
    );
  }

  #error(kind: StoreErrorKind, { method, file }: S3Request, what: string) {
    const { endpoint, bucket } = this.#settings;
    const { host } = new URL(endpoint);
    return new StoreError(
      kind,
      `${method} ${file ?? "list"} in bucket ${bucket} at ${host}: ${what}.`,
    );
  }
}

/** The connection ended without an answer. */
class NoAnswer extends StoreError {}

/** An answer whose body must be read, streamed or dropped, once. */
export class S3Answer {
  readonly #response: Response;
  readonly #done: () => void;

  /** `done` is called when the body has ended, in any way. */
  constructor(response: Response, done: () => void) {
    this.#response = response;
    this.#done = done;
  }

  header(name: string): string | null {
    return this.#response.headers.get(name);
  }

  /** The whole body, of at most `limit` bytes. Throws a `StoreError`. */
  async bytes(limit: number): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    try {
      for await (const piece of this.#response.body ?? []) {
        length += piece.length;
        if (length > limit) {
          throw new StoreError("unusable", `An answer is over ${limit} bytes.`);
        }
        pieces.push(piece);
      }
      return new Uint8Array(await new Blob(pieces).arrayBuffer());
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new StoreError("away", "An answer broke off.", error);
    } finally {
      this.#done();
    }
  }

  /** The body as a stream. */
  stream(): ReadableStream<Uint8Array> {
    const reader = this.#response.body?.getReader();
    const done = this.#done;
    return new ReadableStream({
      async pull(controller) {
        try {
          const next = await reader?.read();
          if (next?.value !== undefined) return controller.enqueue(next.value);
          done();
          controller.close();
        } catch (error) {
          done();
          throw error;
        }
      },
      async cancel() {
        done();
        await reader?.cancel();
      },
    }, { highWaterMark: 0 });
  }

  /** Never rejects, because errors of an unwanted body do not matter. */
  async drop(): Promise<void> {
    await this.#response.body?.cancel().catch(() => {});
    this.#done();
  }
}

/** Encodes a key for a URL; a "+" would be signed as a space. */
function encodedKey(key: string): string {
  return key.split("/").map(encodeURIComponent).join("/");
}

/** The code in an error document; null without one. */
function codeIn(document: Uint8Array): string | null {
  const text = new TextDecoder().decode(document);
  return /<Code>([A-Za-z0-9._-]{1,100})<\/Code>/.exec(text)?.[1] ?? null;
}

/**
 * Matches the error codes with which various servers report that no space is
 * left.
 */
const NO_ROOM = /full|quota|insufficient|nospace|toomany/i;
/**
 * Error codes after which a retry may succeed although their status does not
 * say so.
 */
const LATER = new Set(["RequestTimeout", "SlowDown"]);

function errorKindOf(status: number, code: string | null): StoreErrorKind {
  if (status === 412) return "condition";
  if (status === 507 || NO_ROOM.test(code ?? "")) return "full";
  if (status === 401 || status === 403) return "denied";
  if (status === 408 || status === 429 || status >= 500) return "away";
  return LATER.has(code ?? "") ? "away" : "unusable";
}
