/**
 * Writes JSON according to the shapes that describe XML. Members have the names
 * of the elements and XML attributes. An element with a list becomes an array.
 * The element's other children become members of the object with the array.
 */
import {
  ElementList,
  type XmlNode,
  xmlText,
  type XmlValue,
} from "../xml/encode.ts";
import {
  type Child,
  isText,
  listedIn,
  type Shape,
  TEXT_NAME,
  type TextForm,
} from "../xml/shapes.ts";

/** Encodes a value as JSON. */
export type Encode = (value: XmlValue) => string;

/**
 * Encodes the value of one member, with the name of the member and a comma
 * before the name. `longLists` collects the lists that are too long for one
 * string; see `documentOf` of `xml/encode.ts`.
 */
export type EncodeMember = (
  value: NonNullable<XmlNode[string]>,
  longLists?: ElementList[],
) => string;

const WRITERS = new WeakMap<Shape, Encode>();

/** Returns the function that encodes the elements of a shape. */
export function jsonWriter(shape: Shape): Encode {
  const write = WRITERS.get(shape) ?? createWriter(shape);
  WRITERS.set(shape, write);
  return write;
}

function createWriter(shape: Shape): Encode {
  const { content, attributes, textName = TEXT_NAME } = shape;
  if (isText(content) && attributes === undefined) return textWriter(content);
  const members = isText(content)
    ? new Map([["#text", textMember(textName, content)]])
    : memberEncoders(content);
  for (const [name, { form }] of Object.entries(attributes ?? {})) {
    members.set(`@${name}`, textMember(name, form));
  }
  const writeText: Encode = !isText(content)
    ? (value) => quotedJson(String(value))
    : shape.plain
    ? textWriter(content)
    : (value) => writeObject(members, { "#text": value });
  return (value) => {
    if (value === null) return "null";
    return typeof value === "object"
      ? writeObject(members, value)
      : writeText(value);
  };
}

/** Functions that encode these elements as members of an object, by name. */
export function memberEncoders(
  children: readonly Child[],
): Map<string, EncodeMember> {
  return new Map(children.map((child) => [child.name, memberOf(child)]));
}

/**
 * Encodes a node as an object with its members in the node's order. For
 * `longLists`, see `EncodeMember`.
 */
export function writeObject(
  members: ReadonlyMap<string, EncodeMember>,
  node: XmlNode,
  longLists?: ElementList[],
): string {
  let written = "";
  for (const name in node) {
    const value = node[name];
    if (value !== undefined) written += members.get(name)!(value!, longLists);
  }
  return `{${written.slice(1)}}`;
}

function textMember(name: string, form: TextForm): EncodeMember {
  const write = textWriter(form);
  return (value) => `,"${name}":${write(value as XmlValue)}`;
}

function memberOf({ name, shape, max }: Child): EncodeMember {
  if (max > 1) return arrayMember(name, shape);
  const listed = listedIn(shape);
  if (listed === null) {
    const write = jsonWriter(shape);
    return (value) => `,"${name}":${write(value as XmlValue)}`;
  }
  const { items, others } = listed;
  const writeItems = arrayMember(name, items.shape);
  const otherMembers = memberEncoders(others);
  return (value, longLists) => {
    const { [items.name]: list, ...more } = value as XmlNode;
    const written = writeObject(otherMembers, more).slice(1, -1);
    return writeItems(list ?? [], longLists) + (written && `,${written}`);
  };
}

function arrayMember(name: string, shape: Shape): EncodeMember {
  // Created when needed, because a shape may contain itself.
  let write: Encode | undefined;
  return (value, longLists) => {
    if (value instanceof ElementList) {
      return `,"${name}":[${value.textIn(longLists)}]`;
    }
    write ??= jsonWriter(shape);
    return `,"${name}":[${(value as XmlValue[]).map(write).join(",")}]`;
  };
}

function textWriter(form: TextForm): Encode {
  const emptyValue = form.empty ? "null" : '""';
  switch (form.kind) {
    case "integer":
      return (value) => {
        if (typeof value === "number") return `${value}`;
        return value === null || value === ""
          ? emptyValue
          : quotedJson(String(value));
      };
    case "boolean":
      return String;
    case "any":
      return JSON.stringify;
    default:
      return (value) => value === null ? emptyValue : quotedJson(String(value));
  }
}

/**
 * Characters that JSON must escape or that XML does not allow; also surrogates,
 * of which XML allows only pairs.
 */
const MAY_NEED_ESCAPE = /["\\\u0000-\u001f\ufffe\uffff\ud800-\udfff]/;

function quotedJson(text: string): string {
  return MAY_NEED_ESCAPE.test(text)
    ? JSON.stringify(xmlText(text))
    : `"${text}"`;
}
