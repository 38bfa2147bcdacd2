/**
 * Reads untrusted XML: strict, UTF-8 only, no DOCTYPE, no processing
 * instruction, bounded in depth, attributes and elements. Whatever is not
 * well-formed throws a `malformed_xml` error that names line and column.
 */
import { SaxesParser } from "saxes";
import type { ServiceError } from "../lib/errors.ts";
import {
  XML_LIMITS,
  type XmlAttributes,
  type XmlHandlers,
  type XmlLimits,
} from "./handlers.ts";
import { lineEnds, malformed, type Place, placeOf } from "./position.ts";
import { readPlain } from "./plain.ts";
import { decodeUtf8 } from "./utf8.ts";

/**
 * Reads a document, calling the handlers in document order. `begin` makes them;
 * it is called again where the document turns out not to be plain, and the
 * parser has to begin anew. Answers those that were told all of it.
 */
export function readXml<H extends XmlHandlers>(
  bytes: Uint8Array,
  begin: () => H,
): H {
  const source = decodeUtf8(bytes);
  const first = begin();
  if (readPlain(source, first)) return first;
  const handlers = begin();
  parseXml(source, handlers);
  return handlers;
}

/** Has the parser read a decoded document, plain or not. */
export function parseXml(source: string, handlers: XmlHandlers): void {
  new Reader(source, handlers, XML_LIMITS).read();
}

/** Characters that are read in one go: at worst some sixty milliseconds. */
export const PIECE = 512 * 1024;

/**
 * As `parseXml`, with a pause between the pieces of a long document: reading
 * 16 MiB of the worst takes more than a second, in which others want answers.
 * Such documents are rare, so the plain reader has not learnt to pause.
 */
export async function parseXmlInPieces(
  bytes: Uint8Array,
  handlers: XmlHandlers,
  pause: () => Promise<void>,
): Promise<void> {
  const reader = new Reader(decodeUtf8(bytes), handlers, XML_LIMITS);
  for (const _ of reader.pieces()) await pause();
}

interface OpenElement {
  name: string;
  line: number;
}

class Reader {
  readonly #source: string;
  readonly #handlers: XmlHandlers;
  readonly #limits: XmlLimits;
  readonly #parser: SaxesParser;
  readonly #open: OpenElement[] = [];
  #closed: OpenElement | undefined;
  #elements = 0;
  #attributes = 0;

