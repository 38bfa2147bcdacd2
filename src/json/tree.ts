/** Reads a small JSON document at once, as the tree of an XML document. */
import { type Detail, recordInvalid } from "../lib/errors.ts";
import { element } from "../xml/encode.ts";
import type { XmlNode } from "../xml/encode.ts";
import { parseTree, type XmlElement } from "../xml/decode.ts";
import { type AnyValue, XML_LIMITS, type XmlLimits } from "../xml/handlers.ts";
import { isText, listedIn, type Root, type Shape } from "../xml/shapes.ts";
import { pointerToken } from "./pointer.ts";
import { jsonReaderFor } from "./reader.ts";

/**
 * Reads a JSON document as the tree of the equivalent XML document. Throws 400
 * if the document is malformed, 422 if a value has a wrong type.
 */
export function parseJsonAsXml(
  bytes: Uint8Array,
  root: Root,
  limits: XmlLimits,
): XmlElement {
  const { depth } = XML_LIMITS;
  const tree = parseTree(bytes, { ...limits, depth }, jsonReaderFor(root));
  const details: Detail[] = [];
  const isList = listedIn(root.shape) !== null;
  const wrongRoot = tree.wrongTypes?.find(({ member, expected }) =>
    member === null && expected === "an object"
  );
  if (wrongRoot !== undefined) {
    const expected = isList ? `{"${root.name}": […]}` : wrongRoot.expected;
    throw recordInvalid([{
      line: wrongRoot.line,
      field: root.name,
      pointer: "",
      code: "wrong_type",
      message: `The document is ${wrongRoot.found}; it must be ${expected}.`,
    }]);
  }
  reportWrongTypes(tree, root.shape, isList ? `/${root.name}` : "", details);
  if (details.length > 0) throw recordInvalid(details);
  return tree;
}

/** Adds a detail for each value of a wrong type in an element. */
function reportWrongTypes(
  { name, wrongTypes = [], children, any, line }: XmlElement,
  shape: Shape,
  pointer: string,
  details: Detail[],
): void {
  for (const { member, found, expected, line } of wrongTypes) {
    const field = member ?? name;
    details.push({
      line,
      field,
      pointer: member === null ? pointer : `${pointer}/${pointerToken(member)}`,
      code: found === "missing" ? "required" : "wrong_type",
      message: `${field} is ${found}; it must be ${expected}.`,
    });
  }
  const problem = any === undefined ? null : problemOfValue(any);
  if (problem !== null) {
    const message = `${name} ${problem}`;
    details.push({ line, field: name, pointer, code: "not_allowed", message });
  }
  const { content } = shape;
  if (isText(content)) return;
  const isArray = listedIn(shape) !== null;
  for (const [n, child] of children.entries()) {
    const definition = content.find(({ name }) => name === child.name);
    if (definition === undefined) continue;
    const token = isArray ? n : child.name;
    reportWrongTypes(child, definition.shape, `${pointer}/${token}`, details);
  }
}

const XML_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** Why a value cannot be written as XML; null if it can. */
function problemOfValue(value: AnyValue): string | null {
  if (value === null || typeof value === "string") return null;
  if (Array.isArray(value)) return "is an array; it must be an object.";
  return Object.keys(value).some((name) => name.startsWith("@"))
    ? 'has a name that begins with "@"; move the name to a nested object.'
    : problemOfMembers(value);
}

function problemOfMembers(value: { [name: string]: AnyValue }): string | null {
  for (const [name, member] of Object.entries(value)) {
    const isText = name === "#text";
    const isAttribute = name.startsWith("@");
    if (!isText && !XML_NAME.test(isAttribute ? name.slice(1) : name)) {
      return `has the name "${name.slice(0, 100)}", which no XML element can ` +
        'have; begin with a letter, and use letters, digits, "_", "-" and ".".';
    }
    const isScalar = member === null || typeof member === "string";
    if (isText || isAttribute) {
      if (!isScalar) {
        return `has an object or array as ${name}; write a string.`;
      }
      continue;
    }
    for (const item of Array.isArray(member) ? member : [member]) {
      if (Array.isArray(item)) return `has an array in the array ${name}.`;
      if (item === null || typeof item === "string") continue;
      const problem = problemOfMembers(item);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** Converts a JSON value of any content to the XML content of an element. */
export function xmlContentOf(value: AnyValue): string {
  const written = element("any", value as XmlNode | string | null);
  return written === "<any/>"
    ? ""
    : written.slice("<any>".length, -"</any>".length);
}
