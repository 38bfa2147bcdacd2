/**
 * Reads untrusted JSON (RFC 8259) strictly, as the events of the XML document
 * that says the same: the shape of its root says which members are elements,
 * XML attributes and texts. Duplicate names, numbers beyond 2^53 and what XML
 * cannot carry are refused; depth, values and the length of names are bounded.
 *
 * Like the XML reader it holds a window of the document and passes long texts
 * on as they come. `JSON.parse` would need the whole document, in one piece, and
 * reports neither lines nor duplicates.
 */
import { ServiceError } from "../lib/errors.ts";
import { FORBIDDEN_IN_XML } from "../lib/markup.ts";
import { pointerToken } from "./pointer.ts";
import type {
  AnyValue,
  Kind,
  XmlAttributes,
  XmlHandlers,
  XmlLimits,
} from "../xml/handlers.ts";
import type { BeginReading } from "../xml/decode.ts";
import type { Place } from "../xml/position.ts";
import {
  type Child,
  isFree,
  isText,
  listedIn,
  type Shape,
  type TextForm,
} from "../xml/shapes.ts";
import type { XmlSource } from "../xml/source.ts";
import { TextBuilder } from "../xml/text_builder.ts";
import { INCOMPLETE, shown, WindowReader } from "../xml/window_reader.ts";

/** The root element of a document, by its name in XML. */
export interface Root {
  name: string;
  shape: Shape;
}

