/** Documents of products as trees. */
import { type ListField, LISTS } from "../catalogue/fields.ts";
import { piecesOf } from "./markup.ts";

export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
  children: readonly XmlElement[];
}

/**
 * The root of a document; null if it does not end. The service refuses what else
 * is wrong with it. Own text is told of elements without children alone.
 */
export function parseXml(text: string): XmlElement | null {
  const pieces = piecesOf(text);
  const [root] = pieces;
  if (root === undefined || root.close === root.open) return null;
  const all = pieces.map(({ name, start, open }) => ({
    name,
    attributes: attributesIn(text.slice(start, open)),
    text: "",
    children: [] as XmlElement[],
  }));
  const parents: number[] = [];
  for (const [i, { start, open, close }] of pieces.entries()) {
    while (parents.length > 0 && pieces[parents.at(-1)!].end <= start) {
      parents.pop();
    }
    if (parents.length > 0) all[parents.at(-1)!].children.push(all[i]);
    if (pieces[i + 1] === undefined || pieces[i + 1].start >= close) {
      all[i].text = textIn(text.slice(open, close));
    }
    parents.push(i);
  }
  return all[0];
}

function attributesIn(tag: string): Record<string, string> {
  const found = tag.matchAll(/([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
  return Object.fromEntries(
    [...found].map(([, name, one, two]) => [name, textIn(one ?? two)]),
  );
}

const NAMED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

/** What a text without elements says. */
function textIn(source: string): string {
  return source.replace(
    /<!\[CDATA\[([^]*?)\]\]>|<!--[^]*?-->|<\?[^]*?\?>|&#(x?)([\da-f]+);|&(\w+);/gi,
    (_, cdata, hex, digits, name) =>
      cdata ?? NAMED[name] ??
        (digits ? String.fromCodePoint(parseInt(digits, hex ? 16 : 10)) : ""),
  );
}

/** The products of a document in XML or JSON; none if it is not readable. */
export function productsIn(text: string): readonly XmlElement[] {
  if (!text.startsWith("{")) return parseXml(text)?.children ?? [];
  const { products }: { products: unknown[] } = JSON.parse(text);
  return products.map((product) => ({
    name: "product",
    attributes: {},
    text: "",
    children: Object.entries(product as object)
      .map(([name, value]) => elementOf(name, value)),
  }));
}

/** The element that says the same as a member of a product. */
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
