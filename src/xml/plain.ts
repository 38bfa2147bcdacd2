/**
 * Reads plain XML in half of the parser's time: elements, attributes, text,
 * references, CDATA, comments and the usual declaration.
 *
 * It judges nothing. Where a document holds anything else, or anything wrong,
 * it gives up, and the parser (`decode.ts`) reads the document from its
 * beginning and says what is wrong. What it does read, it reads exactly as the
 * parser does; `tests/xml/plain_test.ts` holds the two together.
 */
import {
  XML_LIMITS,
  type XmlAttributes,
  type XmlHandlers,
} from "./handlers.ts";

/**
 * Reads a document within `XML_LIMITS`. Answers whether it did; if not, the
 * handlers may have been called all the same. What they throw passes through.
 *
 * @param source decoded, without a byte order mark.
 */
export function readPlain(source: string, handlers: XmlHandlers): boolean {
  if (FORBIDDEN.test(source)) return false;
  const text = source.includes("\r") ? source.replace(/\r\n?/g, "\n") : source;
  try {
    new PlainReader(text, handlers).read();
    return true;
  } catch (error) {
    if (error === UNUSUAL) return false;
    throw error;
  }
}

/** Thrown where the parser has to judge; never leaves this file. */
const UNUSUAL = new Error("not plain");

// What no document may hold (`Char` of XML 1.0); UTF-8 has no surrogates.
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
const DECLARATION =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])[Uu][Tt][Ff]-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/;
const COMMENT = "<!--";
const CDATA = "<![CDATA[";
const CDATA_END = "]]>";

const TAB = 9;
const LINE_FEED = 10;
const SPACE = 32;
const BANG = 33;
const QUOTE = 34;
const APOSTROPHE = 39;
const SLASH = 47;
const LESS_THAN = 60;
const EQUALS = 61;
const GREATER_THAN = 62;

/** By character code: whether it may begin a name, or go on in one. */
const STARTS_NAME = asciiTable(/[A-Za-z_:]/);
const IN_NAME = asciiTable(/[A-Za-z0-9_:.-]/);

const NO_ATTRIBUTES: XmlAttributes = Object.freeze(Object.create(null));

/** Every method that reads something answers the index behind it. */
class PlainReader {
  readonly #source: string;
  readonly #handlers: XmlHandlers;
  /** Names of the elements that are open. */
  readonly #open: string[] = [];
  #elements = 0;
  /** Of the start tag that was read last. */
  #attributes: XmlAttributes = NO_ATTRIBUTES;
  #line = 1;
  #nextLineEnd: number;

  constructor(source: string, handlers: XmlHandlers) {
    this.#source = source;
    this.#handlers = handlers;
    this.#nextLineEnd = source.indexOf("\n");
  }

  read(): void {
    const source = this.#source;
    let at = DECLARATION.exec(source)?.[0].length ?? 0;
    for (;;) {
      at = this.#text(at);
      if (at === source.length) break;
      at = this.#markup(at);
    }
    if (this.#open.length > 0 || this.#elements === 0) throw UNUSUAL;
  }

  /** What stands before the next markup, or the end; perhaps nothing. */
  #text(at: number): number {
    const source = this.#source;
    const space = this.#space(at);
    const blank = space === source.length ||
      source.charCodeAt(space) === LESS_THAN;
    const isInRoot = this.#open.length > 0;
    if (!blank && !isInRoot) throw UNUSUAL;
    const end = blank ? space : this.#indexOf("<", space);
    if (isInRoot && end > at) {
      const text = source.slice(at, end);
      this.#handlers.text(blank ? text : characterData(text));
    }
    return end;
  }

