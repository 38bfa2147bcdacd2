/** Sends requests with one key, repeats them, and reads the answers. */
import { ApiError, apiError, ConnectionError, parseObject } from "./errors.ts";
import { bodyOf, LimitError, LIMITS, type Limits } from "./limits.ts";
import { PLATFORM, type Platform } from "./platform.ts";
import type { Operation } from "./operation.ts";
import { CLIENT_VERSION, VERSION_HEADER } from "./version.ts";

/** An encoded document: XML, or a Blob with its own type. */
export type Encoded = string | Blob;

export interface ClientOptions extends Partial<Platform> {
  /**
   * The service's URL, such as `https://market.example`; by default the origin
   * of the page.
   */
  url?: string;
  /** The key of a seller or an operator. */
  key: string;
  /** `CallOptions.retryFor` of calls that do not set it; 60,000 by default. */
  retryFor?: number;
  /** Limits of what the client accepts from the service. */
  limits?: Partial<Limits>;
}

export interface CallOptions {
  /** Ends the call with an AbortError. */
  signal?: AbortSignal;
  /**
   * How long, in milliseconds, a call is repeated after temporary failures; 0
   * for no repetition. Only reads, uploads of images, events and calls with an
   * Idempotency-Key are repeated. A call that exceeds the rate limit is repeated
   * up to ten times, each time after the wait that the service asks for,
   * whatever this value is.
   */
  retryFor?: number;
  /** Called before the wait for each repetition, with the reason. */
  onRetry?: (error: ApiError | ConnectionError) => void;
  /**
   * The Idempotency-Key, for operations that take one; by default a new one for
   * each call.
   */
  idempotencyKey?: string;
}

/** Documents with more bytes than this are compressed. */
const GZIP_ABOVE_BYTES = 64 * 1024;
const DEFAULT_RETRY_FOR_MS = 60_000;
/** The waits after the first failed attempts; the last wait repeats. */
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];
/** How many times one call is repeated because of the rate limit. */
const MAX_RATE_LIMIT_RETRIES = 10;
const XML = "text/xml";
const JSON_TYPE = "application/json";

type Input = Readonly<Record<string, unknown>>;

interface Request {
  path: string;
  init: RequestInit;
  /** Whether a repetition of the request has no further effect. */
  isIdempotent: boolean;
}

export class Connection {
  readonly platform: Platform;
  readonly limits: Limits;
  /** The service's URL without a slash at its end. */
  readonly url: string;
  /** As in `ClientOptions`. */
  readonly retryFor: number;
  readonly #key: string;

  constructor(options: ClientOptions) {
    const {
      fetch = PLATFORM.fetch,
      now = PLATFORM.now,
      sleep = PLATFORM.sleep,
      newKey = PLATFORM.newKey,
    } = options;
    this.platform = { fetch, now, sleep, newKey };
    this.limits = { ...LIMITS, ...options.limits };
    const { url = "", retryFor = DEFAULT_RETRY_FOR_MS, key } = options;
    this.url = url.endsWith("/") ? url.slice(0, -1) : url;
    this.retryFor = retryFor;
    this.#key = key;
  }

  /**
   * Sends a request and returns the answer in the type that the operation
   * declares. Throws `ApiError`, `ConnectionError`, `LimitError`, an AbortError,
   * or TypeError for an input that cannot be sent.
   */
  call(
    operation: Operation,
    input: Input = {},
    options: CallOptions = {},
  ): Promise<unknown> {
    const read = (response: Response) => this.#read(operation, response);
    return this.#withRetries(operation, input, options, read);
  }

  /**
   * Sends a request and returns the successful response before its body is
   * read. Throws the same errors as `call`.
   */
  open(
    operation: Operation,
    input: Input,
    options: CallOptions,
  ): Promise<Response> {
    const read = (response: Response) => Promise.resolve(response);
    return this.#withRetries(operation, input, options, read);
  }

  /** Throws TypeError for an input that cannot be sent. */
  check(operation: Operation, input: Input): void {
    pathOf(operation, input);
  }

