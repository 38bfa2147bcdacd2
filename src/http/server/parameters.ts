/**
 * The parameters of queries and headers: the name, meaning and valid values of
 * each. Routes list the parameters that they accept; handlers read them.
 */
import { CHANGE, EXPECTED, STATUSES } from "../../catalogue/fields.ts";
import type { Parameter } from "../../contracts/endpoint.ts";
import type { DetailCode, Problem } from "../../lib/errors.ts";
import { IMPORT_RESULTS } from "../../imports/results.ts";
import { readId } from "../../lib/ids.ts";
import { IMPORT_NAME_LENGTH, PAGE_LIMIT } from "../../lib/request_limits.ts";
import {
  EXPECTED_TIME,
  fits,
  invalid,
  parseTime,
  quote,
  type Reader,
  readGtin,
  type ReadResult,
  timeProblem,
  trimSpace,
} from "../../lib/values.ts";
import { REVIEW_STATES } from "../../catalogue/review.ts";
import { REFUSAL_CODES } from "../../sellers/refusals.ts";
import { readReference } from "../../webhooks/event.ts";
import { TRIGGERS } from "../../webhooks/trigger.ts";
import { DELIVERY_STATES } from "../../webhooks/webhook.ts";

/** A query parameter with a value of type `T`. */
export interface QueryParameter<T> extends Parameter {
  /** The value of a text; null if the text is invalid. */
  parse: (text: string) => T | null;
  /** The error code of an invalid text. */
  code: DetailCode | ((text: string) => DetailCode);
  /** Describes a valid text; the message says that it "must be" this. */
  expected: string;
  /** The message about an invalid text, if it says more than `expected`. */
  problem?: (text: string) => string;
}

/** Parses a text. Calls `refuse` for an invalid text, and returns null. */
export function parseText<T>(
  text: string,
  { parse, expected, problem }: Omit<QueryParameter<T>, "code">,
  refuse: (problem: string) => void,
): T | null {
  const value = parse(text);
  if (value === null) {
    refuse(problem?.(text) ?? `is ${quote(text)}; it must be ${expected}.`);
  }
  return value;
}

/** A parameter whose value is one of `words`. */
function word<W extends string>(
  name: string,
  words: readonly W[],
  about: string,
): QueryParameter<W> {
  return {
    name,
    about,
    schema: { type: "string", enum: words },
    parse: (text) => words.find((word) => word === text) ?? null,
    code: "not_in_list",
    expected: words.length === 1 ? words[0] : `one of ${words.join(", ")}`,
  };
}

/** A text that is not empty and that `read` accepts. */
function valueText(
  { read, expected, ...parameter }: Parameter & {
    read: Reader<string>;
    expected: string;
  },
): QueryParameter<string> {
  const readText = (text: string): ReadResult<string> =>
    trimSpace(text) === ""
      ? invalid("required", `is empty; it must be ${expected}.`)
      : read(trimSpace(text));
  const problemOf = (text: string): Problem => {
    const result = readText(text);
    if ("problem" in result) return result.problem;
    throw new Error(`there is no problem with ${quote(text)}`);
  };
  return {
    ...parameter,
    expected,
    parse: (text) => {
      const result = readText(text);
      return "value" in result ? result.value : null;
    },
    code: (text) => problemOf(text).code,
    problem: (text) => problemOf(text).message,
  };
}

/** A time in Unix milliseconds; an unescaped "+" arrives as a space. */
function time(name: string, about: string): QueryParameter<number> {
  return {
    name,
    about,
    schema: { type: "string", format: "date-time" },
    parse: (text) => parseTime(text.replace(" ", "+")),
    code: "not_a_date",
    expected: EXPECTED_TIME,
    problem: timeProblem,
  };
}

export const PAGE_SIZE: QueryParameter<number> = {
  name: "limit",
  about: `entries of a page, 1 to ${PAGE_LIMIT.maximum}; default: ` +
    `${PAGE_LIMIT.default}`,
  schema: { type: "integer", minimum: 1, ...PAGE_LIMIT },
  parse: (text) => {
    const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    return limit >= 1 && limit <= PAGE_LIMIT.maximum ? limit : null;
  },
  code: "out_of_range",
  expected: `a whole number from 1 to ${PAGE_LIMIT.maximum}`,
};

/** The cursor of a list; each list has its own format. */
export const AFTER = {
  name: "after",
  about: "the <next> of an earlier page, to continue after it",
  // There is no minLength, because an empty cursor requests the first page.
  schema: { type: "string" },
  code: "not_allowed",
  expected: "the <next> of an earlier page of this list; leave it out for " +
    "the first page",
} satisfies Omit<QueryParameter<unknown>, "parse">;

/** The longest search text, in code points. */
const SEARCH_LENGTH = 150;