const TAB = 9;
const LINE_FEED = 10;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Characters of a string that stand for themselves. */
const USUAL = /[ !#-[\]-\uffff]*/y;
/** The rest of a string, with its closing quote. */
const REST_OF_STRING = /[^"\\]*(?:\\[^][^"\\]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const IN_NUMBER = /[-+.0-9eE]/;
/** The longest escape, of a character that is two UTF-16 units. */
const LONGEST_ESCAPE = "\\ud83d\\ude00".length;
/** An escape; of a character beyond the first plane, both. */
const WHOLE_ESCAPE =
  /\\(?:["\\/bfnrt]|u(?![dD][89abAB])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

const NO_ATTRIBUTES: XmlAttributes = Object.freeze(Object.create(null));

/** What may stand next. */
enum Next {
  Value,
  ValueOrEnd,
  Name,
  NameOrEnd,
  Colon,
  CommaOrEnd,
  Nothing,
}

/** What the members of an object or the items of an array are. */
enum Mode {
  /** Each is an element. */
  Elements,
  /** XML attributes and text of one element. */
  Attributed,
  /** Of any content. */
  Any,
  /** Not known; nothing of them is reported. */
  Skipped,
}

/** Where the text of a value goes. */
enum Target {
  Nowhere,
  /** To the handlers, as the text of the open element. */
  Element,
  /** Nothing more of the open element is reported. */
  Unread,
  /** The open element, of any content. */
  AnyElement,
  AnyMember,
  Attribute,
  /** The text of an element with XML attributes. */
  OwnText,
}

interface Frame {
  mode: Mode;
  isArray: boolean;
  /** The members so far: known elements, or names of XML attributes. */
  seen: (Child | string)[];
  /** The names of its other members. */
  names: Set<string> | null;
  /** The element that ends with it, and is open; null: none. */
  closes: string | null;
  /** By their names, the elements of an object. */
  children: ReadonlyMap<string, Child> | null;
  /** The element of each item of an array. */
  item: Child | null;
  attributed: Attributed | null;
  any: AnyValue[] | { [name: string]: AnyValue } | null;
}

/** An element with XML attributes, whose members are being read. */
interface Attributed {
  name: string;
  shape: Shape;
  line: number;
  attributes: Record<string, string>;
  text: string;
  mistyped: [member: string, found: Kind, expected: string, line: number][];
}

class JsonReader extends WindowReader {
  protected override readonly tooLong =
    "A name's or number's characters are more than";
  protected override readonly emptyBody =
    "The body is empty; a JSON document is expected.";
  protected override readonly errorAt = malformedJson;
  readonly #frames: Frame[] = [];
  /** The innermost one. */
  #frame: Frame | null = null;
  #next = Next.Value;
  /** The element of the next value; null: it is not known. */
  #child: Child | null;
  /** The name of the next value. */
  #name: string;
  /** The name of the open element that is a text. */
  #element = "";
  /** Whether a text is read of which the window has only a part. */
  #inText = false;
  #target = Target.Nowhere;
  #values = 0;
  /** Whether the root is an object with a list as its only member. */
  readonly #isList: boolean;
  /** A text that is reported as a whole. */
  readonly #text = new TextBuilder();
  #textLength = 0;
  /** Where the usual characters of the last string ended. */
  #usualEnd = 0;

  constructor(
    source: XmlSource,
    handlers: XmlHandlers,
    root: Root,
    limits: XmlLimits,
  ) {
    super(source, handlers, limits);
    this.#name = root.name;
    this.#child = rootChild(root);
    this.#isList = listedIn(root.shape) !== null;
  }

  override *read(): Generator<void, void> {
    let from = 0;
    while (this.refill(from)) {
      from = this.readWindow(0);
      yield;
    }
    if (this.source.fault === null && this.#next === Next.Nothing) return;
    throw this.endsEarly();
  }

  protected override token(start: number): number {
    if (this.#inText) return this.#partOfText(start);
    let at = start;
    let code = this.window.charCodeAt(at);
    while (code === SPACE || code === LINE_FEED || code === TAB) {
      code = this.window.charCodeAt(++at);
    }
    if (at > start) return at;
    this.isBlank = false;
    switch (this.#next) {
      case Next.ValueOrEnd:
        if (code === CLOSE_BRACKET) return this.#end(at);
        return this.#value(at, code);
      case Next.Value:
        return this.#value(at, code);
      case Next.NameOrEnd:
        if (code === CLOSE_BRACE) return this.#end(at);
        return this.#memberName(at, code);
      case Next.Name:
        return this.#memberName(at, code);
      case Next.Colon:
        if (code !== COLON) throw this.#unexpected(at, 'a ":"');
        this.#next = Next.Value;
        return at + 1;
      case Next.CommaOrEnd:
        return this.#commaOrEnd(at, code);
      case Next.Nothing:
        throw this.malformed(
          "Something stands behind the end of the document; leave it out.",
          at,
        );
    }
  }

  #commaOrEnd(at: number, code: number): number {
    const { isArray } = this.#frame!;
    if (code === COMMA) {
      this.#next = isArray ? Next.Value : Next.Name;
      return at + 1;
    }
    if (code === (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#end(at);
    throw this.#unexpected(at, `a "," or a "${isArray ? "]" : "}"}"`);
  }

  #memberName(at: number, code: number): number {
    if (code !== QUOTE) {
      throw this.#unexpected(at, "a name in double quotes");
    }
    const end = this.#stringEnd(at + 1);
    if (end === -1) throw INCOMPLETE;
    const name = this.#unescaped(at + 1, end);
    const frame = this.#frame!;
    const child = frame.children?.get(name) ?? null;
    if (isRepeated(frame, name, child)) {
      throw this.malformed(
        `Duplicate name ${shown(name)}; it may stand in an object once.`,
        at,
      );
    }
    this.#name = name;
    this.#child = child;
    // Often nothing stands between.
    if (this.window.charCodeAt(end + 1) === COLON) {
      this.#next = Next.Value;
      return end + 2;
    }
    this.#next = Next.Colon;
    return end + 1;
  }

  #value(at: number, code: number): number {
    switch (code) {
      case QUOTE:
        return this.#string(at);
      case OPEN_BRACE:
        return this.#begin(at, false);
      case OPEN_BRACKET:
        return this.#begin(at, true);
    }
    if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      return this.#number(at);
    }
    for (const word of ["true", "false", "null"]) {
      if (!this.startsWith(word, at)) continue;
      const isNull = word === "null";
      this.#scalar(isNull ? "null" : "a boolean", at, isNull ? null : word);
      return this.#afterValue(at + word.length);
    }
    throw this.#unexpected(at, "a value");
  }

  #number(at: number): number {
    const window = this.window;
    NUMBER.lastIndex = at;
    if (!NUMBER.test(window)) {
      if (window.length - at < 2 && !this.isLast) throw INCOMPLETE;
      throw this.#unexpected(at + 1, "a digit");
    }
    const end = NUMBER.lastIndex;
    if (end === window.length && !this.isLast) throw INCOMPLETE;
    if (end < window.length && IN_NUMBER.test(window[end])) {
      const isCut = end + 2 >= window.length && !this.isLast;
      if (isCut) throw INCOMPLETE;
      throw this.malformed("The number is not written as JSON has it.", at);
    }
    const text = window.slice(at, end);
    const value = Number(text);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      throw this.malformed(
        `The number ${shown(text)} is beyond 2^53; write it as a string.`,
        at,
      );
    }
    // A whole number may be written 1.0 or 1e2; any content is kept as it is.
    const child = this.#child;
    const isKept = this.#frame?.mode === Mode.Any ||
      (child !== null && isAny(child.shape));
    const isWhole = !isKept && Number.isInteger(value);
    this.#scalar("a number", at, isWhole ? String(value) : text);
    return this.#afterValue(end);
  }

  #string(at: number): number {
    const end = this.#stringEnd(at + 1);
    if (end === -1) {
      // Whether it is empty has to be known.
      if (at + 1 === this.window.length && !this.isLast) throw INCOMPLETE;
      this.#target = this.#targetOf("a string", at);
      this.#textLength = 0;
      this.#inText = true;
      return at + 1;
    }
    const kind = end === at + 1 ? "an empty string" : "a string";
    this.#scalar(kind, at, this.#unescaped(at + 1, end));
    return this.#afterValue(end + 1);
  }

  /** The index of the closing quote; -1 if the window has none. */
  #stringEnd(start: number): number {
    const window = this.window;
    USUAL.lastIndex = start;
    USUAL.test(window);
    this.#usualEnd = USUAL.lastIndex;
    if (window.charCodeAt(this.#usualEnd) === QUOTE) return this.#usualEnd;
    REST_OF_STRING.lastIndex = this.#usualEnd;
    return REST_OF_STRING.test(window) ? REST_OF_STRING.lastIndex - 1 : -1;
  }

  /** The text of the string whose end was found last, at `end`. */
  #unescaped(start: number, end: number): string {
    const raw = this.window.slice(start, end);
    if (this.#usualEnd === end) return raw;
    const text = parsed(raw);
    if (text !== null) return text;
    for (let at = start; at < end;) at = this.#piece(at, () => {});
    throw this.malformed("The string is not written as JSON has it.", start);
  }

  /** A part of a text, of which the window has only a part. */
  #partOfText(at: number): number {
    if (this.window.charCodeAt(at) === QUOTE) {
      this.#inText = false;
      this.#deliver(this.#text.take());
      return this.#afterValue(at + 1);
    }
    const end = soundEnd(this.window, at);
    const text = parsed(this.window.slice(at, end));
    if (end === at) return this.#piece(at, (piece) => this.#append(piece));
    if (text !== null) this.#append(text);
    // An escape is not allowed.
    else for (let next = at; next < end;) next = this.#piece(next, () => {});
    return end;
  }

  #append(piece: string): void {
    switch (this.#target) {
      case Target.Element:
        return this.handlers.text(piece);
      case Target.Nowhere:
      case Target.Unread:
        return;
    }
    this.#textLength += piece.length;
    this.#checkLength(this.#textLength);
    this.#text.append(piece);
  }

  /** Throws where a text is too long to be reported as a whole. */
  #checkLength(length: number): void {
    if (length <= this.limits.tag) return;
    throw this.overLimit("A text's characters are more than", "tag", 0);
  }

  /** Characters up to the next unusual one, or an escape. */
  #piece(at: number, report: (piece: string) => void): number {
    const window = this.window;
    USUAL.lastIndex = at;
    USUAL.test(window);
    const unusual = USUAL.lastIndex;
    if (unusual > at) {
      report(window.slice(at, unusual));
      return unusual;
    }
    if (window.charCodeAt(at) !== BACKSLASH) {
      const code = window.charCodeAt(at).toString(16).padStart(4, "0");
      throw this.malformed(
        `A control character stands in a string; write it as \\u${code}.`,
        at,
      );
    }
    if (window.length - at < LONGEST_ESCAPE && !this.isLast) throw INCOMPLETE;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(window)) {
      throw this.malformed(
        'A "\\" begins no escape of JSON; write "\\\\" for the character ' +
          "itself.",
        at,
      );
    }
    let end = ESCAPE.lastIndex;
    let text = parsed(window.slice(at, end));
    if (text === null && ESCAPE.test(window)) {
      end = ESCAPE.lastIndex;
      text = parsed(window.slice(at, end));
    }
    if (text === null) {
      throw this.malformed(
        `The escape ${window.slice(at, at + 6)} is no character, or one that ` +
          "is not allowed; leave it out.",
        at,
      );
    }
    report(text);
    return end;
  }

  /** Reports a value that is no object and no array. */
  #scalar(kind: Kind, at: number, text: string | null): void {
    this.#target = this.#targetOf(kind, at);
    this.#deliver(text);
  }

  /** Begins such a value. */
  #targetOf(kind: Kind, at: number): Target {
    this.#count(at);
    switch (this.#frame?.mode ?? Mode.Elements) {
      case Mode.Skipped:
        return Target.Nowhere;
      case Mode.Any:
        return Target.AnyMember;
      case Mode.Attributed:
        return this.#attributeTarget(kind, at);
      case Mode.Elements:
        return this.#elementTarget(kind, at);
    }
  }

  #elementTarget(kind: Kind, at: number): Target {
    const child = this.#child;
    if (isIgnored(child)) return Target.Nowhere;
    const line = this.lineOf(at);
    if (child === null) {
      this.#unknown(line);
      return Target.Nowhere;
    }
    if (this.#isMistyped(child, kind, line)) return Target.Nowhere;
    this.#element = child.name;
    this.#tag(at, at);
    this.handlers.open(this.#element, NO_ATTRIBUTES, line);
    const expected = expectedScalar(child.shape, kind);
    if (expected !== null) {
      this.handlers.mistyped?.(null, kind, expected, line);
      return Target.Unread;
    }
    return isAny(child.shape) ? Target.AnyElement : Target.Element;
  }

  #unknown(line: number): void {
    this.handlers.unknown?.(pointerToken(this.#name), line);
  }

  /** Whether it is one value in the place of an array of elements. */
  #isMistyped(child: Child, kind: Kind, line: number): boolean {
    const isInArray = this.#frame?.isArray ?? false;
    if (child.max === 1 || isInArray) return false;
    if (kind === "an array") return false;
    this.handlers.mistyped?.(null, kind, "an array", line);
    return true;
  }

  #attributeTarget(kind: Kind, at: number): Target {
    const { shape, mistyped } = this.#frame!.attributed!;
    const isOwn = isOwnText(shape, this.#name);
    const form = formOf(shape, this.#name);
    const expected = form === undefined ? null : expectedKind(form, kind);
    if (expected !== null) {
      mistyped.push([this.#name, kind, expected, this.lineOf(at)]);
      return Target.Nowhere;
    }
    if (isOwn) return Target.OwnText;
    // One that may be empty may be null.
    const isSent = kind !== "null" || form === undefined || form.empty;
    return isSent ? Target.Attribute : Target.Nowhere;
  }

  /** Reports the text of a value; that of an element may be reported already. */
  #deliver(text: string | null): void {
    switch (this.#target) {
      case Target.Element:
        if (text !== null && text !== "") this.handlers.text(text);
        return this.handlers.close(this.#element);
      case Target.Unread:
        return this.handlers.close(this.#element);
      case Target.Nowhere:
        return;
    }
    this.#checkLength(text?.length ?? 0);
    switch (this.#target) {
      case Target.AnyElement:
        this.handlers.any?.(text);
        return this.handlers.close(this.#element);
      case Target.AnyMember:
        return this.#addAny(this.#frame!.any!, text);
      case Target.Attribute:
        this.#frame!.attributed!.attributes[this.#name] = text ?? "";
        return;
      case Target.OwnText:
        this.#frame!.attributed!.text = text ?? "";
    }
  }

  /** What follows a value that ends at `end`: often a comma, at once. */
  #afterValue(end: number): number {
    const frame = this.#frame;
    this.#next = frame === null ? Next.Nothing : Next.CommaOrEnd;
    if (frame === null || this.window.charCodeAt(end) !== COMMA) return end;
    this.#next = frame.isArray ? Next.Value : Next.Name;
    return end + 1;
  }

  #addAny(to: NonNullable<Frame["any"]>, value: AnyValue): void {
    if (Array.isArray(to)) to.push(value);
    else {
      Object.defineProperty(to, this.#name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }

  /** Begins an object or an array. */
  #begin(at: number, isArray: boolean): number {
    if (this.#frames.length === this.limits.depth) {
      throw this.overLimit("Values are nested deeper than", "depth", at);
    }
    this.#count(at);
    this.#tag(at, at + 1);
    const frame: Frame = {
      mode: Mode.Skipped,
      isArray,
      seen: [],
      names: null,
      closes: null,
      children: null,
      item: null,
      attributed: null,
      any: null,
    };
    this.#describe(frame, at);
    this.#frames.push(frame);
    this.#frame = frame;
    this.#child = frame.item;
    this.#next = isArray ? Next.ValueOrEnd : Next.NameOrEnd;
    return at + 1;
  }

  /** Says what the frame holds, and opens the element that it is. */
  #describe(frame: Frame, at: number): void {
    const parent = this.#frame;
    const line = this.lineOf(at);
    const kind = frame.isArray ? "an array" : "an object";
    switch (parent?.mode ?? Mode.Elements) {
      case Mode.Skipped:
        return;
      case Mode.Any:
        frame.mode = Mode.Any;
        frame.any = frame.isArray ? [] : {};
        return this.#addAny(parent!.any!, frame.any);
      case Mode.Attributed: {
        const { shape, mistyped } = parent!.attributed!;
        const form = formOf(shape, this.#name);
        const expected = form === undefined ? "a string" : textKind(form);
        mistyped.push([this.#name, kind, expected, line]);
        return;
      }
      case Mode.Elements:
        return this.#describeElement(frame, kind, line);
    }
  }

  #describeElement(frame: Frame, kind: Kind, line: number): void {
    const child = this.#child;
    if (isIgnored(child)) return;
    if (child === null) return this.#unknown(line);
    const { name, shape } = child;
    if (child.max > 1 && !this.#frame!.isArray) {
      if (this.#isMistyped(child, kind, line)) return;
      frame.mode = Mode.Elements;
      frame.item = child;
      return;
    }
    if (isAttributed(shape) && !frame.isArray) {
      frame.mode = Mode.Attributed;
      const attributes = Object.create(null);
      frame.attributed = {
        name,
        shape,
        line,
        attributes,
        text: "",
        mistyped: [],
      };
      return;
    }
    this.handlers.open(name, NO_ATTRIBUTES, line);
    frame.closes = name;
    if (isAny(shape)) {
      frame.mode = Mode.Any;
      frame.any = frame.isArray ? [] : {};
      return;
    }
    if (kind !== kindOf(shape)) {
      this.handlers.mistyped?.(null, kind, expectedOf(shape), line);
      return;
    }
    frame.mode = Mode.Elements;
    if (frame.isArray) frame.item = listedIn(shape)!.items;
    else frame.children = childrenOf(shape);
  }

  /** Ends the innermost object or array. */
  #end(at: number): number {
    const frame = this.#frames.pop()!;
    const { closes, attributed, any, mode } = frame;
    this.#tag(at, at + 1);
    if (attributed !== null) this.#endAttributed(attributed, frame.seen);
    if (closes !== null) {
      const isListMissing = this.#frames.length === 0 && this.#isList &&
        mode === Mode.Elements && frame.seen.length === 0;
      if (isListMissing) {
        const line = this.lineOf(at);
        this.handlers.mistyped?.(null, "missing", "an array", line);
      }
      if (mode === Mode.Any) this.handlers.any?.(any!);
      this.handlers.close(closes);
    }
    const parent = this.#frames.at(-1) ?? null;
    this.#frame = parent;
    if (parent?.isArray) this.#child = parent.item;
    return this.#afterValue(at + 1);
  }

  #endAttributed(
    { name, shape, line, attributes, text, mistyped }: Attributed,
    seen: Frame["seen"],
  ): void {
    this.handlers.open(name, attributes, line);
    const { textName = "value", content } = shape;
    if (!seen.includes(textName)) {
      const expected = textKind(content as TextForm);
      mistyped.push([textName, "missing", expected, line]);
    }
    for (const one of mistyped) this.handlers.mistyped?.(...one);
    if (text !== "") this.handlers.text(text);
    this.handlers.close(name);
  }

  #tag(start: number, end: number): void {
    this.markup = start;
    this.markupEnd = end;
  }

  /** As many elements are allowed as in XML, and as many attributes of each. */
  #count(at: number): void {
    if (this.#frame?.mode === Mode.Attributed) {
      // One of them is its text.
      if (this.#frame.seen.length <= this.limits.attributes + 1) return;
      throw this.overLimit(
        "An object's names are more than",
        "attributes",
        at,
      );
    }
    if (++this.#values <= this.limits.elements) return;
    throw this.overLimit(
      "The document's values are more than",
      "elements",
      at,
    );
  }

  protected override unfinished(): string {
    return this.#inText
      ? "The document ends inside a string."
      : "The document ends before it is complete.";
  }

  #unexpected(at: number, expected: string): ServiceError {
    const point = this.window.codePointAt(at);
    const found = point === undefined ? "" : String.fromCodePoint(point);
    const hint = this.#values === 0 && found === "<"
      ? " XML is sent with Content-Type: text/xml."
      : "";
    return this.malformed(
      `"${found}" stands where ${expected} has to stand.${hint}`,
      at,
    );
  }
}

function malformedJson(
  message: string,
  place: Place,
  code: "syntax" | "limit" = "syntax",
): ServiceError {
  return new ServiceError("malformed_json", "The body is not usable JSON.", {
    details: [{ ...place, code, message }],
  });
}

/** The end of the characters and escapes that may stand in a string. */
function soundEnd(window: string, start: number): number {
  WHOLE_ESCAPE.lastIndex = start;
  do {
    USUAL.lastIndex = WHOLE_ESCAPE.lastIndex;
    USUAL.test(window);
    WHOLE_ESCAPE.lastIndex = USUAL.lastIndex;
  } while (WHOLE_ESCAPE.test(window));
  return USUAL.lastIndex;
}

/** The text of a string in JSON, without its quotes; null if it has none. */
function parsed(raw: string): string | null {
  try {
    const text: string = JSON.parse(`"${raw}"`);
    // An escape may name what XML does not allow.
    const isSound = !raw.includes("\\") ||
      text.search(FORBIDDEN_IN_XML) === -1;
    return isSound ? text : null;
  } catch {
    return null;
  }
}

/**
 * The root as an element: a list is sent as a member of an object without a
 * name.
 */
function rootChild({ name, shape }: Root): Child {
  const listed = listedIn(shape);
  if (listed === null) return { name, shape, min: 1, max: 1 };
  const root: Shape = { content: [listed.items], attributes: {} };
  CHILDREN.set(root, new Map([[name, listed.items]]));
  return { name, shape: root, min: 1, max: 1 };
}

/** XML attributes beside elements are only read out; what is sent is ignored. */
function isIgnored(child: Child | null): boolean {
  return child?.max === 0;
}

/** Whether the object has this member already. */
function isRepeated(frame: Frame, name: string, child: Child | null): boolean {
  // There are only as many as its shape has, or attributes are allowed.
  const member = child ?? (frame.mode === Mode.Attributed ? name : null);
  if (member !== null) {
    return frame.seen.includes(member) || frame.seen.push(member) === 0;
  }
  frame.names ??= new Set();
  return frame.names.has(name) || frame.names.add(name).size === 0;
}

const CHILDREN = new WeakMap<Shape, ReadonlyMap<string, Child>>();

/** The elements of a shape by the names of their members. */
function childrenOf(shape: Shape): ReadonlyMap<string, Child> {
  const known = CHILDREN.get(shape);
  if (known !== undefined) return known;
  const children = new Map([
    ...Object.keys(shape.attributes ?? {}).map((name) =>
      [name, { name, shape: { content: [] }, min: 0, max: 0 }] as const
    ),
    ...(shape.content as readonly Child[]).map((child) =>
      [child.name, child] as const
    ),
  ]);
  CHILDREN.set(shape, children);
  return children;
}

function isAny({ content }: Shape): boolean {
  return isText(content) && content.kind === "any";
}

function isAttributed({ content, attributes }: Shape): boolean {
  return isText(content) && attributes !== undefined;
}

/** The kind of values of a shape. */
function kindOf(shape: Shape): Kind {
  if (listedIn(shape) !== null) return "an array";
  const { content } = shape;
  if (!isText(content) || isAttributed(shape)) return "an object";
  return textKind(content);
}

/** For messages: the kind of values of a shape, and how such an object looks. */
function expectedOf(shape: Shape): string {
  const kind = kindOf(shape);
  if (!isAttributed(shape) || kind !== "an object") return kind;
  const { content, attributes, textName = "value" } = shape;
  const members = [
    `"${textName}": ${sample(content as TextForm)}`,
    ...Object.entries(attributes!)
      .filter(([, { required, example }]) => required || example !== undefined)
      .map(([name, { form, example }]) =>
        `"${name}": ${sample(form, example)}`
      ),
  ];
  return `${kind}; write {${members.join(", ")}}`;
}

function sample(form: TextForm, example = "…"): string {
  return textKind(form) === "a string" ? `"${example}"` : example;
}

function textKind({ kind }: TextForm): Kind {
  if (kind === "integer") return "a number";
  return kind === "boolean" ? "a boolean" : "a string";
}

/** Whether a member is the text of an element with XML attributes. */
function isOwnText({ textName = "value" }: Shape, name: string): boolean {
  return name === textName;
}

/** The form of that text or of an XML attribute; none of one not known. */
function formOf(shape: Shape, name: string): TextForm | undefined {
  return isOwnText(shape, name)
    ? shape.content as TextForm
    : shape.attributes?.[name]?.form;
}

/** What a scalar has to be instead; null if it may be this. */
function expectedScalar(shape: Shape, kind: Kind): string | null {
  const { content, plain } = shape;
  if (kind === "null" || isAny(shape)) return null;
  if (!isText(content) || (isAttributed(shape) && !plain)) {
    return expectedOf(shape);
  }
  return expectedKind(content, kind);
}

/**
 * The same of a text: a number may be a string, too. One that may be none is
 * null, and an empty string only if any text may stand there; where it may not,
 * its reader refuses it.
 */
function expectedKind(form: TextForm, kind: Kind): string | null {
  if (kind === "null") return null;
  const expected = textKind(form);
  if (kind === "an empty string" && expected !== "a boolean") {
    return !form.empty || isFree(form) ? null : "null, or a value";
  }
  const fits = kind === expected ||
    (kind === "a string" && expected === "a number");
  return fits ? null : expected;
}

/** Begins to read a document with this root. */
export function jsonOf(root: Root): BeginReading {
  return (source, handlers, limits) =>
    new JsonReader(source, handlers, root, limits);
}
