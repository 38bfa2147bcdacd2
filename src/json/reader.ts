/**
 * Reads untrusted JSON (RFC 8259) and reports the events of the equivalent XML
 * document. The shape of the root determines which members are elements, XML
 * attributes and texts. Duplicate names, numbers beyond 2^53 and characters
 * that XML does not allow are refused. The depth, the number of values and the
 * length of names are limited.
 *
 * The reader keeps only a window of the document in memory and reports long
 * texts in chunks. `JSON.parse` would need the whole document at once, and
 * reports neither lines nor duplicate names.
 */
import {
  allowsAnyContent,
  childrenByMember,
  describeExpected,
  elementForRoot,
  expectedKind,
  expectedScalar,
  isIgnoredMember,
  isTextMember,
  isTextWithAttributes,
  kindOfShape,
  kindOfText,
  textFormOf,
} from "./kinds.ts";
import { pointerToken } from "./pointer.ts";
import { JsonTokenizer } from "./tokens.ts";
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
enum FrameMode {
  /** Each member or item is an element. */
  Elements,
  /** Each member is an XML attribute or the text of the same element. */
  TextWithAttributes,
  /** Members or items whose content the shape does not restrict. */
  Any,
  /** No member or item is reported: the parent is unknown or has a wrong type. */
  Skipped,
}

/** Where to report the text of a value. */
enum TextTarget {
  Nowhere,
  /** The text of the open element. */
  Element,
  /** The open element gets no text, because the value has a wrong type. */
  ElementWithoutText,
  /** The open element, whose content the shape does not restrict. */
  AnyElement,
  /** An object or array whose content the shape does not restrict. */
  AnyMember,
  /** An XML attribute. */
  Attribute,
  /** The text of an element with XML attributes. */
  TextMember,
}

/** An object or array that is being read. */
interface Frame {
  mode: FrameMode;
  isArray: boolean;
  /** The members read so far: known elements, or names of XML attributes. */
  seen: (Child | string)[];
  /** The names of the other members read so far. */
  otherNames: Set<string> | null;
  /** The element to close after the object or array; null if there is none. */
  elementToClose: string | null;
  /** The elements of an object, by name. */
  children: ReadonlyMap<string, Child> | null;
  /** The element of each item of an array. */
  item: Child | null;
  /** Set in mode `TextWithAttributes`. */
  textWithAttributes: TextWithAttributes | null;
  /** The value that is being built in mode `Any`. */
  any: AnyValue[] | { [name: string]: AnyValue } | null;
}

/** An element with text and XML attributes that is being read. */
interface TextWithAttributes {
  name: string;
  shape: Shape;
  line: number;
  attributes: Record<string, string>;
  text: string;
  wrongTypes: [member: string, found: Kind, expected: string, line: number][];
}

class JsonReader extends JsonTokenizer {
  /** The open objects and arrays, the outermost first. */
  readonly #frames: Frame[] = [];
  /** The innermost frame. */
  protected override frame: Frame | null = null;
  /** The element of the next value; null if it is unknown. */
  #child: Child | null;
  /** The name of the next value. */
  #name: string;
  /** The name of the element that the current scalar represents. */
  #element = "";
  /** Where to report the scalar that is being read. */
  #target = TextTarget.Nowhere;
  #valueCount = 0;
  /** Whether the document is an object with a list as its only member. */
  readonly #hasListRoot: boolean;
  /** Collects the chunks of a text that is reported as a whole. */
  readonly #wholeText = new TextBuilder();
  #textLength = 0;

  constructor(
    source: XmlSource,
    handlers: XmlHandlers,
    root: Root,
    limits: XmlLimits,
  ) {
    super(source, handlers, limits);
    this.#name = root.name;
    this.#child = elementForRoot(root);
    this.#hasListRoot = listedIn(root.shape) !== null;
  }

  protected override name(name: string, at: number): void {
    const frame = this.frame!;
    const child = frame.children?.get(name) ?? null;
    if (!recordMember(frame, name, child)) {
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
      case TextTarget.Element:
        return this.handlers.text(chunk);
      case TextTarget.Nowhere:
      case TextTarget.ElementWithoutText:
        return;
    }
    this.#textLength += chunk.length;
    this.#checkLength(this.#textLength);
    this.#wholeText.append(chunk);
  }

  protected override endText(): void {
    this.#endScalar(this.#wholeText.take());
  }

