/** Requests with one key: how they are sent, repeated and answered. */
import { ApiError, apiError, ConnectionError, parseObject } from "./errors.ts";
import { bodyOf, LimitError, LIMITS, type Limits } from "./limits.ts";
import { PLATFORM, type Platform } from "./platform.ts";
import type { Operation } from "./operation.ts";
import { CLIENT_VERSION, VERSION_HEADER } from "./version.ts";

/** An encoded document: XML, or a Blob with its own type. */
export type Encoded = string | Blob;

export interface ClientOptions extends Partial<Platform> {
  /**
   * The service's URL, such as `https://market.example`; by default that of the
   * page.
   */
  url?: string;
  /** The key of a seller or an operator. */
  key: string;
  /** The default of `CallOptions.retryFor`; 60,000 by default. */
  retryFor?: number;
  /** Limits of what is accepted from the service; each has a default. */
  limits?: Partial<Limits>;
}

export interface CallOptions {
  /** Ends the call with an AbortError. */
  signal?: AbortSignal;
  /**
   * How long, in milliseconds, a call is repeated after temporary failures; 0
   * for no repetition. Only reads, uploads of images, events and calls with an
   * Idempotency-Key are repeated. A call beyond the rate limit waits as long as
   * the service says, up to ten times, whatever this value is.
   */
  retryFor?: number;
  /** Called before each wait, with the reason. */
  onRetry?: (error: ApiError | ConnectionError) => void;
  /**
   * The key to use instead of a new one for each call, for operations that take
   * one.
   */
  idempotencyKey?: string;
}

/** Documents above this number of bytes are sent compressed. */
const GZIP_FROM = 64 * 1024;
const RETRY_FOR_MS = 60_000;
/** Waits between attempts; the last one repeats. */
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];
/** How many times one call waits because of the rate limit. */
const MOST_RATE_WAITS = 10;
const XML = "text/xml";
const JSON_TYPE = "application/json";

type Input = Readonly<Record<string, unknown>>;

interface Request {
  path: string;
  init: RequestInit;
  /** Whether a repetition of the request has no further effect. */
  repeatable: boolean;
}

export class Connection {
  readonly platform: Platform;
  readonly limits: Limits;
  /** The service's URL without a slash at its end. */
  readonly url: string;
  /** See `ClientOptions`. */
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
    const { url = "", retryFor = RETRY_FOR_MS, key } = options;
    this.url = url.endsWith("/") ? url.slice(0, -1) : url;
    this.retryFor = retryFor;
    this.#key = key;
  }

  /**
   * The answer as its operation declares it. Throws `ApiError`, `ConnectionError`,
   * `LimitError`, an AbortError, or TypeError for an input that cannot be sent.
   */
  call(
    operation: Operation,
    input: Input = {},
    options: CallOptions = {},
  ): Promise<unknown> {
    const read = (response: Response) => this.#read(operation, response);
    return this.#withRetries(operation, input, options, read);
  }

  /** A successful answer whose body has not been read. Throws like `call`. */
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
    const until = now() +
      (options.retryFor ?? this.retryFor);
    for (let failures = 0;; failures++) {
      try {
        return await this.#attempt(request, signal, read);
      } catch (error) {
        if (!isRetryable(error)) throw error;
        const wait = waitAfter(error, failures);
        const isRateLimited = error instanceof ApiError && error.status === 429;
        const repeats = isRateLimited
          ? failures < MOST_RATE_WAITS
          : request.repeatable && now() + wait <= until;
        if (!repeats) throw error;
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
    const { method = "GET", sends, sendsFile, keyed, bearer, referenced } =
      operation;
    const { accept = JSON_TYPE } = operation;
    const headers: Record<string, string> = {
      Accept: accept,
      [VERSION_HEADER]: `typescript/${CLIENT_VERSION}`,
      ...(bearer
        ? { Authorization: `Bearer ${this.#key}` }
        : { "X-Service-Auth": this.#key }),
    };
    if (keyed) headers["Idempotency-Key"] = idempotencyKey;
    const init: RequestInit = {
      method,
      headers,
      cache: "no-store",
      redirect: "error",
    };
    if (sends !== undefined) {
      const plain = documentOf(sends, input[sends]);
      headers["Content-Type"] = plain.type;
      init.body = plain;
      if (plain.size > GZIP_FROM && "CompressionStream" in globalThis) {
        headers["Content-Encoding"] = "gzip";
        init.body = await compressBody(plain);
      }
    }
    if (sendsFile !== undefined) {
      init.body = fileOf(sendsFile, input[sendsFile]);
    }
    return {
      path: pathOf(operation, input),
      init,
      // A file that is sent twice is stored once.
      repeatable: method === "GET" || keyed === true ||
        referenced === true || sendsFile !== undefined,
    };
  }
}

/** The media type is that of the document. */
function documentOf(root: string, value: unknown): Blob {
  if (typeof value === "string") return new Blob([value], { type: XML });
  if (value instanceof Blob) {
    return value.type === JSON_TYPE ? value : value.slice(0, value.size, XML);
  }
  const content = Array.isArray(value) ? { [root]: value } : value;
  return new Blob([JSON.stringify(content)], { type: JSON_TYPE });
}

/** The media type is that of the file. */
function fileOf(name: string, value: unknown): Blob {
  if (value instanceof Blob) return value;
  throw new TypeError(`${name} is not a Blob.`);
}

function compressBody(plain: Blob): Promise<Blob> {
  const stream = plain.stream().pipeThrough(new CompressionStream("gzip"));
  return new Response(stream).blob();
}

/** The path with its parameters; other input becomes the query. */
function pathOf({ path, sends, sendsFile }: Operation, input: Input): string {
  const query = new URLSearchParams();
  const inPath = new Set<string>();
  const filled = path.replace(/:(\w+)/g, (_, name) => {
    inPath.add(name);
    return segment(name, input[name]);
  });
  for (const [name, value] of Object.entries(input)) {
    const isBody = name === sends || name === sendsFile;
    if (inPath.has(name) || isBody || value === undefined) continue;
    query.set(name, String(value));
  }
  return query.size === 0 ? filled : `${filled}?${query}`;
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

/** Whether an error is thrown as it is; any other means that no answer came. */
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
 * Milliseconds until the next attempt; `failures` counts the failed attempts
 * before the last one.
 */
export function waitAfter(
  error: ApiError | ConnectionError,
  failures: number,
): number {
  const requested = error instanceof ApiError ? error.retryAfter : 0;
  return Math.max(requested, WAITS_MS[Math.min(failures, WAITS_MS.length - 1)]);
}
