/** The events of an XML reader, and its limits. */

export interface XmlLimits {
  /** Nested elements, including the root. */
  depth: number;
  /** XML attributes of one element. */
  attributes: number;
  /** Elements of the document. */
  elements: number;
  /** Characters of one tag. */
  tag: number;
}

export const XML_LIMITS: XmlLimits = {
  depth: 32,
  attributes: 64,
  elements: 50_000,
  tag: 262_144,
};

export type XmlAttributes = Readonly<Record<string, string>>;

/**
 * The position of the current tag in the document: indices in UTF-16 units,
 * without a byte order mark, counting each line end as one.
 */
export interface TagPosition {
  readonly tagStart: number;
  /** After the ">" of the tag. */
  readonly tagEnd: number;
}

/** The type of a JSON value, as named in messages. */
export type Kind =
  | "missing"
  | "null"
  | "an empty string"
  | "a string"
  | "a number"
  | "a boolean"
  | "an object"
  | "an array";

/** A value of any content in JSON; numbers and booleans as they were sent. */
export type AnyValue =
  | null
  | string
  | AnyValue[]
  | { [name: string]: AnyValue };

interface Handlers {
  /** Called once, before the others. */
  begin?(tag: TagPosition): void;
  /** `line` is the line on which the element starts, from 1. */
  open(name: string, attributes: XmlAttributes, line: number): void;
  /** Text or CDATA; the text of an element may come in several chunks. */
  text(text: string): void;
  close(name: string): void;
  /** The JSON content of the open element, if any content is allowed. */
  any?(value: AnyValue): void;
}

/**
 * Events for content that JSON allows and XML does not. Both are required, so
 * that none is forgotten.
 */
export interface JsonHandlers extends Handlers {
  /**
   * A JSON value has an unexpected type: the open element, or its member with
   * this name. Nothing else is reported about the value. `expected` is a kind;
   * for an object of XML attributes and text, with its members. The kind
   * `missing` stands for what XML always has: the list of a root that is a
   * list, and the text of an element with XML attributes.
   */
  wrongType(
    member: string | null,
    found: Kind,
    expected: string,
    line: number,
  ): void;
  /** An unknown member of a JSON object, within the open element. */
  unknown(name: string, line: number): void;
}

export type XmlHandlers =
  | JsonHandlers
  | Handlers & { wrongType?: undefined; unknown?: undefined };
