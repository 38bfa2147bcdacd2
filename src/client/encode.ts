/** Writes documents from objects of a shape. */
import { escaped, FORBIDDEN_IN_XML } from "../lib/markup.ts";
import { DOCUMENTS, type SentProduct } from "./types.ts";
import type { Attributes, Shape } from "./shape.ts";

/** The document of an upload. Throws as `encode`. */
export function productsDocument(products: readonly SentProduct[]): string {
  return encode("products", products, DOCUMENTS.products);
}

/**
 * The element `name` with this value: null is an empty element, and what is
 * undefined is left out. Throws TypeError for a value that the shape does not
 * have, naming its place.
 */
export function encode(name: string, value: unknown, shape: Shape): string {
  return element(name, value, shape, name);
}

function element(
  name: string,
  value: unknown,
  shape: Shape,
  place: string,
): string {
  if (value === null) return `<${name}/>`;
  if ("list" in shape) {
    if (!Array.isArray(value)) throw new TypeError(`${place} is no array.`);
    const items = value.map((one, index) =>
      element(shape.list, one, shape.of, `${place}[${index}]`)
    );
    return wrapped(name, "", items.join(""));
  }
  if ("text" in shape && !("attributes" in shape)) {
    const isMarkup = shape.text === "markup";
    const text = isMarkup ? String(value) : textOf(value, place);
    return wrapped(name, "", text);
  }
  if ("plain" in shape && typeof value !== "object") {
    return element(name, { [shape.name]: value }, shape, place);
  }
  if (typeof value !== "object") {
    throw new TypeError(`${place} is no object.`);
  }
  const { text, children, attributes } = partsOf(shape);
  checkNames(
    value,
    [...text, ...Object.keys({ ...children, ...attributes })],
    place,
  );
  const properties = value as Record<string, unknown>;
  const at = (key: string) => `${place}.${key}`;
  const content = [
    ...text.map((key) => textOf(properties[key] ?? "", at(key))),
    ...Object.entries(children).map(([key, child]) =>
      properties[key] === undefined
        ? ""
        : element(key, properties[key], child, at(key))
    ),
  ].join("");
  const written = Object.keys(attributes)
    .filter((key) => (properties[key] ?? null) !== null)
    .map((key) => ` ${key}="${inAttribute(textOf(properties[key], at(key)))}"`);
  return wrapped(name, written.join(""), content);
}

interface Parts {
  /** The name of its own text. */
  text: string[];
  children: Record<string, Shape>;
  attributes: Attributes;
}

function partsOf(shape: Shape): Parts {
  if ("elements" in shape) {
    return {
      text: [],
      children: shape.elements as Record<string, Shape>,
      attributes: shape.attributes ?? {},
    };
  }
  return "attributes" in shape
    ? { text: [shape.name], children: {}, attributes: shape.attributes }
    : { text: [], children: {}, attributes: {} };
}

function checkNames(
  value: object,
  known: readonly string[],
  place: string,
): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `${place}.${unknown} is not known; known are ${known.join(", ")}.`,
    );
  }
}

function wrapped(name: string, attributes: string, content: string): string {
  return content === ""
    ? `<${name}${attributes}/>`
    : `<${name}${attributes}>${content}</${name}>`;
}

function textOf(value: unknown, place: string): string {
  if (typeof value === "object" || value === undefined) {
    throw new TypeError(`${place} is no text.`);
  }
  const text = String(value);
  if (text.search(FORBIDDEN_IN_XML) >= 0) {
    throw new TypeError(`${place} holds a character that XML cannot carry.`);
  }
  // Unescaped, a parser reads it as a line feed.
  return escaped(text).replaceAll("\r", "&#13;");
}

/** In an attribute, a parser reads a line feed or a tab as a space. */
function inAttribute(text: string): string {
  return text.replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}
