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
 * The root element. A list is sent as the only member of an object, as in
 * `{"products": […]}`.
 */
export function rootChild({ name, shape }: Root): Child {
  const listed = listedIn(shape);
  if (listed === null) return { name, shape, min: 1, max: 1 };
  const root: Shape = { content: [listed.items], attributes: {} };
  CHILDREN.set(root, new Map([[name, listed.items]]));
  return { name, shape: root, min: 1, max: 1 };
}

/**
 * Whether a member is ignored; `childrenOf` marks it with `max: 0`. Such a
 * member is an XML attribute of an element with child elements. Only answers
 * have these attributes; a client may send an answer's attributes back.
 */
export function isIgnored(child: Child | null): boolean {
  return child?.max === 0;
}

const CHILDREN = new WeakMap<Shape, ReadonlyMap<string, Child>>();

/** The elements of a shape by the names of their members. */
export function childrenOf(shape: Shape): ReadonlyMap<string, Child> {
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

export function isAny({ content }: Shape): boolean {
  return isText(content) && content.kind === "any";
}

export function isAttributed({ content, attributes }: Shape): boolean {
  return isText(content) && attributes !== undefined;
}

/** The kind of values of a shape. */
export function contentKindOf(shape: Shape): Kind {
  if (listedIn(shape) !== null) return "an array";
  const { content } = shape;
  if (!isText(content) || isAttributed(shape)) return "an object";
  return textKind(content);
}

/** For messages: the kind of values of a shape, and how such a value looks. */
export function expectedOf(shape: Shape): string {
  const kind = contentKindOf(shape);
  const isPlain = isText(shape.content) && !isAttributed(shape);
  const sample = isPlain ? null : sampleOf(shape);
  return sample === null ? kind : `${kind}; write ${sample}`;
}

/**
 * A sample of a value for messages, such as `{"amount": "…"}`; null for an
 * object of elements, or an array of such objects.
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
  return textKind(form) === "a string" ? `"${example}"` : example;
}

export function textKind({ kind }: TextForm): Kind {
  if (kind === "integer") return "a number";
  return kind === "boolean" ? "a boolean" : "a string";
}

/** Whether a member is the text of an element with XML attributes. */
export function isOwnText(
  { textName = TEXT_NAME }: Shape,
  name: string,
): boolean {
  return name === textName;
}

/**
 * The form of the text or of an XML attribute; undefined for an unknown one.
 */
export function textFormOf(shape: Shape, name: string): TextForm | undefined {
  return isOwnText(shape, name)
    ? shape.content as TextForm
    : shape.attributes?.[name]?.form;
}

/** The type that a scalar should have; null if its type is valid. */
export function expectedScalar(shape: Shape, kind: Kind): string | null {
  const { content, plain } = shape;
  if (isAny(shape)) return null;
  if (!isText(content)) {
    return kind === "null" && shape.empty ? null : expectedOf(shape);
  }
  const isAllowedNull = kind === "null" && content.empty;
  if (isAttributed(shape) && !plain && !isAllowedNull) return expectedOf(shape);
  return expectedKind(content, kind);
}

/**
 * The type that a text should have; null if its type is valid. A number may
 * also be sent as a string. For an empty text, null is sent, or an empty string
 * where any text is allowed.
 */
export function expectedKind(form: TextForm, kind: Kind): string | null {
  const expected = textKind(form);
  if (kind === "null") return form.empty ? null : expected;
  if (kind === "an empty string" && expected !== "a boolean") {
    return !form.empty || isFree(form) ? null : "null, or a value";
  }
  const fits = kind === expected ||
    (kind === "a string" && expected === "a number");
  if (fits) return null;
  return kind === "a number" && expected === "a string"
    ? "a string: write it in quotation marks"
    : expected;
}
