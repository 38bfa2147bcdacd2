/** Converts an XML document to the values that its shape describes. */
import { parseTree, type XmlElement } from "../xml/decode.ts";
import { XML_LIMITS, type XmlLimits } from "../xml/handlers.ts";
import { isFree, isText, type Shape, type TextForm } from "../xml/shapes.ts";

export type Instance =
  | string
  | number
  | boolean
  | null
  | { [name: string]: Instance | Instance[] };

/** The instance of an XML document whose root element has this shape. */
export function instanceOf(
  xml: Uint8Array,
  shape: Shape,
  limits: XmlLimits = XML_LIMITS,
): Instance {
  return elementInstance(parseTree(xml, limits), shape);
}

function elementInstance(element: XmlElement, shape: Shape): Instance {
  const { content, attributes = {}, orText } = shape;
  const given = Object.entries(element.attributes)
    .filter(([name]) => name in attributes)
    .map((
      [name, value],
    ) => [`@${name}`, valueOf(value, attributes[name].form)]);
  if (isText(content)) {
    const value = content.kind === "any"
      ? anyInstance(element)
      : valueOf(element.text, content);
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
      .map((child) => elementInstance(child, shape));
    if (max > 1) return [[name, found]];
    return found.length === 0 ? [] : [[name, found[0]]];
  });
  return Object.fromEntries([...given, ...children]);
}

/**
 * An element of any content: its text, or an object of its elements and XML
 * attributes; elements of the same name are an array.
 */
function anyInstance({ attributes, text, children }: XmlElement): Instance {
  const given = Object.entries(attributes);
  if (given.length + children.length === 0) return text;
  const byName = Map.groupBy(children, ({ name }) => name);
  return Object.fromEntries([
    ...given.map(([name, value]) => [`@${name}`, value]),
    ...(text.trim() === "" ? [] : [["#text", text]]),
    ...byName.entries().map(([name, found]) => {
      const values = found.map(anyInstance);
      return [name, values.length === 1 ? values[0] : values];
    }),
  ]);
}

function valueOf(
  text: string,
  form: TextForm,
): string | number | boolean | null {
  const { kind, empty } = form;
  const mayBeNull = (empty || kind === "time") && !isFree(form);
  if (mayBeNull && text.trim() === "") return null;
  // Any other text stays a text, so that messages show it.
  if (kind === "integer" && `${Number(text)}` === text) return Number(text);
  return kind === "boolean" ? text === "true" : text;
}
