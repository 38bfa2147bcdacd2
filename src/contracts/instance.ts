/** An XML example as the JSON instance of its schema in the OpenAPI description. */
import { parseTree, type XmlElement } from "../xml/decode.ts";
import { isText, type Shape, type TextForm } from "./shapes.ts";

export type Instance =
  | string
  | number
  | boolean
  | { [name: string]: Instance | Instance[] };

/** The instance of an XML document whose root element has this shape. */
export function instanceOf(xml: string, shape: Shape): Instance {
  return elementInstance(parseTree(new TextEncoder().encode(xml)), shape);
}

function elementInstance(element: XmlElement, shape: Shape): Instance {
  const { content, attributes = {}, orText } = shape;
  const given = Object.entries(element.attributes)
    .filter(([name]) => name in attributes)
    .map((
      [name, value],
    ) => [`@${name}`, valueOf(value, attributes[name].form)]);
  if (isText(content)) {
    const value = valueOf(element.text, content);
    return shape.attributes === undefined
      ? value
      : { ...Object.fromEntries(given), "#text": value };
  }
  if (orText && element.children.length === 0) return element.text;
  const children = content.flatMap(({ name, max, shape }) => {
    const found = element.children.filter((child) => child.name === name)
      .map((child) => elementInstance(child, shape));
    if (found.length === 0) return [];
    return [[name, max === 1 ? found[0] : found]];
  });
  return Object.fromEntries([...given, ...children]);
}

function valueOf(text: string, { kind }: TextForm): string | number | boolean {
  if (kind === "integer" && text !== "") return Number(text);
  return kind === "boolean" ? text === "true" : text;
}