export const PRODUCT_SEARCH: QueryParameter<string> = {
  name: "q",
  about: "only products whose SKU or title contains this, ignoring case",
  schema: { type: "string", maxLength: SEARCH_LENGTH },
  parse: (text) => fits(text, SEARCH_LENGTH) ? text.trim() : null,
  code: "too_long",
  expected: `a text of at most ${SEARCH_LENGTH} characters`,
};
export const CATEGORY_SEARCH: QueryParameter<string> = {
  ...PRODUCT_SEARCH,
  about: "only categories whose name contains this, ignoring case",
};
export const GTIN_FILTER = valueText({
  name: "gtin",
  about: "only products with exactly this GTIN",
  schema: { type: "string", minLength: 8, maxLength: 14 },
  read: readGtin,
  expected: "a GTIN of 8, 12, 13 or 14 digits",
});
export const STATUS_FILTER = word(
  "status",
  [...STATUSES, "deleted"],
  "only products with this status; deleted: the ids and SKUs of " +
    "deleted products, the oldest deletion first",
);
export const REVIEW_FILTER = word(
  "review",
  REVIEW_STATES,
  "only products with this state of review",
);
export const IMAGES_FILTER = word(
  "images",
  ["pending", "stored", "failed"],
  "only products with an image in this state",
);
export const REVIEW_STATE_FILTER = word(
  "state",
  REVIEW_STATES,
  "only products in this state; default: pending",
);
export const SORT = word(
  "sort",
  ["created_at", "sku", "title", "price", "quantity", "updated_at"],
  "the field to sort by; default: created_at",
);
export const ORDER = word(
  "order",
  ["asc", "desc"],
  "the direction; default: asc",
);
export const UPDATED_SINCE = time(
  "updated_since",
  "only products that changed at this time or later; ISO 8601",
);

export const TRIGGER_FILTER = word(
  "trigger",
  TRIGGERS,
  "only events of this trigger",
);
export const REFERENCE_FILTER = valueText({
  name: "reference",
  about: "only the event with exactly this reference",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  read: readReference,
  expected: "a text of 1 to 255 characters",
});
export const EVENT_ID_FILTER: QueryParameter<string> = {
  name: "id",
  about: "only the event with this id, such as the <event_id> of a delivery",
  schema: { type: "string", format: "uuid" },
  parse: readId,
  code: "not_allowed",
  expected: "the id of an event",
};
export const DELIVERY_STATE_FILTER = word(
  "state",
  DELIVERY_STATES,
  "only deliveries in this state",
);
export const EVENTS_SINCE = {
  ...time("since", "only events of this time and later; ISO 8601; required"),
  required: true,
} as const;
export const EVENTS_UNTIL = time(
  "until",
  "only events of this time and earlier; default: now",
);
export const ENTRIES_SINCE = time(
  "since",
  "only entries of this time and later",
);
export const ENTRIES_UNTIL = time(
  "until",
  "only entries of this time and earlier",
);
export const REFUSAL_CODE_FILTER = word(
  "code",
  REFUSAL_CODES,
  "only refusals with this code, or with a detail with this code",
);

/** A text that is compared with stored texts; only its length is limited. */
const plainText = (name: string, about: string): QueryParameter<string> => ({
  name,
  about,
  schema: { type: "string", maxLength: SEARCH_LENGTH },
  parse: (text) => fits(text, SEARCH_LENGTH) ? text : null,
  code: "too_long",
  expected: `a text of at most ${SEARCH_LENGTH} characters`,
});
export const ROUTE_FILTER: QueryParameter<string> = {
  ...plainText(
    "route",
    "only refusals with this <route>, such as POST /seller_api/bulk_products",
  ),
  parse: (text) =>
    fits(text, SEARCH_LENGTH) && /^(GET|POST|PUT|DELETE) \//.test(text)
      ? text
      : null,
  code: "not_in_list",
  expected: "method and path as <route> has them, as in " +
    '"POST /seller_api/bulk_products"',
};
export const SKU_OR_REQUEST_FILTER = plainText(
  "q",
  "only refusals with a detail about this SKU, or of the request with this id",
);
/** A `plainText` that must not be empty. */
const requiredText = (name: string, about: string): QueryParameter<string> => ({
  ...plainText(name, about),
  schema: { type: "string", minLength: 1, maxLength: SEARCH_LENGTH },
  parse: (text) => text !== "" && fits(text, SEARCH_LENGTH) ? text : null,
  code: "out_of_range",
  expected: `a text of 1 to ${SEARCH_LENGTH} characters`,
});
export const WHO_FILTER = requiredText(
  "who",
  "only changes by the operator key of this name, or by `environment` " +
    "(SELLER_OPERATOR_KEY), `command line` or `seller`",
);
export const AUDIT_SELLER_FILTER = requiredText(
  "seller",
  "only changes that concern the seller with this name at that time",
);
export const SELLER_FILTER: Parameter = {
  name: "seller",
  about: "only this seller, by name or id",
};

