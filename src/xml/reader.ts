/**
 * Reads untrusted XML 1.0 (fifth edition) strictly: no DOCTYPE, no processing
 * instructions, bounded depth, attributes, elements and tag length. A document
 * that is not well-formed throws `malformed_xml` with its position.
 *
 * The service has its own reader because a hostile document must cost other
 * sellers little: a general parser (saxes 6) creates an object for each
 * reference, "-" in a comment and line end: 16 MiB of line ends take 527 MiB
 * and a pause of 267 ms, here 16 MiB and 5 ms. This reader keeps a window of
 * the document and reports texts as they arrive. For an ordinary document saxes
 * takes 1.06 to 1.33 times as long as this reader. The tests compare it with
 * saxes, libxml2 and the W3C's conformance suite.
 */
import type { XmlAttributes } from "./handlers.ts";
import { otherFormatMessage } from "./other_formats.ts";
import { malformed } from "./position.ts";
import { TextBuilder } from "./text_builder.ts";
import { INCOMPLETE, shown, WindowReader } from "./window_reader.ts";

const TAB = 9;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const BANG = 33;
const QUOTE = 34;
const HASH = 35;
const APOSTROPHE = 39;
const SLASH = 47;
const LESS_THAN = 60;
const EQUALS = 61;
const GREATER_THAN = 62;
const QUESTION_MARK = 63;
const CLOSE_BRACKET = 93;
const LOWER_X = 120;

const COMMENT = "<!--";
const CDATA = "<![CDATA[";
const CDATA_END = "]]>";
const DOCTYPE = "<!DOCTYPE";

/** Characters of a reference with its "&" and ";", including leading zeros. */
const REFERENCE_LENGTH = 64;