  async #read({ answer }: Operation, response: Response): Promise<unknown> {
    const body = await bodyOf(response, this.limits);
    if (answer === "blob") return body;
    const text = await body.text();
    if (answer === null) return;
    if (answer === "text") return text;
    const content = parseObject(text);
    if (content === null) throw this.#failure(response, text);
    return content;
  }

  async #withRetries<T>(
    operation: Operation,
    input: Input,
    options: CallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { onRetry, signal } = options;
    const { now, sleep } = this.platform;
    const request = await this.#request(operation, input, options);
    const deadline = now() + (options.retryFor ?? this.retryFor);
    for (let failures = 0;; failures++) {
      try {
        return await this.#attempt(request, signal, read);
      } catch (error) {
        if (!isRetryable(error)) throw error;
        const wait = waitAfter(error, failures);
        const isRateLimited = error instanceof ApiError && error.status === 429;
        const mayRepeat = isRateLimited
          ? failures < MAX_RATE_LIMIT_RETRIES
          : request.isIdempotent && now() + wait <= deadline;
        if (!mayRepeat) throw error;
        onRetry?.(error);
        await sleep(wait, signal);
        signal?.throwIfAborted();
      }
    }
  }

  async #attempt<T>(
    { path, init }: Request,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    try {
      const url = this.url + path;
      const response = await this.platform.fetch(url, { ...init, signal });
      if (response.ok) return await read(response);
      const body = await bodyOf(response, this.limits);
      throw this.#failure(response, await body.text());
    } catch (error) {
      if (signal?.aborted || isFinalError(error)) throw error;
      throw new ConnectionError(error);
    }
  }

  #failure(response: Response, text: string): ApiError {
    return apiError(response, text, this.platform.now());
  }

  async #request(
    operation: Operation,
    input: Input,
    { idempotencyKey = this.platform.newKey() }: CallOptions,
  ): Promise<Request> {
    const {
      method = "GET",
      accept = JSON_TYPE,
      sends,
      sendsFile,
      takesIdempotencyKey = false,
      hasReference = false,
      bearer,
    } = operation;
    const headers: Record<string, string> = {
      Accept: accept,
      [VERSION_HEADER]: `typescript/${CLIENT_VERSION}`,
      ...(bearer
        ? { Authorization: `Bearer ${this.#key}` }
        : { "X-Service-Auth": this.#key }),
    };
    if (takesIdempotencyKey) headers["Idempotency-Key"] = idempotencyKey;
    const init: RequestInit = {
      method,
      headers,
      cache: "no-store",
      redirect: "error",
    };
    if (sends !== undefined) {
      const document = documentOf(sends, input[sends]);
      const isLarge = document.size > GZIP_ABOVE_BYTES;
      headers["Content-Type"] = document.type;
      init.body = document;
      if (isLarge && "CompressionStream" in globalThis) {
        headers["Content-Encoding"] = "gzip";
        init.body = await compressBody(document);
      }
    }
    if (sendsFile !== undefined) {
      init.body = fileOf(sendsFile, input[sendsFile]);
    }
    return {
      path: pathOf(operation, input),
      init,
      // The service stores a file once, even if it is sent twice.
      isIdempotent: method === "GET" || takesIdempotencyKey || hasReference ||
        sendsFile !== undefined,
    };
  }
}

/** The document of a request, with its media type as the type of the Blob. */
function documentOf(root: string, value: unknown): Blob {
  if (typeof value === "string") return new Blob([value], { type: XML });
  if (value instanceof Blob) {
    return value.type === JSON_TYPE ? value : value.slice(0, value.size, XML);
  }
  const content = Array.isArray(value) ? { [root]: value } : value;
  return new Blob([JSON.stringify(content)], { type: JSON_TYPE });
}

/** The file of a request. Throws TypeError for anything else. */
function fileOf(name: string, value: unknown): Blob {
  if (value instanceof Blob) return value;
  throw new TypeError(`${name} is not a Blob.`);
}

function compressBody(body: Blob): Promise<Blob> {
  const stream = body.stream().pipeThrough(new CompressionStream("gzip"));
  return new Response(stream).blob();
}

/** The path and query of a request. Input that is not in the path is the query. */
function pathOf({ path, sends, sendsFile }: Operation, input: Input): string {
  const query = new URLSearchParams();
  const inPath = new Set<string>();
  const pathname = path.replace(/:(\w+)/g, (_, name) => {
    inPath.add(name);
    return segment(name, input[name]);
  });
  for (const [name, value] of Object.entries(input)) {
    const isBody = name === sends || name === sendsFile;
    if (inPath.has(name) || isBody || value === undefined) continue;
    query.set(name, String(value));
  }
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}

function segment(name: string, value: unknown): string {
  if (value === undefined) throw new TypeError(`${name} is missing.`);
  const text = String(value);
  if (text === "." || text === "..") {
    throw new TypeError(
      `${name} is "${text}", which the path of a URL cannot contain.`,
    );
  }
  return encodeURIComponent(text);
}

/** Whether to throw an error unchanged; any other becomes a ConnectionError. */
function isFinalError(error: unknown): boolean {
  return error instanceof ApiError || error instanceof LimitError;
}

/** Whether the same request may succeed later. */
export function isRetryable(
  error: unknown,
): error is ApiError | ConnectionError {
  return error instanceof ConnectionError ||
    (error instanceof ApiError && error.isRetryable);
}

/**
 * Milliseconds until the next attempt. `failures` counts the failed attempts
 * before the one that ended in `error`.
 */
export function waitAfter(
  error: ApiError | ConnectionError,
  failures: number,
): number {
  const requested = error instanceof ApiError ? error.retryAfter : 0;
  return Math.max(requested, WAITS_MS[Math.min(failures, WAITS_MS.length - 1)]);
}