/** Selects the database server that has the rows of a seller. */
export const SERVER_OF_SELLER: Parameter = {
  name: "seller",
  about: "only the server of this seller, by name or id",
};

/** The longest wait, in seconds. */
const WAIT_LIMIT_S = 30;

/**
 * The parameter `wait`: seconds in a request, parsed to milliseconds. `event`
 * ends the wait; for example "the status is final".
 */
export function waitUntil(event: string): QueryParameter<number> {
  return {
    name: "wait",
    about: `seconds to wait, up to ${WAIT_LIMIT_S}, until ${event}`,
    schema: { type: "integer", minimum: 0 },
    parse: (text) =>
      /^\d{1,9}$/.test(text)
        ? Math.min(Number(text), WAIT_LIMIT_S) * 1_000
        : null,
    code: "out_of_range",
    expected: "a whole number of seconds",
  };
}

/** The version of the interface. */
export const API_VERSION = "1.1";

export const VERSION_PARAMETER = word(
  "v",
  [API_VERSION],
  `the version of the interface; ${API_VERSION} if left out`,
);

/** A parameter that is false when it is left out. */
function flag(name: string, about: string): QueryParameter<boolean> {
  return {
    name,
    about,
    schema: { type: "boolean", default: false },
    parse: (text) => text === "true" ? true : text === "false" ? false : null,
    code: "not_in_list",
    expected: "true or false",
  };
}

export const DRY_RUN = flag(
  "dry_run",
  "true: check everything, but store nothing",
);
export const ACCEPT_VALID = word(
  "accept",
  ["valid"],
  "valid: store the valid products even if others are refused; if left " +
    "out, all products are stored or none",
);
export const SHOW_FORMER = word(
  "show",
  ["former"],
  "former: the results of a dry run include the stored title, price, " +
    "quantity, GTIN and weight of each product",
);
export const COMPLETE_QUANTITY = word(
  "complete",
  ["quantity"],
  "quantity: set the quantity of your products that are missing in the " +
    "document to 0",
);
/**
 * The default of `at_most`: the percentage of the products in stock that
 * `complete` may set to 0.
 */
export const MISSING_AT_MOST_DEFAULT = 10;
export const MISSING_AT_MOST: QueryParameter<number> = {
  name: "at_most",
  about: "with complete=quantity: refuse the request if more than this " +
    "percentage of the products in stock would be set to 0; " +
    `${MISSING_AT_MOST_DEFAULT} if left out`,
  // The schema has no default: generated clients would send it also without
  // `complete`.
  schema: { type: "integer", minimum: 0, maximum: 100 },
  parse: (text) =>
    /^\d{1,3}$/.test(text) && Number(text) <= 100 ? Number(text) : null,
  code: "out_of_range",
  expected: "a whole number of percent, 0 to 100",
};
export const KEEP_CHANGED = word(
  "changed",
  ["keep"],
  "keep: undo only the fields that have not changed since; if left out, the " +
    "undo is refused if any field has changed since",
);

export const HISTORY_ATTRIBUTE = {
  ...word(
    "attribute",
    ["price"],
    "the attribute whose changes are listed; required",
  ),
  required: true,
} as const;

export const EXPECTED_VALUE: QueryParameter<string> = {
  name: EXPECTED,
  about: "the value that the attribute must have now; if it has another " +
    "value, the answer is 412 changed_since with the current value",
  parse: (text) => text,
  code: "not_allowed",
  expected: "a value of the attribute",
};

export const DIFFERENCE = flag(
  CHANGE,
  "true: the value is a difference to add to the current value, as " +
    "in quantity/-2; a result out of range is refused",
);

/** The longest Idempotency-Key. */
export const IDEMPOTENCY_KEY_LENGTH = 255;
export const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  about: `up to ${IDEMPOTENCY_KEY_LENGTH} characters; for 24 h, a repeated ` +
    "request with the same key gets the first answer",
  schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH },
};

export const UPLOAD_NAME: QueryParameter<string> = {
  name: "name",
  about: "a name for the upload or import, such as the file name",
  schema: { type: "string", maxLength: IMPORT_NAME_LENGTH },
  parse: (text) =>
    fits(text, IMPORT_NAME_LENGTH) && !/[\0-\x1f\x7f]/.test(text) ? text : null,
  code: "too_long",
  expected: `one line of at most ${IMPORT_NAME_LENGTH} characters`,
};
export const RESULT_FILTER = word(
  "result",
  IMPORT_RESULTS,
  "only products with this result",
);
