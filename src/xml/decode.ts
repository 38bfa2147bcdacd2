/**
 * Reads untrusted XML as events, or as a tree. A document that is not
 * well-formed throws a `malformed_xml` error with line and column.
 */
import type { ServiceError } from "../lib/errors.ts";
import {
  type AnyValue,
  type Kind,
  type TagPosition,
  XML_LIMITS,
  type XmlAttributes,
  type XmlHandlers,
  type XmlLimits,
} from "./handlers.ts";
import { lineAndColumn, malformed } from "./position.ts";
import { XmlReader } from "./reader.ts";
import { XmlSource } from "./source.ts";

/** Called with each block of a document that has been read. */
export type BlockDone = (block: Uint8Array) => void;

/**
 * Reads a document and calls the handlers in document order. Each block is
 * removed from the list when it has been read.
 */
export function readXml(
  blocks: Uint8Array[],
  handlers: XmlHandlers,
  options?: ReadingOptions,
): void {
  for (const _ of beginReadingOf(blocks, handlers, options).read());
}

/** A reader of a document; `read` pauses between two windows. */
interface DocumentReader extends TagPosition {
  /** No further event is about the document before this index. */
  readonly position: number;
  read(): Generator<void, void>;
}

/** Begins to read a document in one format; reports it as events of XML. */
export type BeginReading = (
  source: XmlSource,
  handlers: XmlHandlers,
  limits: XmlLimits,
) => DocumentReader;

export const XML: BeginReading = (source, handlers, limits) =>
  new XmlReader(source, handlers, limits);

interface ReadingOptions {
  done?: BlockDone;
  limits?: XmlLimits;
  /** The reader of the document's format; XML by default. */
  begin?: BeginReading;
}

/** Runs one step when the scheduler allows it. */
export type RunXmlStep = (step: () => Promise<void>) => Promise<void>;

/**
 * Like `readXml`, one window at a time: 16 MiB of the slowest kind take a
 * second, in which other requests have to run.
 */
export async function readXmlInSteps(
  blocks: Uint8Array[],
  handlers: XmlHandlers,
  runStep: RunXmlStep,
  options?: ReadingOptions,
): Promise<void> {
  const windows = beginReadingOf(blocks, handlers, options).read();
  let isOver = false;
  const readWindow = () => {
    isOver = windows.next().done === true;
    return Promise.resolve();
  };
  while (!isOver) await runStep(readWindow);
}

/** A document that is read while it arrives. */
export interface ArrivingXml {
  /** Reads a window; false at the end. */
  readWindow: () => boolean;
  /**
   * No further event is about the document before this index (see
   * `TagPosition`).
   */
  position: () => number;
}

/** The most bytes that one window takes. */
export const WINDOW_LIMIT = 2 * 1024 * 1024;

/**
 * Like `readXmlInSteps`, for a list to which blocks are added later. Until the
 * document has arrived completely, the list must contain `WINDOW_LIMIT`
 * bytes before a window is read.
 */
export function readArrivingXml(
  blocks: Uint8Array[],
  handlers: XmlHandlers,
  options: ReadingOptions,
): ArrivingXml {
  const reader = beginReadingOf(blocks, handlers, options);
  const windows = reader.read();
  return {
    readWindow: () => windows.next().done !== true,
    position: () => reader.position,
  };
}

function beginReadingOf(
  blocks: Uint8Array[],
  handlers: XmlHandlers,
  { done, limits = XML_LIMITS, begin = XML }: ReadingOptions = {},
): DocumentReader {
  const reader = begin(new XmlSource(blocks, done), handlers, limits);
  handlers.begin?.(reader);
  return reader;
}

/** An element as a tree, for small documents. */
export interface XmlElement {
  name: string;
  attributes: XmlAttributes;
  line: number;
  /** Index in the decoded document at which it starts. */
  at: number;
  /** The element's own text and CDATA, without its children. */
  text: string;
  children: XmlElement[];
  /** The source between its tags, exactly as sent; none in JSON. */
  source: string;
  /** The element's JSON content, if any content is allowed. */
  any?: AnyValue;
  /** JSON values of an unexpected type. */
  wrongTypes?: WrongType[];
}

/** `member`: of the element; null for the element's own value. */
export interface WrongType {
  member: string | null;
  found: Kind;
  expected: string;
  line: number;
}

/**
 * Reads a small document into a tree; `begin` reads its format, by default XML.
 */
export function parseTree(
  bytes: Uint8Array,
  limits: XmlLimits = XML_LIMITS,
  begin: BeginReading = XML,
): XmlElement {
  const source = decodeBytes(bytes);
  const sent = new SentIndex(source);
  const root: XmlElement = {
    name: "",
    attributes: {},
    line: 0,
    at: 0,
    text: "",
    children: [],
    source,
  };
  const path = [{ element: root, start: 0 }];
  const hasSource = begin === XML;
  const reader: DocumentReader = begin(new XmlSource([bytes]), {
    open(name, attributes, line) {
      const element = {
        name,
        attributes,
        line,
        at: hasSource ? sent.of(reader.tagStart) : 0,
        text: "",
        children: [],
        source: "",
      };
      path[path.length - 1].element.children.push(element);
      path.push({ element, start: hasSource ? sent.of(reader.tagEnd) : 0 });
    },
    text(text) {
      path[path.length - 1].element.text += text;
    },
    close() {
      const { element, start } = path.pop()!;
      if (!hasSource) return;
      // An empty-element tag has no content; otherwise "</" ends it.
      const end = sent.of(reader.tagStart);
      element.source = end < start ? "" : source.slice(start, end);
    },
    any(value) {
      path[path.length - 1].element.any = value;
    },
    wrongType(member, found, expected, line) {
      const { element } = path[path.length - 1];
      (element.wrongTypes ??= []).push({ member, found, expected, line });
    },
    unknown(name, line) {
      this.open(name, {}, line);
      this.close(name);
    },
  }, limits);
  for (const _ of reader.read());
  return root.children[0];
}

/** The `malformed_xml` error for an element that the XML reader accepted. */
export function malformedElement(
  bytes: Uint8Array,
  element: XmlElement,
  message: string,
): ServiceError {
  return malformed(message, lineAndColumn(decodeBytes(bytes), element.at));
}

/**
 * Converts the reader's indices, which count each line end as one character, to
 * indices of the document as sent.
 */
class SentIndex {
  readonly #source: string;
  /** Index of the first two-character line end that is not counted yet. */
  #next: number;
  #counted = 0;

  constructor(source: string) {
    this.#source = source;
    this.#next = source.indexOf("\r\n");
  }

  /** Indices must be asked for in ascending order. */
  of(index: number): number {
    while (this.#next !== -1 && this.#next < index + this.#counted) {
      this.#counted++;
      this.#next = this.#source.indexOf("\r\n", this.#next + 1);
    }
    return index + this.#counted;
  }
}

/** The characters that indices count: all except a byte order mark. */
function decodeBytes(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
