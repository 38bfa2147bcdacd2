/** Reads events as operators send them: a document, or only the data. */
import { type Detail, recordInvalid, ServiceError } from "../lib/errors.ts";
import { malformedElement, parseTree, type XmlElement } from "../xml/decode.ts";
import { XML_LIMITS, type XmlLimits } from "../xml/handlers.ts";
import { parseExactly } from "../json/exact.ts";
import { namespaceProblem } from "../xml/namespaces.ts";
import { ANY, inAnyOrder, maybe, one, STRING, word } from "../xml/shapes.ts";
import { readFields } from "../xml/small_document.ts";
import { TRIGGERS } from "./trigger.ts";
import { DATA_DEPTH, EVENT_LIMIT, type EventData } from "./event.ts";

/**
 * The root and `<data>` enclose the elements, so two more levels are allowed.
 */
export const EVENT_LIMITS: XmlLimits = { ...XML_LIMITS, depth: DATA_DEPTH + 2 };

export const EVENT = {
  name: "event",
  shape: inAnyOrder(
    one("seller", STRING, "the seller's name"),
    one("trigger", word(TRIGGERS)),
    one("reference", STRING, "your reference; each is recorded once"),
    maybe("data", ANY, "any elements, stored unchanged"),
  ),
};

/** An event as it was sent, not checked yet. */
export interface EventDraft {
  seller?: DraftField;
  trigger?: DraftField;
  reference?: DraftField;
  /** Unchanged; XML data is well-formed without the rest of the document. */
  data: EventData;
  /** Problems that are already known. */
  details: Detail[];
  /** The line of the event in its document. */
  line?: number;
}

export interface DraftField {
  text: string;
  /** The line of the field in the document, from 1. */
  line?: number;
}

/**
 * Reads an `<event>` document. Throws `malformed_xml`, also for a prefix that
 * is not bound inside `<data>`, and 422 for another root.
 */
export function readEventDocument(
  root: XmlElement,
  bytes: Uint8Array,
): EventDraft {
  const { fields, details } = readFields(root, EVENT);
  return {
    seller: fields.get("seller"),
    trigger: fields.get("trigger"),
    reference: fields.get("reference"),
    data: dataIn(bytes, fields.get("data")),
    details,
    line: root.line,
  };
}

/**
 * Reads the content of `<data>` from a file. Throws 422 if it is too long, and
 * `malformed_xml` with a position in the file.
 */
export function readEventData(bytes: Uint8Array): EventData {
  if (bytes.length > EVENT_LIMIT) throw dataTooLong(bytes.length);
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const data = bytes.subarray(hasMark ? 3 : 0);
  const open = new TextEncoder().encode("<data>");
  const close = new TextEncoder().encode("</data>");
  const document = new Uint8Array([...open, ...data, ...close]);
  const limits = { ...XML_LIMITS, depth: DATA_DEPTH + 1 };
  try {
    return dataIn(document, parseTree(document, limits));
  } catch (error) {
    throw error instanceof ServiceError
      ? shiftColumns(error, open.length)
      : error;
  }
}

/** The error with columns of line 1 counted from the end of a prefix. */
function shiftColumns(error: ServiceError, characters: number): ServiceError {
  const details = error.details.map((detail) =>
    detail.line === 1 && detail.column !== undefined
      ? { ...detail, column: Math.max(1, detail.column - characters) }
      : detail
  );
  return new ServiceError(error.code, error.message, { details });
}

function dataTooLong(length: number) {
  return recordInvalid([{
    field: "data",
    code: "too_long",
    message: `data has ${length} bytes; at most ${EVENT_LIMIT} are allowed.`,
  }]);
}

/** An element's content, which must keep its meaning in another document. */
export function dataIn(
  bytes: Uint8Array,
  element?: XmlElement,
): EventData {
  if (element === undefined) return { xml: "" };
  if (element.any !== undefined) {
    const text = new TextDecoder().decode(bytes);
    const members = parseExactly(text) as Record<string, unknown>;
    return { json: JSON.stringify(members[element.name]) };
  }
  const problem = namespaceProblem(element);
  if (problem === null) return { xml: element.source };
  throw malformedElement(bytes, problem.element, problem.message);
}
