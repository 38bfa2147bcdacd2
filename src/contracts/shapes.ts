/**
 * What XML documents look like, as data: the schemas, the OpenAPI description
 * and the documentation are all written from it.
 */
import type { Form } from "../lib/values.ts";

/** What a text is; `empty` where it may also be nothing. */
export type TextForm =
  & (Form | { kind: "string" | "boolean" | "time" | "uuid" | "any" })
  & { empty?: boolean };

export interface Attribute {
  form: TextForm;
  required?: boolean;
  about?: string;
}

export interface Shape {
  /** Names the type where several places use it. */
  type?: string;
  attributes?: Readonly<Record<string, Attribute>>;
  /** Text, or elements. */
  content: TextForm | readonly Child[];
  /** Its elements may stand in any order. */
  anyOrder?: true;
  /** May hold text instead of its elements. */
  orText?: true;
}

export interface Child {
  name: string;
  shape: Shape;
  min: number;
  max: number;
  about?: string;
}

export function isText(content: Shape["content"]): content is TextForm {
  return !Array.isArray(content);
}

/** An element that is always there. */
export function one(name: string, shape: Shape, about?: string): Child {
  return { name, shape, min: 1, max: 1, about };
}

/** An element that may be missing. */
export function maybe(name: string, shape: Shape, about?: string): Child {
  return { name, shape, min: 0, max: 1, about };
}

/** An element that stands any number of times, up to `max`. */
export function many(
  name: string,
  shape: Shape,
  { min = 0, max = Infinity, about }: {
    min?: number;
    max?: number;
    about?: string;
  } = {},
): Child {
  return { name, shape, min, max, about };
}

export function text(form: TextForm): Shape {
  return { content: form };
}

export function elements(...content: Child[]): Shape {
  return { content };
}

/** Elements under a name that several places use. */
export function named(type: string, ...content: Child[]): Shape {
  return { type, content };
}

export const STRING = text({ kind: "string" });
export const COUNT = text({ kind: "integer", max: Number.MAX_SAFE_INTEGER });
export const BOOLEAN = text({ kind: "boolean" });
export const TIME = text({ kind: "time" });
export const TIME_OR_EMPTY = text({ kind: "time", empty: true });
export const UUID = text({ kind: "uuid" });
/** Elements of whatever names, and text between them. */
export const ANY = text({ kind: "any" });

export function word(words: readonly string[]): Shape {
  return text({ kind: "word", words });
}
