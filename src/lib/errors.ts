/**
 * Every failure that a client can see: a closed list of codes, and for a
 * refused record a closed list of detail codes. `http/server/error_answers.ts`
 * is the one place where a code becomes a status and a document.
 */

/** The documentation of a code, in Markdown. */
export interface CodeEntry {
  /** What is wrong. */
  meaning: string;
  /** What the client can do. */
  remedy: string;
}

/**
 * Error codes with their HTTP status. `also` is the status on endpoints where
 * the error is a conflict. The tables of the handbook and the OpenAPI
 * description are generated from this table and the next one.
 */
export const ERRORS = {
  malformed_xml: {
    status: 400,
    meaning:
      "The body is not well-formed XML in UTF-8, has a DOCTYPE or a processing instruction, or exceeds a structural limit.",
    remedy: "Correct it at the line and column of the detail.",
  },
  malformed_json: {
    status: 400,
    meaning:
      "The body is not well-formed JSON in UTF-8, has a name twice in an object or a number beyond 2^53, or exceeds a structural limit.",
    remedy: "Correct it at the line and column of the detail.",
  },
  malformed_request: {
    status: 400,
    meaning:
      "Broken percent-encoding or gzip, an unusable request line, `Host` or header, or a query parameter that the request does not accept.",
    remedy: "Correct the part that the message names.",
  },
  unsupported_version: {
    status: 400,
    meaning: "`v` is not `1.1`.",
    remedy: "Send `v=1.1` or leave it out.",
  },
  unauthorized: {
    status: 401,
    meaning:
      "The key is missing, unknown, revoked, expired, or sent from outside its networks.",
    remedy: "Send a valid key in `X-Service-Auth`.",
  },
  forbidden: {
    status: 403,
    meaning: "The key lacks the scope that the message names, or is read-only.",
    remedy: "Use another key.",
  },
  suspended: {
    status: 403,
    meaning:
      "The operator has suspended this seller. Deliveries and images wait.",
    remedy: "Ask the operator.",
  },
  not_found: {
    status: 404,
    meaning: "No such path, or nothing of this seller has this id or SKU.",
    remedy: "Check path, id and key.",
  },
  method_not_allowed: {
    status: 405,
    meaning: "The path does not accept this method.",
    remedy: "Use a method from the header `Allow`.",
  },
  request_timeout: {
    status: 408,
    meaning:
      "The body was not complete within 30 s, or within 5 minutes for an import or an image.",
    remedy: "Send it again; compress a document with gzip.",
  },
  conflict: {
    status: 409,
    meaning:
      "The transaction or import is undone already; the import has ended, or has not ended yet; or the key is your last one with the scope `keys`, or is not valid.",
    remedy: "Do what the message says.",
  },
  reference_reused: {
    status: 409,
    meaning:
      "The event's `<reference>` was used with other data for this seller and trigger. Nothing was stored.",
    remedy: "Use a new reference for each event.",
  },
  idempotency_key_in_progress: {
    status: 409,
    meaning: "The first request with this `Idempotency-Key` has not ended.",
    remedy: "Send the same again after `Retry-After` seconds.",
  },
  changed_since: {
    status: 412,
    also: 409,
    meaning:
      "412: the attribute does not have the value of `expected`; the message names its value. 409: products were changed after the dry run that was to be stored; `<details>` lists the first 50.",
    remedy: "412: decide again with that value. 409: check the document again.",
  },
  too_many_products: {
    status: 413,
    meaning:
      "More than 250 products in an upload, 10,000 in `bulk_attributes`, or 50,000 in an import.",
    remedy: "Send the document as an import, or split it.",
  },
  body_too_large: {
    status: 413,
    meaning:
      "The decompressed body is longer than `SELLER_BODY_LIMIT`; for an import, than `SELLER_IMPORT_LIMIT`; for an image, than `SELLER_IMAGE_LIMIT`.",
    remedy: "Split the document, or make the image smaller.",
  },
  unsupported_media_type: {
    status: 415,
    meaning:
      "`Content-Type` is not `text/xml`, `application/xml` or `application/json`; or it is `multipart/…` for an image; or `Content-Encoding` is not `gzip`.",
    remedy: "Send one of these types; send an image as the body itself.",
  },
  record_invalid: {
    status: 422,
    meaning: "`<details>` lists the mistakes. Nothing was stored.",
    remedy: "Correct them and send it again, or use `accept=valid`.",
  },
  idempotency_key_reused: {
    status: 422,
    meaning:
      "The `Idempotency-Key` was used with another path, query or body. Nothing was stored.",
    remedy: "Use a new key for each new request.",
  },
  rate_limited: {
    status: 429,
    meaning:
      "Too many requests a minute or at once, or too many wrong keys from your address.",
    remedy: "Wait for `Retry-After` seconds.",
  },
  internal: {
    status: 500,
    meaning: "The service failed.",
    remedy: "Tell the operator the request id.",
  },
  unavailable: {
    status: 503,
    meaning: "The service cannot work at the moment.",
    remedy:
      "Send the same request again after `Retry-After` seconds, with the same `Idempotency-Key` if it had one.",
  },
} as const satisfies Record<
  string,
  CodeEntry & { status: number; also?: typeof CONFLICT_STATUS }
