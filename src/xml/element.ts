/** Writes elements of XML. It is part of the page, too. */
import { FORBIDDEN_IN_XML } from "../lib/markup.ts";

/** An element's content: keys are element names, `@name` an XML attribute, `#text` text. */
export interface XmlNode {
  [name: string]: XmlValue | XmlValue[] | EncodedList | undefined;
}
export type XmlValue = string | number | boolean | null | XmlNode;

/** Removes characters that XML does not allow. */
export function xmlText(text: string): string {
  return text.replace(FORBIDDEN_IN_XML, "");
}

/**
 * Elements of one name that are encoded already. In a node it replaces the
 * array of those elements.
 */
export abstract class EncodedList {
  /**
   * The text of the list. A long list is added to `long`, if given, and its text
   * is a placeholder.
   */
  abstract textIn(long?: EncodedList[]): string;
}

/**
 * One element, without a declaration. Long lists are left out and added to
 * `long`, if given; see `EncodedList`.
 */
export function element(
  name: string,
  value: XmlValue,
  long?: EncodedList[],
): string {
  if (value === null) return `<${name}/>`;
  if (typeof value !== "object") return wrapped(name, "", escaped(value));
  let attributes = "";
  let text = "";
  let children = "";
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    if (Array.isArray(child)) {
      for (const one of child) children += element(key, one, long);
    } else if (child instanceof EncodedList) {
      children += child.textIn(long);
    } else if (key === "#text") {
      text = escaped(child);
    } else if (key.startsWith("@")) {
      attributes += ` ${key.slice(1)}="${inAttribute(escaped(child))}"`;
    } else {
      children += element(key, child, long);
    }
  }
  return wrapped(name, attributes, text + children);
}

function wrapped(name: string, attributes: string, content: string): string {
  return content === ""
    ? `<${name}${attributes}/>`
    : `<${name}${attributes}>${content}</${name}>`;
}

/** Characters that must be escaped or removed. */
const UNUSUAL = /[&<>"'\u0000-\u0008\u000b-\u001f\ufffe\uffff\ud800-\udfff]/;
const SPECIAL = /[&<>"'\r]/g;
const REFERENCES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  // A parser reads an unescaped one as a line feed.
  "\r": "&#13;",
};

function escaped(value: XmlValue): string {
  const text = String(value);
  if (!UNUSUAL.test(text)) return text;
  return xmlText(text).replace(SPECIAL, (character) => REFERENCES[character]);
}

/** In an attribute, a parser reads an unescaped line feed or tab as a space. */
function inAttribute(text: string): string {
  return text.replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}

/** A time in Unix milliseconds as answers write it: ISO 8601, UTC. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
