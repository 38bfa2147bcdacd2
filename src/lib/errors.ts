/**
 * Every failure that a client can see: a closed list of codes, and for a
 * refused record a closed list of detail codes. `http/errors.ts` is the one
 * place where a code becomes a status and an XML body.
 */

/** Error codes with their HTTP status. */
export const ERROR_STATUS = {
  malformed_xml: 400,
  malformed_request: 400,
  unsupported_version: 400,
  unauthorized: 401,
  forbidden: 403,
  suspended: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  too_many_products: 413,
  body_too_large: 413,
  unsupported_media_type: 415,
  record_invalid: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Detail codes and their meaning; a test compares the handbook with them. */
export const DETAIL_CODES = {
  required: "A required element, attribute or value is missing.",
  too_long: "The text has more characters (Unicode code points) than allowed.",
  too_many: "A list holds more entries than allowed.",
  not_a_number: "The value is not a number in the form that the field takes.",
  out_of_range: "The number is outside the range of the field.",
  not_in_list: "The value is not one of those that the field takes.",
  not_a_date: "The value is not a date (YYYY-MM-DD) or not a time in ISO 8601.",
  not_one_line: "The text has a line break or another control character.",
  not_allowed: "The value is well formed, but the field cannot take it.",
  unknown_element: "No element of this name is known here.",
  unknown_attribute: "No XML attribute of this name is known here.",
  unexpected_text: "There is text where only elements are allowed.",
  repeated_element: "The element is allowed only once here.",
  repeated_value: "The list already contains the value.",
  duplicate_sku: "An earlier product of the document has the same SKU.",
  duplicate_product:
    "An earlier product of the document addresses the same product.",
  sku_taken: "Another stored product of the seller has this SKU.",
  name_taken: "Another seller or operator key has this name.",
  quota_exceeded: "The seller may not have that many products.",
  changed_since: "The field was changed after the transaction to be undone.",
  too_old: "What an undo of the transaction needs is not kept any more.",
  unknown_id: "No product of the seller has this id.",
  bad_check_digit: "The GTIN's last digit does not match the others.",
  bad_url: "The URL cannot be used; the message says which rule it breaks.",
  image_unavailable:
    "The answer to a HEAD request for the image URL was not 200.",
  image_blocked: "The image URL leads to an address that is not public.",
  url_blocked: "The URL leads to an address that is not public.",
  unresolved: "The host name of the URL does not resolve.",
  syntax: "The document is not well-formed XML here.",
  limit: "The document exceeds a structural limit of the XML reader.",
} as const;

export type DetailCode = keyof typeof DETAIL_CODES;

/** One problem of a request: where it is, what it is, what would be right. */
export interface Detail {
  /** Position of the product in the document, from 1. */
  product?: number;
  /** The product's SKU, where it could be read. */
  sku?: string;
  /** Line on which the offending element starts, from 1. */
  line?: number;
  /** Column in code points, from 1; only where XML is not well-formed. */
  column?: number;
  /** Path of the field, as in `images/image[2]` or `price/@currency`. */
  field?: string;
  code: DetailCode;
  message: string;
}

/** What is wrong with a value, without the name of its field. */
export interface Problem {
  code: DetailCode;
  /** What is wrong and what would be right; starts without the field's name. */
  message: string;
}

/**
 * A problem of one field. It has no line, because a stored value can be the
 * cause.
 */
export interface FieldProblem extends Problem {
  field: string;
}

/** A field's problem as a detail with its position: "price is …". */
export function fieldDetail(
  problem: FieldProblem,
  place: Pick<Detail, "product" | "sku" | "line">,
): Detail {
  const { field, code, message } = problem;
  return { ...place, field, code, message: `${field} ${message}` };
}

/** Details that an error lists at most; the others are only counted. */
export const DETAIL_LIMIT = 1000;

export interface ServiceErrorOptions {
  details?: Detail[];
  /** How many details are only counted. */
  more?: number;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** A failure that becomes the answer to a request. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  /** At most `DETAIL_LIMIT`, in document order. */
  readonly details: Detail[];
  /** How many further details there are. */
  readonly more: number;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    options: ServiceErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    const details = options.details ?? [];
    this.code = code;
    this.details = details.slice(0, DETAIL_LIMIT);
    this.more = details.length - this.details.length + (options.more ?? 0);
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** The error for an invalid record: 422, "Record Invalid". */
export function recordInvalid(details: Detail[], more = 0): ServiceError {
  return new ServiceError("record_invalid", "Record Invalid", {
    details,
    more,
  });
}

/**
 * 404: `what` as in "transaction"; does not reveal whether another seller has
 * one.
 */
export function notFound(what: string): ServiceError {
  return new ServiceError("not_found", `No such ${what}.`);
}

/** 503: the service stopped while the request was in progress. */
export function serviceStopping(): ServiceError {
  return new ServiceError(
    "unavailable",
    "The service is stopping; nothing of this request was stored. Send it " +
      "again.",
    { headers: { "Retry-After": "5" } },
  );
}
