/** What a reader of XML tells of a document, and within which limits. */

export interface XmlLimits {
  /** Nested elements, the root counted. */
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
 * Where the tag stands that the reader tells of, as indices of the document:
 * UTF-16 units without a byte order mark, each line end one.
 */
export interface TagPosition {
  readonly tagStart: number;
  /** Behind its ">". */
  readonly tagEnd: number;
}

export interface XmlHandlers {
  /** Called once, before the others. */
  begin?(tag: TagPosition): void;
  /** `line` is the one on which the element starts, from 1. */
  open(name: string, attributes: XmlAttributes, line: number): void;
  /** Text or CDATA; an element's text may come in several pieces. */
  text(text: string): void;
  close(name: string): void;
}
