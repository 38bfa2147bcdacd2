/** The errors that calls throw. */
import { retryAfterMs } from "./retry_after.ts";
import type { Detail, ErrorCode, ServiceError } from "./types.ts";

/**
 * The service, or a proxy in front of it, answered with an error status.
 */
export class ApiError extends Error {
  override readonly name: string = "ApiError";
  /** The message without the first problem. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** The error code, or for example `http_502` for an answer of a proxy. */
  readonly code: ErrorCode | `http_${number}`;
  /** The id by which the operator finds the request in the log. */
  readonly requestId: string | null;
  /** Every problem of the request, up to 1,000. */
  readonly details: readonly Detail[];
  /** How many more problems there are. */
  readonly more: number;
  /**
   * Milliseconds to wait before repeating the request; 0 for an answer without
   * `Retry-After`.
   */
  readonly retryAfter: number;

  constructor({ status, headers }: Response, body: string, now: number) {
    const error = errorIn(body);
    const title = error?.message ??
      `The answer was ${status}, and did not come from the service: a proxy may have sent it.`;
    super(withFirstDetail(title, error));
    this.title = title;
    this.status = status;
    this.code = error?.code ?? `http_${status}`;
    this.requestId = error?.request_id ?? headers.get("X-Request-Id");
    this.details = error?.details ?? [];
    this.more = error?.more ?? 0;
    this.retryAfter = retryAfterMs(headers.get("Retry-After"), now);
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408 ||
      (this.status === 409 && this.retryAfter > 0);
  }
}

/** 401: the key is unknown, revoked, expired, or limited to other networks. */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
}

/** 403: the key lacks the scope, or the seller is suspended. */
export class PermissionError extends ApiError {
  override readonly name = "PermissionError";
}

/** 404: what the path names does not exist. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}

/** 409: the request conflicts with stored data or with another request. */
export class ConflictError extends ApiError {
  override readonly name = "ConflictError";
}

/** Any other 4xx: the request is wrong; `details` says where. */
export class InvalidRequestError extends ApiError {
  override readonly name = "InvalidRequestError";
}

/** 429: too many requests; `retryAfter` says when the next one may be sent. */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
}

/** 408 or 5xx: the service failed, or its proxy could not reach it. */
export class UnavailableError extends ApiError {
  override readonly name = "UnavailableError";
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  408: UnavailableError,
  409: ConflictError,
  429: RateLimitError,
};

/** The error for an answer; the status selects its class. */
export function apiError(
  response: Response,
  body: string,
  now: number,
): ApiError {
  const { status } = response;
  const Class = BY_STATUS[status] ??
    (status >= 500
      ? UnavailableError
      : status >= 400
      ? InvalidRequestError
      : ApiError);
  return new Class(response, body, now);
}

/**
 * A message such as `Record Invalid: product 2, SKU A, gtin: … (and 3 more)`.
 */
function withFirstDetail(
  title: string,
  { details = [], more = 0 }: Partial<ServiceError> = {},
): string {
  const [first, ...others] = details;
  if (first === undefined) return title;
  const { product, sku, line, field, message } = first;
  const place = [
    product !== undefined && `product ${product}`,
    sku !== undefined && `SKU ${sku}`,
    product === undefined && line !== undefined && `line ${line}`,
    field,
  ].filter(Boolean).join(", ");
  const moreDetails = others.length + more;
  return `${title}: ${place === "" ? "" : `${place}: `}${message}${
    moreDetails === 0 ? "" : ` (and ${moreDetails} more)`
  }`;
}

function errorIn(body: string): ServiceError | undefined {
  const content = parseObject(body) ?? { error: errorInXml(body) };
  return content.error as ServiceError | undefined;
}

/** Converts the error in an XML answer to its JSON form. */
function errorInXml(body: string): ServiceError | undefined {
  if (!ERROR_IN_XML.test(body)) return undefined;
  const error: Record<string, unknown> = {};
  const details: Record<string, unknown>[] = [];
  for (const [, name, text] of body.matchAll(DETAIL_OR_FIELD)) {
    if (name === undefined) {
      details.push({});
      continue;
    }
    const isOfDetail = details.length > 0 && name !== "more";
    const target = isOfDetail ? details[details.length - 1] : error;
    target[name] = NUMBERS.has(name) ? Number(text) : unescaped(text);
  }
  return { ...error, details } as unknown as ServiceError;
}

const ERROR_IN_XML = /^<\?xml[^>]*><service><error><code>/;
const DETAIL_OR_FIELD = /<detail>|<(\w+)>([^<]*)<\//g;
const NUMBERS: ReadonlySet<string> = new Set([
  "product",
  "line",
  "column",
  "more",
]);

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Replaces the entity and character references that the service writes. */
function unescaped(text: string): string {
  return text.replace(
    /&(?:#x([\da-fA-F]+)|#(\d+)|(\w+));/g,
    (all, hex, digits, name) =>
      name === undefined
        ? String.fromCodePoint(hex ? parseInt(hex, 16) : Number(digits))
        : ENTITIES[name] ?? all,
  );
}

/** Parses a JSON object; null for any other text. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value as Record<string, unknown> : null;
  } catch {
    return null;
  }
}

/** No answer arrived, or only the beginning of one. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(cause: unknown) {
    super("The service cannot be reached.", { cause });
  }
}
