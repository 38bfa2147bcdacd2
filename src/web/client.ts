/** A client of the service with one key; sends only documented requests. */
import { sleep } from "./browser.ts";
import { childrenOf, find, numberOf, parseXml, textOf } from "./xml.ts";

/** How often one GET is repeated because of the rate limit. */
const WAITS = 10;

/** One problem of a refused request. Positions count from 1. */
export interface Problem {
  product: number | null;
  sku: string | null;
  line: number | null;
  column: number | null;
  field: string | null;
  code: string;
  message: string;
}

/** A refusal or failure answered by the service or a proxy before it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly problems: readonly Problem[];
  /** How many further problems were left out. */
  readonly more: number;
  /** Seconds to wait before a retry, if the service sent them. */
  readonly retryAfter: number | null;

  constructor(response: Response, text: string) {
    const error = find(parseXml(text), "error");
    const { status, headers } = response;
    super(
      textOf(error, "message") ??
        `The answer was ${status}, and it is not one of this service: something between it and this page may have given it.`,
    );
    this.status = status;
    this.code = textOf(error, "code") ?? `http_${status}`;
    this.requestId = textOf(error, "request_id") ?? headers.get("X-Request-Id");
    this.problems = problemsOf(find(error, "details"));
    this.more = numberOf(error, "details/more");
    const wait = Number(headers.get("Retry-After") ?? NaN);
    this.retryAfter = Number.isFinite(wait) ? wait : null;
  }

  /** Whether the same request may succeed later. */
  get passes(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408 ||
      (this.status === 409 && this.retryAfter !== null);
  }
}

/** No answer came. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  constructor() {
    super("The service cannot be reached.");
  }
}

/** The problems in `<details>`. */
export function problemsOf(details: Element | null): Problem[] {
  return childrenOf(details, "detail").map(problemOf);
}

/** Parses a `<detail>` of an error or a refusal. */
function problemOf(detail: Element): Problem {
  const number = (name: string) => numberOf(detail, name) || null;
  return {
    product: number("product"),
    sku: textOf(detail, "sku"),
    line: number("line"),
    column: number("column"),
    field: textOf(detail, "field"),
    code: textOf(detail, "code") ?? "",
    message: textOf(detail, "message") ?? "",
  };
}

export interface SendOptions {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** XML. */
  body?: string | Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export class Client {
  readonly #key: string;
  readonly #onRefused: () => void;

  /** `onRefused` is called when the key is invalid or has been revoked. */
  constructor(key: string, onRefused: () => void) {
    this.#key = key;
    this.#onRefused = onRefused;
  }

  /**
   * Returns a successful answer. Throws `ApiError`, `Unreachable` or an
   * AbortError. Repeats a GET that exceeded the rate limit, after the wait that
   * the service names.
   */
  async send(path: string, call: SendOptions = {}): Promise<Response> {
    for (let waits = 0;; waits++) {
      const response = await this.#fetch(path, call);
      if (response.ok) return response;
      const error = new ApiError(response, await bodyOf(response));
      if (error.status === 401) this.#onRefused();
      const early = error.status === 429 && call.method === undefined;
      if (!early || waits === WAITS) throw error;
      await sleep((error.retryAfter ?? 1) * 1_000, call.signal);
    }
  }

  /** Returns the root of a successful answer. Throws as `send`. */
  async read(path: string, call: SendOptions = {}): Promise<Element> {
    const response = await this.send(path, call);
    const text = await bodyOf(response);
    const root = parseXml(text);
    if (root === null) throw new ApiError(response, text);
    return root;
  }

  async #fetch(path: string, call: SendOptions): Promise<Response> {
    const { method = "GET", body, headers, signal } = call;
    try {
      return await fetch(path, {
        method,
        body,
        signal,
        headers: {
          "X-Service-Auth": this.#key,
          ...(body !== undefined && { "Content-Type": "text/xml" }),
          ...headers,
        },
        cache: "no-store",
        redirect: "error",
      });
    } catch (error) {
      throw signal?.aborted ? error : new Unreachable();
    }
  }
}

async function bodyOf(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") {
      throw error;
    }
    throw new Unreachable();
  }
}
