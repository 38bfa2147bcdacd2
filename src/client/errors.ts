/** The errors of calls. */
import { unescaped } from "../lib/markup.ts";
import { retryAfter } from "../lib/retry_after.ts";
import type { Detail, ErrorCode, ServiceError } from "./types.ts";

/**
 * A refusal or failure that the service, or a proxy in front of it, answered.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The message without the first problem. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** For example `http_502` if the answer is not from the service. */
  readonly code: ErrorCode | `http_${number}`;
  /** The id by which the operator finds the request in the log. */
  readonly requestId: string | null;
  /** Every problem of the request, up to 1,000. */
  readonly details: readonly Detail[];
  /** How many more problems there are. */
  readonly more: number;
  /**
   * Milliseconds to wait before the request is repeated; 0 if the answer does
   * not say.
   */
  readonly retryAfter: number;

  constructor({ status, headers }: Response, body: string, now: number) {
    const error = errorIn(body);
    const title = error?.message ??
      `The answer was ${status}, and it is not one of this service: something between it and here may have given it.`;
    super(withFirstDetail(title, error));
    this.title = title;
    this.status = status;
    this.code = error?.code ?? `http_${status}`;
    this.requestId = error?.request_id ?? headers.get("X-Request-Id");
    this.details = error?.details ?? [];
    this.more = error?.more ?? 0;
    this.retryAfter = retryAfter(headers.get("Retry-After"), now);
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408 ||
      (this.status === 409 && this.retryAfter > 0);
  }
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
  const left = others.length + more;
  return `${title}: ${place === "" ? "" : `${place}: `}${message}${
    left === 0 ? "" : ` (and ${left} more)`
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
    const whole = isOfDetail ? details[details.length - 1] : error;
    whole[name] = NUMBERS.has(name) ? Number(text) : unescaped(text);
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

/** Parses a JSON object; null for any other text. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value as Record<string, unknown> : null;
  } catch {
    return null;
  }
}

/** No answer came, or only a part of one. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(cause: unknown) {
    super("The service cannot be reached.", { cause });
  }
}