  #markup(at: number): number {
    switch (this.#source.charCodeAt(at + 1)) {
      case SLASH:
        return this.#endTag(at);
      case BANG:
        return this.#source.startsWith(COMMENT, at)
          ? this.#comment(at)
          : this.#cdata(at);
      default:
        return this.#startTag(at);
    }
  }

  #comment(at: number): number {
    const end = this.#indexOf("--", at + COMMENT.length);
    return this.#expect(GREATER_THAN, end + 2);
  }

  #cdata(at: number): number {
    const source = this.#source;
    const isCdata = source.startsWith(CDATA, at) && this.#open.length > 0;
    if (!isCdata) throw UNUSUAL;
    const end = this.#indexOf(CDATA_END, at + CDATA.length);
    this.#handlers.text(source.slice(at + CDATA.length, end));
    return end + CDATA_END.length;
  }

  #endTag(at: number): number {
    const name = this.#open.pop();
    if (name === undefined || !this.#source.startsWith(name, at + 2)) {
      throw UNUSUAL;
    }
    const space = this.#space(at + 2 + name.length);
    const end = this.#expect(GREATER_THAN, space);
    this.#handlers.close(name);
    return end;
  }

  #startTag(at: number): number {
    const source = this.#source;
    this.#countElement();
    const nameEnd = this.#name(at + 1);
    const name = source.slice(at + 1, nameEnd);
    const end = this.#readAttributes(nameEnd);
    const isEmpty = source.charCodeAt(end) === SLASH;
    // First: what a handler throws counts only if the tag is well-formed.
    const tagEnd = this.#expect(GREATER_THAN, isEmpty ? end + 1 : end);
    this.#handlers.open(name, this.#attributes, this.#lineOf(at));
    if (isEmpty) this.#handlers.close(name);
    else this.#open.push(name);
    return tagEnd;
  }

  /** One root, and no more elements than are allowed. */
  #countElement(): void {
    const depth = this.#open.length;
    if (depth === 0 && this.#elements > 0) throw UNUSUAL;
    if (depth === XML_LIMITS.depth) throw UNUSUAL;
    if (++this.#elements > XML_LIMITS.elements) throw UNUSUAL;
  }

  /** All that stands between a tag's name and its ">" or "/". */
  #readAttributes(from: number): number {
    const source = this.#source;
    let attributes: Record<string, string> | null = null;
    let at = from;
    for (let count = 0;; count++) {
      const start = this.#space(at);
      const code = source.charCodeAt(start);
      if (code === GREATER_THAN || code === SLASH) {
        this.#attributes = attributes ?? NO_ATTRIBUTES;
        return start;
      }
      if (start === at || count === XML_LIMITS.attributes) throw UNUSUAL;
      const nameEnd = this.#name(start);
      const valueStart = this.#expect(EQUALS, nameEnd) + 1;
      const valueEnd = this.#value(valueStart);
      const name = source.slice(start, nameEnd);
      attributes ??= Object.create(null) as Record<string, string>;
      if (name in attributes) throw UNUSUAL;
      attributes[name] = resolved(source.slice(valueStart, valueEnd));
      at = valueEnd + 1;
    }
  }

  /** An attribute's value without its quotes, the first of them before it. */
  #value(start: number): number {
    const source = this.#source;
    const quote = source.charCodeAt(start - 1);
    if (quote !== QUOTE && quote !== APOSTROPHE) throw UNUSUAL;
    for (let end = start; end < source.length; end++) {
      const code = source.charCodeAt(end);
      if (code === quote) return end;
      if (code === LESS_THAN || code === TAB || code === LINE_FEED) break;
    }
    throw UNUSUAL;
  }

  #name(start: number): number {
    const source = this.#source;
    if (STARTS_NAME[source.charCodeAt(start)] !== 1) throw UNUSUAL;
    let end = start + 1;
    while (IN_NAME[source.charCodeAt(end)] === 1) end++;
    return end;
  }

  #space(start: number): number {
    for (let end = start;; end++) {
      const code = this.#source.charCodeAt(end);
      if (code !== SPACE && code !== LINE_FEED && code !== TAB) return end;
    }
  }

  #expect(code: number, at: number): number {
    if (this.#source.charCodeAt(at) !== code) throw UNUSUAL;
    return at + 1;
  }

  /** The index of what has to follow somewhere. */
  #indexOf(what: string, from: number): number {
    const index = this.#source.indexOf(what, from);
    if (index === -1) throw UNUSUAL;
    return index;
  }

  /** The line of a place behind all those asked for before. */
  #lineOf(at: number): number {
    while (this.#nextLineEnd !== -1 && this.#nextLineEnd < at) {
      this.#line++;
      this.#nextLineEnd = this.#source.indexOf("\n", this.#nextLineEnd + 1);
    }
    return this.#line;
  }
}

/** What a text between tags says. */
function characterData(text: string): string {
  if (text.includes(CDATA_END)) throw UNUSUAL;
  return resolved(text);
}

/** With its references replaced. */
function resolved(text: string): string {
  let at = text.indexOf("&");
  if (at === -1) return text;
  let result = "";
  let from = 0;
  for (; at !== -1; at = text.indexOf("&", from)) {
    const end = text.indexOf(";", at);
    if (end === -1) throw UNUSUAL;
    result += text.slice(from, at) + characterOf(text.slice(at + 1, end));
    from = end + 1;
  }
  return result + text.slice(from);
}

const PREDEFINED_ENTITIES = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);
const NUMBER = /^#(?:([0-9]{1,7})|x([0-9A-Fa-f]{1,6}))$/;

function characterOf(reference: string): string {
  const entity = PREDEFINED_ENTITIES.get(reference);
  if (entity !== undefined) return entity;
  const number = NUMBER.exec(reference);
  if (number === null) throw UNUSUAL;
  const [, decimal, hexadecimal] = number;
  const code = decimal === undefined
    ? parseInt(hexadecimal, 16)
    : parseInt(decimal, 10);
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (isSurrogate || code > 0x10ffff) throw UNUSUAL;
  const character = String.fromCodePoint(code);
  if (FORBIDDEN.test(character)) throw UNUSUAL;
  return character;
}

function asciiTable(characters: RegExp): Uint8Array {
  return Uint8Array.from(
    { length: 128 },
    (_, code) => characters.test(String.fromCharCode(code)) ? 1 : 0,
  );
}
