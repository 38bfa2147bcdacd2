/** How calls fail. */
import { retryAfter } from "../lib/retry_after.ts";
import { decode, parseXml } from "./decode.ts";
import {
  type Detail,
  type Details,
  type ErrorCode,
  SERVICE_ERROR,
  type ServiceError,
} from "./types.ts";

/** A refusal or failure that the service, or a proxy before it, answered. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The message without that of the first problem. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** `http_502`, for example, where the answer is not one of the service. */
  readonly code: ErrorCode | `http_${number}`;
  /** With it the operator finds the request in the log. */
  readonly requestId: string | null;
  /** Every problem of the request, up to 1,000. */
  readonly details: readonly Detail[];
  /** How many problems there are besides. */
  readonly more: number;
  /** Milliseconds to wait before the request is repeated; 0: none are named. */
  readonly retryAfter: number;

  constructor({ status, headers }: Response, body: string, now: number) {
    const error = errorIn(body);
    const title = error?.message ??
      `The answer was ${status}, and it is not one of this service: something between it and here may have given it.`;
    super(withFirst(title, error?.details));
    this.title = title;
    this.status = status;
    this.code = error?.code ?? `http_${status}`;
    this.requestId = error?.request_id ?? headers.get("X-Request-Id");
    this.details = error?.details?.detail ?? [];
    this.more = error?.details?.more ?? 0;
    this.retryAfter = retryAfter(headers.get("Retry-After"), now);
  }

  /** Whether the same request may succeed later. */
  get passes(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408 ||
      (this.status === 409 && this.retryAfter > 0);
  }
}

/** As in `Record Invalid: product 2, SKU A, gtin: … (and 3 more)`. */
function withFirst(title: string, details: Details | undefined): string {
  const [first, ...others] = details?.detail ?? [];
  if (first === undefined) return title;
  const { product, sku, line, field, message } = first;
  const place = [
    product !== undefined && `product ${product}`,
    sku !== undefined && `SKU ${sku}`,
    product === undefined && line !== undefined && `line ${line}`,
    field,
  ].filter(Boolean).join(", ");
  const left = others.length + (details?.more ?? 0);
  return `${title}: ${place === "" ? "" : `${place}: `}${message}${
    left === 0 ? "" : ` (and ${left} more)`
  }`;
}

function errorIn(body: string): ServiceError | undefined {
  const element = parseXml(body)?.children
    .find(({ name }) => name === "error");
  return element && decode(element, SERVICE_ERROR) as ServiceError;
}

/** No answer came, or only a part of one. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  constructor(cause: unknown) {
    super("The service cannot be reached.", { cause });
  }
}
