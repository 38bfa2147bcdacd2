/**
 * Reads untrusted JSON (RFC 8259) strictly, as the events of the equivalent XML
 * document: the shape of its root determines which members are elements, XML
 * attributes and texts. Duplicate names, numbers beyond 2^53 and characters
 * that XML does not allow are refused; depth, values and the length of names
 * are bounded.
 *
 * Like the XML reader, it keeps a window of the document and reports long texts
 * in chunks. `JSON.parse` would need the whole document at once, and reports
 * neither lines nor duplicates.
 */
import {
  childrenOf,
  contentKindOf,
  expectedKind,
  expectedOf,
  expectedScalar,
  isAny,
  isAttributed,
  isIgnored,
  isOwnText,
  rootChild,
  textFormOf,
  textKind,
} from "./kinds.ts";
import { pointerToken } from "./pointer.ts";
import { JsonTokens } from "./tokens.ts";
import type {
  AnyValue,
  Kind,
  XmlAttributes,
  XmlHandlers,
  XmlLimits,
} from "../xml/handlers.ts";
import type { BeginReading } from "../xml/decode.ts";
import {
  type Child,
  listedIn,
  type Root,
  type Shape,
  TEXT_NAME,
  type TextForm,
} from "../xml/shapes.ts";
import type { XmlSource } from "../xml/source.ts";
import { TextBuilder } from "../xml/text_builder.ts";
import { shown } from "../xml/window_reader.ts";

const NO_ATTRIBUTES: XmlAttributes = Object.freeze(Object.create(null));

/** How the members of an object or the items of an array are read. */
enum Mode {
  /** Each member or item is an element. */
  Elements,
  /** XML attributes and text of one element. */
  Attributed,
  /** Members or items whose content the shape does not restrict. */
  Any,
  /** Unknown members or items; none is reported. */
  Skipped,
}

/** Where to report the text of a value. */
enum Target {
  Nowhere,
  /** To the handlers, as the text of the open element. */
  Element,
  /** Nowhere, because its type is wrong: the open element gets no text. */
  ElementWithoutText,
  /** The open element, whose content the shape does not restrict. */
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
  /** The names of members that `seen` does not contain. */
  names: Set<string> | null;
  /** The element that ends with the frame; null if there is none. */
  closes: string | null;
  /** The elements of an object, by name. */
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

class JsonReader extends JsonTokens {
  readonly #frames: Frame[] = [];
  /** The innermost frame. */
  protected override frame: Frame | null = null;
  /** The element of the next value; null if it is unknown. */
  #child: Child | null;
  /** The name of the next value. */
  #name: string;
  /** The name of the open element, if it has a text. */
  #element = "";
  #target = Target.Nowhere;
  #values = 0;
  /** Whether the root is an object with a list as its only member. */
  readonly #isList: boolean;
  /** A text that is reported as a whole. */
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
    this.#isList = listedIn(root.shape) !== null;
  }

  protected override name(name: string, at: number): void {
    const frame = this.frame!;
    const child = frame.children?.get(name) ?? null;
    if (isRepeated(frame, name, child)) {
      throw this.malformed(
        `Duplicate name ${shown(name)}; an object may have each name once.`,
        at,
      );
    }
    this.#name = name;
    this.#child = child;
  }

  protected override beginText(at: number): void {
    this.#target = this.#beginScalar("a string", at);
    this.#textLength = 0;
  }

  protected override textChunk(chunk: string): void {
    switch (this.#target) {
      case Target.Element:
        return this.handlers.text(chunk);
      case Target.Nowhere:
      case Target.ElementWithoutText:
        return;
    }
    this.#textLength += chunk.length;
    this.#checkLength(this.#textLength);
    this.#text.append(chunk);
  }

  protected override endText(): void {
    this.#deliver(this.#text.take());
  }

