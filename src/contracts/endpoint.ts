/**
 * The columns of the table of endpoints (`http/routes.ts`). The service writes
 * the OpenAPI description and the API reference from that table.
 */
import { ATTRIBUTE_NAMES } from "../catalogue/fields.ts";
import { TRIGGERS } from "../webhooks/trigger.ts";
import type { ErrorCode } from "../lib/errors.ts";
import type { NeededScope } from "../sellers/scopes.ts";
import { SELLER_ATTRIBUTE_NAMES } from "../administration/sellers.ts";
import type { AnswerName } from "./answers.ts";

export interface Parameter {
  name: string;
  about: string;
  required?: true;
  in?: "query" | "header";
  schema?: Readonly<Record<string, unknown>>;
}

/** Which requests an endpoint accepts: method, path and key. */
export interface EndpointAddress {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** A segment `:name` is a parameter, described in `PATH_PARAMETERS`. */
  path: string;
  /** Whose key a request needs. */
  access: "seller" | "operator" | "metrics" | "public";
  /** The scope that a seller's key needs; only for routes of sellers. */
  scope?: NeededScope;
}

export interface Documentation {
  /** The `operationId`, which generated clients use as the function name. */
  operation: string;
  title: string;
  /** Markdown. */
  about: string;
  /**
   * Parameters in the query and headers. The service refuses any other query
   * parameter.
   */
  parameters?: readonly Parameter[];
  /** The document in the request body. */
  sends?: {
    root:
      | "products"
      | "webhook"
      | "event"
      | "seller"
      | "key"
      | "mapping"
      | "contact"
      | "reviews"
      | "reasons"
      | "categories"
      | "trigger";
    /** The document's name in `DOCUMENTS`, if that is not `root`. */
    document?: "attributes";
    example: string;
  };
  /** Whether the request body is an image. */
  sendsImage?: true;
  /** Names in `ANSWERS`, or one media type; null for a 204. */
  answers: readonly AnswerName[] | { type: string } | null;
  /** Describes the events, if the answer can be an event stream. */
  streams?: string;
  /**
   * Whether the endpoint is a health probe, which also answers 503, and shows
   * details to the operator's key.
   */
  isProbe?: true;
  /** The example of the answer, instead of that in `ANSWER_EXAMPLES`. */
  example?: string;
  /** Errors that `errorsOf` cannot derive from the other columns. */
  errors?: readonly ErrorCode[];
  /** Codes in `errors` that this endpoint answers with status 409. */
  conflicts?: readonly ErrorCode[];
}

/** The media types of an answer. An XML answer is also available as JSON. */
export function mediaTypes({ type }: { type: string }): readonly string[] {
  return type === "text/xml" ? ["application/json", type] : [type];
}

/** A documented row of the table of routes. */
export type Endpoint = EndpointAddress & Documentation;

interface PathParameter {
  about: string;
  words?: readonly string[];
  /** For a parameter that is a UUID: what the UUID identifies. */
  idOf?: string;
  /** Whether an empty segment is a value. */
  mayBeEmpty?: boolean;
}

export const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  transaction_id: {
    about: "the id in the answer of the upload",
    idOf: "transaction",
  },
  import_id: { about: "the id in the answer of the import", idOf: "import" },
  sku_or_id: {
    about: "a product's SKU or id; if both match, the SKU takes precedence; " +
      "percent-encode special characters",
  },
  attribute: { about: "the attribute", words: ATTRIBUTE_NAMES },
  value: {
    about: "the new value; an empty value clears the attribute",
    mayBeEmpty: true,
  },
  seller: { about: "a seller's name or id; percent-encode special characters" },
  key_id: { about: "a key's id", idOf: "key" },
  seller_attribute: { about: "the attribute", words: SELLER_ATTRIBUTE_NAMES },
  category: {
    about: `a category's name; percent-encode special characters, "/" as %2F`,
  },
  trigger: { about: "the trigger", words: TRIGGERS },
  trigger_name: { about: "the trigger", words: TRIGGERS },
  id: { about: "a delivery's id", idOf: "delivery" },
  folder: { about: "the first two digits of the SHA-256 of the image" },
  file: { about: "the SHA-256 of the image, a dot and the image type" },
  name: {
    about:
      "the name of a mapping or contact; percent-encode special characters",
  },
  chapter: { about: "the chapter's name, as in /docs" },
  signature: { about: "the signature of a link in a mail" },
  version: { about: "a hash of the files of the page" },
};

/** Whether the endpoint accepts an Idempotency-Key. */
export function takesIdempotencyKey(
  { parameters = [] }: Pick<Documentation, "parameters">,
): boolean {
  return parameters.some(({ name }) => name === "Idempotency-Key");
}

/**
 * The errors of an endpoint: the errors that it lists, those of every endpoint,
 * and those that follow from its method, access, path, parameters and body.
 */
export function errorsOf(
  endpoint: Endpoint,
): ErrorCode[] {
  const { method, path, access, parameters = [], errors = [] } = endpoint;
  const common: ErrorCode[] = ["malformed_request", "internal", "unavailable"];
  if (path.includes("/:")) common.push("not_found");
  if (parameters.some(({ name }) => name === "after")) {
    common.push("record_invalid");
  }
  if (takesIdempotencyKey({ parameters })) {
    common.push("idempotency_key_in_progress", "idempotency_key_reused");
  }
  if (access !== "public") common.push("unauthorized");
  if (access === "operator" && method !== "GET") common.push("forbidden");
  if (access === "seller") {
    common.push("rate_limited", "suspended", "forbidden");
  }
  if (endpoint.sends !== undefined) {
    common.push("malformed_xml", "malformed_json");
  }
  if (endpoint.sends !== undefined || endpoint.sendsImage) {
    common.push(
      "request_timeout",
      "body_too_large",
      "unsupported_media_type",
      "record_invalid",
    );
  }
  return [...new Set([...common, ...errors])];
}
