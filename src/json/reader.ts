/**
 * Reads untrusted JSON (RFC 8259) strictly, as the events of the XML document
 * that says the same: the shape of its root tells which members are elements,
 * XML attributes and texts. Duplicate names, numbers beyond 2^53 and what XML
 * cannot carry are refused; depth, values and the length of names are bounded.
 *
 * Like the XML reader it holds a window of the document and passes long texts
 * on as they come. `JSON.parse` would need the whole document, in one piece, and
 * tells neither lines nor duplicates.
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

/** Characters of a string that stand for something else, or may not stand. */
// deno-lint-ignore no-control-regex
const UNUSUAL = /["\\\u0000-\u001f]/g;
/** The rest of a string, with its closing quote. */
const REST_OF_STRING = /[^"\\]*(?:\\[^][^"\\]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const IN_NUMBER = /[-+.0-9eE]/;
/** The longest escape, of a character that is two UTF-16 units. */
const LONGEST_ESCAPE = "\\ud83d\\ude00".length;
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
  /** Not known; nothing is told of them. */
  Skipped,
}

interface Frame {
  mode: Mode;
  isArray: boolean;
  /** Of the members so far. */
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
  mistyped: [member: string, found: Kind, expected: Kind, line: number][];
}

class JsonReader extends WindowReader {
  protected override readonly tooLong =
    "A name's or number's characters are more than";
  protected override readonly emptyBody =
    "The body is empty; a JSON document is expected.";
  protected override readonly errorAt = malformedJson;
  readonly #frames: Frame[] = [];
  #next = Next.Value;
  /** The element of the next value; null: it is not known. */
  #child: Child | null;
  /** The name of the next value. */
  #name: string;
  /** Whether a text is read of which the window has only a part. */
  #inText = false;
  #values = 0;
  /** Where texts go; null: nowhere. */
  #texts: ((piece: string) => void) | null = null;
  /** What to do behind a text. */
  #endText: () => void = () => {};
  readonly #text = new TextBuilder();
  #textLength = 0;

  constructor(
    source: XmlSource,
    handlers: XmlHandlers,
    root: Root,
    limits: XmlLimits,
  ) {
    super(source, handlers, limits);
    this.#name = root.name;
    this.#child = rootChild(root);
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

  protected override token(at: number): number {
    if (this.#inText) return this.#partOfText(at);
    const code = this.window.charCodeAt(at);
    if (code === SPACE || code === LINE_FEED || code === TAB) return at + 1;
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
    const frame = this.#frames.at(-1)!;
    if (code === COMMA) {
      this.#next = frame.isArray ? Next.Value : Next.Name;
      return at + 1;
    }
    if (code === (frame.isArray ? CLOSE_BRACKET : CLOSE_BRACE)) {
      return this.#end(at);
    }
    throw this.#unexpected(at, `a "," or a "${frame.isArray ? "]" : "}"}"`);
  }

  #memberName(at: number, code: number): number {
    if (code !== QUOTE) {
      throw this.#unexpected(at, "a name in double quotes");
    }
    const end = this.#stringEnd(at + 1);
    if (end === -1) throw INCOMPLETE;
    const name = this.#unescaped(at + 1, end);
    const frame = this.#frames.at(-1)!;
    if (frame.names!.has(name)) {
      throw this.malformed(
        `Duplicate name ${shown(name)}; it may stand in an object once.`,
        at,
      );
    }
    frame.names!.add(name);
    this.#name = name;
    if (frame.children !== null) {
      this.#child = frame.children.get(name) ?? null;
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
      this.#scalar(word === "null" ? "null" : "a boolean", at);
      if (word !== "null") this.#texts?.(word);
      this.#endScalar();
      return at + word.length;
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
    if (Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER) {
      throw this.malformed(
        `The number ${shown(text)} is beyond 2^53; write it as a string.`,
        at,
      );
    }
    this.#scalar("a number", at);
    this.#texts?.(text);
    this.#endScalar();
    return end;
  }

  #string(at: number): number {
    const end = this.#stringEnd(at + 1);
    this.#scalar("a string", at);
    if (end === -1) {
      this.#inText = true;
      return at + 1;
    }
    const text = this.#unescaped(at + 1, end);
    this.#texts?.(text);
    this.#endScalar();
    return end + 1;
  }

  /** The index of the closing quote; -1 if the window has none. */
  #stringEnd(start: number): number {
    const window = this.window;
    const quote = window.indexOf('"', start);
    if (quote === -1) return -1;
    // Not lastIndexOf: without an escape it would look through the window.
    if (!window.slice(start, quote).includes("\\")) return quote;
    REST_OF_STRING.lastIndex = start;
    return REST_OF_STRING.test(window) ? REST_OF_STRING.lastIndex - 1 : -1;
  }

