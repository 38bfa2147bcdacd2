/**
 * Writes answers: a declaration, the root `<service>`, compact.
 *
 * By hand, because a library took most of the time of reading a list: ten
 * webhooks 60 µs with `@libs/xml`, which the tests hold this against.
 */

/** An element's content: keys are element names, `@name` an XML attribute, `#text` text. */
export interface XmlNode {
  [name: string]: XmlValue | XmlValue[] | undefined;
}
export type XmlValue = string | number | boolean | null | XmlNode;

/** Characters that XML 1.0 cannot carry even as a reference (its `Char` rule). */
const FORBIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Removes what XML forbids. */
export function xmlText(text: string): string {
  return text.replace(FORBIDDEN, "");
}

/** A time in Unix milliseconds as answers write it: ISO 8601, UTC. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The document `<service>…</service>` with its declaration. */
export function serviceDocument(content: XmlNode): string {
  return element("service", content, true);
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** One element; with a declaration when it is a document of its own. */
export function element(
  name: string,
  content: XmlNode,
  declaration = false,
): string {
  return (declaration ? DECLARATION : "") + written(name, content);
}

function written(name: string, value: XmlValue): string {
  if (value === null) return `<${name}/>`;
  if (typeof value !== "object") return wrapped(name, "", escaped(value));
  let attributes = "";
  let text = "";
  let children = "";
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    if (Array.isArray(child)) {
      for (const one of child) children += written(key, one);
    } else if (key === "#text") {
      text = escaped(child);
    } else if (key.startsWith("@")) {
      attributes += ` ${key.slice(1)}="${inAttribute(escaped(child))}"`;
    } else {
      children += written(key, child);
    }
  }
  return wrapped(name, attributes, text + children);
}

function wrapped(name: string, attributes: string, content: string): string {
  return content === ""
    ? `<${name}${attributes}/>`
    : `<${name}${attributes}>${content}</${name}>`;
}

/** Whatever may have to be written in another way, or not at all. */
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
  // A reader takes it for a line feed unless it is a reference.
  "\r": "&#13;",
};

function escaped(value: XmlValue): string {
  const text = String(value);
  if (!UNUSUAL.test(text)) return text;
  return xmlText(text).replace(SPECIAL, (character) => REFERENCES[character]);
}

/** A reader takes a line feed or a tab in an attribute for a space. */
function inAttribute(text: string): string {
  return text.replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}
