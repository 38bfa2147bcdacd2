/** Parses XML to the values that `jsonWriter` accepts. */
import { parseTree, type XmlElement } from "../xml/decode.ts";
import { XML_LIMITS, type XmlLimits } from "../xml/handlers.ts";
import { isFree, isText, type Shape, type TextForm } from "../xml/shapes.ts";

/**
 * The value of an element. XML attributes are members whose names begin with
 * `@`; the text of an element with attributes is the member `#text`.
 */
export type ParsedValue =
  | string
  | number
  | boolean
  | null
  | { [name: string]: ParsedValue | ParsedValue[] };

/** Parses an XML document whose root element has this shape. */
export function valueFromXml(
  xml: Uint8Array,
  shape: Shape,
  limits: XmlLimits = XML_LIMITS,
): ParsedValue {
  return valueOfElement(parseTree(xml, limits), shape);
}

function valueOfElement(element: XmlElement, shape: Shape): ParsedValue {
  const { content, attributes = {}, orText } = shape;
  const given = Object.entries(element.attributes)
    .filter(([name]) => name in attributes)
    .map((
      [name, value],
    ) => [`@${name}`, valueOfText(value, attributes[name].form)]);
  if (isText(content)) {
    const value = content.kind === "any"
      ? valueOfAnyElement(element)
      : valueOfText(element.text, content);
    const isPlain = shape.plain ? given.length === 0 : !shape.attributes;
    if (isPlain) return value;
    const isTextReplaced = value === null &&
      Object.entries(attributes)
        .some(([name, { replacesText }]) =>
          replacesText && name in element.attributes
        );
    return {
      ...Object.fromEntries(given),
      ...(!isTextReplaced && { "#text": value }),
    };
  }
  if (orText && element.children.length === 0) return element.text;
  const children = content.flatMap(({ name, max, shape }) => {
    const found = element.children.filter((child) => child.name === name)
      .map((child) => valueOfElement(child, shape));
    if (max > 1) return [[name, found]];
    return found.length === 0 ? [] : [[name, found[0]]];
  });
  return Object.fromEntries([...given, ...children]);
}

/**
 * The value of an element with any content: its text, or an object of its
 * elements and XML attributes. Elements of the same name become an array.
 */
function valueOfAnyElement(
  { attributes, text, children }: XmlElement,
): ParsedValue {
  const given = Object.entries(attributes);
  if (given.length + children.length === 0) return text;
  const byName = Map.groupBy(children, ({ name }) => name);
  return Object.fromEntries([
    ...given.map(([name, value]) => [`@${name}`, value]),
    ...(text.trim() === "" ? [] : [["#text", text]]),
    ...byName.entries().map(([name, found]) => {
      const values = found.map(valueOfAnyElement);
      return [name, values.length === 1 ? values[0] : values];
    }),
  ]);
}

function valueOfText(
  text: string,
  form: TextForm,
): string | number | boolean | null {
  const { kind, empty } = form;
  const mayBeNull = (empty || kind === "time") && !isFree(form);
  if (mayBeNull && text.trim() === "") return null;
  // A text that is not an integer stays a string, so that the message about it
  // quotes the text.
  if (kind === "integer" && `${Number(text)}` === text) return Number(text);
  return kind === "boolean" ? text === "true" : text;
}