  constructor(source: string, handlers: XmlHandlers, limits: XmlLimits) {
    this.#source = source;
    this.#handlers = handlers;
    this.#limits = limits;
    this.#parser = new SaxesParser({
      defaultXMLVersion: "1.0",
      forceXMLVersion: true,
    });
  }

  /** Index in the source up to which the document has been read. */
  get position(): number {
    return this.#parser.position;
  }

  read(): void {
    for (const _ of this.pieces());
  }

  /** Reads the document, and yields where it may be left for a while. */
  *pieces(): Generator<void, void> {
    if (this.#source.trim() === "") {
      throw malformed("The body is empty; an XML document is expected.", {
        line: 1,
        column: 1,
      });
    }
    this.#listen();
    for (let at = 0; at < this.#source.length; at += PIECE) {
      if (at > 0) yield;
      this.#parser.write(this.#source.slice(at, at + PIECE));
    }
    this.#parser.close();
  }

  /**
   * Seven handlers and no more: the parser keeps them in itself by computed
   * name, and with the eighth V8 turns it into a slow dictionary (four times
   * the time for a whole document). So DOCTYPE, declaration and the line of a
   * tag's start are looked up instead of listened for.
   */
  #listen(): void {
    const parser = this.#parser;
    // Thrown inside the handler: a parser that goes on after an error is one
    // that guesses.
    parser.on("error", (error) => {
      throw this.#syntaxError(error.message);
    });
    parser.on("processinginstruction", ({ target }) => {
      throw this.#refused(
        "<?",
        `A processing instruction (<?${target}…) is not allowed.`,
      );
    });
    parser.on("attribute", () => {
      if (++this.#attributes > this.#limits.attributes) {
        throw this.#overLimit(
          "An element's attributes are more than",
          "attributes",
        );
      }
    });
    parser.on("opentag", ({ name, attributes }) => {
      const line = this.#opening(name);
      this.#handlers.open(name, attributes as XmlAttributes, line);
    });
    parser.on("text", (text) => this.#text(text));
    parser.on("cdata", (text) => this.#text(text));
    parser.on("closetag", (tag) => {
      this.#closed = this.#open.pop();
      this.#handlers.close(tag.name);
    });
  }

  #text(text: string): void {
    if (this.#open.length > 0) this.#handlers.text(text);
  }

  /** Checks an element whose start tag was read; answers its first line. */
  #opening(name: string): number {
    const { position, line } = this.#parser;
    // A "<" cannot stand inside a tag, so this is the tag's own.
    const start = this.#source.lastIndexOf("<", position - 1);
    if (this.#elements === 0) this.#checkProlog(start);
    const firstLine = line - lineEnds(this.#source, start, position);
    this.#attributes = 0;
    this.#open.push({ name, line: firstLine });
    if (this.#open.length > this.#limits.depth) {
      throw this.#overLimit("Elements are nested deeper than", "depth");
    }
    if (++this.#elements > this.#limits.elements) {
      throw this.#overLimit(
        "The document's elements are more than",
        "elements",
      );
    }
    return firstLine;
  }

  /** What stands before the root, whose start tag begins at `rootStart`. */
  #checkProlog(rootStart: number): void {
    const doctype = doctypeIndex(this.#source, rootStart);
    if (doctype !== -1) {
      throw malformed(
        "A DOCTYPE is not allowed.",
        placeOf(this.#source, doctype),
      );
    }
    const { encoding } = this.#parser.xmlDecl;
    if (encoding === undefined) return;
    if (/^(utf-?8|us-ascii|ascii)$/i.test(encoding)) return;
    throw malformed(
      `The XML declaration names the encoding ${encoding.slice(0, 40)}; the ` +
        "body must be UTF-8.",
      { line: 1, column: 1 },
    );
  }

  #overLimit(message: string, limit: keyof XmlLimits): ServiceError {
    return malformed(
      `${message} the ${this.#limits[limit]} allowed (${limit}).`,
      this.#here(),
      "limit",
    );
  }

  #refused(start: string, message: string): ServiceError {
    const index = this.#source.lastIndexOf(start, this.position - 1);
    return malformed(message, placeOf(this.#source, index));
  }

  #here(): Place {
    return {
      line: this.#parser.line,
      column: Math.max(1, this.#parser.column),
    };
  }

  /** The parser's message with the true place of the most common mistakes. */
  #syntaxError(parserMessage: string): ServiceError {
    const message = parserMessage.replace(/^\d+:\d+: /, "");
    if (this.#elements === 0) this.#checkProlog(this.position);
    const reference = badReference(this.#source, this.position);
    if (reference !== -1) {
      return malformed(
        'A "&" stands here that begins no reference; write &amp; for the ' +
          "character itself. Of HTML's named entities only &amp;, &lt;, &gt;, " +
          "&quot; and &apos; exist in XML.",
        placeOf(this.#source, reference),
      );
    }
    if (message.startsWith("malformed character entity")) {
      return this.#refused("&", "The reference names no character of XML.");
    }
    // The parser closes the innermost element before it complains.
    const expected = this.#closed;
    if (message.startsWith("unexpected close tag") && expected) {
      return this.#refused(
        "</",
        `A close tag stands here, but <${expected.name}> of line ` +
          `${expected.line} is the element to close.`,
      );
    }
    const innermost = this.#open.at(-1);
    if (message.startsWith("unclosed tag") && innermost) {
      return malformed(
        `The document ends before <${innermost.name}> of line ` +
          `${innermost.line} is closed.`,
        placeOf(this.#source, this.#source.length),
      );
    }
    return malformed(sentence(message), this.#here());
  }
}

/** "unclosed tag: x" → "Unclosed tag: x." */
function sentence(message: string): string {
  const end = message.endsWith(".") ? "" : ".";
  return message[0].toUpperCase() + message.slice(1, 200) + end;
}

/** Index of a DOCTYPE before `end`, -1 when there is none. */
function doctypeIndex(source: string, end: number): number {
  for (let at = source.indexOf("<!"); at !== -1 && at < end;) {
    if (source.startsWith("<!DOCTYPE", at)) return at;
    const commentEnd = source.indexOf("-->", at + "<!--".length);
    if (commentEnd === -1) return -1;
    at = source.indexOf("<!", commentEnd);
  }
  return -1;
}

const REFERENCE = /&(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);/y;
/** What opens a part that may hold a literal "&", and what ends that part. */
const OPAQUE_END: Record<string, string> = {
  "<!--": "-->",
  "<![CDATA[": "]]>",
};

/**
 * Index of the first `&` before `end` that begins no reference, -1 when there
 * is none. The parser itself complains only at the next `;`, or at the end.
 */
function badReference(source: string, end: number): number {
  const next = /<!--|<!\[CDATA\[|&/g;
  for (;;) {
    const match = next.exec(source);
    if (match === null || match.index >= end) return -1;
    if (match[0] === "&") {
      REFERENCE.lastIndex = match.index;
      if (!REFERENCE.test(source)) return match.index;
    } else {
      const closed = source.indexOf(OPAQUE_END[match[0]], next.lastIndex);
      if (closed === -1) return -1;
      next.lastIndex = closed;
    }
  }
}

/** An element as a tree, for small documents. */
export interface XmlElement {
  name: string;
  attributes: XmlAttributes;
  /** Line on which it starts. */
  line: number;
  /** Index in the decoded document at which it starts. */
  at: number;
  /** Its own text and CDATA, children left out. */
  text: string;
  children: XmlElement[];
  /** What stands between its tags, exactly as sent. */
  source: string;
}

/** Reads a small document into a tree. */
export function parseTree(
  bytes: Uint8Array,
  limits: XmlLimits = XML_LIMITS,
): XmlElement {
  const source = decodeUtf8(bytes);
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
  const reader: Reader = new Reader(source, {
    open(name, attributes, line) {
      const element = {
        name,
        attributes,
        line,
        at: source.lastIndexOf("<", reader.position - 1),
        text: "",
        children: [],
        source: "",
      };
      path[path.length - 1].element.children.push(element);
      path.push({ element, start: reader.position });
    },
    text(text) {
      path[path.length - 1].element.text += text;
    },
    close() {
      const { element, start } = path.pop()!;
      // An empty-element tag ends where it begins; else "</" ends the content.
      const end = source.lastIndexOf("<", reader.position - 1);
      element.source = end < start ? "" : source.slice(start, end);
    },
  }, limits);
  reader.read();
  return root.children[0];
}

/** The `malformed_xml` error of an element that the parser had no fault with. */
export function malformedElement(
  bytes: Uint8Array,
  element: XmlElement,
  message: string,
): ServiceError {
  return malformed(message, placeOf(decodeUtf8(bytes), element.at));
}