  /** The text of a string whose closing quote is at `end`. */
  #unescaped(start: number, end: number): string {
    const raw = this.window.slice(start, end);
    UNUSUAL.lastIndex = 0;
    if (!UNUSUAL.test(raw)) return raw;
    const text = parsed(raw);
    if (text !== null) return text;
    for (let at = start; at < end;) at = this.#piece(at, () => {});
    throw this.malformed("The string is not written as JSON has it.", start);
  }

  /** A part of a text, of which the window has only a part. */
  #partOfText(at: number): number {
    if (this.window.charCodeAt(at) !== QUOTE) {
      return this.#piece(at, (piece) => this.#texts?.(piece));
    }
    this.#inText = false;
    this.#endScalar();
    return at + 1;
  }

  /** Characters up to the next unusual one, or an escape. */
  #piece(at: number, tell: (piece: string) => void): number {
    const window = this.window;
    UNUSUAL.lastIndex = at;
    const unusual = UNUSUAL.exec(window)?.index ?? window.length;
    if (unusual > at) {
      tell(window.slice(at, unusual));
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
    tell(text);
    return end;
  }

  /** Begins a value that is no object and no array. */
  #scalar(kind: Kind, at: number): void {
    const frame = this.#frames.at(-1);
    this.#count(frame, at);
    const line = this.lineOf(at);
    this.#texts = null;
    this.#endText = () => {};
    switch (frame?.mode ?? Mode.Elements) {
      case Mode.Skipped:
        return;
      case Mode.Any:
        return this.#collect((text) =>
          this.#addAny(frame!.any!, kind === "null" ? null : text)
        );
      case Mode.Attributed:
        return this.#attribute(frame!.attributed!, kind, line);
      case Mode.Elements:
        return this.#element(kind, at, line);
    }
  }

  #element(kind: Kind, at: number, line: number): void {
    const child = this.#child;
    if (child === IGNORED) return;
    const name = child?.name ?? pointerToken(this.#name);
    if (this.#isMistyped(child, kind, line)) return;
    this.#tag(at, at);
    this.handlers.open(name, NO_ATTRIBUTES, line);
    const expected = child === null ? null : expectedScalar(child.shape, kind);
    if (expected !== null) {
      this.handlers.mistyped?.(null, kind, expected, line);
    } else if (child !== null) {
      if (isAny(child.shape)) {
        this.#collect((text) =>
          this.handlers.any?.(kind === "null" ? null : text)
        );
      } else this.#texts = (piece) => this.handlers.text(piece);
    }
    const endText = this.#endText;
    this.#endText = () => {
      endText();
      this.handlers.close(name);
    };
  }

  /** Whether it is one value in the place of an array of elements. */
  #isMistyped(child: Child | null, kind: Kind, line: number): boolean {
    const isInArray = this.#frames.at(-1)?.isArray ?? false;
    if (child === null || child.max === 1 || isInArray) return false;
    if (kind === "an array") return false;
    this.handlers.mistyped?.(null, kind, "an array", line);
    return true;
  }

  #attribute(of: Attributed, kind: Kind, line: number): void {
    const name = this.#name;
    const { content, attributes = {}, textName = "value" } = of.shape;
    const isOwn = name === textName;
    const form = isOwn ? content as TextForm : attributes[name]?.form;
    const expected = form === undefined ? null : expectedKind(form, kind);
    if (expected !== null) {
      of.mistyped.push([isOwn ? "" : name, kind, expected, line]);
    } else if (isOwn) this.#collect((text) => of.text = text);
    // One that may be empty may be null.
    else if (kind !== "null" || form === undefined || form.empty) {
      this.#collect((text) => of.attributes[name] = text);
    }
  }

  /** Collects a text in memory. */
  #collect(done: (text: string) => void): void {
    this.#textLength = 0;
    this.#texts = (piece) => {
      this.#textLength += piece.length;
      if (this.#textLength > this.limits.tag) {
        throw this.overLimit("A text's characters are more than", "tag", 0);
      }
      this.#text.append(piece);
    };
    this.#endText = () => done(this.#text.take());
  }

  #endScalar(): void {
    this.#endText();
    this.#afterValue();
  }

  #afterValue(): void {
    this.#next = this.#frames.length === 0 ? Next.Nothing : Next.CommaOrEnd;
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
    this.#count(this.#frames.at(-1), at);
    this.#tag(at, at + 1);
    const frame: Frame = {
      mode: Mode.Skipped,
      isArray,
      names: isArray ? null : new Set(),
      closes: null,
      children: null,
      item: null,
      attributed: null,
      any: null,
    };
    this.#describe(frame, at);
    this.#frames.push(frame);
    this.#child = frame.item;
    this.#next = isArray ? Next.ValueOrEnd : Next.NameOrEnd;
    return at + 1;
  }

  /** Says what the frame holds, and opens the element that it is. */
  #describe(frame: Frame, at: number): void {
    const parent = this.#frames.at(-1);
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
        const isOwn = this.#name === (shape.textName ?? "value");
        mistyped.push([isOwn ? "" : this.#name, kind, "a string", line]);
        return;
      }
      case Mode.Elements:
        return this.#describeElement(frame, kind, line);
    }
  }

  #describeElement(frame: Frame, kind: Kind, line: number): void {
    const child = this.#child;
    if (child === IGNORED) return;
    const name = child?.name ?? pointerToken(this.#name);
    if (child !== null && child.max > 1 && !this.#frames.at(-1)!.isArray) {
      if (this.#isMistyped(child, kind, line)) return;
      frame.mode = Mode.Elements;
      frame.item = child;
      return;
    }
    const shape = child?.shape ?? null;
    if (shape !== null && isAttributed(shape) && !frame.isArray) {
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
    if (shape === null) return;
    if (isAny(shape)) {
      frame.mode = Mode.Any;
      frame.any = frame.isArray ? [] : {};
      return;
    }
    const expected = kindOf(shape);
    if (kind !== expected) {
      this.handlers.mistyped?.(null, kind, expected, line);
      return;
    }
    frame.mode = Mode.Elements;
    if (frame.isArray) frame.item = listedIn(shape)!.items;
    else frame.children = childrenOf(shape);
  }

  /** Ends the innermost object or array. */
  #end(at: number): number {
    const { closes, attributed, any, mode } = this.#frames.pop()!;
    this.#tag(at, at + 1);
    if (attributed !== null) this.#endAttributed(attributed);
    if (closes !== null) {
      if (mode === Mode.Any) this.handlers.any?.(any!);
      this.handlers.close(closes);
    }
    const parent = this.#frames.at(-1);
    if (parent?.isArray) this.#child = parent.item;
    this.#afterValue();
    return at + 1;
  }

  #endAttributed(
    { name, line, attributes, text, mistyped }: Attributed,
  ): void {
    this.handlers.open(name, attributes, line);
    for (const one of mistyped) this.handlers.mistyped?.(...one);
    if (text !== "") this.handlers.text(text);
    this.handlers.close(name);
  }

  #tag(start: number, end: number): void {
    this.markup = start;
    this.markupEnd = end;
  }

  /** As many elements are allowed as in XML, and as many attributes of each. */
  #count(parent: Frame | undefined, at: number): void {
    if (parent?.mode === Mode.Attributed) {
      // One of them is its text.
      if (parent.names!.size <= this.limits.attributes + 1) return;
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

/** XML attributes beside elements; those that are sent are only read out. */
const IGNORED: Child = { name: "", shape: { content: [] }, min: 0, max: 1 };

const CHILDREN = new WeakMap<Shape, ReadonlyMap<string, Child>>();

/** The elements of a shape by the names of their members. */
function childrenOf(shape: Shape): ReadonlyMap<string, Child> {
  const known = CHILDREN.get(shape);
  if (known !== undefined) return known;
  const children = new Map([
    ...Object.keys(shape.attributes ?? {}).map((name) =>
      [name, IGNORED] as const
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

function textKind({ kind }: TextForm): Kind {
  if (kind === "integer") return "a number";
  return kind === "boolean" ? "a boolean" : "a string";
}

/** What a scalar has to be instead; null if it may be this. */
function expectedScalar(shape: Shape, kind: Kind): Kind | null {
  const { content, plain } = shape;
  if (kind === "null" || isAny(shape)) return null;
  if (!isText(content) || (isAttributed(shape) && !plain)) return kindOf(shape);
  return expectedKind(content, kind);
}

/** The same of a text: a number may be a string, too. */
function expectedKind(form: TextForm, kind: Kind): Kind | null {
  const expected = textKind(form);
  const fits = kind === "null" || kind === expected ||
    (kind === "a string" && expected === "a number");
  return fits ? null : expected;
}

/** Begins to read a document with this root. */
export function jsonOf(root: Root): BeginReading {
  return (source, handlers, limits) =>
    new JsonReader(source, handlers, root, limits);
}
