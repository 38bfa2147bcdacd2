/** The JSON type that the shape of an element requires. */
import type { Kind } from "../xml/handlers.ts";
import {
  type Child,
  isFree,
  isText,
  listedIn,
  type Root,
  type Shape,
  TEXT_NAME,
  type TextForm,
} from "../xml/shapes.ts";

/**
 * The element that a document represents. A list is sent as the only member of
 * an object, as in `{"products": […]}`.
 */
export function elementForRoot({ name, shape }: Root): Child {
  const listed = listedIn(shape);
  if (listed === null) return { name, shape, min: 1, max: 1 };
  const root: Shape = { content: [listed.items], attributes: {} };
  // The member has the name of the list, not of the items.
  CHILDREN_BY_MEMBER.set(root, new Map([[name, listed.items]]));
  return { name, shape: root, min: 1, max: 1 };
}

/**
 * Whether the reader ignores a member. It ignores the XML attributes of elements
 * with child elements. Answers have such attributes, and a client may send an
 * answer back. `childrenByMember` marks these members with `max: 0`.
 */
export function isIgnoredMember(child: Child | null): boolean {
  return child?.max === 0;
}

const CHILDREN_BY_MEMBER = new WeakMap<Shape, ReadonlyMap<string, Child>>();

/** The elements of a shape. The key is the name of the JSON member. */
export function childrenByMember(shape: Shape): ReadonlyMap<string, Child> {
  const cached = CHILDREN_BY_MEMBER.get(shape);
  if (cached !== undefined) return cached;
  const children = new Map([
    ...Object.keys(shape.attributes ?? {}).map((name) =>
      [name, { name, shape: { content: [] }, min: 0, max: 0 }] as const
    ),
    ...(shape.content as readonly Child[]).map((child) =>
      [child.name, child] as const
    ),
  ]);
  CHILDREN_BY_MEMBER.set(shape, children);
  return children;
}

/** Whether a shape leaves the content of its element unrestricted. */
export function allowsAnyContent({ content }: Shape): boolean {
  return isText(content) && content.kind === "any";
}

/** Whether an element has a text and XML attributes: in JSON, an object. */
export function isTextWithAttributes({ content, attributes }: Shape): boolean {
  return isText(content) && attributes !== undefined;
}

/** The kind of JSON value that represents an element of a shape. */
export function kindOfShape(shape: Shape): Kind {
  if (listedIn(shape) !== null) return "an array";
  const { content } = shape;
  if (!isText(content) || isTextWithAttributes(shape)) return "an object";
  return kindOfText(content);
}

/** The kind of value that a shape requires, with a sample, for messages. */
export function describeExpected(shape: Shape): string {
  const kind = kindOfShape(shape);
  const isPlain = isText(shape.content) && !isTextWithAttributes(shape);
  const sample = isPlain ? null : sampleOf(shape);
  return sample === null ? kind : `${kind}; write ${sample}`;
}

/**
 * A sample of a value, such as `{"amount": "…"}`; null for an object of
 * elements, or an array of such objects.
 */
function sampleOf(shape: Shape): string | null {
  const listed = listedIn(shape);
  if (listed !== null) {
    const item = sampleOf(listed.items.shape);
    return item === null ? null : `[${item}]`;
  }
  const { content, attributes, textName = TEXT_NAME } = shape;
  if (!isText(content)) return null;
  if (attributes === undefined) return exampleOf(content);
  const members = [
    `"${textName}": ${exampleOf(content)}`,
    ...Object.entries(attributes)
      .filter(([, { required, replacesText, example }]) =>
        required || (!replacesText && example !== undefined)
      )
      .map(([name, { form, example }]) =>
        `"${name}": ${exampleOf(form, example)}`
      ),
  ];
  return `{${members.join(", ")}}`;
}

function exampleOf(form: TextForm, example = "…"): string {
  return kindOfText(form) === "a string" ? `"${example}"` : example;
}

/** The kind of JSON value that represents a text of this form. */
export function kindOfText({ kind }: TextForm): Kind {
  if (kind === "integer") return "a number";
  return kind === "boolean" ? "a boolean" : "a string";
}

/** Whether a member is the text of an element with XML attributes. */
export function isTextMember(
  { textName = TEXT_NAME }: Shape,
  name: string,
): boolean {
  return name === textName;
}

/**
 * The form of a member that is the text or an XML attribute; undefined for an
 * unknown member.
 */
export function textFormOf(shape: Shape, name: string): TextForm | undefined {
  return isTextMember(shape, name)
    ? shape.content as TextForm
    : shape.attributes?.[name]?.form;
}

/** The type that a scalar should have; null if its type is valid. */
export function expectedScalar(shape: Shape, kind: Kind): string | null {
  const { content, plain } = shape;
  if (allowsAnyContent(shape)) return null;
  if (!isText(content)) {
    return kind === "null" && shape.empty ? null : describeExpected(shape);
  }
  const isAllowedNull = kind === "null" && content.empty;
  if (isTextWithAttributes(shape) && !plain && !isAllowedNull) {
    return describeExpected(shape);
  }
  return expectedKind(content, kind);
}

/**
 * The type that a text should have; null if its type is valid. A number may
 * also be sent as a string. An empty text is sent as null, or as an empty
 * string where any text is allowed.
 */
export function expectedKind(form: TextForm, kind: Kind): string | null {
  const expected = kindOfText(form);
  if (kind === "null") return form.empty ? null : expected;
  if (kind === "an empty string" && expected !== "a boolean") {
    return !form.empty || isFree(form) ? null : "null, or a value";
  }
  const isValid = kind === expected ||
    (kind === "a string" && expected === "a number");
  if (isValid) return null;
  return kind === "a number" && expected === "a string"
    ? "a string: write it in quotation marks"
    : expected;
}