  /** Throws if a text is too long to be reported as a whole. */
  #checkLength(length: number): void {
    if (length <= this.limits.tag) return;
    throw this.overLimit("A text has more characters than", "tag", 0);
  }

  protected override scalar(kind: Kind, at: number, text: string | null): void {
    this.#target = this.#beginScalar(kind, at);
    this.#endScalar(text);
  }

  protected override number(at: number, text: string, value: number): void {
    // A whole number may be sent as 1.0 or 1e2, and is reported as 1 or 100.
    // Where any content is allowed, each number is reported as it was sent.
    const child = this.#child;
    const isAny = this.frame?.mode === FrameMode.Any ||
      (child !== null && allowsAnyContent(child.shape));
    const isWhole = !isAny && Number.isInteger(value);
    this.scalar("a number", at, isWhole ? String(value) : text);
  }

  /** Counts a scalar and opens its element; returns where to report its text. */
  #beginScalar(kind: Kind, at: number): TextTarget {
    this.#countValue(at);
    switch (this.frame?.mode ?? FrameMode.Elements) {
      case FrameMode.Skipped:
        return TextTarget.Nowhere;
      case FrameMode.Any:
        return TextTarget.AnyMember;
      case FrameMode.TextWithAttributes:
        return this.#attributeTarget(kind, at);
      case FrameMode.Elements:
        return this.#elementTarget(kind, at);
    }
  }

  #elementTarget(kind: Kind, at: number): TextTarget {
    const child = this.#child;
    if (isIgnoredMember(child)) return TextTarget.Nowhere;
    const line = this.lineOf(at);
    if (child === null) {
      this.#reportUnknown(line);
      return TextTarget.Nowhere;
    }
    if (this.#reportMissingArray(child, kind, line)) return TextTarget.Nowhere;
    this.#element = child.name;
    this.#setTagPosition(at, at);
    this.handlers.open(this.#element, NO_ATTRIBUTES, line);
    const expected = expectedScalar(child.shape, kind);
    if (expected !== null) {
      this.handlers.wrongType?.(null, kind, expected, line);
      return TextTarget.ElementWithoutText;
    }
    return allowsAnyContent(child.shape)
      ? TextTarget.AnyElement
      : TextTarget.Element;
  }

  #reportUnknown(line: number): void {
    this.handlers.unknown?.(pointerToken(this.#name), line);
  }

  /**
   * Reports a value that was sent instead of an array of elements. Returns
   * whether the value is reported.
   */
  #reportMissingArray(child: Child, kind: Kind, line: number): boolean {
    const isInArray = this.frame?.isArray ?? false;
    if (child.max === 1 || isInArray) return false;
    if (kind === "an array") return false;
    this.handlers.wrongType?.(null, kind, "an array", line);
    return true;
  }

  #attributeTarget(kind: Kind, at: number): TextTarget {
    const { shape, wrongTypes } = this.frame!.textWithAttributes!;
    const form = textFormOf(shape, this.#name);
    const expected = form === undefined ? null : expectedKind(form, kind);
    if (expected !== null) {
      wrongTypes.push([this.#name, kind, expected, this.lineOf(at)]);
      return TextTarget.Nowhere;
    }
    return isTextMember(shape, this.#name)
      ? TextTarget.TextMember
      : TextTarget.Attribute;
  }

  /**
   * Reports the text of a scalar, except chunks that were already reported, and
   * closes its element.
   */
  #endScalar(text: string | null): void {
    switch (this.#target) {
      case TextTarget.Element:
        if (text !== null && text !== "") this.handlers.text(text);
        return this.handlers.close(this.#element);
      case TextTarget.ElementWithoutText:
        return this.handlers.close(this.#element);
      case TextTarget.Nowhere:
        return;
    }
    this.#checkLength(text?.length ?? 0);
    switch (this.#target) {
      case TextTarget.AnyElement:
        this.handlers.any?.(text);
        return this.handlers.close(this.#element);
      case TextTarget.AnyMember:
        return this.#addValue(this.frame!.any!, text);
      case TextTarget.Attribute:
        this.frame!.textWithAttributes!.attributes[this.#name] = text ?? "";
        return;
      case TextTarget.TextMember:
        this.frame!.textWithAttributes!.text = text ?? "";
    }
  }

  #addValue(container: NonNullable<Frame["any"]>, value: AnyValue): void {
    if (Array.isArray(container)) container.push(value);
    else {
      // An assignment to the name `__proto__` would set the prototype.
      Object.defineProperty(container, this.#name, {
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
    this.#countValue(at);
    this.#setTagPosition(at, at + 1);
    const frame: Frame = {
      mode: FrameMode.Skipped,
      isArray,
      seen: [],
      otherNames: null,
      elementToClose: null,
      children: null,
      item: null,
      textWithAttributes: null,
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
    switch (parent?.mode ?? FrameMode.Elements) {
      case FrameMode.Skipped:
        return;
      case FrameMode.Any:
        frame.mode = FrameMode.Any;
        frame.any = frame.isArray ? [] : {};
        return this.#addValue(parent!.any!, frame.any);
      case FrameMode.TextWithAttributes: {
        const { shape, wrongTypes } = parent!.textWithAttributes!;
        const form = textFormOf(shape, this.#name);
        const expected = form === undefined ? "a string" : kindOfText(form);
        wrongTypes.push([this.#name, kind, expected, line]);
        return;
      }
      case FrameMode.Elements:
        return this.#setUpElement(frame, kind, line);
    }
  }

  #setUpElement(frame: Frame, kind: Kind, line: number): void {
    const child = this.#child;
    if (isIgnoredMember(child)) return;
    if (child === null) return this.#reportUnknown(line);
    const { name, shape } = child;
    if (child.max > 1 && !this.frame!.isArray) {
      if (this.#reportMissingArray(child, kind, line)) return;
      frame.mode = FrameMode.Elements;
      frame.item = child;
      return;
    }
    if (isTextWithAttributes(shape) && !frame.isArray) {
      frame.mode = FrameMode.TextWithAttributes;
      const attributes = Object.create(null);
      frame.textWithAttributes = {
        name,
        shape,
        line,
        attributes,
        text: "",
        wrongTypes: [],
      };
      return;
    }
    this.handlers.open(name, NO_ATTRIBUTES, line);
    frame.elementToClose = name;
    if (allowsAnyContent(shape)) {
      frame.mode = FrameMode.Any;
      frame.any = frame.isArray ? [] : {};
      return;
    }
    if (kind !== kindOfShape(shape)) {
      this.handlers.wrongType?.(null, kind, describeExpected(shape), line);
      return;
    }
    frame.mode = FrameMode.Elements;
    if (frame.isArray) frame.item = listedIn(shape)!.items;
    else frame.children = childrenByMember(shape);
  }

  protected override end(at: number): void {
    const frame = this.#frames.pop()!;
    const { elementToClose, textWithAttributes, any, mode } = frame;
    this.#setTagPosition(at, at + 1);
    if (textWithAttributes !== null) {
      this.#endTextWithAttributes(textWithAttributes, frame.seen);
    }
    if (elementToClose !== null) {
      const isListMissing = this.#frames.length === 0 && this.#hasListRoot &&
        mode === FrameMode.Elements && frame.seen.length === 0;
      if (isListMissing) {
        const line = this.lineOf(at);
        this.handlers.wrongType?.(null, "missing", "an array", line);
      }
      if (mode === FrameMode.Any) this.handlers.any?.(any!);
      this.handlers.close(elementToClose);
    }
    const parent = this.#frames.at(-1) ?? null;
    this.frame = parent;
    if (parent?.isArray) this.#child = parent.item;
  }

  #endTextWithAttributes(
    { name, shape, line, attributes, text, wrongTypes }: TextWithAttributes,
    seen: Frame["seen"],
  ): void {
    this.handlers.open(name, attributes, line);
    const { textName = TEXT_NAME, content } = shape;
    if (
      !seen.includes(textName) &&
      !seen.some((member) => replacesText(shape, member))
    ) {
      const expected = kindOfText(content as TextForm);
      wrongTypes.push([textName, "missing", expected, line]);
    }
    for (const problem of wrongTypes) this.handlers.wrongType?.(...problem);
    if (text !== "") this.handlers.text(text);
    this.handlers.close(name);
  }

  /**
   * Sets the `TagPosition` that handlers read: the range of a bracket, or an
   * empty range at a scalar.
   */
  #setTagPosition(start: number, end: number): void {
    this.markup = start;
    this.markupEnd = end;
  }

  /**
   * Throws if the document has too many values, or if an element has too many
   * XML attributes.
   */
  #countValue(at: number): void {
    if (this.frame?.mode === FrameMode.TextWithAttributes) {
      // The text is a member, too.
      if (this.frame.seen.length <= this.limits.attributes + 1) return;
      throw this.overLimit(
        "An object has more names than",
        "attributes",
        at,
      );
    }
    if (++this.#valueCount <= this.limits.elements) return;
    throw this.overLimit(
      "The document has more values than",
      "elements",
      at,
    );
  }
}

/** Whether a member is an XML attribute that replaces the text. */
function replacesText({ attributes }: Shape, member: Child | string): boolean {
  return typeof member === "string" &&
    attributes?.[member]?.replacesText === true;
}

/**
 * Records a member of an object; returns false if the object already has the
 * member.
 */
function recordMember(
  frame: Frame,
  name: string,
  child: Child | null,
): boolean {
  const member = child ??
    (frame.mode === FrameMode.TextWithAttributes ? name : null);
  if (member !== null) {
    // `seen` is short: the elements of the shape or the limit of attributes
    // bound its length.
    if (frame.seen.includes(member)) return false;
    frame.seen.push(member);
    return true;
  }
  frame.otherNames ??= new Set();
  if (frame.otherNames.has(name)) return false;
  frame.otherNames.add(name);
  return true;
}

/** A function that begins to read a JSON document with this root. */
export function jsonReaderFor(root: Root): BeginReading {
  return (source, handlers, limits) =>
    new JsonReader(source, handlers, root, limits);
}
