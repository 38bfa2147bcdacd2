/**
 * The structure of XML documents as data: schemas, OpenAPI description and
 * reference are generated from it. Types follow as well, so that a handler with
 * a different answer does not compile.
 */
import type { UnitForm } from "../lib/values.ts";
import type { ElementList, XmlNode, XmlValue } from "./encode.ts";

declare const WRITTEN: unique symbol;

/**
 * The value that an encoder accepts for a shape, or for some of its elements.
 */
export type Written<S> = S extends { readonly [WRITTEN]?: infer V } ? V : never;

/** The form of a text; `empty`: it may be empty. */
export type TextForm =
  & (UnitForm | { kind: "string" | "boolean" | "time" | "uuid" | "any" })
  & { empty?: boolean };

export interface Attribute {
  form: TextForm;
  required?: boolean;
  /** Whether the attribute replaces the text and the other attributes. */
  replacesText?: true;
  about?: string;
  /** An example of the value, for messages. */
  example?: string;
}

export interface Shape<V = unknown> {
  readonly [WRITTEN]?: V;
  /** The name of the type, if it is used in several places. */
  type?: string;
  attributes?: Readonly<Record<string, Attribute>>;
  content: TextForm | readonly Child[];
  /**
   * The name of the text in JSON, if the element has attributes; `TEXT_NAME` by
   * default.
   */
  textName?: string;
  /**
   * Whether, without attributes, JSON may have the text instead of an object.
   */
  plain?: true;
  /** Whether it may be empty, which is null in JSON. */
  empty?: true;
  /** Whether its elements may be in any order. */
  anyOrder?: true;
  /**
   * Whether a list is an object in JSON. The object then has the items as a
   * member, because another list uses the same names for the other elements
   * next to its items.
   */
  isObject?: true;
  /** Whether it may have text instead of its elements. */
  orText?: true;
}

/** `E` is the type of a node with this element. */
export interface Child<E = unknown> {
  readonly [WRITTEN]?: E;
  name: string;
  shape: Shape;
  min: number;
  max: number;
  about?: string;
  /** Whether an empty array may be left out in JSON. */
  mayBeLeftOut?: true;
}

/** A document, by the name of its root element. */
export interface Root<V = unknown> {
  name: string;
  shape: Shape<V>;
}

export function isText(content: Shape["content"]): content is TextForm {
  return !Array.isArray(content);
}

/**
 * The items of a list, and the other elements that are allowed next to them.
 */
export interface Listed {
  items: Child;
  others: readonly Child[];
}

/**
 * The name in JSON of the text of an element that also has XML attributes,
 * unless a shape has another name.
 */
export const TEXT_NAME = "value";

/**
 * The list of an element of which only the first child may be repeated. In JSON
 * the list is an array, and the other children become members next to the
 * array. Null for any other element.
 */
export function listedIn(
  { content, attributes, isObject }: Shape,
): Listed | null {
  if (isText(content) || attributes !== undefined || isObject) return null;
  const [items, ...others] = content;
  const isList = items?.max > 1 && others.every(({ max }) => max === 1);
  return isList ? { items, others } : null;
}

/** The elements below a child, and the child itself, that may be repeated. */
export function repeatedIn(child: Child): Child[] {
  const { content } = child.shape;
  const inside = isText(content) ? [] : content.flatMap(repeatedIn);
  return child.max > 1 ? [child, ...inside] : inside;
}

/** A required element. */
export function one<N extends string, V>(
  name: N,
  shape: Shape<V>,
  about?: string,
): Child<{ [K in N]: V }> {
  return { name, shape, min: 1, max: 1, about };
}

/** An optional element. */
export function maybe<N extends string, V>(
  name: N,
  shape: Shape<V>,
  about?: string,
): Child<{ [K in N]?: V }> {
  return { name, shape, min: 0, max: 1, about };
}

/**
 * Like `many`, for documents that are sent: in JSON the array must not be left
 * out.
 */
export function some<N extends string, V>(
  name: N,
  shape: Shape<V>,
  { max, about }: { max: number; about?: string },
): Child<{ [K in N]?: V[] | ElementList<V & XmlValue> }> {
  return { name, shape, min: 0, max, about, mayBeLeftOut: true };
}

/** An element that may be repeated, up to `max` times. */
export function many<N extends string, V>(
  name: N,
  shape: Shape<V>,
  { min = 0, max = Infinity, about }: {
    min?: number;
    max?: number;
    about?: string;
  } = {},
): Child<{ [K in N]: V[] | ElementList<V & XmlValue> }> {
  return { name, shape, min, max, about };
}

export function text<V = string>(form: TextForm): Shape<V> {
  return { content: form };
}

type Both<U> = (U extends unknown ? (each: U) => void : never) extends
  (all: infer I) => void ? { [K in keyof I]: I[K] } : never;

/** The properties of a node with all these elements. */
export type Elements<C extends readonly Child[]> = Both<Written<C[number]>>;

export function elements<C extends readonly Child[]>(
  ...content: C
): Shape<Elements<C>> {
  return { content };
}

/** Elements in any order. */
export function inAnyOrder<C extends readonly Child[]>(
  ...content: C
): Shape<Elements<C>> {
  return { anyOrder: true, content };
}

/**
 * Whether a text has no rule except its length. For other texts, an empty one
 * means that there is none, which is null in JSON.
 */
export function isFree({ kind }: TextForm): boolean {
  return kind === "string" || kind === "line" || kind === "text" ||
    kind === "any";
}

/** Elements under a type name that several places use. */
export function named<C extends readonly Child[]>(
  type: string,
  ...content: C
): Shape<Elements<C>> {
  return { type, content };
}

/** null writes an empty element. */
export const STRING = text<string | null>({ kind: "string" });
export const COUNT = text<number>({
  kind: "integer",
  max: Number.MAX_SAFE_INTEGER,
});
export const BOOLEAN = text<boolean>({ kind: "boolean" });
export const TIME = text({ kind: "time" });
export const TIME_OR_EMPTY = text<string | null>({ kind: "time", empty: true });
/** A cursor; some are numbers. */
export const CURSOR_TEXT = text<string | number>({ kind: "string" });
export const UUID = text({ kind: "uuid" });
/** Any elements, and text between them. */
export const ANY = text<XmlNode>({ kind: "any" });

const IGNORED_TEXT = text<string | null>({ kind: "string", empty: true });

/** The description of what only the service sets. */
export const READ_ONLY = "only in answers; ignored in requests";

/**
 * An element that only the service sets: a request may have it with any text, so
 * that an answer can be sent back.
 */
export function readOnly<N extends string>(
  name: N,
): Child<{ [K in N]?: string | null }> {
  return maybe(name, IGNORED_TEXT, READ_ONLY);
}

/** A `<name>` that, if it is sent, must equal the name in the path. */
export const NAME_OF_PATH = maybe(
  "name",
  STRING,
  "the name in the path; may be left out",
);

export function word<const W extends string>(words: readonly W[]): Shape<W> {
  return text<W>({ kind: "word", words });
}