>;

export type ErrorCode = keyof typeof ERRORS;

/** The status of an error on endpoints where it is a conflict. */
export const CONFLICT_STATUS = 409;

/**
 * Codes of bytes that are not accepted as an image. `images/image_types.ts`
 * lists the accepted types.
 */
export const IMAGE_CONTENT_CODES = {
  image_incomplete: {
    meaning: "The image ends before the end that its format marks.",
    remedy:
      "Upload the whole file. A download is retried: wait; if all attempts fail, repair the file or the host.",
  },
  image_too_large: {
    meaning: "The image has more bytes than allowed.",
    remedy: "Make it smaller; the message has the limit.",
  },
  image_not_an_image: {
    meaning: "The bytes are not an image.",
    remedy:
      "Send the image itself, or its own URL, not that of a page that shows it.",
  },
  image_unsupported_type: {
    meaning: "The image has a type that is not accepted.",
    remedy: "Send JPEG, PNG, GIF, WebP or AVIF.",
  },
  image_corrupt: {
    meaning: "The header of the image is damaged, so its size is unknown.",
    remedy: "Save the image again.",
  },
  image_too_many_pixels: {
    meaning: "The image has more than 64 megapixels.",
    remedy: "Make it smaller.",
  },
  image_too_many_frames: {
    meaning: "The animation has more frames than allowed.",
    remedy: "Remove frames, or send a still image.",
  },
  image_quota_exceeded: {
    meaning: "Storing the image would take more bytes than your image quota.",
    remedy:
      "Remove images, or ask the operator for a larger quota; then retry.",
  },
  image_unprocessable: {
    meaning: "The service failed to read the image.",
    remedy: "Save the image again, or as another type.",
  },
} as const satisfies Record<string, CodeEntry>;

export type ImageContentCode = keyof typeof IMAGE_CONTENT_CODES;

