/**
 * Writes answers: an XML declaration and the root `<service>`, without white
 * space.
 *
 * Written by hand, because `@libs/xml` took most of the time of reading a list
 * (ten webhooks: 60 µs). The tests compare the two.
 */

import { Buffer } from "node:buffer";
import { FORBIDDEN_IN_XML } from "../lib/markup.ts";

/** An element's content: keys are element names, `@name` an XML attribute, `#text` text. */
export interface XmlNode {
  [name: string]: XmlValue | XmlValue[] | ElementList | undefined;
}
export type XmlValue = string | number | boolean | null | XmlNode;

/** Removes characters that XML does not allow. */
export function xmlText(text: string): string {
  return text.replace(FORBIDDEN_IN_XML, "");
}

/** A time in Unix milliseconds as answers write it: ISO 8601, UTC. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Like `isoTime`; null for no time, which is written as an empty element. */
export function isoTimeOrNone(milliseconds: number | null): string | null {
  return milliseconds === null ? null : isoTime(milliseconds);
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** The document `<service>…</service>` with its declaration. */
export function serviceDocument(content: XmlNode): string {
  return DECLARATION + element("service", content);
}

/** An element that is encoded already, with its tags. */
export class EncodedElement {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Elements of one name, encoded one after the other up to a number of bytes. In
 * a node it takes the place of the array of those elements.
 */
export class ElementList<V extends XmlValue = XmlValue> {
  /** For the compiler alone: lists of other elements are other types. */
  declare readonly holds: V;
  readonly #name: string;
  readonly #limit: number;
  #text = "";
  #bytes = 0;
  #count = 0;

  /** `limit` in bytes of UTF-8; the first element is accepted at any size. */
  constructor(name: string, limit: number) {
    this.#name = name;
    this.#limit = limit;
  }

  /**
   * Appends an element; returns false, without appending it, if it does not
   * fit.
   */
  add(value: V | EncodedElement): boolean {
    const text = value instanceof EncodedElement
      ? value.text
      : element(this.#name, value);
    const bytes = Buffer.byteLength(text);
    if (this.#count > 0 && this.#bytes + bytes > this.#limit) return false;
    this.#text += text;
    this.#bytes += bytes;
    this.#count++;
    return true;
  }

  get text(): string {
    return this.#text;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many elements there are. */
  get count(): number {
    return this.#count;
  }
}

/** One element, without a declaration. */
export function element(name: string, value: XmlValue): string {
  if (value === null) return `<${name}/>`;
  if (typeof value !== "object") return wrapped(name, "", escaped(value));
  let attributes = "";
  let text = "";
  let children = "";
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    if (Array.isArray(child)) {
      for (const one of child) children += element(key, one);
    } else if (child instanceof ElementList) {
      children += child.text;
    } else if (key === "#text") {
      text = escaped(child);
    } else if (key.startsWith("@")) {
      attributes += ` ${key.slice(1)}="${inAttribute(escaped(child))}"`;
    } else {
      children += element(key, child);
    }
  }
  return wrapped(name, attributes, text + children);
}

function wrapped(name: string, attributes: string, content: string): string {
  return content === ""
    ? `<${name}${attributes}/>`
    : `<${name}${attributes}>${content}</${name}>`;
}

/** Characters that have to be escaped or removed. */
const UNUSUAL =
  // deno-lint-ignore no-control-regex
  /[&<>"'\u0000-\u0008\u000b-\u001f\ufffe\uffff\ud800-\udfff]/;
const SPECIAL = /[&<>"'\r]/g;
const REFERENCES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  // Unescaped, a parser reads it as a line feed.
  "\r": "&#13;",
};

function escaped(value: XmlValue): string {
  const text = String(value);
  if (!UNUSUAL.test(text)) return text;
  return xmlText(text).replace(SPECIAL, (character) => REFERENCES[character]);
}

/** In an attribute, a parser reads a line feed or a tab as a space. */
function inAttribute(text: string): string {
  return text.replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}
