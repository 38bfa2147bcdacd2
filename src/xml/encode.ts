/** Writes answers: a declaration, the root `<service>`, compact. */
import { stringify } from "@libs/xml/stringify";

/** An element's content: keys are element names, `@name` an XML attribute, `#text` text. */
export interface XmlNode {
  [name: string]: XmlValue | XmlValue[] | undefined;
}
export type XmlValue = string | number | boolean | null | XmlNode;

/** Characters that XML 1.0 cannot carry even as a reference (its `Char` rule). */
const FORBIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Stands for a carriage return, which a reader takes for a line feed unless it
 * is a reference. No text holds it: it is one of the forbidden characters.
 */
const CARRIAGE_RETURN = "\uffff";

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

/** One element; with a declaration when it is a document of its own. */
export function element(
  name: string,
  content: XmlNode,
  declaration = false,
): string {
  const attributes = declaration
    ? { "@version": "1.0", "@encoding": "UTF-8" }
    : {};
  const written = stringify({ ...attributes, [name]: clean(content) }, {
    format: { indent: "", breakline: 0 },
    replace: { entities: true },
  });
  return written.replaceAll(CARRIAGE_RETURN, "&#13;");
}

/** Leaves out what is undefined and what XML cannot carry. */
function clean(value: XmlValue): XmlValue {
  if (typeof value === "string") {
    return xmlText(value).replaceAll("\r", CARRIAGE_RETURN);
  }
  if (typeof value !== "object" || value === null) return value;
  const node: XmlNode = {};
  for (const [name, child] of Object.entries(value)) {
    if (child === undefined) continue;
    node[name] = Array.isArray(child) ? child.map(clean) : clean(child);
  }
  return node;
}