/** Codes of the details of an error. */
export const DETAIL_CODES = {
  required: {
    meaning: "A required element, attribute or value is missing.",
    remedy: "Add it.",
  },
  too_long: {
    meaning: "The text has more characters (Unicode code points) than allowed.",
    remedy: "Shorten it to the length in the message.",
  },
  too_many: {
    meaning: "A list has more entries than allowed.",
    remedy: "Remove some, down to the number in the message.",
  },
  not_a_number: {
    meaning: "The value is not a number as the field requires it.",
    remedy:
      "Write digits without a sign, with a point before decimals, as in `1299.50`.",
  },
  out_of_range: {
    meaning: "The number is outside the range of the field.",
    remedy: "Send one within the range in the message.",
  },
  not_in_list: {
    meaning:
      "The value is not one of those that the field, or a category's rule, allows.",
    remedy: "Send one of those in the message, spelt exactly so.",
  },
  attribute_required: {
    meaning:
      "A category of the product needs a field or attribute that it lacks.",
    remedy:
      "Add it; `GET /seller_api/categories/:name` shows the rules of a category.",
  },
  unknown_category: {
    meaning: "The marketplace has no category of this name.",
    remedy:
      "Use a name of `GET /seller_api/categories`; the message has the nearest.",
  },
  unknown_contact: {
    meaning: "The seller has no contact of this name.",
    remedy:
      "Use the name of a contact, or store it first with `PUT /seller_api/contacts/:name`; the message has the nearest.",
  },
  not_a_date: {
    meaning: "The value is not a date (YYYY-MM-DD) or not a time in ISO 8601.",
    remedy: "Write a date as `2026-12-01`, a time as `2026-12-01T08:00:00Z`.",
  },
  not_one_line: {
    meaning: "The text has a line break or another control character.",
    remedy: "Replace it by a space.",
  },
  not_allowed: {
    meaning: "The value is well-formed, but not valid for the field.",
    remedy: "Send a value that follows the rule in the message.",
  },
  unknown_element: {
    meaning: "No element of this name is known here.",
    remedy: "Use the name that the message suggests, or remove the element.",
  },
  unknown_attribute: {
    meaning: "No XML attribute of this name is known here.",
    remedy: "Use the name that the message suggests, or remove the attribute.",
  },
  unexpected_text: {
    meaning: "There is text where only elements are allowed.",
    remedy: "Remove it, or put it into an element.",
  },
  repeated_element: {
    meaning: "The element is allowed only once here.",
    remedy: "Remove all but one.",
  },
  repeated_value: {
    meaning: "The list already contains the value.",
    remedy: "Remove all but one.",
  },
  duplicate_sku: {
    meaning: "An earlier product of the document has the same SKU.",
    remedy: "Remove one of the two; the message has the line of the first.",
  },
  duplicate_product: {
    meaning: "An earlier product of the document addresses the same product.",
    remedy: "Remove one of the two; the message has the line of the first.",
  },
  sku_taken: {
    meaning: "Another stored product of the seller has this SKU.",
    remedy: "Choose another SKU, or change the other product first.",
  },
  name_taken: {
    meaning: "Another seller or operator key has this name.",
    remedy: "Choose another name.",
  },
  too_many_missing: {
    meaning: "`complete=quantity` would set too many products to 0.",
    remedy:
      "Send the whole file; or `at_most=PERCENT`, if the change is intended.",
  },
  quota_exceeded: {
    meaning: "The seller would exceed a limit; the message says which.",
    remedy:
      "Delete what is not needed, or ask the operator for a higher limit.",
  },
  changed_since: {
    meaning:
      "The field, or the currency of its amount, was changed after the transaction to be undone; or the field does not have the value of `expected`; or the product was changed after the `<changed_at>` of a review, or after its check by a dry run.",
    remedy:
      "Undo with `changed=keep`; or decide again with the current value, which the message names; or review the product as it is now; or check the document again.",
  },
  too_old: {
    meaning:
      "The record that an undo of the transaction or import needs is no longer kept.",
    remedy: "Upload the former values.",
  },
  not_found: {
    meaning:
      "No product of the seller has this SKU, and the request creates none.",
    remedy: "Correct the SKU, or upload the product.",
  },
  unknown_id: {
    meaning: "No product of the seller has this id.",
    remedy: "Address the product by its SKU, or leave `<id>` out to create it.",
  },
  price_jump: {
    meaning:
      "The price changes by a larger percentage than the seller's `price_jump` allows.",
    remedy:
      "Correct the price; or send it with the present price as `expected`, if the change is intended.",
  },
  bad_check_digit: {
    meaning: "The GTIN's last digit does not match the others.",
    remedy: "Compare the GTIN with the package: a digit is wrong.",
  },
  bad_url: {
    meaning: "The URL cannot be used; the message says which rule it breaks.",
    remedy: "Write it as the message says.",
  },
  image_unavailable: {
    meaning: "A HEAD request for the image URL was not answered with 200.",
    remedy: "Have the host answer HEAD with 200, without a redirect.",
  },
  image_blocked: {
    meaning: "The image URL leads to an address that is not public.",
    remedy:
      "Put the image at a public address; for a trial, see `--allow-private`.",
  },
  unknown_image: {
    meaning:
      "The URL is of this service, but the seller has uploaded no such image.",
    remedy:
      "Upload the image, and send the URL of the answer; or send the URL from which a copy was downloaded.",
  },
  ...IMAGE_CONTENT_CODES,
  url_blocked: {
    meaning: "The URL leads to an address that is not public.",
    remedy: "Use a URL with a public address.",
  },
  unresolved: {
    meaning: "The host name of the URL does not resolve.",
    remedy: "Correct the name, or its entry in the DNS.",
  },
  wrong_type: {
    meaning: "The JSON value does not have the type that the field requires.",
    remedy: "Send a value of the type in the message.",
  },
  syntax: {
    meaning: "The document is not well-formed here.",
    remedy: "Correct the document at this line and column.",
  },
  internal: {
    meaning: "The service failed to process a part of an import.",
    remedy: "Tell the operator the import id, which finds the log line.",
  },
  limit: {
    meaning: "The document exceeds a structural limit of the reader.",
    remedy: "Split the document, or nest it less deeply.",
  },
} as const satisfies Record<string, CodeEntry>;

export type DetailCode = keyof typeof DETAIL_CODES;

/** One problem of a request: where it is, what it is, what would be right. */
export interface Detail {
  /** Position of the product in the document, from 1. */
  product?: number;
  /** The product's SKU, if it could be read. */
  sku?: string;
  /** Line on which the offending element starts, from 1. */
  line?: number;
  /** Column in code points, from 1; only for XML that is not well-formed. */
  column?: number;
  /** Path of the field, as in `images/image[2]` or `price/@currency`. */
  field?: string;
  /** Position in a JSON document, as in `/products/1/price`. */
  pointer?: string;
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

/** The most details that an error lists; further ones are only counted. */
export const DETAIL_LIMIT = 1000;

export interface ServiceErrorOptions {
  details?: Detail[];
  /** How many details are only counted. */
  more?: number;
  headers?: Record<string, string>;
  cause?: unknown;
  /** Whether to answer 409, although the code has another status elsewhere. */
  isConflict?: true;
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
  readonly #isConflict: boolean;

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
    this.#isConflict = options.isConflict ?? false;
  }

  get status(): number {
    return this.#isConflict ? CONFLICT_STATUS : ERRORS[this.code].status;
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
 * one. `nearest`: the name that was probably meant, where names are public.
 */
export function notFound(what: string, nearest?: string): ServiceError {
  const advice = nearest === undefined ? "" : `; the nearest is "${nearest}"`;
  return new ServiceError("not_found", `No such ${what}${advice}.`);
}

/** 408, which only the log shows, because the client has disconnected. */
export function connectionClosed(): ServiceError {
  return new ServiceError(
    "request_timeout",
    "The connection was closed before the answer was ready.",
  );
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