  /** Throws if a text is too long to be reported as a whole. */
  #checkLength(length: number): void {
    if (length <= this.limits.tag) return;
    throw this.overLimit("A text has more characters than", "tag", 0);
  }

  protected override scalar(kind: Kind, at: number, text: string | null): void {
    this.#target = this.#beginScalar(kind, at);
    this.#deliver(text);
  }

  protected override number(at: number, text: string, value: number): void {
    // A whole number may be written as 1.0 or 1e2; a value of any content is
    // kept unchanged.
    const child = this.#child;
    const isKept = this.frame?.mode === Mode.Any ||
      (child !== null && isAny(child.shape));
    const isWhole = !isKept && Number.isInteger(value);
    this.scalar("a number", at, isWhole ? String(value) : text);
  }

  /**
   * Counts a value that is no object and no array; returns where its text is
   * reported.
   */
  #beginScalar(kind: Kind, at: number): Target {
    this.#count(at);
    switch (this.frame?.mode ?? Mode.Elements) {
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
    if (this.#reportSingleValue(child, kind, line)) return Target.Nowhere;
    this.#element = child.name;
    this.#setMarkup(at, at);
    this.handlers.open(this.#element, NO_ATTRIBUTES, line);
    const expected = expectedScalar(child.shape, kind);
    if (expected !== null) {
      this.handlers.mistyped?.(null, kind, expected, line);
      return Target.ElementWithoutText;
    }
    return isAny(child.shape) ? Target.AnyElement : Target.Element;
  }

  #unknown(line: number): void {
    this.handlers.unknown?.(pointerToken(this.#name), line);
  }

  /**
   * Reports a single value that was sent instead of an array of elements.
   * Returns whether it did.
   */
  #reportSingleValue(child: Child, kind: Kind, line: number): boolean {
    const isInArray = this.frame?.isArray ?? false;
    if (child.max === 1 || isInArray) return false;
    if (kind === "an array") return false;
    this.handlers.mistyped?.(null, kind, "an array", line);
    return true;
  }

  #attributeTarget(kind: Kind, at: number): Target {
    const { shape, mistyped } = this.frame!.attributed!;
    const form = textFormOf(shape, this.#name);
    const expected = form === undefined ? null : expectedKind(form, kind);
    if (expected !== null) {
      mistyped.push([this.#name, kind, expected, this.lineOf(at)]);
      return Target.Nowhere;
    }
    return isOwnText(shape, this.#name) ? Target.OwnText : Target.Attribute;
  }

  /** Reports the text of a value, unless it was already reported in chunks. */
  #deliver(text: string | null): void {
    switch (this.#target) {
      case Target.Element:
        if (text !== null && text !== "") this.handlers.text(text);
        return this.handlers.close(this.#element);
      case Target.ElementWithoutText:
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
        return this.#addAny(this.frame!.any!, text);
      case Target.Attribute:
        this.frame!.attributed!.attributes[this.#name] = text ?? "";
        return;
      case Target.OwnText:
        this.frame!.attributed!.text = text ?? "";
    }
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

  protected override begin(at: number, isArray: boolean): void {
    if (this.#frames.length === this.limits.depth) {
      throw this.overLimit("Values are nested deeper than", "depth", at);
    }
    this.#count(at);
    this.#setMarkup(at, at + 1);
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
    this.#setUpFrame(frame, at);
    this.#frames.push(frame);
    this.frame = frame;
    this.#child = frame.item;
  }

  /**
   * Determines how the members of the frame are read, and opens its element.
   */
  #setUpFrame(frame: Frame, at: number): void {
    const parent = this.frame;
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
        const form = textFormOf(shape, this.#name);
        const expected = form === undefined ? "a string" : textKind(form);
        mistyped.push([this.#name, kind, expected, line]);
        return;
      }
      case Mode.Elements:
        return this.#setUpElement(frame, kind, line);
    }
  }

  #setUpElement(frame: Frame, kind: Kind, line: number): void {
    const child = this.#child;
    if (isIgnored(child)) return;
    if (child === null) return this.#unknown(line);
    const { name, shape } = child;
    if (child.max > 1 && !this.frame!.isArray) {
      if (this.#reportSingleValue(child, kind, line)) return;
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
    if (kind !== contentKindOf(shape)) {
      this.handlers.mistyped?.(null, kind, expectedOf(shape), line);
      return;
    }
    frame.mode = Mode.Elements;
    if (frame.isArray) frame.item = listedIn(shape)!.items;
    else frame.children = childrenOf(shape);
  }

  protected override end(at: number): void {
    const frame = this.#frames.pop()!;
    const { closes, attributed, any, mode } = frame;
    this.#setMarkup(at, at + 1);
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
    this.frame = parent;
    if (parent?.isArray) this.#child = parent.item;
  }

  #endAttributed(
    { name, shape, line, attributes, text, mistyped }: Attributed,
    seen: Frame["seen"],
  ): void {
    this.handlers.open(name, attributes, line);
    const { textName = TEXT_NAME, content } = shape;
    if (
      !seen.includes(textName) &&
      !seen.some((name) => isTextReplaced(shape, name))
    ) {
      const expected = textKind(content as TextForm);
      mistyped.push([textName, "missing", expected, line]);
    }
    for (const one of mistyped) this.handlers.mistyped?.(...one);
    if (text !== "") this.handlers.text(text);
    this.handlers.close(name);
  }

  #setMarkup(start: number, end: number): void {
    this.markup = start;
    this.markupEnd = end;
  }

  /** Limits elements and their attributes as in XML. */
  #count(at: number): void {
    if (this.frame?.mode === Mode.Attributed) {
      // The text is one more member besides the XML attributes.
      if (this.frame.seen.length <= this.limits.attributes + 1) return;
      throw this.overLimit(
        "An object has more names than",
        "attributes",
        at,
      );
    }
    if (++this.#values <= this.limits.elements) return;
    throw this.overLimit(
      "The document has more values than",
      "elements",
      at,
    );
  }
}

/** Whether a member is an XML attribute that replaces the text. */
function isTextReplaced({ attributes }: Shape, name: Child | string): boolean {
  return typeof name === "string" && attributes?.[name]?.replacesText === true;
}

/** Whether the object already has this member; otherwise records the member. */
function isRepeated(frame: Frame, name: string, child: Child | null): boolean {
  // `seen` is bounded by the elements of the shape, or by the limit of attributes.
  const member = child ?? (frame.mode === Mode.Attributed ? name : null);
  if (member !== null) {
    return frame.seen.includes(member) || frame.seen.push(member) === 0;
  }
  frame.names ??= new Set();
  return frame.names.has(name) || frame.names.add(name).size === 0;
}

/** Begins to read a document with this root. */
export function jsonOf(root: Root): BeginReading {
  return (source, handlers, limits) =>
    new JsonReader(source, handlers, root, limits);
}
