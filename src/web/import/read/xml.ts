/** Reads documents with products as trees. */
import { type ListField, LISTS } from "../../../catalogue/fields.ts";
import { unescaped } from "../../../lib/markup.ts";
import { elementsOf, isJson, markupTokens } from "../../lib/markup.ts";

export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
  children: readonly XmlElement[];
}

/**
 * Parses a document; null if the root is empty or not closed. The service
 * reports other mistakes. Only leaf elements have a `text`.
 */
export function parseXml(text: string): XmlElement | null {
  const elements = elementsOf(text);
  const [root] = elements;
  if (root === undefined || root.contentEnd === root.contentStart) return null;
  const all = elements.map(({ name, start, contentStart }) => ({
    name,
    attributes: attributesIn(text.slice(start, contentStart)),
    text: "",
    children: [] as XmlElement[],
  }));
  const parents: number[] = [];
  for (const [i, { start, contentStart, contentEnd }] of elements.entries()) {
    while (parents.length > 0 && elements[parents.at(-1)!].end <= start) {
      parents.pop();
    }
    if (parents.length > 0) all[parents.at(-1)!].children.push(all[i]);
    if (elements[i + 1] === undefined || elements[i + 1].start >= contentEnd) {
      all[i].text = textIn(text.slice(contentStart, contentEnd));
    }
    parents.push(i);
  }
  return all[0];
}

function attributesIn(tag: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  let last = 0;
  for (const { 0: quoted, index } of tag.matchAll(/"[^"]*"|'[^']*'/g)) {
    const before = tag.slice(last, index).split(/[\s=]/).filter(Boolean);
    attributes[before.at(-1) ?? ""] = textIn(quoted.slice(1, -1));
    last = index + quoted.length;
  }
  return attributes;
}

/** The text of XML without elements. */
function textIn(source: string): string {
  let text = "";
  let last = 0;
  for (const { start, end } of markupTokens(source)) {
    text += unescaped(source.slice(last, start));
    if (source.startsWith(CDATA, start)) {
      text += source.slice(start + CDATA.length, end - "]]>".length);
    }
    last = end;
  }
  return text + unescaped(source.slice(last));
}

const CDATA = "<![CDATA[";

/** The products of a document in XML or JSON; none if it is malformed. */
export function productsIn(text: string): readonly XmlElement[] {
  if (!isJson(text)) return parseXml(text)?.children ?? [];
  return productsInJson(text).map((product) => ({
    name: "product",
    attributes: {},
    text: "",
    children: Object.entries(product ?? {})
      .map(([name, value]) => elementOf(name, value)),
  }));
}

function productsInJson(text: string): unknown[] {
  try {
    const { products } = JSON.parse(text);
    return Array.isArray(products) ? products : [];
  } catch {
    return [];
  }
}

/** The element that corresponds to a JSON member of a product. */
function elementOf(name: string, content: unknown): XmlElement {
  if (Array.isArray(content)) {
    const item = LISTS[name as ListField]?.item ?? "";
    const children = content.map((one) => elementOf(item, one));
    return { name, attributes: {}, text: "", children };
  }
  const { amount, url, value = amount ?? url, ...attributes } =
    (content !== null && typeof content === "object"
      ? content
      : { value: content ?? "" }) as Record<string, string>;
  return { name, attributes, text: `${value ?? ""}`, children: [] };
}
