/** Reads answers as the objects that their shapes describe. */
// @ts-types="./saxes.d.ts"
import { SaxesParser } from "saxes";
import type { Attributes, Repeated, Shape, Text } from "./shape.ts";

/** An element of a document. */
export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  /** Its own text, that of its children left out. */
  text: string;
  children: XmlElement[];
  /** What stands between its tags. */
  source: string;
}

/** The root of a document; null if it is not well-formed XML. */
export function parseXml(text: string): XmlElement | null {
  const top: XmlElement[] = [];
  const open: { element: XmlElement; from: number }[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes, text: "", children: [], source: "" };
    (open.at(-1)?.element.children ?? top).push(element);
    open.push({ element, from: parser.position });
  });
  const append = (more: string) => {
    const last = open.at(-1);
    if (last !== undefined) last.element.text += more;
  };
  parser.on("text", append);
  parser.on("cdata", append);
  parser.on("closetag", ({ isSelfClosing }) => {
    const { element, from } = open.pop()!;
    if (isSelfClosing) return;
    const to = text.lastIndexOf("</", parser.position - 1);
    element.source = text.slice(from, to);
  });
  try {
    parser.write(text).close();
  } catch {
    return null;
  }
  return top[0] ?? null;
}

/** The object that an element of this shape is. */
export function decode(element: XmlElement, shape: Shape): unknown {
  if ("list" in shape) {
    return named(element, shape.list).map((one) => decode(one, shape.of));
  }
  if ("elements" in shape) {
    if (shape.orText && element.children.length === 0) return element.text;
    return {
      ...decodeAttributes(element, shape.attributes),
      ...decodeElements(element, shape.elements),
    };
  }
  const value = valueOf(shape, element.text, element.source);
  if (!("attributes" in shape) || value === null) return value;
  return {
    [shape.name]: value,
    ...decodeAttributes(element, shape.attributes),
  };
}

/** The elements of `element` that are known, by name. */
export function decodeElements(
  element: XmlElement,
  shapes: Readonly<Record<string, Shape | Repeated>>,
): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const [name, shape] of Object.entries(shapes)) {
    const found = named(element, name);
    if ("repeated" in shape) {
      entries.push([name, found.map((one) => decode(one, shape.repeated))]);
    } else if (found.length > 0) {
      entries.push([name, decode(found[0], shape)]);
    }
  }
  return Object.fromEntries(entries);
}

function named({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter((child) => child.name === name);
}

function decodeAttributes(
  { attributes }: XmlElement,
  shapes: Attributes = {},
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shapes)
      .filter(([name]) => name in attributes)
      .map((
        [name, shape],
      ) => [name, valueOf(shape, attributes[name], attributes[name])]),
  );
}

function valueOf(
  { text: kind, orNull }: Text,
  text: string,
  source: string,
): string | number | boolean | null {
  if (kind === "markup") return source;
  if (orNull && text === "") return null;
  if (kind === "number") return Number(text);
  return kind === "boolean" ? text === "true" : text;
}