const DECLARATION =
  /^<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"([A-Za-z][\w.-]*)"|'([A-Za-z][\w.-]*)'))?(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>/;
const DECLARATION_START = /^<\?xml[ \t\n]/;

const NAME_START =
  "A-Za-z_:\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d" +
  "\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff" +
  "\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}";
const NAME = new RegExp(
  `[${NAME_START}][${NAME_START}0-9.\\xb7\\u0300-\\u036f\\u203f\\u2040-]*`,
  "uy",
);
/**
 * By character code: whether the character may start a name, or continue one.
 */
const STARTS_NAME = asciiTable(/[A-Za-z_:]/);
const IN_NAME = asciiTable(/[A-Za-z0-9_:.-]/);

/** By character code: the value of a digit, 255 for any other character. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? 255 : digit;
});

/**
 * Inherits nothing, because the sender chooses the names. An object without a
 * prototype would be a hash table, which takes longer to create and to iterate.
 */
const Attributes = function () {} as unknown as new () => Record<
  string,
  string
>;
Attributes.prototype = Object.create(null);

const NO_ATTRIBUTES: XmlAttributes = Object.freeze(new Attributes());

interface OpenElement {
  name: string;
  line: number;
}

/** The construct in which the reader is between two windows. */
type Inside = "content" | "comment" | "cdata";

/**
 * The reader of XML. Each method that reads a construct takes its index in the
 * window, and returns the index of its end.
 */
export class XmlReader extends WindowReader {
  protected override readonly tooLong = "A tag has more characters than";
  protected override readonly emptyBody =
    "The body is empty; an XML document is expected.";
  protected override readonly errorAt = malformed;
  readonly #open: OpenElement[] = [];
  #inside: Inside = "content";
  #elements = 0;
  /** The attributes of the last start tag. */
  #attributes: XmlAttributes = NO_ATTRIBUTES;

  override *read(): Generator<void, void> {
    let at = 0;
    while (this.refill(at)) {
      if (this.before > 0) yield;
      at = this.readWindow(this.before > 0 ? 0 : this.#declaration());
    }
    this.#checkEnd();
  }

  protected override token(at: number): number {
    switch (this.#inside) {
      case "comment":
        return this.#comment(at);
      case "cdata":
        return this.#cdata(at);
      case "content":
        return this.window.charCodeAt(at) === LESS_THAN
          ? this.#readMarkup(at)
          : this.#text(at);
    }
  }

  /** The XML declaration, if the document starts with one. */
  #declaration(): number {
    if (!DECLARATION_START.test(this.window)) return 0;
    const declaration = DECLARATION.exec(this.window);
    if (declaration === null) {
      throw this.malformed(
        "The XML declaration is not well-formed; write " +
          '<?xml version="1.0" encoding="UTF-8"?>.',
        0,
      );
    }
    const encoding = declaration[1] ?? declaration[2] ?? "UTF-8";
    if (/^(utf-?8|us-ascii|ascii)$/i.test(encoding)) {
      return declaration[0].length;
    }
    throw this.malformed(
      `The XML declaration names the encoding ${encoding.slice(0, 40)}; save ` +
        'the document as UTF-8, and write encoding="UTF-8".',
      0,
    );
  }

  /** The text before the next markup, or the part of it in the window. */
  #text(at: number): number {
    const markup = this.window.indexOf("<", at);
    const end = markup === -1 ? this.#reportableEnd(at) : markup;
    const text = this.window.slice(at, end);
    if (this.#open.length === 0) {
      this.#checkBlank(text, at);
    } else {
      const cdataEnd = text.indexOf(CDATA_END);
      if (cdataEnd !== -1) {
        throw this.malformed(
          'Text must not contain "]]>"; write ]]&gt;.',
          at + cdataEnd,
        );
      }
      this.handlers.text(this.#resolved(text, at));
    }
    return end;
  }

  /**
   * The end of the text that can be reported although the text continues after
   * the window: before an incomplete reference, and before a possible start of
   * "]]>".
   */
  #reportableEnd(at: number): number {
    const window = this.window;
    let end = window.length;
    if (this.isLast) return end;
    const reference = window.lastIndexOf("&");
    const isCut = reference >= at && !window.includes(";", reference) &&
      end - reference < REFERENCE_LENGTH;
    if (isCut) end = reference;
    else end = this.#bracketsStart();
    if (end <= at) throw INCOMPLETE;
    return end;
  }

  /** The index after which the window's last two characters contain no "]". */
  #bracketsStart(): number {
    const window = this.window;
    let end = window.length;
    while (
      end > window.length - 2 && window.charCodeAt(end - 1) === CLOSE_BRACKET
    ) end--;
    return end;
  }

  #checkBlank(text: string, at: number): void {
    const start = text.search(/[^ \t\n]/);
    if (start === -1) return;
    const other = this.#elements === 0
      ? otherFormatMessage(text.slice(start))
      : null;
    throw this.malformed(
      other ?? "There is text outside of the root element.",
      at + start,
    );
  }

  #readMarkup(at: number): number {
    this.isBlank = false;
    switch (this.#code(at + 1)) {
      case SLASH:
        return this.#endTag(at);
      case BANG:
        return this.#readExclamation(at);
      case QUESTION_MARK: {
        const target = this.window.slice(at + 2, this.#name(at + 2));
        throw this.malformed(
          target === "xml"
            ? "An XML declaration (<?xml …) is allowed only at the very start " +
              "of the document; remove what precedes it, or the declaration."
            : `A processing instruction (<?${
              target.slice(0, 40)
            }…) is not allowed.`,
          at,
        );
      }
      default:
        return this.#startTag(at);
    }
  }

  #readExclamation(at: number): number {
    if (this.startsWith(COMMENT, at)) {
      this.#inside = "comment";
      return at + COMMENT.length;
    }
    if (this.startsWith(CDATA, at) && this.#open.length > 0) {
      this.#inside = "cdata";
      return at + CDATA.length;
    }
    const other = this.#elements === 0
      ? otherFormatMessage(this.window.slice(at))
      : null;
    throw this.malformed(
      other !== null
        ? other
        : this.startsWith(DOCTYPE, at)
        ? "A DOCTYPE is not allowed."
        : 'This "<!" begins neither a comment (<!-- … -->) nor, inside the ' +
          "root element, CDATA (<![CDATA[ … ]]>).",
      at,
    );
  }

  #comment(at: number): number {
    const window = this.window;
    const dashes = window.indexOf("--", at);
    if (dashes === -1) {
      const end = window.endsWith("-") ? window.length - 1 : window.length;
      if (end === at) throw INCOMPLETE;
      return end;
    }
    if (this.#code(dashes + 2) !== GREATER_THAN) {
      throw this.malformed(
        'A comment contains two hyphens ("--"); XML does not allow them there.',
        dashes,
      );
    }
    this.#inside = "content";
    return dashes + 3;
  }

  #cdata(at: number): number {
    const found = this.window.indexOf(CDATA_END, at);
    const end = found === -1 ? this.#bracketsStart() : found;
    if (found === -1 && end <= at) throw INCOMPLETE;
    this.handlers.text(this.window.slice(at, end));
    if (found === -1) return end;
    this.#inside = "content";
    return end + CDATA_END.length;
  }

  #endTag(at: number): number {
    const element = this.#open.at(-1);
    if (element === undefined) {
      throw this.malformed(
        "This close tag has no open element.",
        at,
      );
    }
    const { name, line } = element;
    const end = this.startsWith(name, at + 2)
      ? this.#space(at + 2 + name.length)
      : at;
    if (this.window.charCodeAt(end) !== GREATER_THAN) {
      throw this.malformed(
        `This close tag does not close <${shown(name)}> of line ${line}, ` +
          "which is the innermost open element.",
        at,
      );
    }
    this.#open.pop();
    this.markup = at;
    this.markupEnd = end + 1;
    this.handlers.close(name);
    return end + 1;
  }

  #startTag(at: number): number {
    const window = this.window;
    const nameEnd = this.#name(at + 1);
    if (nameEnd === at + 1) {
      throw this.malformed(
        'This "<" begins no tag; write &lt; for the character ' +
          "itself.",
        at,
      );
    }
    const end = this.#readAttributes(nameEnd);
    const isEmpty = window.charCodeAt(end) === SLASH;
    const last = isEmpty ? end + 1 : end;
    if (this.#code(last) !== GREATER_THAN) {
      throw this.malformed('A "/" in a tag must be followed by ">".', end);
    }
    const name = window.slice(at + 1, nameEnd);
    const line = this.lineOf(at);
    this.#countElement(at, last);
    this.markup = at;
    this.markupEnd = last + 1;
    this.handlers.open(name, this.#attributes, line);
    if (isEmpty) this.handlers.close(name);
    else this.#open.push({ name, line });
    return last + 1;
  }

  /** Checks that there is one root, and the limits of elements. */
  #countElement(at: number, end: number): void {
    const depth = this.#open.length;
    if (depth === 0 && this.#elements > 0) {
      throw this.malformed(
        "This is a second root element; a document has one root.",
        at,
      );
    }
    if (end - at > this.limits.tag) {
      throw this.overLimit(this.tooLong, "tag", at);
    }
    if (depth === this.limits.depth) {
      throw this.overLimit("Elements are nested deeper than", "depth", at);
    }
    if (++this.#elements > this.limits.elements) {
      throw this.overLimit(
        "The document has more elements than",
        "elements",
        at,
      );
    }
  }

  /** Everything between a tag's name and its ">" or "/". */
  #readAttributes(from: number): number {
    const window = this.window;
    let attributes: Record<string, string> | null = null;
    let at = from;
    for (let count = 0;; count++) {
      const start = this.#space(at);
      const code = this.#code(start);
      if (code === GREATER_THAN || code === SLASH) {
        this.#attributes = attributes ?? NO_ATTRIBUTES;
        return start;
      }
      const nameEnd = this.#attributeName(start, at);
      const name = window.slice(start, nameEnd);
      const valueStart = this.#valueStart(nameEnd, name);
      const valueEnd = this.#valueEnd(valueStart, name);
      attributes ??= new Attributes();
      if (name in attributes) {
        throw this.malformed(
          `Duplicate attribute ${shown(name)}; it may appear once in a tag.`,
          start,
        );
      }
      if (count === this.limits.attributes) {
        throw this.overLimit(
          "An element has more attributes than",
          "attributes",
          start,
        );
      }
      const value = window.slice(valueStart, valueEnd);
      attributes[name] = this.#resolved(withSpaces(value), valueStart);
      at = valueEnd + 1;
    }
  }

  #attributeName(start: number, before: number): number {
    const end = this.#name(start);
    if (end === start) {
      const found = String.fromCodePoint(this.window.codePointAt(start)!);
      throw this.malformed(
        `A tag has "${found}" where an attribute or the end of the tag is ` +
          "expected.",
        start,
      );
    }
    if (start > before) return end;
    throw this.malformed(
      "White space is missing before this attribute.",
      start,
    );
  }

  /** The index after the quote that opens an attribute's value. */
  #valueStart(nameEnd: number, name: string): number {
    const equals = this.#space(nameEnd);
    if (this.#code(equals) !== EQUALS) {
      throw this.malformed(
        `The attribute ${shown(name)} has no value; write ` +
          `${shown(name)}="…".`,
        equals,
      );
    }
    const quote = this.#space(equals + 1);
    const code = this.#code(quote);
    if (code === QUOTE || code === APOSTROPHE) return quote + 1;
    throw this.malformed(
      `The value of the attribute ${shown(name)} is unquoted; write ` +
        `${shown(name)}="…".`,
      quote,
    );
  }

  /** The index of the quote that closes an attribute's value. */
  #valueEnd(start: number, name: string): number {
    const window = this.window;
    const quote = window[start - 1];
    const end = window.indexOf(quote, start);
    const value = window.slice(start, end === -1 ? window.length : end);
    const markup = value.indexOf("<");
    if (markup !== -1) {
      throw this.malformed(
        `The value of the attribute ${shown(name)} contains "<"; write ` +
          `&lt;, or close the value with ${quote}.`,
        start + markup,
      );
    }
    if (end === -1) throw INCOMPLETE;
    return end;
  }

  /** The index after a name; `start` itself if there is none. */
  #name(start: number): number {
    const window = this.window;
    let end = start;
    let code = this.#code(end);
    if (STARTS_NAME[code] === 1) {
      do code = this.#code(++end); while (IN_NAME[code] === 1);
    }
    if (code <= 127) return end;
    NAME.lastIndex = start;
    end = NAME.test(window) ? NAME.lastIndex : start;
    if (end === window.length) throw INCOMPLETE;
    return end;
  }

  #space(start: number): number {
    for (let end = start;; end++) {
      const code = this.#code(end);
      const isSpace = code === SPACE || code === LINE_FEED || code === TAB;
      if (!isSpace) return end;
    }
  }

  #code(at: number): number {
    if (at >= this.window.length) throw INCOMPLETE;
    return this.window.charCodeAt(at);
  }

  /**
   * The text with its references replaced; `start` is its index in the window.
   */
  #resolved(text: string, start: number): string {
    let at = text.indexOf("&");
    if (at === -1) return text;
    const resolved = new TextBuilder();
    let from = 0;
    for (; at !== -1; at = text.indexOf("&", from)) {
      if (at > from) resolved.append(text.slice(from, at));
      const end = text.indexOf(";", at);
      resolved.append(this.#characterOf(text, at, end, start));
      from = end + 1;
    }
    resolved.append(text.slice(from));
    return resolved.take();
  }

  #characterOf(text: string, at: number, end: number, start: number): string {
    const code = end === -1 || end - at >= REFERENCE_LENGTH
      ? NaN
      : codeOf(text, at + 1, end);
    if (code === null) {
      throw this.malformed(
        "The reference names no character of XML.",
        start + at,
      );
    }
    if (!Number.isNaN(code)) return String.fromCodePoint(code);
    const entity = /^&[A-Za-z][A-Za-z0-9]{0,30};/.exec(text.slice(at, at + 40));
    throw this.malformed(
      entity === null
        ? 'Unescaped "&": write "&amp;".'
        : `XML knows no "${entity[0]}": write the character itself or its ` +
          'number, as in "&#160;".',
      start + at,
    );
  }

  #checkEnd(): void {
    const isWhole = this.source.fault === null && this.#elements > 0 &&
      this.#open.length === 0 && this.#inside === "content";
    if (!isWhole) throw this.endsEarly();
  }

  protected override unfinished(): string {
    const innermost = this.#open.at(-1);
    if (innermost !== undefined) {
      return `The document ends before <${shown(innermost.name)}> of line ` +
        `${innermost.line} is closed.`;
    }
    return this.#inside === "comment"
      ? "The document ends inside a comment."
      : "The document ends before its root element is complete.";
  }
}

