/** Turns failures into statuses and documents; no other module does. */
import { type Detail, DETAIL_LIMIT, ServiceError } from "../../lib/errors.ts";
import type { Warning, Warnings } from "../../catalogue/warnings.ts";
import { StoreError } from "../../lib/store_error.ts";
import { DbError, type DbErrorKind } from "../../database/db.ts";
import { OutboundError } from "../../net/errors.ts";
import { boundedList } from "./list.ts";
import type { ElementList, EncodedBlocks, XmlValue } from "../../xml/encode.ts";
import type { AnswerForm } from "../../contracts/answer_form.ts";
import type {
  Answer,
  DetailNode,
  DetailsNode,
  WarningNode,
  WarningsNode,
} from "../../contracts/answers.ts";

/** Tells a client how many seconds to wait before it retries. */
const RETRY_AFTER = { "Retry-After": "5" };

/**
 * The error that a client sees for any failure. While the database cannot be
 * written, or the image store cannot be read, the status is 503. Any other
 * unexpected failure is a 500 without details.
 */
export function toServiceError(error: unknown, method: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const cause = error;
  const outage = outageMessage(error, method);
  if (outage !== null) {
    const headers = RETRY_AFTER;
    return new ServiceError("unavailable", outage, { cause, headers });
  }
  return new ServiceError(
    "internal",
    "The service failed on this request. Report the request id to the " +
      "operator, who finds the cause in the log.",
    { cause },
  );
}

/** What currently fails, and whether anything was stored; null if unknown. */
function outageMessage(error: unknown, method: string): string | null {
  if (error instanceof DbError && UNAVAILABLE.has(error.kind)) {
    if (method === "GET" || method === "HEAD") {
      return "The service cannot read its database at the moment. Send the " +
        "request again later.";
    }
    return "The service cannot store anything at the moment; nothing of this " +
      "request was stored. Send it again later.";
  }
  if (error instanceof DbError && error.kind === "unsure") {
    return "The database failed while it stored this request, so the request " +
      "may or may not be stored. Send it again later, with the same " +
      "Idempotency-Key if it had one.";
  }
  if (error instanceof StoreError) {
    return "The service cannot read its images at the moment. Try again later.";
  }
  if (error instanceof OutboundError && error.isOurs) {
    return "The service has too many outbound requests in progress; nothing " +
      "of this request was stored. Send it again.";
  }
  return null;
}

const UNAVAILABLE: ReadonlySet<DbErrorKind> = new Set([
  "full",
  "busy",
  "conflict",
  "away",
  "removed",
  "readonly",
  "closed",
]);

/** The body of an error answer. Details beyond the limit are only counted. */
export function errorDocument(
  error: ServiceError,
  requestId: string,
  form: AnswerForm,
): string | EncodedBlocks {
  const { code, message } = error;
  const details = detailList(error, form);
  const answer: Answer<"error"> = {
    error: { code, message, request_id: requestId, details },
  };
  return form.document(answer);
}

/**
 * The element `<details>`; undefined without details. `more` counts the details
 * that are left out.
 */
export function detailList(
  { details, more = 0 }: { details: readonly Detail[]; more?: number },
  form: AnswerForm,
): DetailsNode | undefined {
  const shown = firstOf(details, detailNode, more, form, "detail");
  return shown && { detail: shown.list, more: shown.more };
}

/** The element `<warnings>`; undefined without warnings. */
export function warningList(
  { list, more }: Warnings,
  form: AnswerForm,
): WarningsNode | undefined {
  const shown = firstOf(list, warningNode, more, form, "warning");
  return shown && { warning: shown.list, more: shown.more };
}

/** As many nodes as fit into an answer, and the number of those left out. */
function firstOf<E, V extends XmlValue>(
  entries: readonly E[],
  toNode: (entry: E) => V,
  more: number,
  form: AnswerForm,
  name: string,
): { list: ElementList<V>; more: number | undefined } | undefined {
  if (entries.length + more === 0) return undefined;
  const list = boundedList<V>(form, name);
  for (const entry of entries) {
    if (list.count === DETAIL_LIMIT || !list.add(toNode(entry))) break;
  }
  return { list, more: more + entries.length - list.count || undefined };
}

function warningNode(
  { product, sku, line, field, code, from, message }: Warning,
): WarningNode {
  return { product, sku, line, field, code, from, message };
}

/** A detail as answers show it. */
export function detailNode(detail: Detail): DetailNode {
  const { product, sku, line, column, field, pointer, code, message } = detail;
  return { product, sku, line, column, field, pointer, code, message };
}
