/**
 * The structure of XML documents as data: schemas, OpenAPI description and
 * reference are written from it. The types follow, too: a handler with another
 * answer does not compile.
 */
import type { UnitForm } from "../lib/values.ts";
import type { ElementList, XmlNode, XmlValue } from "./encode.ts";

declare const WRITTEN: unique symbol;

/**
 * The value that an encoder accepts for a shape, or for some of its elements.
 */
export type Written<S> = S extends { readonly [WRITTEN]?: infer V } ? V : never;

/** The form of a text; `empty` if it may be empty. */
export type TextForm =
  & (UnitForm | { kind: "string" | "boolean" | "time" | "uuid" | "any" })
  & { empty?: boolean };

export interface Attribute {
  form: TextForm;
  required?: boolean;
  /** The attribute is used instead of the text and the other attributes. */
  alone?: true;
  about?: string;
  /** A value, for messages. */
  example?: string;
}

export interface Shape<V = unknown> {
  readonly [WRITTEN]?: V;
  /** The name of the type, if several places use it. */
  type?: string;
  attributes?: Readonly<Record<string, Attribute>>;
  content: TextForm | readonly Child[];
  /**
   * The client's name for its text beside its attributes; `TEXT_NAME` if missing.
   */
  textName?: string;
  /** Without attributes, the client takes the text alone, too. */
  plain?: true;
  /** An empty list may be null in JSON. */
  empty?: true;
  /** Its elements may stand in any order. */
  anyOrder?: true;
  /**
   * A list that is an object in JSON: what stands beside its items has the name
   * of what stands beside another list there.
   */
  isObject?: true;
  /** May hold text instead of its elements. */
  orText?: true;
}

/** `E` is the type of a node that contains it. */
export interface Child<E = unknown> {
  readonly [WRITTEN]?: E;
  name: string;
  shape: Shape;
  min: number;
  max: number;
  about?: string;
  /** In JSON an empty array may be left out. */
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

/** The elements of a list, and what may stand beside them. */
export interface Listed {
  items: Child;
  beside: readonly Child[];
}

/** In JSON, the name of a text beside XML attributes, unless a shape has another. */
export const TEXT_NAME = "value";

/**
 * What an element lists whose first child, and no other, may be repeated: in
 * JSON it is an array, and what stands beside the items stands beside it. Null
 * for any other element.
 */
export function listedIn(
  { content, attributes, isObject }: Shape,
): Listed | null {
  if (isText(content) || attributes !== undefined || isObject) return null;
  const [items, ...beside] = content;
  const isList = items?.max > 1 && beside.every(({ max }) => max === 1);
  return isList ? { items, beside } : null;
}

/** The elements below a child, and itself, that may be repeated. */
export function repeatedIn(child: Child): Child[] {
  const { content } = child.shape;
  const inside = isText(content) ? [] : content.flatMap(repeatedIn);
  return child.max > 1 ? [child, ...inside] : inside;
}

/** An element that is always there. */
export function one<N extends string, V>(
  name: N,
  shape: Shape<V>,
  about?: string,
): Child<{ [K in N]: V }> {
  return { name, shape, min: 1, max: 1, about };
}

/** An element that may be missing. */
export function maybe<N extends string, V>(
  name: N,
  shape: Shape<V>,
  about?: string,
): Child<{ [K in N]?: V }> {
  return { name, shape, min: 0, max: 1, about };
}

/** As `many`, in a document that is sent: none may be left out in JSON, too. */
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
 * Whether a text has no rules but its length: of others an empty one is none,
 * which in JSON is null.
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

export function word<const W extends string>(words: readonly W[]): Shape<W> {
  return text<W>({ kind: "word", words });
}