const PREDEFINED_ENTITIES = new Map([
  ["amp", 38],
  ["lt", 60],
  ["gt", 62],
  ["quot", 34],
  ["apos", 39],
]);

/**
 * The code of the character that a reference (without "&" and ";") stands for:
 * NaN if it is not a reference, null if XML does not allow the character.
 */
function codeOf(text: string, from: number, end: number): number | null {
  if (text.charCodeAt(from) !== HASH) {
    return PREDEFINED_ENTITIES.get(text.slice(from, end)) ?? NaN;
  }
  const isHexadecimal = text.charCodeAt(from + 1) === LOWER_X;
  const base = isHexadecimal ? 16 : 10;
  const start = from + (isHexadecimal ? 2 : 1);
  let code = start < end ? 0 : NaN;
  for (let at = start; at < end; at++) {
    const digit = DIGITS[text.charCodeAt(at)];
    code = digit < base ? code * base + digit : NaN;
  }
  return Number.isNaN(code) || isCharacter(code) ? code : null;
}

/** `Char` of XML 1.0. */
function isCharacter(code: number): boolean {
  return code >= 0x20
    ? code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) ||
      (code >= 0x10000 && code <= 0x10ffff)
    : code === TAB || code === LINE_FEED || code === CARRIAGE_RETURN;
}

/** White space in an attribute's value becomes spaces. */
function withSpaces(value: string): string {
  return /[\t\n]/.test(value) ? value.replace(/[\t\n]/g, " ") : value;
}

function asciiTable(characters: RegExp): Uint8Array {
  return Uint8Array.from(
    { length: 128 },
    (_, code) => characters.test(String.fromCharCode(code)) ? 1 : 0,
  );
}
